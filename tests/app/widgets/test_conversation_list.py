"""The list of conversations, however long it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.widgets.conversation_list import HEADING_HEIGHT, ConversationList, ConversationRow

ROWS = [ConversationRow(number, f"Chat {number}", 0.0) for number in range(1, 10_001)]


@contextmanager
def counted_calls() -> Iterator[Callable[[], int]]:
    """How many Python functions are called inside: what a clock would say, on a busy computer, too."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield lambda: count
    finally:
        sys.setprofile(before)


def test_only_the_rows_in_sight_are_built(qtbot: QtBot) -> None:
    rows = ConversationList()
    qtbot.addWidget(rows)
    rows.resize(232, 600)
    rows.show()
    with counted_calls() as calls:
        rows.show_rows(ROWS, current=5_000)
        QApplication.processEvents()
        rows.show_rows(ROWS[:7_000], current=5_000)
        QApplication.processEvents()
        assert calls() < 2_000
    assert 5_000 in rows.visible_ids()
    assert len(rows.visible_ids()) < 20
    assert rows.rows == tuple(ROWS[:7_000])


def test_headings_stand_between_the_rows_and_open_nothing(qtbot: QtBot) -> None:
    rows = ConversationList()
    qtbot.addWidget(rows)
    rows.resize(232, 600)
    rows.show()
    opened: list[int] = []
    rows.opened.connect(opened.append)
    rows.show_rows(ROWS, current=1, headings={0: "Today", 2: "Yesterday"})
    QApplication.processEvents()
    third = rows.visualRect(rows.model().index(2, 0))
    assert third.height() == rows.visualRect(rows.model().index(1, 0)).height() + HEADING_HEIGHT
    for y, wanted in ((5, []), (HEADING_HEIGHT + 5, [3])):
        QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=third.topLeft() + QPoint(40, y))
        assert opened == wanted
    spoken = rows.model().index(2, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("Yesterday, Chat 3")
    rows.verticalScrollBar().setValue(1)
    assert rows.visible_ids()[0] == 2


def test_a_title_is_not_written_over_in_the_list(qtbot: QtBot) -> None:
    """Only the dialog renames."""
    rows = ConversationList()
    qtbot.addWidget(rows)
    rows.show_rows(ROWS[:3], current=2)
    rows.show()
    wanted: list[int] = []
    rows.rename_wanted.connect(wanted.append)
    QTest.mouseDClick(
        rows.viewport(), Qt.MouseButton.LeftButton, pos=rows.visualRect(rows.model().index(1, 0)).center()
    )
    QTest.keyClick(rows, Qt.Key.Key_F2)
    QTest.keyClicks(rows, "Chat")
    assert rows.state() != ConversationList.State.EditingState
    assert wanted == [2]

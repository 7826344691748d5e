"""The field takes anything that is pasted, and grows within its limits."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.composer.composer import Composer


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    made = Composer()
    qtbot.addWidget(made)
    made.resize(640, 160)
    made.show()
    return made


def test_a_paste_of_twenty_thousand_lines_is_taken_and_typed_after(composer: Composer) -> None:
    lines = "\n".join(f"line {number} with some words" for number in range(20_000))
    data = QMimeData()
    data.setText(lines)
    composer.edit.insertFromMimeData(data)
    QTest.keyClicks(composer.edit, " and more")
    assert composer.text == lines + " and more"


def test_a_paste_of_rich_text_is_plain(composer: Composer) -> None:
    data = QMimeData()
    data.setHtml("<b>bold</b><script>x</script>")
    data.setText("bold")
    composer.edit.insertFromMimeData(data)
    assert composer.text == "bold"


def test_the_field_grows_to_its_limit(composer: Composer) -> None:
    small = composer.edit.height()
    composer.set_text("\n" * 5)
    middle = composer.edit.height()
    composer.set_text("\n" * 500)
    large = composer.edit.height()
    composer.set_text("\n" * 5_000)
    assert small < middle < large
    assert composer.edit.height() == large
    composer.set_text("")
    assert composer.edit.height() == small


def test_right_to_left_text_stands_on_the_right(composer: Composer) -> None:
    composer.set_text("سلام Headstart")
    line = composer.edit.document().firstBlock().layout().lineAt(0)
    assert line.naturalTextRect().right() > composer.edit.viewport().width() - 8
    composer.set_text("Headstart")
    line = composer.edit.document().firstBlock().layout().lineAt(0)
    assert line.naturalTextRect().left() == 0


def test_send_waits_for_text(composer: Composer) -> None:
    assert not composer.button.isEnabled()
    composer.set_text("x")
    assert composer.button.isEnabled()


def test_a_draft_is_in_sight_at_every_width(composer: Composer) -> None:
    composer.set_text("Do I pay for sending the boots back, and how much would the new pair cost me? " * 3)
    for width in (640, 500, 900, 617):
        composer.resize(width, 300)
        QApplication.processEvents()
        bars = (composer.edit.verticalScrollBar(), composer.edit.horizontalScrollBar())
        assert [bar.isVisible() for bar in bars] == [False, False]

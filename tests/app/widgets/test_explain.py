"""What is this? Two or three sentences at each place, by mouse and by keyboard."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.charts.cards import WINDOW_S
from app.widgets.explain import PLACES, TERMS, Explain, Explanation
from app.widgets.ribbon_cells import STATE_WORDS

EVERY_TEXT = [*TERMS.values(), *(place for place, _ in PLACES.values())]


@pytest.mark.parametrize("explanation", EVERY_TEXT, ids=lambda explanation: explanation.name)
def test_each_is_two_sentences_or_three(explanation: Explanation) -> None:
    assert len(re.findall(r"\.(?: |$)", explanation.text)) in (2, 3)
    assert explanation.text.endswith(".")


def test_what_stays_in_memory_has_one_name() -> None:
    """The same word as in the ribbon, the charts and the header; the technical word once, in its explanation."""
    assert TERMS["pinned"].name == "Kept (pinned)"
    for explanation in PLACES.values():
        assert not re.search(r"resident|pinned|evict|reused", explanation[0].text), explanation[0].name
    assert "pinned" in PLACES["memory"][1]
    assert STATE_WORDS["pinned"] == "kept"


def test_memory_says_its_time_and_why_it_is_more_than_the_tree() -> None:
    text = PLACES["memory"][0].text
    assert f"over the last {WINDOW_S / 60:.0f} minutes" in text
    assert "larger than that of the tree, which counts blocks only and not that buffer" in text


def test_every_term_is_used_where_it_is_seen() -> None:
    assert {term for _, terms in PLACES.values() for term in terms} == set(TERMS)


@pytest.fixture
def page(qtbot: QtBot) -> QWidget:
    page = QWidget()
    qtbot.addWidget(page)
    column = QVBoxLayout(page)
    for place in PLACES:
        column.addWidget(Explain(place))
    page.show()
    return page


def test_every_place_opens_by_keyboard_and_closes_by_escape(page: QWidget) -> None:
    for button, (place, terms) in zip(page.findChildren(Explain), PLACES.values(), strict=True):
        assert button.accessibleName() == f"What is this? {place.name}"
        assert button.focusPolicy() == Qt.FocusPolicy.StrongFocus
        QTest.keyClick(button, Qt.Key.Key_Space)
        assert button.popover is not None
        assert button.popover.isVisible()
        shown = [label.text() for label in button.popover.findChildren(QLabel)]
        expected = [place, *(TERMS[term] for term in terms)]
        assert shown == [text for part in expected for text in (part.name, part.text)]
        assert all(text in button.popover.accessibleDescription() for text in shown)
        QTest.keyClick(button.popover, Qt.Key.Key_Escape)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        assert button.popover is None

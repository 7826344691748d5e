"""Something is looked for in the conversation in view, from the keyboard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.transcript.find_bar import FindBar
from engine import TextDelta
from tests.app.fake_engine import Script, words
from tests.app.window.conftest import Screen, settle


@pytest.fixture
def screen(make_screen: Callable[..., Screen]) -> Screen:
    screen = make_screen(Script(tokens=words("A Tent is a shelter")), Script(tokens=words("Poles and ropes")))
    for text in ("What is a tent?", "And what holds it?", "Is a boat a tent?"):
        screen.ask(text)
        screen.play()
    return screen


def find(screen: Screen, text: str) -> FindBar:
    QTest.keyClick(screen.composer.edit, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    bar = screen.application.finding.bar
    assert bar.field.hasFocus()
    QTest.keyClicks(bar.field, text)
    settle()
    return bar


def marked(screen: Screen) -> list[str]:
    """The messages in which something is marked."""
    return [message.text for message in screen.transcript.messages if message.marked_top is not None]


def test_it_goes_from_message_to_message(screen: Screen) -> None:
    bar = find(screen, "tent")
    assert bar.count.text() == "3 of 3 messages"
    assert marked(screen) == ["What is a tent?", "A Tent is a shelter", "Is a boat a tent?"]
    QTest.keyClick(bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert bar.count.text() == "2 of 3 messages"
    QTest.keyClick(bar.field, Qt.Key.Key_Return)
    QTest.keyClick(bar.field, Qt.Key.Key_Return)
    assert bar.count.text() == "1 of 3 messages"
    QTest.mouseClick(bar.after, Qt.MouseButton.LeftButton)
    assert bar.count.text() == "2 of 3 messages"


def test_nothing_is_said_to_be_nothing(screen: Screen) -> None:
    bar = find(screen, "canoe")
    assert (bar.count.text(), marked(screen)) == ("Not found", [])
    assert not bar.after.isEnabled()


def test_escape_closes_it_and_takes_the_marks_away(screen: Screen) -> None:
    screen.ask("And ropes?")
    screen.until(TextDelta)
    bar = find(screen, "tent")
    QTest.keyClick(bar.field, Qt.Key.Key_Escape)
    settle()
    assert not bar.isVisible()
    assert marked(screen) == []
    assert screen.composer.edit.hasFocus()
    assert screen.session.is_busy  # the answer that is being written goes on


def test_another_conversation_is_looked_through_anew(screen: Screen) -> None:
    bar = find(screen, "tent")
    screen.window.commands.new.trigger()
    assert bar.count.text() == "Not found"
    screen.window.sidebar.list.opened.emit(screen.window.sidebar.list.rows[0].id)
    settle()
    assert bar.count.text() == "3 of 3 messages"


def test_what_is_marked_stays_marked_when_the_list_changes(screen: Screen) -> None:
    find(screen, "tent")
    before = marked(screen)
    screen.session.rename(screen.session.conversation.id, "Camping")
    settle()
    assert marked(screen) == before != []

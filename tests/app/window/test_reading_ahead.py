"""What is asked to be read ahead, and what is no longer, as a user types, undoes, composes, drops files and chooses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QInputMethodEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.settings import Settings
from app.system_prompt.editor import SystemPromptEditor
from app.window.preferences import PreferencesDialog
from tests.app.window.conftest import Screen, accept, settle

QUESTION = "Where is my parcel, and when will it be here? I have been waiting since Monday."
RULES = "You are a support bot. Be brief and friendly. " * 5


@pytest.fixture
def screen(make_screen: Callable[..., Screen]) -> Screen:
    """A window that reads ahead, battery or not, and has read what there is to read."""
    screen = make_screen(settings=Settings(theme="light", read_ahead="always"))
    rest(screen)
    screen.play()
    screen.engine.wishes.clear()
    screen.engine.cancelled.clear()
    return screen


def rest(screen: Screen) -> None:
    """Nothing was typed for a while."""
    reader = screen.session.cost.reader
    if reader.rest.isActive():
        reader.ask()


def drafts(screen: Screen) -> list[str]:
    """The questions that were to be read, oldest first."""
    return [wish[0].messages[-1].content for wish in screen.engine.wishes]


def test_typing_faster_than_reading(screen: Screen) -> None:
    """Each stretch that is asked for takes the place of the one before; none waits in a queue."""
    for letter in QUESTION * 2:
        screen.type(letter)
    asked = len(screen.engine.wishes)
    assert asked > 2
    assert len(screen.engine.cancelled) == asked - 1
    rest(screen)
    screen.play()
    assert drafts(screen)[-1] == QUESTION * 2
    screen.press(Qt.Key.Key_Return)
    screen.play()
    stats = screen.answer().content.stats
    assert stats is not None
    assert stats.ahead_tokens > stats.computed_tokens


def test_undo_takes_back_what_is_read_and_redo_asks_for_it_again(screen: Screen) -> None:
    screen.type(QUESTION)
    assert drafts(screen) == [QUESTION]
    screen.composer.edit.undo()
    assert len(screen.engine.cancelled) == 1
    screen.composer.edit.redo()
    rest(screen)
    assert drafts(screen)[-1] == QUESTION == screen.composer.text
    screen.play()


def test_what_an_input_method_composes_is_not_read_before_it_is_committed(screen: Screen) -> None:
    screen.type(QUESTION)
    QApplication.sendEvent(screen.composer.edit, QInputMethodEvent("にほん", []))
    assert not any("に" in draft for draft in drafts(screen))
    assert screen.engine.cancelled == []
    commit = QInputMethodEvent("", [])
    commit.setCommitString("日本")
    QApplication.sendEvent(screen.composer.edit, commit)
    assert screen.engine.cancelled == [], "what was read goes on"
    rest(screen)
    assert drafts(screen)[-1] == f"{QUESTION}日本"
    screen.play()


def test_a_file_is_read_at_once(screen: Screen, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("A tent keeps you dry.\n" * 20)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    buttons, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    screen.window.dropEvent(QDropEvent(QPointF(9, 9), Qt.DropAction.CopyAction, data, buttons, none))
    qtbot.waitUntil(lambda: not screen.composer.files.stop.isVisible())
    (wish,) = screen.engine.wishes
    assert [request.messages[-1].content.count("A tent keeps you dry.") for request in wish] == [20] * len(wish)
    assert len({request.messages[-1].content for request in wish}) > 1, "the question behind it is open"
    screen.play()


def test_an_earlier_question_is_read_where_it_is_changed(screen: Screen) -> None:
    """From the first key on that changes it; to look at it reads nothing, for all of it is cached."""
    screen.ask(QUESTION)
    screen.play()
    rest(screen)
    screen.play()
    screen.engine.wishes.clear()
    screen.transcript.messages[0].tools.edit.click()
    screen.type(" I am at home on Tuesday, too.")
    rest(screen)
    wish = screen.engine.wishes[-1]
    assert drafts(screen)[-1] == f"{QUESTION} I am at home on Tuesday, too."
    assert [len(request.messages) for request in wish] == [1] * len(wish)
    screen.play()


def test_a_preset_is_read_when_it_is_chosen(screen: Screen) -> None:
    """Before the editor is closed; what is certain of a text that is still written comes after a rest."""
    screen.window.header.pill.click()
    editor = screen.application.dialogs.open_dialog
    assert isinstance(editor, SystemPromptEditor)
    editor.edit.setPlainText(RULES)
    editor.presets.name.setText("Support")
    editor.presets.keep.click()
    editor.edit.setPlainText("Something else")
    settle()
    screen.engine.wishes.clear()
    editor.presets.list.opened.emit(editor.presets.list.rows[0].id)
    assert screen.engine.wishes[-1][0].messages[0].content == RULES
    editor.save_button.click()
    rest(screen)
    assert {request.messages[0].content for request in screen.engine.wishes[-1]} == {RULES}
    screen.play()


def test_a_preference_stops_it_in_the_middle(screen: Screen) -> None:
    screen.type(QUESTION)
    dialogs = screen.application.dialogs
    dialogs.edit_preferences()
    preferences = dialogs.open_dialog
    assert isinstance(preferences, PreferencesDialog)
    preferences.read_ahead.setCurrentIndex(preferences.read_ahead.findData("never"))
    accept(preferences)
    assert len(screen.engine.cancelled) == 1
    rest(screen)
    screen.type(QUESTION * 2)
    rest(screen)
    assert drafts(screen) == [QUESTION]
    screen.play()

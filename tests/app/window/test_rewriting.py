"""Messages changed as a user does it: with the buttons below them, their menu, and keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QPushButton

from app.transcript.branches_dialog import BranchesDialog
from app.transcript.message_dialog import MessageDialog, facts_of
from app.window.preferences import PreferencesDialog
from engine import DiskFullError, TextDelta
from tests.app.fake_engine import FIRST_ID, Script
from tests.app.window.conftest import Screen, accept, settle

CUT = Script(tokens=("one", " two"), reason="length")
REST = Script(tokens=(" three", "."))


@pytest.fixture
def screen(make_screen: Callable[..., Screen]) -> Screen:
    screen = make_screen(CUT, REST)
    screen.ask("Count.")
    screen.play()
    return screen


def press(button: QPushButton) -> None:
    """Go to a button with the keyboard, and press it."""
    assert button.isVisible()
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    settle()


def choose(screen: Screen, place: int, begins: str) -> None:
    """Open the menu of a message, and choose the entry that begins like this."""
    press(screen.transcript.messages[place].tools.more)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    menu.setActiveAction(next(action for action in menu.actions() if action.text().startswith(begins)))
    QTest.keyClick(menu, Qt.Key.Key_Return)
    settle()


def undo(screen: Screen) -> None:
    QTest.mouseClick(screen.window.notice.offer, Qt.MouseButton.LeftButton)
    settle()


def test_an_answer_goes_on_in_place(screen: Screen) -> None:
    assert screen.window.commands.go_on.isEnabled()
    press(screen.answer().tools.go_on)
    assert screen.composer.button.text() == "Stop"
    assert not screen.answer().tools.go_on.isVisible()
    screen.until(TextDelta)
    assert screen.texts() == ["Count.", "one two three"]
    screen.play()
    assert screen.texts() == ["Count.", "one two three."]
    assert not screen.answer().tools.go_on.isVisible()
    assert not screen.window.commands.go_on.isEnabled()
    assert screen.answer().tools.again.isVisible()


def test_its_button_says_what_it_costs(screen: Screen) -> None:
    screen.answer().tools.go_on.setFocus()
    settle()
    screen.application.rewriting.previewer.ask()
    screen.play()
    assert "1 token" in screen.answer().tools.go_on.toolTip()


def test_a_whole_answer_offers_no_continuing(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(REST)
    screen.ask("Count.")
    screen.play()
    assert not screen.answer().tools.go_on.isVisible()


def test_an_answer_is_edited_and_goes_on(screen: Screen) -> None:
    press(screen.answer().tools.edit)
    assert screen.composer.text == "one two"
    assert screen.composer.button.text() == "Save"
    screen.composer.set_text("uno, dos")
    screen.press(Qt.Key.Key_Return)
    settle()
    assert screen.composer.button.text() == "Send"
    assert screen.texts() == ["Count.", "uno, dos"]
    assert screen.answer().tools.before.isVisible()
    press(screen.answer().tools.go_on)
    screen.play()
    assert screen.texts() == ["Count.", "uno, dos three."]
    press(screen.answer().tools.before)
    assert screen.texts() == ["Count.", "one two"]


def test_editing_an_answer_is_given_up_with_escape(screen: Screen) -> None:
    screen.type("A draft")
    press(screen.answer().tools.edit)
    screen.press(Qt.Key.Key_Escape)
    assert (screen.composer.text, screen.composer.button.text()) == ("A draft", "Send")


def test_a_branch_is_a_conversation_of_its_own(screen: Screen) -> None:
    screen.ask("And then?")
    screen.play()
    choose(screen, 1, "Branch from here")
    assert screen.texts() == ["Count.", "one two"]
    titles = [row.title for row in screen.window.sidebar.list.rows]
    assert titles == ["Count. (branch)", "Count."]
    screen.ask("Other words")
    assert screen.engine.requests[-1].messages[1].token_ids == (FIRST_ID, FIRST_ID + 1)  # the same tokens as before


def test_a_message_is_deleted_and_taken_back(screen: Screen) -> None:
    screen.ask("And then?")
    screen.play()
    choose(screen, 1, "Delete this answer")
    assert screen.texts() == ["Count.", "And then?", " three."]
    assert screen.window.notice.text == "Deleted."
    undo(screen)
    assert screen.texts() == ["Count.", "one two", "And then?", " three."]
    choose(screen, 2, "Delete this question and its answers")
    assert screen.texts() == ["Count.", "one two"]


def test_each_of_two_deletions_has_an_undo_of_its_own(screen: Screen) -> None:
    screen.ask("And then?")
    screen.play()
    choose(screen, 1, "Delete this answer")
    choose(screen, 2, "Delete this answer")
    assert screen.texts() == ["Count.", "And then?"]
    undo(screen)
    assert screen.texts() == ["Count.", "And then?", " three."]


def test_an_undo_that_fails_is_offered_again(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    screen.ask("And then?")
    screen.play()
    before = screen.texts()
    choose(screen, 1, "Delete this answer")
    with monkeypatch.context() as patch:
        patch.setattr(screen.application.history.file, "change", no_room)
        undo(screen)
    assert screen.window.notice.text == "The disk is full."
    assert screen.texts() == ["Count.", "And then?", " three."]
    undo(screen)
    assert screen.texts() == before
    assert screen.window.notice.text == ""


def no_room(statement: str, *values: object) -> int:
    raise DiskFullError("The disk is full.")


def test_a_deletion_is_final_before_the_engine_is_asked_again(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the engine keeps of the new turn is not forgotten with it."""
    screen.ask("And then?")
    screen.play()
    choose(screen, 1, "Delete this answer")
    assert "forget #1" not in screen.engine.calls
    submit, told = screen.engine.submit, []
    monkeypatch.setattr(screen.engine, "submit", lambda asked: told.append("forget #1" in calls) or submit(asked))
    calls = screen.engine.calls
    screen.ask("And now?")
    assert told == [True]
    screen.play()
    assert calls.count("forget #1") == 1


def test_closing_makes_a_deletion_final(screen: Screen, tmp_path: Path) -> None:
    """Also what only the deleted answer was written under leaves the file, and the engine is told."""
    screen.session.set_system_prompt("Speak of stilts.")
    screen.ask("And then?")
    screen.play()
    screen.session.set_system_prompt("")
    choose(screen, 3, "Delete this answer")
    screen.window.close()
    assert "forget #1" in screen.engine.calls
    assert not any(b"stilts" in each.read_bytes() for each in tmp_path.glob("history*"))


def test_no_answer_goes_on_where_a_server_answers(screen: Screen) -> None:
    for server, can_go_on in (("http://elsewhere/v1", False), ("", True)):
        screen.application.answered_by.choose(server)
        settle()
        assert screen.answer().tools.go_on.isVisible() == can_go_on
        assert screen.window.commands.go_on.isEnabled() == can_go_on


def test_deleting_says_before_what_the_next_prompt_reads(screen: Screen) -> None:
    screen.ask("And then?")
    screen.play()
    menu = screen.application.rewriting_presenter.menu_for(screen.session.messages[1].id)
    screen.application.rewriting.previewer.ask()
    screen.play()
    assert "next prompt: " in menu.actions()[-1].text()
    menu.deleteLater()


def test_the_raw_text_is_shown_letter_by_letter(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(tokens=("**bold**", " <b>&amp;"), thought=("Hm",)))
    screen.ask("Count.")
    screen.play()
    choose(screen, 1, "Raw text")
    dialog = screen.application.dialogs.open_dialog
    assert isinstance(dialog, MessageDialog)
    assert {name: field.toPlainText() for name, field in dialog.fields.items()} == {
        "Thought": "Hm",
        "Text": "**bold** <b>&amp;",
    }
    facts = dict(dialog.facts)
    assert facts["Length"] == "3 tokens, kept as the model wrote them"
    assert facts["Its prompt"] == "5 tokens: 0 remembered, 5 read"
    dialog.reject()
    answer = screen.session.messages[1]
    assert answer.stats is not None
    untold = replace(answer, stats=replace(answer.stats, computed_tokens=0))
    assert dict(facts_of(untold, 1, 1))["Its prompt"] == "5 tokens", "a server need not say what it reused"


def test_what_was_written_ahead_is_underlined_on_demand(make_screen: Callable[..., Screen]) -> None:
    """It stays so when the conversation is opened again, also with what an answer goes on with."""
    tokens = ("In", " Leeds", ",", " in", " Leeds", ".")
    screen = make_screen(Script(tokens, reason="length", accepted=(3, 4)), Script((" Yes", " Leeds"), accepted=(1,)))
    screen.ask("Where?")
    screen.play()
    assert screen.answer().view.extraSelections() == []
    choose(screen, 1, "Underline what was written ahead")
    assert marked(screen) == [" in Leeds"]
    press(screen.answer().tools.go_on)
    screen.play()
    assert marked(screen) == [" in Leeds", " Leeds"]
    number = screen.session.conversation.id
    screen.session.new_conversation()
    screen.session.open(number)
    settle()
    assert marked(screen) == [" in Leeds", " Leeds"]
    assert "2 tokens a pass" not in screen.answer().strip.figures
    assert "3 of 6 guesses held" in screen.answer().strip.figures
    choose(screen, 1, "Underline what was written ahead")
    assert marked(screen) == []


def marked(screen: Screen) -> list[str]:
    return [mark.cursor.selectedText() for mark in screen.answer().view.extraSelections()]


def test_nothing_is_written_ahead_where_the_preferences_say_so(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(accepted=(3, 4)))
    dialogs = screen.application.dialogs
    dialogs.edit_preferences()
    preferences = dialogs.open_dialog
    assert isinstance(preferences, PreferencesDialog)
    preferences.write_ahead.setChecked(False)
    accept(preferences)
    screen.ask("Where?")
    screen.play()
    assert not screen.engine.requests[-1].write_ahead
    press(screen.answer().tools.more)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert not any("Underline" in action.text() for action in menu.actions())
    menu.close()


def test_what_cannot_be_done_now_is_said(screen: Screen) -> None:
    screen.ask("And then?")
    choose(screen, 0, "Delete this question")
    assert "Wait for its end" in screen.window.notice.text
    screen.play()


def test_the_overview_shows_where_it_branches_and_opens_a_version(screen: Screen) -> None:
    screen.ask("And then?")
    screen.play()
    press(screen.transcript.messages[2].tools.edit)
    screen.composer.set_text("And now?")
    screen.press(Qt.Key.Key_Return)
    screen.play()
    screen.window.commands.versions.trigger()
    dialog = screen.application.dialogs.open_dialog
    assert isinstance(dialog, BranchesDialog)
    tops = [dialog.tree.topLevelItem(place) for place in range(dialog.tree.topLevelItemCount())]
    assert [item.text(0) for item in tops if item] == ["You: Count.", "Answer: one two"]
    versions = [tops[1].child(place) for place in range(2)]  # type: ignore[union-attr]
    assert [(each.text(0), each.child(0).text(0), each.font(0).bold()) for each in versions] == [
        ("You: And then?", "Answer: three.", False),
        ("You: And now?", "Answer: three.", True),
    ]
    dialog.tree.setCurrentItem(versions[0])
    QTest.keyClick(dialog.tree, Qt.Key.Key_Return)
    settle()
    assert screen.application.dialogs.open_dialog is None
    assert screen.texts()[2] == "And then?"

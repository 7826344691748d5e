"""Folders, the top of the list, copies and deletions, as a user asks for them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QMenu

from app.settings import Settings
from app.sidebar.sidebar import headings_of
from app.window.name_dialog import NameDialog
from engine import DiskFullError, TextDelta
from tests.app.fake_engine import Script
from tests.app.window.conftest import Screen, settle


@pytest.fixture
def screen(make_screen: Callable[..., Screen]) -> Screen:
    """A window with three conversations, the last of which is in view."""
    screen = make_screen()
    for text in ("Parcels", "Tents", "Boats"):
        screen.window.commands.new.trigger()
        screen.ask(text)
        screen.play()
    return screen


def titles(screen: Screen) -> list[str]:
    settle()
    return [row.title for row in screen.window.sidebar.list.rows]


def menu_of(screen: Screen, title: str) -> QMenu:
    """Go to a row with the arrow keys and press the menu key."""
    rows = screen.window.sidebar.list
    rows.setFocus()
    QTest.keyClick(rows, Qt.Key.Key_Home)
    for _ in range(titles(screen).index(title)):
        QTest.keyClick(rows, Qt.Key.Key_Down)
    QTest.keyClick(rows, Qt.Key.Key_Menu)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def choose(menu: QMenu, *path: str) -> None:
    """Go through a menu, and those below it, with the keyboard."""
    for text in path:
        action = next(each for each in menu.actions() if each.text().replace("&&", "&").split("  (")[0] == text)
        below = action.menu()
        menu.setActiveAction(action)
        QTest.keyClick(menu, Qt.Key.Key_Return)
        settle()
        assert below is None or below.isVisible()
        menu = below or menu


def click_folders(screen: Screen, *path: str) -> None:
    """Open the menu of folders with the keyboard, and click."""
    button = screen.window.sidebar.folder_button
    button.menu().popup(button.mapToGlobal(button.rect().bottomLeft()))
    choose(button.menu(), *path)
    button.menu().close()


def name(screen: Screen, text: str) -> NameDialog:
    """Type a name into the dialog and press Enter."""
    dialog = screen.application.dialogs.open_dialog
    assert isinstance(dialog, NameDialog)
    dialog.field.selectAll()
    QTest.keyClicks(dialog.field, text)
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    settle()
    return dialog


def undo(screen: Screen) -> None:
    QTest.mouseClick(screen.window.notice.offer, Qt.MouseButton.LeftButton)
    settle()


def test_a_conversation_is_kept_at_the_top(screen: Screen) -> None:
    choose(menu_of(screen, "Parcels"), "Keep at the top")
    assert titles(screen) == ["Parcels", "Boats", "Tents"]
    assert headings_of(screen.window.sidebar.list.rows, time.time()) == {0: "Kept at the top", 1: "Today"}
    choose(menu_of(screen, "Parcels"), "Keep no longer at the top")
    assert titles(screen) == ["Boats", "Tents", "Parcels"]


def test_folders_are_made_filled_listed_renamed_and_deleted(screen: Screen) -> None:
    choose(menu_of(screen, "Tents"), "Move to a folder", "New folder…")
    name(screen, "R&D")
    choose(menu_of(screen, "Boats"), "Move to a folder", "R&D")
    assert len(titles(screen)) == 3
    click_folders(screen, "R&D")
    assert titles(screen) == ["Boats", "Tents"]
    assert screen.window.sidebar.folder_button.accessibleName() == "Folder: R&D"
    screen.window.commands.new.trigger()
    screen.ask("Canoes")
    screen.play()
    assert titles(screen) == ["Canoes", "Boats", "Tents"]  # what is begun here is filed here
    click_folders(screen, "Rename this folder…")
    name(screen, "Camping")
    assert screen.window.sidebar.folder_button.accessibleName() == "Folder: Camping"
    choose(menu_of(screen, "Boats"), "Move to a folder", "Out of its folder")
    assert titles(screen) == ["Canoes", "Tents"]
    screen.window.sidebar.search.setText("Parcels")
    assert titles(screen) == ["Parcels"]  # what is searched for is found in all folders
    screen.window.sidebar.search.clear()
    click_folders(screen, "Delete this folder, keep its conversations")
    assert len(titles(screen)) == 4
    assert screen.window.sidebar.folder_button.accessibleName() == "Folder: Conversations"


def test_a_name_of_no_use_is_said_in_the_dialog(screen: Screen) -> None:
    screen.application.filing_presenter.ask_folder()
    dialog = name(screen, " ")
    assert dialog.isVisible()
    assert dialog.wrong.text() == "Give the folder a name."
    dialog.buttons.button(QDialogButtonBox.StandardButton.Cancel).click()
    settle()
    assert screen.application.dialogs.open_dialog is None


def test_a_copy_is_opened_and_costs_nothing(screen: Screen) -> None:
    choose(menu_of(screen, "Tents"), "Duplicate")
    assert titles(screen)[0] == "Tents (copy)"
    assert screen.texts() == ["Tents", "Hello from a fake."]
    first, second = (
        screen.session.next_turn(row.id).messages  # type: ignore[union-attr]
        for row in screen.window.sidebar.list.rows
        if row.title.startswith("Tents")
    )
    assert first == second  # token by token the same prompt, so that all of it is remembered


def test_a_deletion_is_taken_back_with_a_click(screen: Screen) -> None:
    screen.window.sidebar.list.setFocus()
    menu_of(screen, "Boats").close()
    QTest.keyClick(screen.window.sidebar.list, Qt.Key.Key_Delete)
    assert titles(screen) == ["Tents", "Parcels"]
    assert screen.window.notice.text == "“Boats” is deleted."
    assert screen.texts() == []
    undo(screen)
    assert titles(screen) == ["Boats", "Tents", "Parcels"]
    assert screen.texts() == ["Boats", "Hello from a fake."]
    assert screen.window.notice.text == ""
    assert not any(call.startswith("forget") for call in screen.engine.calls)  # the engine has all of it still


def test_an_undo_that_fails_is_offered_again(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(statement: str, *values: object) -> int:
        raise DiskFullError("The disk is full.")

    choose(menu_of(screen, "Boats"), "Delete")
    with monkeypatch.context() as patch:
        patch.setattr(screen.application.history.file, "change", no_room)
        undo(screen)
    assert screen.window.notice.text == "The disk is full."
    undo(screen)
    assert titles(screen) == ["Boats", "Tents", "Parcels"]
    assert screen.window.notice.text == ""


def close_notice(screen: Screen) -> None:
    QTest.mouseClick(screen.window.notice.close_button, Qt.MouseButton.LeftButton)


def ask_next(screen: Screen) -> None:
    screen.ask("Canoes")


def delete_next(screen: Screen) -> None:
    choose(menu_of(screen, "Tents"), "Delete")


def test_closing_makes_a_deletion_final(screen: Screen) -> None:
    choose(menu_of(screen, "Boats"), "Delete")
    screen.window.close()
    assert "forget #3" in screen.engine.calls


@pytest.mark.parametrize("go_on", [close_notice, ask_next, delete_next])
def test_a_deletion_is_final_when_its_notice_goes(
    screen: Screen, tmp_path: Path, go_on: Callable[[Screen], None]
) -> None:
    choose(menu_of(screen, "Boats"), "Delete")
    go_on(screen)
    screen.play()
    while screen.session.forgetting.timer.isActive():
        settle()
    assert "Boats" not in titles(screen)
    assert "forget #3" in screen.engine.calls
    assert not any(b"boats" in each.read_bytes().lower() for each in tmp_path.glob("history*"))


def test_what_is_being_written_is_stopped_and_comes_back(screen: Screen) -> None:
    screen.ask("And sails?")
    screen.until(TextDelta)
    number = screen.session.conversation.id
    screen.window.commands.delete.trigger()
    screen.play()
    assert not screen.session.answers.is_answering
    undo(screen)
    assert screen.session.conversation.id == number
    assert screen.texts() == ["Boats", "Hello from a fake.", "And sails?", "Hello"]


def test_the_menu_of_the_window_files_the_conversation_in_view(screen: Screen) -> None:
    menu = screen.window.commands.filing_menu
    menu.popup(screen.window.pos())
    choose(menu, "Keep at the top")
    assert screen.application.filing.entry(screen.session.conversation.id).is_top  # type: ignore[union-attr]
    screen.window.commands.new.trigger()
    menu.popup(screen.window.pos())
    assert [action.isEnabled() for action in menu.actions()] == [False]


def test_the_model_writes_a_title_when_it_is_asked_to(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(), Script(tokens=("All about", " tents")))
    screen.ask("What is a tent?")
    screen.play()
    choose(menu_of(screen, "What is a tent?"), "Have the model write a title")
    screen.play()
    assert titles(screen) == ["All about tents"]
    assert "tokens read for it" in screen.window.notice.text
    assert screen.texts() == ["What is a tent?", "Hello from a fake."]


def test_the_model_writes_a_title_behind_the_first_answer_where_that_is_wanted(
    make_screen: Callable[..., Screen],
) -> None:
    scripts = (Script(), Script(tokens=("Tents",)), Script())
    screen = make_screen(*scripts, settings=Settings(theme="light", write_titles=True))
    for text in ("What is a tent?", "And a rope?"):
        screen.ask(text)
        screen.play()
        screen.play()
        assert titles(screen) == ["Tents"]
    assert len(screen.engine.requests) == 3


def test_a_title_of_the_users_own_stays_when_the_first_question_is_answered_again(
    make_screen: Callable[..., Screen],
) -> None:
    screen = make_screen(settings=Settings(theme="light", write_titles=True))
    screen.ask("What is a tent?")
    screen.play()
    screen.session.rename(screen.session.conversation.id, "Mine")
    asked = len(screen.engine.requests)
    screen.window.commands.retry.trigger()
    screen.play()
    screen.transcript.messages[0].tools.edit.click()
    screen.composer.set_text("What is a rope?")
    screen.press(Qt.Key.Key_Return)
    screen.play()
    assert titles(screen) == ["Mine"]
    assert len(screen.engine.requests) == asked + 2


def test_a_copy_is_answered_by_the_same_server(screen: Screen) -> None:
    screen.application.answered_by.choose("http://elsewhere/v1")
    choose(menu_of(screen, "Boats"), "Duplicate")
    assert screen.session.conversation.title == "Boats (copy)"
    assert screen.application.answered_by.server() == "http://elsewhere/v1"

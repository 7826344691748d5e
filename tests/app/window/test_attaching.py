"""Files given to a question: read beside the window, counted, sent in front of it, kept with it, refused in figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QFileDialog, QToolButton
from pytestqt.qtbot import QtBot

from app.transcript.message import Question
from tests.app.fake_engine import MODEL, Script, words
from tests.app.window.conftest import Screen, settle


def give(screen: Screen, qtbot: QtBot, *paths: Path) -> None:
    """Drop files on the window, wait until they are read, and let the engine count them."""
    drop(screen, qtbot, *paths)
    count(screen)


def drop(screen: Screen, qtbot: QtBot, *paths: Path) -> None:
    """Drop files on the window, and wait until they are read."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    buttons, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    screen.window.dropEvent(QDropEvent(QPointF(9, 9), Qt.DropAction.CopyAction, data, buttons, none))
    assert screen.composer.files.stop.isVisible()
    qtbot.waitUntil(lambda: not screen.composer.files.stop.isVisible())


def count(screen: Screen) -> None:
    """Nothing has changed for a while: previews are asked for and come."""
    screen.session.cost.draft.ask()
    screen.session.cost.files.ask()
    screen.play()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.md"
    path.write_text("A tent keeps you dry.\n" * 20)
    return path


def test_a_file_is_counted_sent_in_front_of_the_question_and_kept_with_it(
    screen: Screen, qtbot: QtBot, notes: Path
) -> None:
    give(screen, qtbot, notes)
    assert screen.composer.files.names == ["notes.md, 439 characters"]
    assert "tokens, read once in about" in screen.composer.files.says.text()
    screen.ask("What is it for?")
    screen.play()
    sent = screen.engine.requests[0].messages[-1].content
    assert sent.startswith('<file name="notes.md">\nA tent keeps')
    assert sent.endswith("</file>\n\nWhat is it for?")
    assert screen.composer.files.isHidden()
    question = screen.transcript.messages[0]
    assert isinstance(question, Question)
    assert (question.text, question.files[0].line.words) == ("What is it for?", "notes.md · 439 characters")
    question.files[0].line.click()
    assert question.files[0].view.toPlainText().startswith("A tent keeps you dry.")
    screen.ask("And then?")
    screen.play()
    assert [each.content for each in screen.engine.requests[1].messages if each.role == "user"] == [sent, "And then?"]


def test_a_file_stays_with_a_question_that_is_edited_asked_again_or_opened_later(
    make_screen: Callable[..., Screen], qtbot: QtBot, notes: Path
) -> None:
    screen = make_screen()
    give(screen, qtbot, notes)
    screen.ask("First?")
    screen.play()
    screen.presenter = screen.application.presenter
    screen.presenter.retry()
    screen.play()
    screen.transcript.messages[0].tools.edit.click()
    assert screen.composer.files.names == ["notes.md, 439 characters"]
    screen.composer.set_text("Second?")
    screen.press(Qt.Key.Key_Return)
    screen.play()
    again, edited = screen.engine.requests[1:]
    assert again.messages == screen.engine.requests[0].messages
    assert edited.messages[-1].content == again.messages[-1].content.replace("First?", "Second?")
    screen.window.close()
    later = make_screen()
    later.session.open(1)
    settle()
    assert [file.line.words for file in later.transcript.messages[0].files] == ["notes.md · 439 characters"]


def test_what_cannot_be_read_is_said_and_the_others_are_read(
    screen: Screen, qtbot: QtBot, notes: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "photo.png"
    picture.write_bytes(b"\x89PNG\r\n")
    give(screen, qtbot, picture, notes)
    qtbot.waitUntil(lambda: bool(screen.composer.files.names))
    assert screen.window.notice.text.startswith("photo.png is a picture")
    assert screen.composer.files.names == ["notes.md, 439 characters"]


def test_a_file_is_taken_away_again(screen: Screen, qtbot: QtBot, notes: Path) -> None:
    give(screen, qtbot, notes)
    remove = [each for each in screen.composer.files.findChildren(QToolButton) if "away" in each.accessibleName()]
    remove[0].click()
    assert screen.composer.files.isHidden()
    screen.ask("Alone?")
    assert screen.engine.requests[0].messages[-1].content == "Alone?"
    screen.play()


def test_files_are_chosen_and_nothing_is_sent_while_one_is_read(
    screen: Screen, qtbot: QtBot, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(notes)], ""))
    screen.composer.attach.click()
    screen.ask("Too soon?")
    assert (screen.engine.requests, screen.composer.button.isEnabled()) == ([], False)
    qtbot.waitUntil(lambda: screen.composer.button.isEnabled())
    screen.press(Qt.Key.Key_Return)
    assert "A tent" in screen.engine.requests[0].messages[-1].content
    screen.play()


def test_reading_is_stopped(screen: Screen, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(notes), str(notes)], ""))
    screen.composer.attach.click()
    screen.composer.files.stop.click()
    assert screen.composer.files.isHidden()
    screen.ask("Alone?")
    assert screen.engine.requests[0].messages[-1].content == "Alone?"
    screen.play()


def test_a_file_over_the_context_is_refused_in_figures_and_its_beginning_is_offered(
    make_screen: Callable[..., Screen], qtbot: QtBot, tmp_path: Path
) -> None:
    screen = make_screen(Script(words("Yes.")), model=replace(MODEL, context_length=1000))
    long = tmp_path / "long.txt"
    long.write_text("word " * 4000)
    give(screen, qtbot, long)
    notice = screen.window.notice
    assert notice.text.startswith("long.txt has about ")
    assert "and the model reads 1,000 with everything else. It was not attached." in notice.text
    assert screen.composer.files.isHidden()
    notice.offer.click()
    count(screen)
    assert "the first " in screen.composer.files.names[0]
    assert notice.text == ""
    screen.ask("What is it?")
    screen.play()
    assert screen.engine.requests[0].messages[-1].content.startswith('<file name="long.txt (the first ')


def test_files_stay_with_the_draft_of_their_conversation(screen: Screen, qtbot: QtBot, notes: Path) -> None:
    screen.ask("First?")
    screen.play()
    give(screen, qtbot, notes)
    screen.session.new_conversation()
    assert screen.composer.files.isHidden()
    screen.session.open(1)
    assert screen.composer.files.names == ["notes.md, 439 characters"]


def test_a_question_that_is_taken_back_comes_with_its_files(
    make_screen: Callable[..., Screen], qtbot: QtBot, notes: Path
) -> None:
    screen = make_screen(loaded=False)
    drop(screen, qtbot, notes)
    screen.ask("Too soon?")
    screen.press(Qt.Key.Key_Escape)
    screen.play()
    assert screen.composer.text == "Too soon?"
    assert screen.composer.files.names == ["notes.md, 439 characters"]


def test_a_file_is_not_given_to_an_answer(screen: Screen, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(notes)], ""))
    screen.ask("First?")
    screen.play()
    screen.answer().tools.edit.click()
    screen.composer.attach.click()
    assert "not with an answer" in screen.window.notice.text
    assert screen.composer.button.isEnabled()
    assert screen.composer.files.isHidden()


def test_a_file_stays_with_what_it_was_given_to(
    screen: Screen, qtbot: QtBot, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where an answer is edited before the file is read."""
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(notes)], ""))
    screen.ask("First?")
    screen.play()
    screen.composer.attach.click()
    screen.answer().tools.edit.click()
    qtbot.waitUntil(lambda: screen.composer.button.isEnabled())
    assert screen.composer.files.isHidden()
    screen.press(Qt.Key.Key_Escape)
    assert screen.composer.files.names == ["notes.md, 439 characters"]

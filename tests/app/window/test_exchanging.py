"""Conversations out of the window and in: each kind of file, a backup, and going back to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pypdf import PdfReader
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.transcript.page import to_html
from tests.app.exchange.test_reading import CHATGPT, OWN, saved
from tests.app.fake_engine import Script, words
from tests.app.window.conftest import Screen


def choose(monkeypatch: pytest.MonkeyPatch, path: Path, kind: str = "") -> None:
    for name in ("getSaveFileName", "getOpenFileName"):
        monkeypatch.setattr(QFileDialog, name, lambda *_: (str(path), kind))


ANSWER = "A *shelter*, $x^2$, ![cat](http://b.example/cat.png) <img src=x>"


@pytest.fixture
def asked(make_screen) -> Screen:
    screen = make_screen(Script(words(ANSWER)))
    screen.ask("What is a <tent>?")
    screen.play()
    return screen


@pytest.mark.parametrize(("chosen", "written"), [("a.md", "a.md"), ("a", "a.html"), ("a.headstart", "a.headstart")])
def test_a_conversation_is_exported_as_its_ending_says(
    asked: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str, written: str
) -> None:
    choose(monkeypatch, tmp_path / chosen, "Web page (*.html)")
    asked.window.commands.export.trigger()
    text = (tmp_path / written).read_text("utf-8")
    assert "shelter" in text
    assert asked.window.notice.text == f"This conversation was written to {tmp_path / written}."


def test_a_page_loads_nothing_and_runs_nothing(asked: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choose(monkeypatch, tmp_path / "a.html")
    asked.window.commands.export.trigger()
    page = (tmp_path / "a.html").read_text("utf-8")
    for part in ("<em>shelter</em>", "<svg", "What is a &lt;tent&gt;?", "default-src 'none'"):
        assert part in page
    assert "<img" not in page
    assert "Hm." in to_html(OWN)


def test_a_conversation_is_printed_as_pdf(asked: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choose(monkeypatch, tmp_path / "a.pdf")
    asked.window.commands.export.trigger()
    pages = PdfReader(tmp_path / "a.pdf").pages
    assert "What is a <tent>?" in " ".join(pages[0].extract_text().split())
    choose(monkeypatch, tmp_path / "nowhere" / "a.pdf")
    asked.window.commands.export.trigger()
    assert asked.window.notice.text.startswith("a.pdf could not be written")


def test_conversations_are_imported_and_the_newest_is_opened(
    screen: Screen, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(monkeypatch, saved(tmp_path, "conversations.json", CHATGPT))
    screen.window.commands.take_in.trigger()
    qtbot.waitUntil(lambda: "imported" in screen.window.notice.text)
    assert screen.window.notice.text == "1 conversation imported. 1 conversation could not be read."
    assert screen.texts() == ["What is a tent?", "A shelter."]
    screen.ask("And its poles?")
    screen.play()
    assert [each.content for each in screen.engine.requests[0].messages][:2] == ["What is a tent?", "A shelter."]


def test_what_cannot_be_imported_is_said(screen: Screen, qtbot: QtBot, tmp_path: Path) -> None:
    screen.application.open_files(str(tmp_path / "gone.headstart"))
    qtbot.waitUntil(lambda: "gone.headstart could not be read" in screen.window.notice.text)
    assert screen.session.conversations() == []


def test_an_empty_conversation_has_nothing_to_export(screen: Screen) -> None:
    screen.window.commands.export.trigger()
    assert "nothing to export" in screen.window.notice.text


def test_a_backup_is_written_and_gone_back_to(asked: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choose(monkeypatch, tmp_path / "b.zip")
    asked.window.commands.back_up.trigger()
    assert asked.window.notice.text.startswith("Conversations, saved system prompts and settings were written")
    asked.window.commands.restore.trigger()
    box = asked.application.exchanging.box
    assert box is not None
    box.buttons[0].click()
    folder = asked.application.to_restore
    assert folder is not None
    assert (Path(folder.name) / "history.sqlite3").is_file()
    folder.cleanup()


def test_what_is_no_backup_changes_nothing(screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choose(monkeypatch, saved(tmp_path, "b.zip", json.dumps(1)))
    screen.window.commands.restore.trigger()
    assert "is no backup of Headstart" in screen.window.notice.text
    assert screen.application.to_restore is None

"""The user has everything deleted: asked once, told what and how much, and the program ends before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app import application
from app.own_data import Kept
from app.widgets.message_box import MessageBox
from app.window import dialogs
from tests.app.window.conftest import Screen, settle


def test_it_is_asked_once_and_done_after_the_end(
    screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [Kept("Conversations", (tmp_path / "history.sqlite3",), 2_500_000), Kept("Settings", (), 40)]
    monkeypatch.setattr(dialogs, "everything", lambda: kept)
    screen.application.dialogs.edit_preferences()
    screen.application.dialogs.open_dialog.deletion_wanted.emit()
    box = screen.application.dialogs.open_dialog
    assert isinstance(box, MessageBox)
    assert "2.5 MB in all" in box.text
    assert "Conversations: 2.5 MB\nSettings: 0 kB" in box.more
    box.press("Delete and close")
    settle()
    assert screen.application.to_delete
    assert not screen.window.isVisible()
    assert screen.application.engine_ended
    monkeypatch.setattr(application, "everything", lambda: kept)
    application.delete_data()
    assert not (tmp_path / "history.sqlite3").exists()


def test_whoever_cancels_keeps_everything(screen: Screen) -> None:
    screen.application.dialogs.confirm_deletion()
    screen.application.dialogs.open_dialog.reject()
    settle()
    assert screen.application.to_delete is False
    assert screen.window.isVisible()

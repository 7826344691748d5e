"""The window on conversations that cannot be written: they are read, and what is not stored is said."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.app.window.conftest import Screen, settle


def test_chats_can_be_read_and_a_question_is_not_lost(
    tmp_path: Path, make_screen: Callable[..., Screen], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = make_screen()
    first.ask("Remember me")
    first.play()
    first.window.close()
    connect = sqlite3.connect

    def open_it(database: object, **options: Any) -> sqlite3.Connection:
        is_ours = database == tmp_path / "history.sqlite3"  # also for an administrator, whom permissions do not stop
        return connect(f"file:{database}?mode=ro", uri=True, **options) if is_ours else connect(database, **options)

    monkeypatch.setattr(sqlite3, "connect", open_it)
    second = make_screen()
    assert "your conversations can be read, and nothing new is stored" in second.window.notice.text
    second.window.sidebar.list.opened.emit(second.window.sidebar.list.rows[0].id)
    settle()
    assert second.texts() == ["Remember me", "Hello from a fake."]
    second.ask("And me?")
    assert "cannot be written" in second.window.notice.text
    assert second.composer.text == "And me?"
    assert len(second.texts()) == 2

"""Conversations with odd values in the window: each is listed and opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.history.history import History
from tests.app.odd_rows import COLUMNS, VALUES, ask, begin, loosen, spoil
from tests.app.window.conftest import Screen, settle

PLACES = [(table, column) for table, column in COLUMNS if table in ("conversation", "message") and column != "id"]


@pytest.mark.parametrize(("table", "column"), PLACES)
def test_every_chat_opens(tmp_path: Path, make_screen: Callable[..., Screen], table: str, column: str) -> None:
    path = tmp_path / "history.sqlite3"
    history = History(path)
    for value in VALUES:
        ask(history, begin(history, repr(value)[:20]), None)
    history.close()
    loosen(path)
    rows = range(1, 2 * len(VALUES), 2) if table == "message" else range(len(VALUES))
    spoil(path, [(table, column, row, value) for row, value in zip(rows, VALUES, strict=True)])
    screen = make_screen()
    assert len(screen.window.sidebar.list.rows) == len(VALUES)
    for row in screen.window.sidebar.list.rows:
        screen.window.sidebar.list.opened.emit(row.id)
        settle()
        assert screen.session.conversation.id == row.id
    screen.ask("Go on")
    screen.play()
    assert screen.texts()[-1] == "Hello from a fake."

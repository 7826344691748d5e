"""Conversations with odd values in the window: each is listed and opened."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
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


def test_a_chat_with_ids_beyond_32_bits_is_used_like_any_other(
    tmp_path: Path, make_screen: Callable[..., Screen]
) -> None:
    path = tmp_path / "history.sqlite3"
    History(path).close()
    with closing(sqlite3.connect(path)) as db:
        for table in ("conversation", "message", "preset"):
            db.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (table, 2**40))
        db.commit()
    screen = make_screen()
    screen.ask("One")
    screen.play()
    number = screen.session.conversation.id
    question, answer = (message.id for message in screen.session.messages)
    assert min(number, question, answer) > 2**40
    assert screen.answer().strip.text
    screen.transcript.messages[0].tools.edit.pointed.emit(True)
    screen.transcript.messages[0].tools.edit.click()
    assert screen.composer.editing == question
    screen.ask("Two")
    screen.play()
    screen.transcript.messages[0].tools.before.click()
    assert [message.id for message in screen.session.messages] == [question, answer]
    screen.window.commands.new.trigger()
    screen.window.sidebar.list.opened.emit(number)
    assert screen.session.conversation.id == number
    screen.window.commands.new.trigger()
    screen.window.charts.turn_chosen.emit(answer)
    assert screen.session.conversation.id == number
    screen.window.sidebar.list.delete_wanted.emit(number)
    assert "One" in screen.application.dialogs.open_dialog.text  # type: ignore[union-attr]

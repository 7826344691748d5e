"""Long chats and long lists: counted in statements and pieces, since clocks say little on a busy computer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.history.history import History
from app.history.words import PIECE_MESSAGES
from app.sidebar.list_search import ListSearch
from app.transcript.transcript import FIRST_IN_VIEW
from engine import Divergence, Sampling, TtftParts, TurnStats
from tests.app.conftest import timer_of
from tests.app.window.conftest import Screen, settle

DAY = date(2026, 3, 14)
TURNS = 60
STATS = TurnStats(7, 100, 64, 36, 12, 0.25, TtftParts(prefill=0.2), 41.5, 1.5, True, 1 << 33)
DIVERGENCE = Divergence(64, 1, "edited", "old", "new", 36)


def write_long_chat(path: Path) -> None:
    """A chat in which every prompt left the cache."""
    history = History(path)
    with history.together():
        number, last = history.create("Be brief.", Sampling(), DAY, "Long").id, None
        for _ in range(TURNS):
            question = history.append(number, last, "user", "Why?").id
            answer = history.append(number, question, "assistant", "Because.")
            last = answer.id
            history.note_system_prompt(last, "Be brief.")
            history.finish(replace(answer, token_ids=(1, 2), stats=STATS, divergence=DIVERGENCE, finish_reason="end"))
    history.close()


def test_a_long_chat_is_opened_with_a_handful_of_statements(tmp_path: Path, make_screen: Callable[..., Screen]) -> None:
    write_long_chat(tmp_path / "history.sqlite3")
    screen = make_screen()
    statements: list[str] = []
    screen.application.history.file.db.set_trace_callback(statements.append)
    screen.window.sidebar.list.opened.emit(1)
    settle()
    assert len(screen.session.messages) == 2 * TURNS
    assert len(screen.texts()) >= 50
    assert len(statements) < 12, statements


@pytest.mark.parametrize("change", ["dark", "larger"])
def test_another_look_builds_what_is_in_view_and_the_rest_between_events(
    tmp_path: Path, make_screen: Callable[..., Screen], change: str
) -> None:
    """To draw all of a long chat anew at once stopped the window for a second."""
    write_long_chat(tmp_path / "history.sqlite3")
    screen = make_screen()
    screen.window.sidebar.list.opened.emit(1)
    settle()
    whole = len(screen.texts())
    commands = screen.window.commands
    (commands.larger if change == "larger" else commands.themes[change]).trigger()
    assert not screen.transcript.built, "what is around the messages comes first"
    timer_of(screen.application.presenter).timeout.emit()
    assert len(screen.transcript.built) == FIRST_IN_VIEW
    assert len(screen.texts()) == whole
    assert screen.transcript.following


def test_another_look_leaves_the_reader_where_he_was(tmp_path: Path, make_screen: Callable[..., Screen]) -> None:
    write_long_chat(tmp_path / "history.sqlite3")
    screen = make_screen()
    screen.window.sidebar.list.opened.emit(1)
    settle()
    wanted = screen.session.messages[-30].id
    screen.transcript.show_message(wanted)
    for theme in ("dark", "light"):
        screen.window.commands.themes[theme].trigger()
    settle()
    assert screen.transcript.top_id == wanted


def write_many_chats(path: Path, count: int) -> None:
    """Chats of one message, the oldest of which holds a word that no other has."""
    history = History(path)
    with history.together():
        for number in range(count):
            history.append(history.create("", Sampling(), DAY, f"Chat {number}").id, None, "user", f"word{number}.")
    history.close()


def test_a_search_lets_the_window_go_on_between_its_pieces(tmp_path: Path, make_screen: Callable[..., Screen]) -> None:
    write_many_chats(tmp_path / "history.sqlite3", 5 * PIECE_MESSAGES)
    screen = make_screen()
    statements: list[str] = []
    trace = screen.application.history.file.db.set_trace_callback
    trace(lambda said: statements.append(said) if not said.startswith("--") else None)  # "--": of FTS5 itself
    screen.window.sidebar.search.setText("word0.")
    assert len(statements) <= 2  # at most two pieces, and the list was read at the start; the event loop does the rest
    while len(statements) < 6:
        settle()
    settle()
    assert [row.title for row in screen.window.sidebar.list.rows] == ["Chat 0"]
    count = len(statements)
    settle()
    assert len(statements) == count  # it has come to its end


def test_the_list_is_read_once_until_something_changes(tmp_path: Path, make_screen: Callable[..., Screen]) -> None:
    write_many_chats(tmp_path / "history.sqlite3", 5)
    screen = make_screen()
    statements: list[str] = []
    screen.application.history.file.db.set_trace_callback(statements.append)
    screen.window.sidebar.search.setText("Chat 3")
    statements.clear()
    screen.window.sidebar.search.clear()
    assert (len(screen.window.sidebar.list.rows), statements) == (5, [])
    screen.session.rename(1, "Another name")
    assert screen.window.sidebar.list.rows[-1].title == "Another name"


def test_what_is_found_is_drawn_when_it_is_clearly_more(qtbot: QtBot) -> None:
    """Every row is laid out anew each time: so not after each piece."""
    counts = (10, 11, 12, 13, 20, 21, 22, 22, 22)
    search, drawn = ListSearch(lambda needle: iter([["row"] * count for count in counts])), []
    search.found.connect(lambda rows: drawn.append(len(rows)))
    search.start("row")
    qtbot.waitUntil(lambda: bool(drawn) and drawn[-1] == 22)
    settle()
    assert drawn == [11, 20, 22]


def test_what_was_found_stays_while_a_chat_changes(tmp_path: Path, make_screen: Callable[..., Screen]) -> None:
    write_many_chats(tmp_path / "history.sqlite3", 5 * PIECE_MESSAGES)
    screen = make_screen()
    screen.window.sidebar.search.setText("word0.")
    while not screen.window.sidebar.list.rows:
        settle()
    seen: list[int] = []
    screen.window.sidebar.list.model().modelReset.connect(lambda: seen.append(len(screen.window.sidebar.list.rows)))
    screen.session.rename(1, "Another name")
    while not seen:
        settle()
    assert seen == [1]
    assert screen.window.sidebar.list.rows[0].title == "Another name"


def test_a_search_ends_with_the_window(tmp_path: Path, make_screen: Callable[..., Screen]) -> None:
    write_many_chats(tmp_path / "history.sqlite3", 5 * PIECE_MESSAGES)
    screen = make_screen()
    screen.window.sidebar.search.setText("word0.")
    screen.window.close()
    settle()
    assert not screen.window.notice.isVisible()


def test_badges_read_one_row_in_a_turn_of_the_event_loop(tmp_path: Path, make_screen: Callable[..., Screen]) -> None:
    write_many_chats(tmp_path / "history.sqlite3", 5)
    screen = make_screen()
    badges, asked = screen.application.badges, []
    badges._request_of = asked.append  # there is no request to make for any row
    badges.refresh()
    badges.ask()
    for count in range(1, 6):
        assert len(asked) <= count
        QApplication.processEvents()
    while len(asked) < 5:
        QApplication.processEvents()
    settle()
    assert sorted(asked) == [1, 2, 3, 4, 5]

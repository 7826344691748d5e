"""What is read of a damaged file: every row that is on no damaged page."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from app.history import file as history_file
from app.history.history import History
from app.history.models import UsedModel
from engine import HeadstartError, Sampling
from tests.app.odd_rows import FINISHED

DAY = date(2026, 3, 14)
PAGE = 4096
CHATS, TURNS = 30, 6


def write(path: Path) -> None:
    """Conversations whose messages fill some hundred pages."""
    history = History(path)
    with history.together():
        for chat in range(CHATS):
            number, last = history.create("Be brief.", Sampling(), DAY, f"Chat {chat}").id, None
            for turn in range(TURNS):
                last = history.append(number, last, "user", f"question {chat} {turn} " * 60).id
                answer = history.append(number, last, "assistant", "")
                history.finish(replace(answer, **FINISHED))
                last = answer.id
    history.presets.add("Preset", "Be kind.")
    history.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "history.sqlite3"
    write(path)
    return path


def messages(history: History) -> int:
    return sum(len(history.messages(entry.id)) for entry in history.conversations())


def pages_of(path: Path, table: str) -> list[int]:
    """Which pages hold rows of a table, by what stands on them."""
    word = {"message": b"question ", "conversation": b"Chat "}[table]
    content = path.read_bytes()
    return [at // PAGE for at in range(PAGE, len(content), PAGE) if content.count(word, at, at + PAGE) > 1]


def damage(path: Path, *pages: int) -> None:
    content = bytearray(path.read_bytes())
    for page in pages:
        content[page * PAGE : (page + 1) * PAGE] = b"\xa5" * PAGE
    path.write_bytes(content)


def test_all_but_the_rows_of_damaged_pages_is_there(path: Path) -> None:
    damage(path, *pages_of(path, "message")[5:50:9])
    history = History(path)
    assert len(history.conversations()) == CHATS
    found = messages(history)
    assert 0.6 * CHATS * TURNS * 2 < found < CHATS * TURNS * 2
    assert f"{CHATS} conversations with {found} messages could be read of it" in history.notice
    assert [preset.name for preset in history.presets.all()] == ["Preset"]
    assert len(history.conversations("question 7")) == 1  # the index of words is there, too
    answer = next(each for each in history.messages(9) if each.role == "assistant")
    assert (answer.token_ids, answer.thought) == ((1, 2, 3), "Why indeed?")
    history.close()
    again = History(path)
    assert (messages(again), again.notice) == (found, "")
    again.close()


def test_messages_of_a_lost_conversation_are_in_one_without_a_title(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM conversation WHERE id = 3")  # without foreign keys, as a lost page would
        db.execute("DELETE FROM message WHERE id = 30")
        db.execute("DROP TABLE preset")
        db.commit()
    history = History(path)
    assert "Untitled" in [entry.title for entry in history.conversations()]
    assert len(history.messages(3)) == 2 * TURNS - 1  # also what stood behind the lost message
    history.close()


def test_what_stands_in_the_log_alone_is_read(path: Path) -> None:
    history = History(path)
    history.append(1, history.messages(1)[-1].id, "user", "In the log")
    log = path.with_name(f"{path.name}-wal")
    files = {each: each.read_bytes() for each in (path, log)}
    history.close()
    for each, content in files.items():
        each.write_bytes(content)
    damage(path, pages_of(path, "message")[-1])
    history = History(path)
    assert history.messages(1)[-1].content == "In the log"
    history.close()


def test_a_file_that_was_cut_gives_what_is_left(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2 // PAGE * PAGE])
    history = History(path)
    assert "could be read of it" in history.notice
    assert 0 < messages(history) < 2 * CHATS * TURNS
    history.close()


def test_a_large_file_is_not_looked_through_at_each_start(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But once damage was met in it, the next start does, and says what it found."""
    monkeypatch.setattr(history_file, "CHECKED_BYTES", 1000)
    damage(path, pages_of(path, "message")[20])
    history = History(path)
    assert history.notice == ""
    with pytest.raises(HeadstartError, match="Start Headstart again"):
        messages(history)
    history.close()
    history = History(path)
    assert "could be read of it" in history.notice
    history.close()
    assert sorted(each.name for each in path.parent.iterdir() if "suspect" in each.name) == []


def test_a_start_reads_no_more_of_a_long_history(path: Path) -> None:
    """The statements of a start use an index, or a table that stays small."""
    history = History(path)
    plan = history.file.query(
        "EXPLAIN QUERY PLAN SELECT id FROM message m WHERE m.role = 'assistant' AND m.finish_reason = ''"
    )
    assert "message_open" in str(plan)
    history.close()


def test_who_answers_and_what_was_deleted_are_read_too(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("INSERT INTO answered_by VALUES (0, 'http://new/v1'), (3, 'http://elsewhere/v1'), (99, 'lost')")
        db.execute("INSERT INTO model_of VALUES (3, '/models/a', 'A'), (99, '/lost', 'Lost')")
        db.execute("INSERT INTO deletion VALUES (4), (99)")
        db.commit()
    damage(path, pages_of(path, "message")[-1])
    history = History(path)
    assert f"{CHATS - 1} conversations with" in history.notice
    assert "Chat 3" not in [entry.title for entry in history.conversations()]  # the fourth
    assert [history.servers.of(number) for number in (0, 3, 5, 99)] == ["http://new/v1", "http://elsewhere/v1", "", ""]
    assert [history.models.of(number) for number in (3, 5, 99)] == [UsedModel("/models/a", "A"), None, None]
    assert history.filing.hidden() == ()
    history.close()

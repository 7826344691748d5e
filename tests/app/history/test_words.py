"""The index of words: it finds what messages say, and keeps none of what is gone."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.history.history import History
from engine import HeadstartError, Sampling
from tests.app.odd_rows import make_old_file

DAY = date(2026, 3, 14)
GONE = ("herons", "stilts", "reedbed")
"""Words that no other message has."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.sqlite3"


def begin(history: History, text: str) -> int:
    number = history.create("", Sampling(), DAY, "Title").id
    history.append(number, None, "user", text)
    return number


def words_in(path: Path) -> list[str]:
    """Which of the words stand in a file of the folder, also as FTS5 writes them: without what the word before has."""
    texts = [each.read_bytes().lower() for each in path.parent.iterdir()]
    return [word for word in GONE if any(word.encode() in text or word[1:].encode() in text for text in texts)]


def first_found(history: History, needle: str) -> list[int]:
    """The messages of the first piece."""
    return [number for number, _, _ in next(history.words.pieces(needle))]


@pytest.mark.parametrize(
    ("needle", "is_found"),
    [
        ("parcel", True),  # how a word begins
        ("my parcels are", True),  # several words, in this order
        ("are my", False),
        ("PARCELS", True),
        ('parcels" OR "x', False),  # no language of queries
        ("*", False),
        ("arcel", False),  # left to the look at all messages
    ],
)
def test_the_index_finds_words_by_their_beginning(path: Path, needle: str, is_found: bool) -> None:
    history = History(path)
    begin(history, "Where my parcels are")
    begin(history, "Tents")
    found = [rows for rows in history.words.pieces(needle) if rows]
    assert (len(found) == 2) == is_found  # the index first, then all messages
    history.close()


def test_an_answer_is_found_when_it_is_whole(path: Path) -> None:
    history = History(path)
    number = begin(history, "Why?")
    answer = history.append(number, history.messages(number)[0].id, "assistant", "")
    history.save_text(replace(answer, content="Because of herons"))
    assert answer.id not in [row[0] for row in next(history.words.pieces("herons")) if len(row[2]) > 30]
    history.finish(replace(answer, content="Because of herons and stilts", finish_reason="end"))
    assert first_found(history, "stilts") == [answer.id]
    history.close()


def delete(history: History, number: int) -> None:
    history.delete(number)


def discard(history: History, number: int) -> None:
    history.discard(history.messages(number)[0].id, None)


def change(history: History, number: int) -> None:
    history.finish(replace(history.messages(number)[0], content="Other", finish_reason=""))


@pytest.mark.parametrize("remove", [delete, discard, change])
@pytest.mark.parametrize("others", [0, 3, 40])
def test_no_word_of_what_is_gone_stays(path: Path, remove: Callable[[History, int], None], others: int) -> None:
    """Neither in the message nor in the index, which lies in several segments by then."""
    history = History(path)
    for each in range(others):
        begin(history, f"Other words {each} of other messages, hero and still and reed")
    number = begin(history, " ".join(GONE))
    for each in range(others):
        begin(history, f"And {each} later ones")
    assert words_in(path) == list(GONE)
    remove(history, number)
    history.words.forget_all()
    assert words_in(path) == []
    assert len(history.conversations("other words")) == others
    history.close()


def test_forgetting_goes_on_after_the_program_was_ended_in_the_middle(path: Path) -> None:
    history = History(path)
    for each in range(30):
        begin(history, f"Message {each}")
    number = begin(history, " ".join(GONE))
    history.delete(number)
    next(history.words.forget())
    history.file.close()  # as at the end of a process: nothing else is done
    history = History(path)
    history.words.forget_all()
    assert words_in(path) == []
    history.close()


def test_closing_forgets(path: Path) -> None:
    history = History(path)
    begin(history, "Kept")
    history.delete(begin(history, " ".join(GONE)))
    history.close()
    history.close()
    assert words_in(path) == []


def test_what_can_only_be_read_is_left_alone(path: Path) -> None:
    history = History(path)
    history.delete(begin(history, "Gone"))
    history.file.close()
    path.chmod(0o444)
    history = History(path)
    if history.file.is_read_only:  # root writes what nobody may
        assert list(history.words.forget()) == []
        with pytest.raises(HeadstartError):
            history.create("", Sampling(), DAY)
    history.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.lists(st.text(alphabet="ab \"'*^:(-\0ß中ä.", max_size=12), max_size=6), st.text('ab "*中.\0', max_size=4))
def test_a_search_finds_what_a_look_at_every_message_finds(path: Path, texts: list[str], needle: str) -> None:
    path.unlink(missing_ok=True)
    history = History(path)
    numbers = {begin(history, text): text for text in texts}
    found = {entry.id for entry in history.conversations(needle)}
    assert found == {number for number, text in numbers.items() if needle in text.casefold()}
    history.close()


def test_words_of_a_file_of_an_older_version_are_found(path: Path) -> None:
    make_old_file(path, 7, "Where are my parcels?")
    history = History(path)
    assert first_found(history, "parcels") == [1]
    assert re.match("Because", next(history.words.pieces("because"))[0][2])
    history.close()

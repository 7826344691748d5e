"""Conversations as a tree of messages in SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.history.history import History
from app.history.records import StoredMessage, pack_ids, read_divergence, read_sampling, read_stats, to_json, unpack_ids
from engine import Divergence, HeadstartError, Sampling, TemplateSettings, ToolCall, TtftParts, TurnStats

DAY = date(2026, 3, 14)
STATS = TurnStats(7, 100, 64, 36, 12, 0.25, TtftParts(prefill=0.2, first_token=0.05), 41.5, 1.5, True, 1 << 33)
DIVERGENCE = Divergence(64, -1, "reasoning removed", "old „text“", "new 😀", 36)


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    clock = count(1000)
    made = History(tmp_path / "history.sqlite3", clock=lambda: float(next(clock)))
    yield made
    made.close()


def write(history: History, conversation_id: int, *texts: str) -> list[StoredMessage]:
    """A branch of questions and answers in turn."""
    messages: list[StoredMessage] = []
    for index, text in enumerate(texts):
        parent = messages[-1].id if messages else None
        messages.append(history.append(conversation_id, parent, "assistant" if index % 2 else "user", text))
    return messages


def start(history: History, *texts: str, title: str = "") -> int:
    number = history.create("", Sampling(), DAY, title).id
    write(history, number, *texts)
    return number


def test_a_conversation_comes_back_as_it_was_created(history: History) -> None:
    created = history.create("Be brief.", Sampling(temperature=0.1, seed=3), DAY, "Title")
    assert history.conversation(created.id) == created
    assert (created.system_prompt, created.sampling, created.day) == ("Be brief.", Sampling(0.1, seed=3), DAY)
    assert (created.title, created.leaf_id) == ("Title", None)
    assert history.messages(created.id) == ()


def test_changes_are_kept(history: History) -> None:
    number = start(history)
    history.rename(number, "New title")
    history.set_system_prompt(number, "New prompt")
    history.set_sampling(number, Sampling(top_k=5))
    history.set_template(number, TemplateSettings("off", keep_thoughts=True, system_place="question"))
    history.set_notices(number, ("One.", "Two."))
    changed = history.conversation(number)
    assert (changed.title, changed.system_prompt, changed.sampling) == ("New title", "New prompt", Sampling(top_k=5))
    assert changed.template == TemplateSettings("off", keep_thoughts=True, system_place="question")
    assert changed.notices == ("One.", "Two.")


def test_an_answer_keeps_ids_figures_and_reason(history: History) -> None:
    number = start(history, "Hi", "")
    answer = history.messages(number)[-1]
    assert (answer.token_ids, answer.stats, answer.divergence, answer.finish_reason) == ((), None, None, "")
    ids = (0, 49_151, 65_536, 2**32 - 1)
    calls = (ToolCall("look_up", '{"q": "…"}', "1"), ToolCall("stop"))
    parts: dict[str, Any] = {"content": "Hello", "thought": "Hm\n\n\0", "tool_calls": calls, "token_ids": ids}
    parts["accepted"] = ((1, 3), (4, 5))
    finished = replace(answer, **parts, stats=STATS, divergence=DIVERGENCE, finish_reason="length")
    history.finish(finished)
    assert history.message(answer.id) == finished


def test_text_is_kept_to_the_character(history: History) -> None:
    text = " \r\n\t\0 سلام 👩‍👩‍👧 \n\n"
    number = start(history, text)
    assert history.messages(number)[0].content == text


def test_the_active_branch_ends_at_the_leaf(history: History) -> None:
    number = start(history, "1", "2", "3", "4")
    first = history.messages(number)
    other = history.append(number, first[1].id, "user", "3b")
    assert [message.content for message in history.messages(number)] == ["1", "2", "3b"]
    history.set_leaf(number, first[3].id)
    assert history.messages(number) == first
    assert [message.id for message in history.siblings(other.id)] == [first[2].id, other.id]


def test_siblings_of_a_first_question_are_those_of_its_conversation(history: History) -> None:
    one, two = start(history, "1"), start(history, "2")
    history.append(one, None, "user", "1b")
    assert [message.content for message in history.siblings(history.messages(one)[0].id)] == ["1", "1b"]
    assert [message.content for message in history.siblings(history.messages(two)[0].id)] == ["2"]


def test_the_newest_leaf_is_what_was_written_last_below(history: History) -> None:
    number = start(history, "1", "2", "3", "4")
    messages = history.messages(number)
    other = history.append(number, messages[1].id, "user", "3b")
    assert history.newest_leaf(messages[0].id) == other.id
    assert history.newest_leaf(messages[2].id) == messages[3].id
    assert history.newest_leaf(other.id) == other.id


def test_newest_conversation_first(history: History) -> None:
    one, two, three = (start(history, text) for text in "abc")
    write(history, one, "again")
    assert [conversation.id for conversation in history.conversations()] == [one, three, two]


@pytest.mark.parametrize(
    ("needle", "found"),
    [("überraschung", ["a"]), ("100%", ["b"]), ("_", []), ("LASAGNE", ["c"]), ("", ["c", "b", "a"])],
)
def test_search_looks_in_titles_and_messages_in_any_case(history: History, needle: str, found: list[str]) -> None:
    start(history, "Eine ÜBERRASCHUNG", title="a")
    start(history, "x", "It is 100% sure", title="b")
    number = start(history, "y", title="c")
    history.append(number, None, "user", "a branch out of view: Lasagne")
    history.set_leaf(number, None)
    assert [conversation.title for conversation in history.conversations(needle)] == found


def test_a_search_looks_on_behind_what_is_not_listed(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """A conversation that another program gave the id 0 is none of ours."""
    monkeypatch.setattr("app.history.words.PIECE_MESSAGES", 1)
    one, two = start(history, "a word"), start(history, "a word")
    columns = "title, system_prompt, sampling, day, created, updated"
    history.file.change(
        f"INSERT INTO conversation(id, {columns}) SELECT 0, {columns} FROM conversation WHERE id = ?", two
    )
    write(history, 0, "a word")
    assert [conversation.id for conversation in history.conversations("word")] == [two, one]


def test_the_list_holds_nothing_that_was_taken_back(history: History) -> None:
    kept = start(history, "Kept")

    def change() -> None:
        start(history, "Taken back")
        assert len(history.conversations()) == 2
        raise ValueError("No")

    with pytest.raises(ValueError, match="No"), history.together():
        change()
    assert [conversation.id for conversation in history.conversations()] == [kept]


def test_delete_takes_the_messages_along_and_no_id_comes_back(history: History) -> None:
    number = start(history, "1", "2")
    last = history.messages(number)[-1].id
    history.delete(number)
    with pytest.raises(HeadstartError, match="no longer there"):
        history.conversation(number)
    with pytest.raises(HeadstartError, match="no longer there"):
        history.message(last)
    again = start(history, "3")
    assert again > number
    assert history.messages(again)[0].id > last


def test_discard_moves_the_leaf_back(history: History) -> None:
    number = start(history, "1", "")
    question, answer = history.messages(number)
    history.discard(answer.id, question.id)
    assert history.messages(number) == (question,)
    assert history.conversation(number).leaf_id == question.id


def test_together_is_all_or_nothing(history: History) -> None:
    number = start(history, "1")
    with pytest.raises(ZeroDivisionError):
        change_and_fail(history, number)
    assert history.conversation(number).title == ""
    assert len(history.messages(number)) == 1
    history.rename(number, "works again")
    assert history.conversation(number).title == "works again"


def change_and_fail(history: History, number: int) -> None:
    with history.together():
        history.rename(number, "never")
        with history.together():
            history.append(number, None, "user", "never")
        raise ZeroDivisionError


@given(st.lists(st.integers(0, 2**32 - 1)))
def test_ids_come_back_identical_at_four_bytes_each(ids: list[int]) -> None:
    packed = pack_ids(tuple(ids))
    assert len(packed) == 4 * len(ids)
    assert unpack_ids(packed) == tuple(ids)


def test_ids_are_written_the_same_on_every_machine() -> None:
    assert pack_ids((1, 256)) == b"\x01\0\0\0\0\x01\0\0"


def test_values_come_back_equal() -> None:
    sampling = Sampling(0.0, 0.5, 3, 0.1, 1.1, 9, 10)
    assert read_sampling(to_json(sampling)) == sampling
    assert read_stats(to_json(STATS)) == STATS
    assert read_divergence(to_json(DIVERGENCE)) == DIVERGENCE
    assert (read_stats(to_json(None)), read_divergence(to_json(None))) == (None, None)


def test_a_field_that_is_gone_is_ignored_and_a_new_one_has_its_default() -> None:
    assert read_sampling('{"temperature": 0.1, "gone": 1}') == Sampling(temperature=0.1)


def test_half_a_character_is_a_sentence(history: History) -> None:
    number = start(history, "Hi", title="Kept")
    with pytest.raises(HeadstartError, match="half of a character"):
        history.rename(number, "\ud83d")
    assert [each.title for each in history.conversations()] == ["Kept"]
    assert history.conversations("\ud83d") == []

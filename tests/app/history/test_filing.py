"""Folders, the top of the list, copies, and deletions that can be taken back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from app.history.history import History
from app.history.records import StoredMessage
from engine import HeadstartError, Sampling
from tests.app.odd_rows import FINISHED

DAY = date(2026, 3, 14)


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    history = History(tmp_path / "history.sqlite3", clock=iter(range(1, 1000)).__next__)
    yield history
    history.close()


def begin(history: History, title: str) -> int:
    return history.create("Be brief.", Sampling(temperature=0.5), DAY, title).id


def ask(history: History, number: int, parent: int | None, text: str) -> StoredMessage:
    question = history.append(number, parent, "user", text)
    answer = history.append(number, question.id, "assistant", "")
    history.note_system_prompt(answer.id, "Be brief.")
    history.finish(replace(answer, **FINISHED))
    return history.message(answer.id)


def titles(history: History) -> list[str]:
    return [entry.title for entry in history.conversations()]


def test_what_is_kept_at_the_top_stays_there(history: History) -> None:
    for title in ("One", "Two", "Three"):
        begin(history, title)
    history.filing.keep_at_top(1, True)
    history.filing.keep_at_top(2, True)
    assert titles(history) == ["Two", "One", "Three"]
    history.filing.keep_at_top(2, False)
    assert titles(history) == ["One", "Three", "Two"]


def test_a_folder_holds_conversations_and_they_outlive_it(history: History) -> None:
    begin(history, "One")
    work = history.filing.add_folder("  Work  at home ")
    assert history.filing.add_folder("work at HOME") == work
    history.filing.move(1, work)
    assert [(folder.name, folder.count) for folder in history.filing.folders()] == [("Work at home", 1)]
    assert history.conversations()[0].folder_id == work
    history.filing.rename_folder(work, "Office")
    history.filing.add_folder("Attic")
    assert [folder.name for folder in history.filing.folders()] == ["Attic", "Office"]
    with pytest.raises(HeadstartError, match="already"):
        history.filing.rename_folder(work, "attic")
    history.filing.delete_folder(work)
    assert history.conversations()[0].folder_id == 0
    history.filing.move(1, work)  # a menu may have been open for long
    assert history.conversations()[0].folder_id == 0


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\x07b"])
def test_a_name_of_no_use_is_refused(history: History, name: str) -> None:
    with pytest.raises(HeadstartError):
        history.filing.add_folder(name)


def test_a_deletion_can_be_taken_back(history: History) -> None:
    number = begin(history, "One")
    ask(history, number, None, "Where are my parcels?")
    before = history.messages(number)
    history.filing.hide(number)
    assert (titles(history), history.conversations("parcels"), history.turns(9)) == ([], [], [])
    history.filing.take_back(number)
    assert titles(history) == ["One"]
    assert history.messages(number) == before
    history.filing.hide(number)
    history.filing.delete_hidden()
    with pytest.raises(HeadstartError, match="for good"):
        history.filing.take_back(number)


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_deletion_is_final_at_the_end_of_the_program(tmp_path: Path, is_killed: bool) -> None:
    path = tmp_path / "history.sqlite3"
    history = History(path)
    history.append(begin(history, "One"), None, "user", "herons")
    history.filing.hide(1)
    if is_killed:
        history.file.close()
        history = History(path)
        assert history.filing.hidden() == ()
    history.close()
    assert b"herons" not in path.read_bytes()
    assert not path.with_name(f"{path.name}-wal").exists()


def said(messages: tuple[StoredMessage, ...]) -> list[tuple[object, ...]]:
    parts = ["role", "content", "token_ids", "thought", "tool_calls", "accepted"]
    return [tuple(getattr(each, part) for part in parts) for each in messages]


def test_a_copy_says_the_same_in_all_versions(history: History) -> None:
    number = begin(history, "One")
    first = ask(history, number, None, "Why?")
    ask(history, number, first.id, "And why?")
    second = ask(history, number, first.id, "And why then?")
    history.set_seen_from(number, second.parent_id or 0, 2)
    copied = history.filing.copy(number, "One, copied")
    assert said(history.messages(copied)) == said(history.messages(number))
    conversation = history.conversation(copied)
    assert (conversation.title, conversation.system_prompt) == ("One, copied", "Be brief.")
    assert conversation.sampling == Sampling(temperature=0.5)
    question = history.messages(copied)[2]
    assert (conversation.leaf_id, conversation.seen_from_id) == (history.messages(copied)[-1].id, question.id)
    assert len(history.siblings(question.id)) == 2
    assert history.sent_system_prompt(history.messages(copied)[-1].id) == "Be brief."
    assert history.figures(copied) == []  # nothing of it was computed
    history.delete(number)
    assert len(history.messages(copied)) == 4


def test_a_copy_of_a_branch_has_that_alone(history: History) -> None:
    number = begin(history, "One")
    first = ask(history, number, None, "Why?")
    ask(history, number, first.id, "And why?")
    branch = [each.id for each in history.messages(number)][:2]
    copied = history.filing.copy(number, "Branch", branch)
    assert said(history.messages(copied)) == said(history.messages(number)[:2])
    assert len(history.versions(copied)) == 2


def test_a_copy_is_answered_by_the_same_server(history: History) -> None:
    for number, server in ((begin(history, "One"), "http://elsewhere/v1"), (begin(history, "Two"), "")):
        history.servers.choose(number, server)
        assert history.servers.of(history.filing.copy(number, "Copy")) == server


def choose_and_fail(history: History, number: int) -> None:
    with history.together():
        history.servers.choose(number, "http://other/v1")
        assert history.servers.of(number) == "http://other/v1"
        history.conversation(number + 1000)


def test_the_server_of_a_conversation_is_that_of_now(history: History) -> None:
    """Also where a change was taken back, and where the conversation is gone."""
    number = begin(history, "One")
    assert history.servers.of(number) == ""
    history.servers.choose(number, "http://one/v1")
    assert history.servers.of(number) == "http://one/v1"
    with pytest.raises(HeadstartError):
        choose_and_fail(history, number)
    assert history.servers.of(number) == "http://one/v1"
    history.delete(number)
    assert history.servers.of(number) == ""

"""What is there after a restart: the same chat, to the token; and what was in flight when the program ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date

from app.settings import Settings
from engine import Divergence, TextDelta
from tests.app.conftest import DAY, Desk
from tests.app.fake_engine import FIRST_ID, FakeEngine, Script

TOMORROW = date(2026, 3, 15)
LONG = Script(tokens=("A", "\r\n", "\t", "😀", " \n\n"), divergence=Divergence(3, 0, "date", "14", "15", 7))


def contents(desk: Desk) -> list[str]:
    return [message.content for message in desk.session.messages]


def crash(desk: Desk) -> None:
    """End the program without a word to session or history."""
    desk.bridge.close()
    desk.history.close()


def test_a_reloaded_chat_makes_the_identical_request(make_desk: Callable[..., Desk]) -> None:
    first = make_desk(FakeEngine(LONG, manual=True), Settings(system_prompt="Today's prompt"))
    first.session.send("Hi")
    first.play()
    first.session.send("And then?")
    first.play()
    number, messages = first.session.conversation.id, first.session.messages
    first.close()

    second = make_desk(settings=Settings(system_prompt="Tomorrow's prompt"), day=TOMORROW)
    second.session.open(number)
    assert second.session.messages == messages
    assert messages[1].divergence == LONG.divergence
    assert second.session.retry()
    retried = replace(first.engine.requests[1], keep_room=False)  # a new answer to an answered question is not refused
    assert second.engine.requests == [retried]
    assert second.engine.requests[0].day == DAY
    assert second.engine.requests[0].messages[2].token_ids == tuple(range(FIRST_ID, FIRST_ID + 5))


def test_the_branch_in_view_is_the_one_that_comes_back(make_desk: Callable[..., Desk]) -> None:
    first = make_desk()
    first.session.send("One")
    first.play()
    first.session.edit(first.session.messages[0].id, "Two")
    first.play()
    first.session.choose_sibling(first.session.versions(first.session.messages[0].id)[0])
    messages = first.session.messages
    first.close()
    second = make_desk()
    second.session.open(first.session.conversation.id)
    assert second.session.messages == messages


def test_shutdown_stores_what_is_written_and_cancels(make_desk: Callable[..., Desk]) -> None:
    first = make_desk()
    first.session.send("Hi")
    first.until(TextDelta)
    first.session.shutdown()
    assert len(first.engine.cancelled) == 1
    first.play()
    assert first.heard("message_finished") == []
    first.close()

    second = make_desk()
    second.session.open(first.session.conversation.id)
    assert contents(second) == ["Hi", "Hello"]
    assert second.session.messages[-1].finish_reason == "stopped"


def test_shutdown_keeps_the_question_of_an_answer_that_did_not_begin(make_desk: Callable[..., Desk]) -> None:
    first = make_desk(loaded=False)
    first.engine.load_failure = ""
    first.load()
    first.session.send("Hi")
    first.close()
    second = make_desk()
    second.session.open(first.session.conversation.id)
    assert contents(second) == ["Hi"]
    assert second.session.retry()


def test_a_crash_keeps_what_the_slow_timer_stored(make_desk: Callable[..., Desk]) -> None:
    first = make_desk()
    first.session.send("Hi")
    first.until(TextDelta)
    first.session.saving.save()
    first.until(TextDelta)
    crash(first)
    second = make_desk()
    second.session.open(first.session.conversation.id)
    assert contents(second) == ["Hi", "Hello"]
    assert second.session.messages[-1].finish_reason == "interrupted"


def test_a_crash_before_the_first_word_of_a_retry_shows_the_older_answer(make_desk: Callable[..., Desk]) -> None:
    first = make_desk()
    first.session.send("Hi")
    first.play()
    messages = first.session.messages
    first.session.retry()
    crash(first)
    second = make_desk()
    second.session.open(first.session.conversation.id)
    assert second.session.messages == messages

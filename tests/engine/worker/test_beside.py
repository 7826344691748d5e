"""Another program's request beside the window's: whose turn it is, whose events they are, and that both are exact."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Engine, Failed, Finished, ModelSpec
from engine.events import CacheView, Matched
from engine.types import Sampling
from engine.worker.jobs import Job, Jobs, Kind
from tests.engine.worker_driver import PATIENCE_S, Driver, Gate, request

LONG = Sampling(temperature=0.0, max_tokens=40)


@pytest.fixture
def other(driver: Driver) -> Driver:
    """Somebody else who uses the engine of `driver`."""
    return Driver(driver.engine.beside())


def client(question: str, **changes: object):
    return request(question, conversation="api:editor/1", client="editor", pin_system=False, sampling=LONG, **changes)


def test_each_hears_of_its_own_requests_only(driver: Driver, other: Driver) -> None:
    mine, theirs = driver.engine.submit(request()), other.engine.submit(client("What is a tent?"))
    driver.finished(mine)
    other.finished(theirs)
    assert {event.request_id for event in other.events} == {theirs}
    assert theirs not in {event.request_id for event in driver.events}


def test_an_order_is_answered_to_whoever_gave_it(driver: Driver, other: Driver) -> None:
    before = len([event for event in driver.events if event.request_id == 0])
    other.engine.clear_cache()
    other.until(lambda: any(isinstance(event, CacheView) and event.request_id == 0 for event in other.events))
    driver.quiet()
    assert len([event for event in driver.events if event.request_id == 0]) == before


def test_both_are_written_in_turns_and_as_alone(driver: Driver, other: Driver) -> None:
    chat, question = request("Where is my parcel?", sampling=LONG), client("What is a tent?")
    cold = [driver.finished(driver.engine.submit(one)).token_ids for one in (chat, question)]
    driver.engine.clear_cache()
    driver.quiet()
    theirs, mine = other.engine.submit(question), driver.engine.submit(chat)

    def is_over() -> bool:
        other.events += other.engine.poll()
        return any(isinstance(event, Finished) for event in driver.of(mine)) and any(
            isinstance(event, Finished) for event in other.of(theirs)
        )

    driver.until(is_over)
    warm = [driver.finished(mine).token_ids, other.finished(theirs).token_ids]
    assert warm == cold


def test_closing_beside_stops_what_was_asked_there_and_no_more(driver: Driver, other: Driver) -> None:
    theirs = other.engine.submit(client("What is a tent?", salt="x"))
    assert other.engine.close()
    other.end(theirs)
    late = other.engine.submit(client("Anything else?"))
    assert isinstance(other.end(late), Failed)
    other.engine.clear_cache()
    other.until(lambda: any(isinstance(event, Failed) and event.request_id == 0 for event in other.events))
    driver.finished(driver.engine.submit(request()))


def test_a_salt_shares_neither_blocks_nor_words(driver: Driver) -> None:
    def reused(salt: str, conversation: str) -> int:
        asked = request(salt=salt, client="editor", conversation=conversation)
        number = driver.engine.submit(asked)
        driver.finished(number)
        (matched,) = [event for event in driver.of(number) if isinstance(event, Matched)]
        if matched.divergence is not None:
            assert matched.divergence.old_text == ""
        return matched.reused_tokens

    assert [reused("", "1"), reused("a", "2"), reused("b", "3")] == [0, 0, 0]
    assert reused("a", "4") > 0


def test_a_load_waits_for_both_and_both_wait_for_a_load(driver: Driver, other: Driver, tiny_folder: Path) -> None:
    spec = ModelSpec(str(tiny_folder), "cpu", "fp32", cache_bytes=10**8)
    ids = [driver.engine.submit(request()), other.engine.submit(client("One?"))]
    loading = driver.engine.load(spec)
    ids += [other.engine.submit(client("Two?")), driver.engine.submit(request("Three?"))]
    driver.end(loading)
    assert all(
        isinstance(one.end(number), Finished) for one, number in zip((driver, other, other, driver), ids, strict=True)
    )


def job(kind: Kind, number: int = 1) -> Job:
    return Job(number, iter(()), kind)


@given(st.lists(st.floats(0.001, 0.5), min_size=200, max_size=200), st.booleans())
def test_the_window_gets_its_share_of_the_time(seconds: list[float], has_begun: bool) -> None:
    jobs, chat, other = Jobs(), job("chat"), job("client")
    chat.has_begun = has_begun
    jobs.add(other)
    jobs.add(chat)
    spent = {"chat": 0.0, "client": 0.0}
    for step in seconds:
        jobs.note(turn := jobs.next(), step)
        spent[turn.kind] += step
    least = 0.5 if has_begun else 0.75
    assert spent["chat"] >= least * (sum(seconds) - 1.0)
    assert spent["client"] > 0


def test_two_of_a_kind_wait_for_each_other_and_nobody_passes_a_load() -> None:
    jobs = Jobs()
    first, second, load, behind = job("client", 1), job("client", 2), job("load", 3), job("chat", 4)
    for one in (first, second, load, behind):
        jobs.add(one)
    for expected in (first, second, load, behind):
        assert jobs.next() is expected
        jobs.remove(expected)


def test_what_waits_for_memory_lets_the_other_one_go_on() -> None:
    jobs, chat, other = Jobs(), job("chat"), job("client")
    jobs.add(chat)
    jobs.add(other)
    chat.is_waiting = True
    assert jobs.next() is other
    jobs.remove(other)
    assert jobs.next() is chat
    assert not chat.is_waiting


@pytest.fixture
def narrow(tiny_folder: Path) -> Iterator[Driver]:
    """An engine whose cache holds one whole conversation and no more."""
    engine = Engine()
    driver = Driver(engine)
    driver.end(engine.load(ModelSpec(str(tiny_folder), "cpu", "fp32", cache_bytes=1)))
    yield driver
    assert engine.close(PATIENCE_S)


def test_without_memory_for_two_one_waits(narrow: Driver) -> None:
    longest = Sampling(temperature=0.0, max_tokens=300)
    ids = [
        narrow.engine.submit(client("What is a tent?", scores=0)),
        narrow.engine.submit(request(sampling=longest)),
    ]
    assert all(isinstance(narrow.end(number), Finished) for number in ids)


def test_many_programs_do_not_make_the_window_s_chats_forgotten(
    driver: Driver, other: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.turn.last_turns.PAST_CONVERSATIONS", 3)
    driver.finished(driver.engine.submit(request()))
    for number in range(5):
        asked = replace(client(f"Question {number}?"), conversation=f"api:editor/{number}")
        other.finished(other.engine.submit(asked))
    driver.quiet()
    responder = driver.engine.worker.responder
    assert responder is not None
    assert list(responder.last_turns.all) == ["chat", "api:editor/3", "api:editor/4"]


def test_the_answers_of_both_are_read_once_more_at_idle(driver: Driver, other: Driver) -> None:
    mine, theirs = driver.engine.submit(request()), other.engine.submit(client("What is a tent?"))
    ends = [driver.finished(mine), other.finished(theirs)]
    driver.until(lambda: driver.engine.worker.idle_work is None)
    responder = driver.engine.worker.responder
    assert responder is not None
    for past, end in zip(responder.last_turns.all.values(), ends, strict=True):
        assert past.reusable == len(past.ids) >= end.stats.prompt_tokens


def test_whoever_waits_is_woken_by_the_next_event(driver: Driver, other: Driver) -> None:
    """By one of its own; and it hears at once where there is one already."""
    driver.quiet()
    assert not driver.engine.wait(0)
    asked = driver.engine.submit(request())
    while not any(event.request_id == asked and isinstance(event, Finished) for event in driver.events):
        assert driver.engine.wait(PATIENCE_S)
        driver.events += driver.engine.poll()
    theirs = other.engine.submit(client("What is a tent?"))
    assert other.engine.wait(PATIENCE_S)
    assert other.engine.wait(0), "not polled yet"
    other.finished(theirs)


def test_whoever_waits_hears_of_the_end(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is closed while an answer is held and somebody waits for it."""
    driver.quiet()
    gate = Gate(monkeypatch)
    asked = driver.engine.submit(request("What is a tent?"))
    assert gate.reached.wait(PATIENCE_S)
    driver.events += driver.engine.poll()
    heard: list[bool] = []
    waiting = threading.Thread(target=lambda: heard.append(driver.engine.wait(PATIENCE_S)))
    waiting.start()
    closing = threading.Thread(target=driver.engine.close)
    closing.start()
    gate.open.set()
    waiting.join(PATIENCE_S)
    closing.join(PATIENCE_S)
    assert heard == [True]
    assert isinstance(driver.end(asked), Failed | Finished)

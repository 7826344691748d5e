"""How the engine ends: closed in the middle of things, or broken by an error that nobody foresaw. Every request ends
once, what was ordered before is done, and what was to be kept on disk is there."""

from __future__ import annotations

import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine import Engine
from engine.cache.disk_index import index_path, owner_digest
from engine.events import BY_ITSELF, CacheView, Event, Failed, Finished, Loaded, Preview
from engine.models.loaded import LoadedModel
from engine.types import ModelSpec
from engine.worker.requests import OpenRequests
from engine.worker.thread import BROKEN, CLOSED, Worker
from tests.engine.tiny_models import make_folder
from tests.engine.turns import Ticks
from tests.engine.worker_driver import PATIENCE_S, Driver, Gate, request

Start = Callable[..., Driver]


class Panic(BaseException):
    """What compiled code raises when it gives up; no Exception."""


def spec(folder: Path, disk_bytes: int = 0) -> ModelSpec:
    return ModelSpec(str(folder), "cpu", "fp32", cache_bytes=10**8, disk_bytes=disk_bytes)


def ends(events: list[Event]) -> Counter[int]:
    """How often each request ended."""
    return Counter(event.request_id for event in events if isinstance(event, Finished | Failed | Loaded | Preview))


@pytest.fixture
def blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the disk tier."""
    monkeypatch.setenv("HEADSTART_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data" / "cache" / "blocks"


@pytest.fixture
def held(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> Gate:
    """An answer whose first forward pass waits for the gate."""
    gate = Gate(monkeypatch)
    driver.engine.submit(request())
    assert gate.reached.wait(PATIENCE_S)
    return gate


def close_while(driver: Driver, gate: Gate) -> list[Event]:
    """Close the engine and open the gate then; what came."""
    closer = threading.Thread(target=driver.engine.close, args=(PATIENCE_S,))
    closer.start()
    while not driver.engine.worker.is_closing:
        threading.Event().wait(0.001)
    gate.open.set()
    closer.join(PATIENCE_S)
    return driver.events + driver.engine.poll(10**6)


def test_whatever_is_open_at_the_end_ends_once(driver: Driver, held: Gate, tiny_folder: Path) -> None:
    """Answers, previews and loads, running or waiting, and what is asked for after the end."""
    engine = driver.engine
    asked = [
        engine.submit(request()),
        engine.preview(request()),
        engine.load(spec(tiny_folder)),
        engine.submit(request()),
    ]
    events = close_while(driver, held)
    asked.append(engine.submit(request()))
    asked.append(engine.load(spec(tiny_folder)))
    assert not engine.worker.is_alive(), "what is closed stays closed"
    events += engine.poll()
    counts = ends(events)
    assert all(counts[number] == 1 for number in asked), counts
    assert set(counts.values()) == {1}
    assert not any(isinstance(event, Failed) and event.is_model_gone for event in events)


def test_an_answer_that_was_just_finished_does_not_fail(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is closed between its last event and the end of its generator."""
    report = OpenRequests.report

    def close_behind_it(requests: OpenRequests, event: Event) -> None:
        report(requests, event)
        if isinstance(event, Finished):
            driver.engine.worker.is_closing = True

    monkeypatch.setattr(OpenRequests, "report", close_behind_it)
    asked = driver.engine.submit(request())
    assert driver.finished(asked).text
    assert driver.engine.close(PATIENCE_S)
    assert ends(driver.events + driver.engine.poll())[asked] == 1


def test_what_was_ordered_before_the_end_is_done(
    engine: Engine, blocks: Path, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chat deleted, the cache cleared and "keep 0 MB" while the engine was busy; each is answered."""
    driver = Driver(engine)
    assert isinstance(driver.end(engine.load(spec(tiny_folder, 10**8))), Loaded)
    driver.finished(engine.submit(request(conversation="deleted")))
    driver.until(lambda: list(blocks.glob("*/*.kv")))
    gate = Gate(monkeypatch)
    engine.submit(request(conversation="deleted"))
    assert gate.reached.wait(PATIENCE_S)
    for order in (
        lambda: engine.forget("deleted"),
        lambda: engine.set_cache_budget(10**7),
        lambda: engine.drop_prefix(1),
    ):
        order()
    driver.events.clear()
    views = [event for event in close_while(driver, gate) if isinstance(event, CacheView) and event.request_id == 0]
    assert len(views) >= 3
    assert views[-1].budget_bytes == 10**7
    assert [path for path in blocks.glob("*/*") if path.is_file()] == []


def test_keeping_nothing_on_disk_holds_when_it_was_the_last_order(
    engine: Engine, blocks: Path, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = Driver(engine)
    driver.end(engine.load(spec(tiny_folder, 10**8)))
    driver.finished(engine.submit(request()))
    driver.until(lambda: list(blocks.glob("*/*.kv")))
    gate = Gate(monkeypatch)
    engine.submit(request())
    assert gate.reached.wait(PATIENCE_S)
    engine.set_disk_budget(0)
    close_while(driver, gate)
    assert list(blocks.glob("*/*.kv")) == []


def test_what_waits_for_the_disk_is_written_at_the_end(
    engine: Engine, blocks: Path, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program ends right after an answer."""
    driver = Driver(engine)
    driver.end(engine.load(spec(tiny_folder, 10**8)))
    monkeypatch.setattr(Worker, "_work_idly", lambda _: None)  # no time was left for it
    prompt = driver.finished(engine.submit(request())).stats.prompt_tokens
    assert not list(blocks.glob("*/*.kv"))
    assert engine.close(PATIENCE_S)
    assert len(list(blocks.glob("*/*.kv"))) >= prompt // 16


def test_a_pinned_prompt_is_written_first_and_the_end_does_not_wait_for_ever(
    blocks: Path, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With time for two or three steps only, by a clock that moves a second at each look, they are the pin's."""
    monkeypatch.setattr(Worker, "_work_idly", lambda _: None)
    engine = Engine(Ticks(step=1.0))
    driver = Driver(engine)
    driver.end(engine.load(spec(tiny_folder, 10**8)))
    driver.finished(engine.submit(request(conversation="pins", pin_system=True)))
    driver.finished(engine.submit(request("And another question?", conversation="newer", pin_system=False)))
    assert engine.close(PATIENCE_S)
    with closing(sqlite3.connect(index_path(blocks))) as index:
        assert index.execute("SELECT DISTINCT owner FROM owner").fetchall() == [(owner_digest("pins"),)]


def test_a_model_is_left_when_its_newest_chat_is_on_disk(
    engine: Engine, blocks: Path, tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another model is loaded right after an answer; back again, the answer's tokens are reused."""
    driver = Driver(engine)
    driver.end(engine.load(spec(tiny_folder, 10**8)))
    monkeypatch.setattr(Worker, "_work_idly", lambda _: None)
    prompt = driver.finished(engine.submit(request())).stats.prompt_tokens
    assert isinstance(driver.end(engine.load(spec(make_folder(tmp_path / "other", seed=1), 10**8))), Loaded)
    assert isinstance(driver.end(engine.load(spec(tiny_folder, 10**8))), Loaded)
    assert driver.finished(engine.submit(request())).stats.reused_tokens >= (prompt - 1) // 16 * 16


@pytest.mark.parametrize(
    "place",
    [
        "engine.turn.responder.Responder.answer",
        "engine.turn.responder.Responder.preview",
        "engine.turn.responder.Responder.clear",
        "engine.turn.responder.Responder.work_idly",
        "engine.cache.prefix_cache.PrefixCache.view",
        "engine.worker.loading.switch_model",
    ],
)
def test_a_panic_anywhere_ends_no_more_than_the_request(
    driver: Driver, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Even what is no Exception: each request ends once, somebody is told, and the engine lives on."""
    engine = driver.engine

    def panic(*_: object, **__: object) -> None:
        raise Panic("called `Option::unwrap()` on a `None` value")

    with monkeypatch.context() as patch:
        patch.setattr(place, panic)
        engine.cache_view()
        engine.clear_cache()
        asked = [engine.submit(request()), engine.preview(request())]
        if "idly" not in place:  # no time for that while a model waits to be loaded
            asked.append(engine.load(spec(tiny_folder)))
        for number in asked:
            driver.end(number)
        driver.until(lambda: any(isinstance(event, Failed) for event in driver.events))
    assert all(ends(driver.events)[number] == 1 for number in asked)
    assert isinstance(driver.end(engine.load(spec(tiny_folder))), Loaded)
    driver.finished(engine.submit(request()))


def break_thread(driver: Driver, patch: pytest.MonkeyPatch) -> list[int]:
    """Two answers and a preview for an engine in which even reporting an error fails."""

    def panic(*_: object) -> None:
        raise Panic

    patch.setattr(LoadedModel, "forward", panic)
    patch.setattr("engine.worker.thread.failure", panic)
    engine = driver.engine
    return [engine.submit(request()), engine.submit(request()), engine.preview(request())]


def test_a_thread_that_has_to_end_says_so_and_the_next_load_begins_anew(
    driver: Driver, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = driver.engine
    with monkeypatch.context() as patch:
        asked = break_thread(driver, patch)
        for number in asked:
            driver.end(number)
        engine.worker.join(PATIENCE_S)
    told = [event for event in driver.events if isinstance(event, Failed)]
    assert told[0].is_model_gone
    assert "open the model again" in told[0].sentence
    assert "Panic" in told[0].detail
    driver.end(late := engine.submit(request()))
    engine.forget("chat")
    driver.until(lambda: driver.of(0))
    assert isinstance(driver.of(0)[-1], Failed)
    assert engine.cache_view().budget_bytes == 0
    assert isinstance(driver.end(engine.load(spec(tiny_folder))), Loaded)
    driver.finished(engine.submit(request()))
    assert all(ends(driver.events)[number] == 1 for number in (*asked, late))


@pytest.mark.parametrize("is_closed", [True, False])
def test_an_order_in_the_last_moment_is_answered(
    driver: Driver, monkeypatch: pytest.MonkeyPatch, is_closed: bool
) -> None:
    """The thread carries out nothing any more, and has not quite ended: closed, or broken."""
    engine, end_open, answers = driver.engine, Worker.end_open, []
    report = OpenRequests.report

    def order_late(worker: Worker) -> None:
        end_open(worker)
        worker.is_closing = False  # the order came in before
        engine.clear_cache()
        worker.is_closing = is_closed

    def count(requests: OpenRequests, event: Event) -> None:
        report(requests, event)
        if isinstance(event, Failed) and event.request_id in (0, BY_ITSELF):
            answers.append(event.sentence)

    monkeypatch.setattr(Worker, "end_open", order_late)
    monkeypatch.setattr(OpenRequests, "report", count)
    if is_closed:
        assert engine.close(PATIENCE_S)
    else:
        monkeypatch.setattr(Worker, "_step", lambda _: sys.exit("broken"))
        assert engine.worker.join(PATIENCE_S)
    assert answers[-1] == (CLOSED if is_closed else BROKEN)
    assert len(answers) == (1 if is_closed else 2), "a broken engine says so by itself, too"
    monkeypatch.undo()


def test_two_who_poll_get_every_event_once(engine: Engine) -> None:
    """No error in either, and nothing is lost between them."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            assert poll_twice(engine) == 500
    finally:
        sys.setswitchinterval(interval)


def poll_twice(engine: Engine) -> int:
    """Have two threads take 500 events; how many came in all."""
    taken: list[list[Event]] = [[], []]
    for _ in range(500):
        engine.clear_cache()  # answered by Failed: no model is there
    start = threading.Barrier(2)
    found: list[Exception] = []

    def poller(mine: list[Event]) -> None:
        start.wait(PATIENCE_S)
        while len(taken[0]) + len(taken[1]) < 500 and not found:
            try:
                mine += engine.poll(7)
            except Exception as error:
                found.append(error)

    threads = [threading.Thread(target=poller, args=(mine,)) for mine in taken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert not found
    return len(taken[0]) + len(taken[1])

"""From the engine's queue to signals: joined, in order, in time, and only for what was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QEventLoop
from pytestqt.qtbot import QtBot

from app.chat.bridge import DRAIN_EVERY_MS, DRAIN_FOR_S, HELD_S, REST_EVERY_MS, SOON_EVERY_MS, WAITED_S, Bridge, merge
from engine import (
    BY_ITSELF,
    CacheView,
    Event,
    Failed,
    Finished,
    Matched,
    Message,
    ModelSpec,
    Prefill,
    Preview,
    Request,
    TextDelta,
)
from tests.app.fake_engine import FakeEngine, Script, many_tokens
from tests.conftest import active_timers

REQUEST = Request((Message("user", "Hi"),))
SIGNALS = ("loading", "loaded", "matched", "prefill", "text", "stats", "cache_view", "preview", "finished", "failed")


class Ear:
    """Writes down every event of a bridge."""

    def __init__(self, bridge: Bridge) -> None:
        self.heard: list[tuple[str, Any]] = []
        for name in SIGNALS:
            getattr(bridge, name).connect(lambda event, name=name: self.heard.append((name, event)))

    def names(self) -> list[str]:
        return [name for name, _ in self.heard]


@pytest.fixture
def make_bridge(qapp: object) -> Iterator[Callable[..., tuple[Bridge, Ear]]]:
    bridges: list[Bridge] = []

    def make(engine: FakeEngine, **values: Any) -> tuple[Bridge, Ear]:
        bridges.append(Bridge(engine, **values))
        return bridges[-1], Ear(bridges[-1])

    yield make
    for bridge in bridges:
        bridge.close()


def test_the_timer_brings_a_whole_turn(make_bridge: Callable[..., Any], qtbot: QtBot) -> None:
    bridge, ear = make_bridge(FakeEngine(Script(tokens=many_tokens(100)), tokens_per_poll=40))
    with qtbot.waitSignal(bridge.finished):
        request_id = bridge.submit(REQUEST)
    names = ear.names()
    assert names[0] == "matched"
    assert names[-2:] == ["cache_view", "finished"]
    assert names.count("text") == 3
    assert {event.request_id for _, event in ear.heard} == {request_id}


def test_the_timer_is_fast_while_something_is_outstanding_and_slow_then(make_bridge: Callable[..., Any]) -> None:
    engine = FakeEngine(manual=True)
    bridge, _ = make_bridge(engine)
    assert not bridge.timer.isActive()
    bridge.submit(REQUEST)
    bridge.drain()
    assert bridge.timer.interval() == DRAIN_EVERY_MS
    engine.release()
    bridge.drain()
    assert bridge.timer.interval() == REST_EVERY_MS
    assert bridge.timer.isActive()
    assert not bridge.busy
    bridge.submit(REQUEST)
    assert bridge.timer.interval() == DRAIN_EVERY_MS
    bridge.close()
    assert not bridge.timer.isActive()


def test_what_comes_before_a_word_that_is_foreseen_waits_for_it(make_bridge: Callable[..., Any]) -> None:
    engine = FakeEngine(manual=True)
    bridge, ear = make_bridge(engine, clock=lambda: 0.0)
    bridge.submit(REQUEST, is_soon=True)
    bridge.tell("clear_cache")
    assert bridge.timer.interval() == SOON_EVERY_MS
    engine.advance_to(Prefill)
    bridge.drain()
    assert ear.names() == []
    engine.advance_to(TextDelta)
    bridge.drain()
    assert ear.names()[:2] == ["cache_view", "matched"]
    assert ear.names()[-1] == "text"
    assert bridge.timer.interval() == DRAIN_EVERY_MS


def test_it_does_not_wait_for_long(make_bridge: Callable[..., Any]) -> None:
    engine, now = FakeEngine(manual=True), [0.0]
    bridge, ear = make_bridge(engine, clock=lambda: now[0])
    bridge.submit(REQUEST, is_soon=True)
    engine.advance_to(Matched)
    bridge.drain()
    assert ear.names() == []
    now[0] = HELD_S
    bridge.drain()
    assert ear.names() == ["matched"]
    assert bridge.timer.interval() == DRAIN_EVERY_MS


def test_the_word_that_is_foreseen_is_waited_for(
    make_bridge: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that was there before it stays in its order; and the window is not left waiting where it does not come."""
    engine = FakeEngine(manual=True)
    bridge, ear = make_bridge(engine, clock=lambda: 0.0)
    bridge.wait_for_word()  # none is foreseen
    bridge.submit(REQUEST, is_soon=True)
    engine.advance_to(Prefill)
    bridge.wait_for_word()
    assert ear.names() == []
    assert bridge.timer.interval() == SOON_EVERY_MS
    assert len(engine.waited) == 1
    assert 0 < engine.waited[0] <= WAITED_S
    monkeypatch.setattr("app.chat.bridge.WAITED_S", 3600.0)
    engine.while_waiting = lambda: engine.advance_to(TextDelta)
    bridge.wait_for_word()
    assert ear.names() == []
    assert bridge.timer.interval() == 0
    bridge.drain()
    assert ear.names()[0] == "matched"
    assert ear.names()[-1] == "text"
    assert bridge.timer.interval() == DRAIN_EVERY_MS
    bridge.submit(REQUEST, is_soon=True)
    bridge.close()
    bridge.wait_for_word()


@pytest.mark.parametrize("script", [Script(fail_after=-1), Script(tokens=())])
def test_an_answer_without_a_word_ends_at_once(make_bridge: Callable[..., Any], script: Script) -> None:
    engine = FakeEngine(script)
    bridge, ear = make_bridge(engine, clock=lambda: 0.0)
    bridge.submit(REQUEST, is_soon=True)
    bridge.drain()
    assert ear.names()[-1] in ("failed", "finished")
    assert not bridge.busy


def test_a_preview_is_looked_for_as_soon_as_it_may_be_there(
    make_bridge: Callable[..., Any], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not with the next look of many: whoever types quickly changes the text before that."""
    monkeypatch.setattr("app.chat.bridge.DRAIN_EVERY_MS", 3_600_000)
    bridge, _ = make_bridge(FakeEngine())
    with qtbot.waitSignal(bridge.preview):
        bridge.request_preview(REQUEST)


def test_what_idle_work_says_comes_by_itself(make_bridge: Callable[..., Any], qtbot: QtBot) -> None:
    """A note about the disk, or that the engine stopped: nothing was asked for when it was said."""
    engine = FakeEngine()
    bridge, ear = make_bridge(engine)
    with qtbot.waitSignal(bridge.finished):
        bridge.submit(REQUEST)
    assert not bridge.busy
    with qtbot.waitSignal(bridge.cache_view):
        engine.inject(CacheView(BY_ITSELF, 0.0, 10, 0, 0, 0, 0, 0, disk_note="The disk is full."))
    with qtbot.waitSignal(bridge.failed):
        engine.inject(Failed(BY_ITSELF, "The engine stopped.", is_model_gone=True))
    assert ear.heard[-2][1].disk_note == "The disk is full."


def test_a_closed_bridge_waits_for_nothing(make_bridge: Callable[..., Any]) -> None:
    """An editor's timer may ring behind the end of the window."""
    bridge, _ = make_bridge(FakeEngine(manual=True))
    bridge.close()
    bridge.request_preview(REQUEST)
    assert active_timers() == []


@pytest.mark.parametrize("ask", [lambda b: b.load(ModelSpec()), lambda b: b.request_preview(REQUEST)])
def test_loads_and_previews_end_too(make_bridge: Callable[..., Any], ask: Callable[[Bridge], int]) -> None:
    bridge, ear = make_bridge(FakeEngine())
    ask(bridge)
    assert bridge.busy
    bridge.drain()
    assert not bridge.busy
    assert ear.names()[-1] in ("loaded", "preview")


def test_commands_reach_the_engine(make_bridge: Callable[..., Any]) -> None:
    engine = FakeEngine(manual=True)
    bridge, ear = make_bridge(engine)
    bridge.tell("set_cache_budget", 123)
    bridge.tell("clear_cache")
    bridge.tell("forget", "#7")
    request_id = bridge.submit(REQUEST)
    bridge.cancel(request_id)
    assert bridge.read_cache_view().budget_bytes == 123
    bridge.drain()
    assert ear.names() == ["cache_view"] * 3
    assert (engine.calls, engine.cancelled) == (["set_cache_budget 123", "clear_cache", "forget #7"], [request_id])
    assert bridge.busy


def test_a_cache_command_that_fails_is_told_and_ends(make_bridge: Callable[..., Any]) -> None:
    engine = FakeEngine(manual=True)
    bridge, ear = make_bridge(engine)
    bridge.tell("clear_cache")
    engine.poll()
    engine.inject(Failed(0, "No model is loaded."))
    bridge.drain()
    assert ear.names() == ["failed"]
    assert not bridge.busy


@pytest.mark.parametrize("said", [CacheView(BY_ITSELF, 0.0, 10, 0, 0, 0, 0, 0), Failed(BY_ITSELF, "Idle work failed.")])
def test_what_comes_by_itself_answers_no_command(make_bridge: Callable[..., Any], said: Event) -> None:
    engine = FakeEngine(manual=True)
    engine.inject(said)
    bridge, ear = make_bridge(engine)
    answered: list[str] = []
    bridge.tell("clear_cache", then=lambda _: answered.append("clear_cache"))
    bridge.tell("set_cache_budget", 123, then=lambda view: answered.append(str(view.budget_bytes)))
    first, *answers = engine.poll()
    engine.inject(first)
    bridge.drain()
    assert (len(ear.heard), answered, bridge.busy) == (1, [], True)
    for event in answers:
        engine.inject(event)
    bridge.drain()
    assert (len(ear.heard), answered, bridge.busy) == (3, ["clear_cache", "123"], False)


def test_each_request_ends_once_and_strangers_are_dropped(make_bridge: Callable[..., Any]) -> None:
    engine = FakeEngine()
    bridge, ear = make_bridge(engine)
    request_id = bridge.submit(REQUEST)
    bridge.drain()
    end = ear.heard[-1][1]
    ear.heard.clear()
    for event in (end, Failed(request_id, "late"), TextDelta(request_id, "late"), TextDelta(77, "x"), Failed(78, "y")):
        engine.inject(event)
    bridge.drain()
    assert ear.heard == []


def test_a_drain_stops_after_its_time_and_the_rest_comes_next(make_bridge: Callable[..., Any]) -> None:
    now = [0.0]
    engine = FakeEngine(Script(tokens=many_tokens(1000)), tokens_per_poll=0)
    poll = engine.poll

    def slow_poll(limit: int = 256) -> list[Event]:
        now[0] += DRAIN_FOR_S / 2
        return poll(limit)

    engine.poll = slow_poll  # type: ignore[method-assign]
    bridge, ear = make_bridge(engine, clock=lambda: now[0])
    bridge.submit(REQUEST)
    bridge.drain()
    assert "text" in ear.names()
    assert "finished" not in ear.names()
    assert bridge.timer.isActive()
    while bridge.busy:
        bridge.drain()
    text = "".join(event.text for name, event in ear.heard if name == "text")
    assert text == "".join(many_tokens(1000))


def test_a_dialog_in_a_slot_does_not_turn_the_order_round(make_bridge: Callable[..., Any]) -> None:
    engine = FakeEngine(Script(tokens=("a", "b")), manual=True)
    bridge, ear = make_bridge(engine)

    def nested(_: object) -> None:
        bridge.matched.disconnect(nested)
        engine.run_all()
        QEventLoop().processEvents()
        bridge.drain()

    bridge.matched.connect(nested)
    bridge.submit(REQUEST)
    engine.advance(3)
    bridge.drain()
    assert ear.names() == ["matched", "prefill", "text", "cache_view", "finished"]


def test_a_slot_may_close_the_bridge(make_bridge: Callable[..., Any]) -> None:
    engine = FakeEngine()
    bridge, ear = make_bridge(engine)
    bridge.matched.connect(lambda _: bridge.close())
    bridge.submit(REQUEST)
    bridge.drain()
    assert ear.names() == ["matched"]
    assert engine.closed
    assert not bridge.timer.isActive()


def test_merge_joins_text_and_keeps_the_newest_progress() -> None:
    end = Failed(1, "x")
    events: list[Event] = [
        Prefill(1, 1, 3, 0.2),
        TextDelta(2, "A"),
        Prefill(1, 2, 3, 0.1),
        TextDelta(1, "a"),
        TextDelta(2, "B"),
        TextDelta(1, "b"),
        end,
    ]
    assert merge(events) == [Prefill(1, 2, 3, 0.1), TextDelta(2, "AB"), TextDelta(1, "ab"), end]


def test_merge_keeps_a_thought_apart_from_its_answer() -> None:
    events: list[Event] = [TextDelta(1, piece, is_thought=piece.islower()) for piece in "abABc"]
    assert merge(events) == [TextDelta(1, "abc", is_thought=True), TextDelta(1, "AB")]


def test_merge_keeps_every_view_of_the_cache_and_every_preview() -> None:
    view = CacheView(0, 0.0, 10, 0, 0, 0, 0, 0)
    preview = Preview(3, 1, 0, 1, 0.1, 0, 100, ())
    assert merge([view, preview, view, preview]) == [view, preview, view, preview]
    assert merge([]) == []


def test_finished_comes_last_of_its_request(make_bridge: Callable[..., Any]) -> None:
    bridge, ear = make_bridge(FakeEngine(Script(tokens=many_tokens(50), stats_every=5)))
    one, two = bridge.submit(REQUEST), bridge.submit(REQUEST)
    bridge.drain()
    for request_id in (one, two):
        mine = [event for _, event in ear.heard if event.request_id == request_id]
        assert isinstance(mine[-1], Finished)
        assert sum(isinstance(event, TextDelta) for event in mine) == 1

"""The engine on its thread: the order of events, cancel, commands in between, and an end in the middle of things."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine import Engine
from engine.events import CacheView, Failed, Finished, Loaded, Loading, Matched, Prefill, Preview, TextDelta, TurnStats
from engine.turn.responder import Responder
from engine.types import InvalidRequestError, Message, ModelSpec, Request
from tests.engine.worker_driver import GREEDY, PATIENCE_S, Driver, Gate, request


def test_loading_reports_steps_and_then_the_model(driver: Driver, tiny_folder: Path) -> None:
    kinds = [type(event) for event in driver.events]
    assert kinds[0] is Loading
    assert kinds.count(Loaded) == 1
    assert set(kinds) == {Loading, CacheView, Loaded}
    loaded = driver.events[-1]
    assert isinstance(loaded, Loaded)
    model = loaded.model
    assert (model.device, model.dtype, model.near, model.context_length) == ("cpu", "fp32", "", 1024)
    assert model.path == str(tiny_folder)
    assert model.kv_bytes_per_token == 2 * 2 * (8 + 8) * 4
    assert model.cache_budget_bytes == 10**8
    assert model.prefill_tokens_per_s > 0


def test_a_request_reports_in_order_and_ends_once(driver: Driver) -> None:
    """The contract of events.py: Matched, Prefill, TextDelta and TurnStats, CacheView, one Finished, nothing after."""
    ids = [driver.engine.submit(request(f"Where is parcel {number}?")) for number in range(3)]
    assert ids == sorted(set(ids))
    for request_id in ids:
        driver.end(request_id)
    driver.quiet()
    for request_id in ids:
        kinds = [type(event) for event in driver.of(request_id)]
        assert kinds[0] is Matched
        assert kinds[1] is Prefill
        assert kinds[-2:] == [CacheView, Finished]
        assert kinds.count(Finished) == 1
        assert set(kinds) <= {Matched, Prefill, TextDelta, TurnStats, CacheView, Finished}
    order = [event.request_id for event in driver.events if event.request_id in ids]
    assert order == sorted(order), "one after the other"


def test_text_and_stats_agree_with_the_end(driver: Driver) -> None:
    request_id = driver.engine.submit(request())
    finished = driver.finished(request_id)
    events = driver.of(request_id)
    assert finished.text == "".join(event.text for event in events if isinstance(event, TextDelta))
    assert finished.stats.written_tokens == len(finished.token_ids) == 12
    matched = events[0]
    assert isinstance(matched, Matched)
    assert matched.prompt_tokens == finished.stats.prompt_tokens


def test_the_time_of_a_turn_starts_when_the_user_asked(driver: Driver) -> None:
    asked = replace(request(), asked_at=time.perf_counter() - 1000.0)
    stats = driver.finished(driver.engine.submit(asked)).stats
    assert stats.ttft_s is not None
    assert stats.ttft_s >= stats.parts.queue >= 1000.0


def test_a_chat_reuses_its_answer(driver: Driver) -> None:
    first = driver.finished(driver.engine.submit(request()))
    answer = Message("assistant", first.text, first.token_ids)
    longer = request(messages=(*request().messages, answer, Message("user", "Thanks.")))
    stats = driver.finished(driver.engine.submit(longer)).stats
    assert stats.reused_tokens >= first.stats.prompt_tokens + len(first.token_ids) - 16


def test_a_preview_answers_while_a_request_runs(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """It computes nothing, and says what `submit` would reuse, also in the middle of an answer."""
    done = driver.finished(driver.engine.submit(request()))
    running = driver.engine.submit(request(sampling=replace(GREEDY, max_tokens=200)))
    driver.until(lambda: any(isinstance(event, TextDelta | TurnStats) for event in driver.of(running)))
    asked = driver.engine.preview(request())
    preview = driver.end(asked)
    assert isinstance(preview, Preview)
    assert preview.prompt_tokens == done.stats.prompt_tokens
    assert preview.reused_tokens >= (preview.prompt_tokens - 1) // 16 * 16
    assert preview.reused_tokens + preview.computed_tokens == preview.prompt_tokens
    assert not any(isinstance(event, Finished) for event in driver.of(running))
    driver.engine.cancel(running)
    assert driver.finished(running).reason == "stopped"


def test_the_preview_says_what_submit_does(driver: Driver) -> None:
    for question in ("Where is it?", "Where is it now?", "Where is it?"):
        preview = driver.end(driver.engine.preview(request(question)))
        request_id = driver.engine.submit(request(question))
        driver.finished(request_id)
        matched = driver.of(request_id)[0]
        assert isinstance(preview, Preview)
        assert isinstance(matched, Matched)
        assert (preview.prompt_tokens, preview.reused_tokens) == (matched.prompt_tokens, matched.reused_tokens)
        assert preview.spans == matched.spans
        assert 0 < preview.system_tokens < preview.prompt_tokens


def test_a_flood_of_previews_does_not_hold_up_an_answer(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each preview that is answered brings another one: the answer comes all the same, and each of them ends."""
    engine, asked, flood = driver.engine, list[int](), [True]
    preview = Responder.preview

    def another(responder: Responder, request_id: int, wanted: Request, listen: Callable[[], None]) -> Preview:
        if flood[0]:
            asked.append(engine.preview(request()))
        return preview(responder, request_id, wanted, listen)

    monkeypatch.setattr(Responder, "preview", another)
    asked += [engine.preview(request(f"Where is parcel {number}?")) for number in range(20)]
    driver.finished(engine.submit(request()))
    flood[0] = False
    for request_id in asked:
        assert isinstance(driver.end(request_id), Preview)


def test_the_newest_preview_comes_first_while_an_answer_is_written(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    running = driver.engine.submit(request())
    assert gate.reached.wait(PATIENCE_S)
    asked = [driver.engine.preview(request(f"Where is parcel {number}?")) for number in range(4)]
    gate.open.set()
    driver.finished(running)
    for request_id in asked:
        driver.end(request_id)
    came = [event.request_id for event in driver.events if isinstance(event, Preview)]
    assert came == asked[::-1]


def test_a_closed_engine_answers_no_preview(driver: Driver) -> None:
    driver.engine.close(PATIENCE_S)
    end = driver.end(driver.engine.preview(request()))
    assert isinstance(end, Failed)
    assert "closed" in end.sentence


def test_a_dropped_prefix_is_not_reused_from_the_working_buffer(driver: Driver) -> None:
    """The preview says so, and so it happens; what another branch shares with it stays."""
    engine, messages = driver.engine, request("Where is it? " * 12).messages
    for question in ("And the tent? " * 6, "And the stove? " * 6):
        driver.finished(engine.submit(request(messages=(*messages, Message("user", question)), pin_system=False)))
    driver.quiet()
    nodes = engine.cache_view().nodes
    newest = request(messages=(*messages, Message("user", "And the stove? " * 6)))
    trunk = nodes[0].tokens
    last = next(node for node in nodes if node.parent == 0 and "stove" in node.text)
    engine.drop_prefix(last.block)
    preview = driver.end(engine.preview(newest))
    assert isinstance(preview, Preview)
    assert preview.reused_tokens == trunk
    sent = engine.submit(newest)
    assert driver.finished(sent).stats.reused_tokens == trunk
    other = driver.end(engine.preview(request(messages=(*messages, Message("user", "And the tent? " * 6)))))
    assert isinstance(other, Preview)
    assert other.reused_tokens > trunk


def test_a_request_is_cancelled_while_it_waits(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends with Finished, and never computes."""
    monkeypatch.setattr("engine.worker.thread.Worker._work_idly", lambda _: None)  # that would compute, too
    gate = Gate(monkeypatch)
    running, waiting = driver.engine.submit(request()), driver.engine.submit(request("Where is the tent? " * 9))
    assert gate.reached.wait(PATIENCE_S)
    driver.engine.cancel(waiting)
    gate.open.set()
    assert driver.finished(running).reason == "length"
    finished = driver.finished(waiting)
    assert (finished.reason, finished.token_ids, finished.stats.ttft_s) == ("stopped", (), None)
    assert gate.calls == 12


def test_cancel_in_prefill_and_in_decode(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within one chunk and within one token; the next request is answered as if nothing had happened."""
    monkeypatch.setattr("engine.worker.thread.Worker._work_idly", lambda _: None)  # that would compute, too
    cold = driver.finished(driver.engine.submit(request(use_cache=False)))
    assert driver.engine.worker.responder is not None
    driver.engine.worker.responder.chunk_tokens = 32
    for first, written in ((1, 0), (2, 0), (6, 4)):
        with monkeypatch.context() as patch:
            driver.engine.clear_cache()
            gate = Gate(patch, first)
            request_id = driver.engine.submit(request())
            assert gate.reached.wait(PATIENCE_S)
            driver.engine.cancel(request_id)
            gate.open.set()
            finished = driver.finished(request_id)
            assert finished.reason == "stopped"
            assert len(finished.token_ids) <= written
            assert gate.calls == first
    again = driver.finished(driver.engine.submit(request()))
    assert again.token_ids == cold.token_ids


def test_unknown_ids_are_ignored(driver: Driver) -> None:
    """Ids that were never given out, ids of requests that are over, and ids that are given out only later."""
    done = driver.engine.submit(request())
    driver.finished(done)
    for unknown in (0, -5, done, *range(done + 1, done + 20)):
        driver.engine.cancel(unknown)
    for _ in range(3):
        assert driver.finished(driver.engine.submit(request())).reason == "length"
    assert driver.engine._requests._cancelled == set(), "ids pile up"


def test_cancelling_twice_and_too_late(driver: Driver) -> None:
    request_id = driver.engine.submit(request(sampling=replace(GREEDY, max_tokens=300)))
    driver.until(lambda: driver.of(request_id))
    driver.engine.cancel(request_id)
    driver.engine.cancel(request_id)
    driver.finished(request_id)
    driver.engine.cancel(request_id)
    driver.quiet()
    assert sum(isinstance(event, Finished | Failed) for event in driver.of(request_id)) == 1


def test_the_budget_changes_during_a_run(driver: Driver) -> None:
    """Scenario 21: the answer goes on, the view says the new budget at once."""
    cold = driver.finished(driver.engine.submit(request(use_cache=False, sampling=replace(GREEDY, max_tokens=200))))
    running = driver.engine.submit(request(sampling=replace(GREEDY, max_tokens=200)))
    driver.until(lambda: any(isinstance(event, TurnStats) for event in driver.of(running)))
    driver.engine.set_cache_budget(0)
    driver.engine.clear_cache()
    driver.until(lambda: len([event for event in driver.of(0) if isinstance(event, CacheView)]) == 2)
    assert driver.finished(running).token_ids == cold.token_ids
    view = [event for event in driver.events if isinstance(event, CacheView)][-1]
    assert view.used_bytes <= view.budget_bytes < 10**7


def test_a_budget_below_one_conversation_is_the_conversation(driver: Driver) -> None:
    """What the window says of it: `context_length * kv_bytes_per_token`; the longest prompt is answered within it."""
    loaded = driver.events[-1]
    assert isinstance(loaded, Loaded)
    least = loaded.model.context_length * loaded.model.kv_bytes_per_token
    driver.engine.set_cache_budget(1)
    driver.until(lambda: any(isinstance(event, CacheView) for event in driver.of(0)))
    question = "parcel " * 900
    finished = driver.finished(driver.engine.submit(request(question, sampling=replace(GREEDY, max_tokens=900))))
    assert finished.stats.prompt_tokens + finished.stats.written_tokens == loaded.model.context_length
    views = [event for event in driver.events if isinstance(event, CacheView)][2:]
    assert all(view.used_bytes <= view.budget_bytes == least for view in views)


@pytest.mark.parametrize("budget", [10**36, 1e30, -1, float("nan")])
def test_a_budget_that_no_computer_has_is_refused(driver: Driver, budget: int) -> None:
    driver.engine.set_cache_budget(budget)
    driver.until(lambda: driver.of(0))
    end = driver.of(0)[-1]
    assert isinstance(end, Failed)
    assert end.sentence.startswith("Set the cache budget between 0 and 10,000,000 MB; it is ")
    assert driver.engine.cache_view().budget_bytes == 10**8
    with pytest.raises(InvalidRequestError, match="Set the cache budget"):
        ModelSpec(cache_bytes=budget)


def test_half_a_character_is_refused_and_the_engine_lives_on(driver: Driver) -> None:
    for ask in (driver.engine.submit, driver.engine.preview):
        end = driver.end(ask(request("half \ud83d")))
        assert isinstance(end, Failed)
        assert end.is_refused
        assert "half of a character" in end.sentence
    driver.finished(driver.engine.submit(request()))


def test_the_view_is_there_at_once_and_newer_later(driver: Driver) -> None:
    driver.finished(driver.engine.submit(request()))
    driver.quiet()
    view = driver.engine.cache_view()
    assert view.cached_tokens == sum(node.tokens for node in view.nodes) > 0
    driver.engine.clear_cache()
    driver.quiet()
    assert driver.engine.cache_view().cached_tokens == 0


def test_poll_takes_a_few_at_a_time(driver: Driver) -> None:
    driver.finished(driver.engine.submit(request()))
    driver.engine.submit(request())
    driver.engine.close(PATIENCE_S)
    first = driver.engine.poll(2)
    assert len(first) <= 2
    assert driver.engine.poll(0) == []
    driver.engine.poll(10**6)
    assert driver.engine.poll() == []


@pytest.mark.parametrize("first", [1, 3, 8])
def test_closing_in_the_middle_ends_the_thread(
    engine: Engine, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    """Issue 3 point 6: in prefill and in decode, with more requests waiting; nothing is held when it ends."""
    driver = Driver(engine)
    driver.end(engine.load(ModelSpec(str(tiny_folder), "cpu", "fp32", cache_bytes=10**8)))
    assert engine.worker.responder is not None
    engine.worker.responder.chunk_tokens = 32
    cache = engine.worker.responder.cache
    gate = Gate(monkeypatch, first)
    for number in range(3):
        engine.submit(request(f"Where is parcel {number}? " * 8))
    assert gate.reached.wait(PATIENCE_S)
    closer = threading.Thread(target=engine.close, args=(PATIENCE_S,))
    closer.start()
    while not engine.worker.is_closing:
        threading.Event().wait(0.001)
    gate.open.set()
    closer.join(PATIENCE_S)
    assert not engine.worker.is_alive()
    assert gate.calls == first, "not one more chunk"
    cache.check_integrity()
    assert not cache._runs
    assert engine.close()

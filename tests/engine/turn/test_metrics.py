"""Figures of a turn with a clock that tests move: nothing here measures time."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import astuple, replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.events import Finished, Matched, Prefill, TurnStats
from engine.models.loaded import LoadedModel
from engine.turn.metrics import ColdTimes, PrefillRate, TurnClock
from engine.turn.responder import STATS_INTERVAL_S
from engine.types import Message
from tests.engine.turns import GREEDY, Chat, SpyModel, Ticks, events, make_responder

QUESTION = Message("user", "Where is it?")
FAR = replace(GREEDY, max_tokens=30)


def finished(seen: Iterator[object]) -> Finished:
    last = list(seen)[-1]
    assert isinstance(last, Finished)
    return last


def test_parts_add_up_to_the_time_to_the_first_token() -> None:
    """Scenario 26: TTFT includes the wait in the queue, templating and tokenising."""
    clock = Ticks(0)
    submitted = clock()
    clock.now += 1.0
    turn = TurnClock(clock, submitted)
    for name, seconds in (("template", 0.5), ("lookup", 0.25), ("restore", 2.0), ("prefill", 4.0), ("prefill", 4.0)):
        with turn.part(name):
            clock.now += seconds
        clock.now += 0.125
    assert turn.ttft_s is None
    turn.token()
    assert turn.ttft_s == 1.0 + 0.5 + 0.25 + 2.0 + 8.0 + 5 * 0.125
    assert astuple(turn.parts) == (1.0, 0.5, 0.25, 2.0, 8.0, 5 * 0.125)
    assert sum(astuple(turn.parts)) == turn.ttft_s


def test_tokens_per_second_exclude_the_first_token() -> None:
    """Scenario 26: neither the first token nor the wait for it."""
    clock = Ticks(0)
    turn = TurnClock(clock, clock())
    clock.now += 50.0
    turn.token()
    assert turn.tokens_per_s == 0.0
    for _ in range(4):
        clock.now += 0.5
        turn.token()
    assert (turn.written, turn.tokens_per_s) == (5, 2.0)


def test_the_end_token_is_not_counted_and_does_not_slow_the_figure() -> None:
    clock = Ticks(0)
    turn = TurnClock(clock, clock())
    for _ in range(2):
        clock.now += 0.5
        turn.token()
    clock.now += 0.5
    turn.token(is_end=True)
    assert (turn.written, turn.tokens_per_s) == (2, 2.0)


def test_an_answer_that_ends_at_once_has_a_first_token_time() -> None:
    clock = Ticks(0)
    turn = TurnClock(clock, clock())
    clock.now += 3.0
    turn.token(is_end=True)
    assert (turn.written, turn.tokens_per_s, turn.ttft_s) == (0, 0.0, 3.0)


def test_a_clock_that_stands_still_divides_by_nothing() -> None:
    clock = Ticks(0)
    turn = TurnClock(clock, clock())
    turn.token()
    turn.token()
    assert (turn.ttft_s, turn.tokens_per_s) == (0.0, 0.0)


@pytest.mark.parametrize(("per_token", "per_pair"), [(0.001, 0.0), (0.001, 2e-7), (0.0005, 1e-6)])
def test_the_reading_rate_is_found_again(per_token: float, per_pair: float) -> None:
    """Seconds = a * tokens + b * pairs: the estimate of a cold prompt is what its chunks would take."""
    rate = PrefillRate()
    assert (rate.estimate(1000), rate.tokens_per_s) == (0.0, 0.0)

    def seconds(tokens: int, past: int) -> float:
        return per_token * tokens + per_pair * tokens * (past + tokens / 2)

    for past in range(0, 4096, 512):
        rate.observe(512, past, seconds(512, past))
    assert rate.estimate(3000) == pytest.approx(seconds(3000, 0), rel=1e-3)
    assert rate.estimate(50, 3000) == pytest.approx(seconds(50, 3000), rel=1e-3)
    assert rate.tokens_per_s == pytest.approx(512 / seconds(512, 0), rel=1e-3)
    chunks = sum(rate.estimate(512, past) for past in range(0, 2048, 512))
    assert rate.estimate(2048) == pytest.approx(chunks)


def test_few_tokens_say_nothing_about_reading() -> None:
    rate = PrefillRate()
    rate.observe(1, 3000, 9.0)
    rate.observe(31, 0, 9.0)
    assert rate.estimate(100) == 0.0
    rate.observe(32, 0, 0.032)
    assert rate.estimate(100) == pytest.approx(0.1)


def test_the_rate_never_turns_negative() -> None:
    """Noise: longer passes that took less time than shorter ones."""
    rate = PrefillRate()
    for tokens, past, seconds in ((64, 0, 1.0), (512, 0, 0.2), (512, 2000, 0.1), (256, 100, 0.9)):
        rate.observe(tokens, past, seconds)
    for tokens in (1, 50, 500, 5000):
        assert rate.estimate(tokens) > 0
        assert rate.estimate(tokens, 4000) >= rate.estimate(tokens)


def seconds(tokens: int, past: int = 0) -> float:
    """What a machine of these tests takes to read."""
    return 0.001 * tokens + 1e-7 * tokens * (past + tokens / 2)


def read(rate: PrefillRate, tokens: int, slowness: Callable[[], float]) -> float:
    """Read a prompt from scratch in chunks, each slowed down as `slowness` says; the seconds it took."""
    took = 0.02
    for past in range(0, tokens, 512):
        chunk = min(512, tokens - past)
        took += (passed := seconds(chunk, past) * slowness())
        rate.observe(chunk, past, passed)
    rate.observe_from_scratch(tokens, took)
    return took


@given(st.randoms(use_true_random=False))
def test_the_estimate_made_just_before_is_near_what_is_then_measured(random: Random) -> None:
    """Within a quarter in at least 9 of 10 prompts of 500 tokens and more, on a machine whose times vary a little."""
    rate = PrefillRate()
    rate.observe(160, 0, seconds(160) * random.uniform(0.95, 1.1))  # as the model warms up
    near = 0
    for _ in range(10):
        tokens = random.randint(500, 6000)
        estimate = rate.from_scratch(tokens)
        near += abs(estimate / read(rate, tokens, lambda: random.uniform(0.95, 1.1)) - 1) <= 0.25
    assert near >= 9


@given(st.sets(st.integers(0, 31), max_size=12), st.floats(2, 9), st.integers(500, 8000))
def test_what_disturbs_some_passes_changes_no_estimate(disturbed: set[int], slowness: float, tokens: int) -> None:
    """Seen: cold 40 s measured for 3,014 tokens, and then "cold about 105 s" for 3,555."""
    rate = PrefillRate()
    for number in range(32):
        past = 256 * number
        rate.observe(256, past, seconds(256, past) * (slowness if number in disturbed else 1))
    assert rate.from_scratch(tokens) == pytest.approx(seconds(tokens), rel=0.25)


@given(st.randoms(use_true_random=False), st.sets(st.integers(0, 9)), st.floats(1.5, 6))
def test_prompts_that_were_read_beside_something_else_spoil_no_estimate(
    random: Random, disturbed: set[int], slowness: float
) -> None:
    """Seen: one of ten prompts took twice as long as it should, and the estimates of four others followed it. Within a
    quarter of what an undisturbed machine takes in at least 9 of 10, where no two readings in a row were disturbed."""
    rate = PrefillRate()
    read(rate, 3000, lambda: random.uniform(0.95, 1.1))
    near = 0
    for number in range(10):
        tokens = random.randint(500, 6000)
        near += abs(rate.from_scratch(tokens) / (seconds(tokens) + 0.02) - 1) <= 0.25
        factor = slowness if number in disturbed and number - 1 not in disturbed else 1.0
        read(rate, tokens, lambda factor=factor: factor * random.uniform(0.95, 1.1))
    assert near >= 9


@given(st.randoms(use_true_random=False), st.integers(100, 8000))
def test_no_estimate_is_above_what_measured_prompts_allow(random: Random, tokens: int) -> None:
    rate = PrefillRate()
    rate.observe(160, 0, 99.0)
    measured = [(size := random.randint(100, 8000), read(rate, size, lambda: random.uniform(1, 9))) for _ in range(6)]
    for size, took in measured:
        assert rate.from_scratch(tokens) <= took * max(1.0, tokens / size) ** 2 + 1e-9
    alone = PrefillRate()
    alone.observe(160, 0, 0.1)
    alone.observe_from_scratch(3014, 40.0)
    assert alone.from_scratch(3014) == pytest.approx(40.0), "what was measured beats any estimate"
    assert 40.0 < alone.from_scratch(3555) < 56.0


def test_cold_times_are_those_of_exactly_this_prompt() -> None:
    times = ColdTimes()
    times.note((1, 2), 5.0)
    times.note((1, 2), 4.0)
    assert (times.get((1, 2)), times.get((1, 2, 3)), times.get((2, 1))) == (4.0, None, None)
    for number in range(256):
        times.note((number, number), 1.0)
    assert times.get((1, 2)) is None, "bounded"


def test_cold_times_with_equal_hashes() -> None:
    """Prompts with equal hashes are told apart. hash(-1) == hash(-2)."""
    times = ColdTimes()
    times.note((-1,), 5.0)
    assert hash((-1,)) == hash((-2,))
    assert times.get((-2,)) is None


def test_cold_times_of_long_prompts_take_little_memory() -> None:
    times = ColdTimes()
    tracemalloc.start()
    for number in range(100):
        times.note(tuple(range(number, number + 10_000)), 1.0)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 100_000


def test_figures_of_a_real_turn_add_up(tiny: LoadedModel) -> None:
    """Scenarios 25 and 26, over warm and cold turns: reused + computed = prompt, parts = TTFT, never absent."""
    clock = Ticks(0.001)
    chat = Chat(make_responder(tiny, clock=clock), "You answer questions about parcels.", sampling=FAR)
    for turn in range(4):
        finished = chat.ask(f"Where is parcel {turn}?", use_cache=turn != 2)
        stats = finished.stats
        assert chat.matched is not None
        assert (stats.prompt_tokens, stats.reused_tokens) == (chat.matched.prompt_tokens, chat.matched.reused_tokens)
        assert stats.reused_tokens + stats.computed_tokens == stats.prompt_tokens
        assert stats.ttft_s is not None
        assert sum(astuple(stats.parts)) == pytest.approx(stats.ttft_s)
        assert stats.tokens_per_s > 0
        assert stats.written_tokens == len(finished.token_ids)
        assert stats.cache_bytes == chat.responder.cache.store.used_bytes
    del chat.messages[-1]
    stats = chat.answer().stats
    assert (stats.reused_tokens, stats.computed_tokens) == (stats.prompt_tokens, 0)


def test_a_cold_turn_replaces_the_estimate(tiny: LoadedModel) -> None:
    """What was measured on this very prompt is shown as measured, also for later warm turns."""
    chat = Chat(make_responder(tiny), "You answer questions about parcels. " * 8)
    cold = chat.ask("Where is it?").stats
    assert cold.cold_measured
    assert cold.cold_ttft_s == pytest.approx(cold.ttft_s)
    del chat.messages[-1]
    again = chat.answer().stats
    assert (again.reused_tokens > 0, again.cold_measured) == (True, True)
    warm = chat.ask("And now?").stats
    assert not warm.cold_measured
    estimate = chat.responder.rate.from_scratch(warm.prompt_tokens)
    assert warm.cold_ttft_s == pytest.approx(estimate + warm.parts.queue + warm.parts.template)


def test_the_wait_in_the_queue_is_not_taken_for_reading(tiny: LoadedModel) -> None:
    """A cold turn that waited for another says nothing about how long reading takes without waiting."""
    clock = Ticks(0.001)
    responder = make_responder(tiny, clock=clock)
    chat = Chat(responder, "You answer questions about parcels. " * 8)
    request = replace(chat.request(), messages=(*chat.messages, QUESTION))
    waited = finished(responder.answer(1, request, clock.now - 500, lambda: False)).stats
    assert waited.ttft_s is not None
    assert waited.ttft_s > 500
    again = finished(responder.answer(2, request, clock(), lambda: False)).stats
    assert again.cold_measured
    assert again.cold_ttft_s < 100


def test_what_is_done_for_others_between_two_layers_is_no_reading(tiny: LoadedModel) -> None:
    """Commands are served and previews made within a pass."""
    clock = Ticks(0.0)
    responder = make_responder(tiny, clock=clock)
    chat = Chat(responder, "You answer questions about parcels. " * 8)
    request = replace(chat.request(), messages=(*chat.messages, QUESTION))

    def serve() -> None:
        clock.now += 50.0

    list(responder.answer(1, request, clock(), lambda: False, serve))
    assert responder.rate.estimate(100) < 1e-6, "the clock stood still while it read"


def test_the_preview_of_a_prompt_says_what_its_turn_would_be_compared_with(tiny: LoadedModel) -> None:
    """One estimate in the ribbon and under the answer."""
    chat = Chat(make_responder(tiny), "You answer questions about parcels. " * 8)
    chat.ask("Where is it?")
    request = replace(chat.request(), messages=(*chat.messages, QUESTION))
    whole = chat.responder.preview(1, replace(request, use_cache=False))
    assert whole.seconds == chat.responder.rate.from_scratch(whole.prompt_tokens)
    assert chat.responder.preview(2, request).seconds <= whole.seconds


def test_the_warm_up_measures_and_leaves_nothing(tiny: LoadedModel) -> None:
    clock = Ticks(0.001)
    responder = make_responder(tiny, clock=clock)
    spy = SpyModel(tiny)

    def compute(call: int) -> None:
        clock.now += 0.160

    spy.before_forward = compute
    responder.model = spy  # type: ignore[assignment]
    responder.warm_up()
    assert responder.rate.tokens_per_s == pytest.approx(1000, rel=0.02)
    assert responder.cache.store.used_bytes == 0
    assert responder.cache.view().cached_tokens == 0


def test_stats_come_five_times_a_second(tiny: LoadedModel) -> None:
    clock = Ticks(0)
    spy = SpyModel(tiny)

    def compute(call: int) -> None:
        clock.now += 0.01

    spy.before_forward = compute
    chat = Chat(make_responder(spy, clock=clock), sampling=replace(GREEDY, max_tokens=100))
    chat.messages.append(QUESTION)
    seen = list(events(chat.responder, chat.request()))
    stats = [event for event in seen if isinstance(event, TurnStats)]
    assert STATS_INTERVAL_S == 0.2
    assert 4 <= len(stats) <= 6, "an answer of a second"
    assert [s.written_tokens for s in stats] == sorted(s.written_tokens for s in stats)
    assert stats[0].written_tokens == 1


def test_progress_counts_up_to_the_total(tiny: LoadedModel) -> None:
    chat = Chat(make_responder(tiny), "You answer questions about parcels. " * 48)
    chat.messages.append(QUESTION)
    seen = list(events(chat.responder, chat.request()))
    matched = next(event for event in seen if isinstance(event, Matched))
    progress = [event for event in seen if isinstance(event, Prefill)]
    assert len(progress) > 1
    assert [p.done for p in progress] == sorted({p.done for p in progress})
    assert {p.total for p in progress} == {matched.computed_tokens}
    assert progress[-1].done == matched.computed_tokens
    assert progress[-1].seconds_left == 0
    assert all(one.seconds_left > two.seconds_left for one, two in pairwise(progress))

"""Pins, allocations that fail, requests that end early: nothing is lost, freed twice, or left behind."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import pytest

from engine.cache.null_cache import NullCache
from engine.cache.prefix_cache import PrefixCache
from engine.types import BLOCK_TOKENS
from tests.engine import fake_kv
from tests.engine.fake_kv import DigestModel, FlakyStore, check_contents, cold, run_prompt
from tests.engine.inside import is_idle, lanes, paths, pins, real_bytes

MODEL = DigestModel()
PROMPT = [token % 5 for token in range(300)]
CHUNK = 24
make_cache = partial(fake_kv.make_cache, lane_step=32)
"""Lanes grow in small steps, so that short prompts make them grow."""


def state(cache: PrefixCache) -> tuple[object, ...]:
    """What a refused request must leave as it was: paths, their blocks, who keeps them. Idle lanes may go."""
    kept = {owner: sum(len(part.blocks) for part in node.path()) for owner, node in cache.tree.kept().items()}
    return sorted(paths(cache, "a")), kept, pins(cache), sorted(cache.store.blocks)


def filled(**options: int) -> PrefixCache:
    """A cache that has seen three prompts with a common start, one of them kept."""
    cache = make_cache(**{"context": 160, "tokens": 600, **options})
    for answer in (1, 2, 3):
        run_prompt(cache, MODEL, PROMPT[:40] + [answer] * 50, owner=str(answer))
    cache.keep(PROMPT[:40], "1")
    return cache


def test_a_hit_survives_the_room_made_for_the_rest() -> None:
    """ENGINE_BUGS kinds C14, C15: look up, pin, then evict; a full pool never drops the hit of the request itself."""
    cache = make_cache(context=160, tokens=96 + 96 + 64)
    prompt = PROMPT[:96] + [5] * 60
    run_prompt(cache, MODEL, PROMPT[:96])
    run_prompt(cache, MODEL, [7] * 64)
    assert cache.store.free_bytes == 0
    reused, logits = run_prompt(cache, MODEL, prompt)
    assert (reused, logits) == (96, [cold(prompt)])
    assert cache.tree.peek("a", [7] * 64) == 0
    check_contents(cache, MODEL)


def test_pinned_blocks_stay_while_others_go() -> None:
    """ENGINE_BUGS kind C14: whatever is evicted during a request, its own hit is not."""
    cache = filled(max_lanes=2)
    run = cache.begin(PROMPT[:40] + [1] * 60, 5)
    cache.restore(run)
    cache.make_room(10**9)
    assert cache.tree.peek("a", PROMPT[:40] + [1] * 50) == 80
    assert cache.tree.peek("a", PROMPT[:40] + [2] * 50) == 32
    cache.clear()
    assert cache.tree.peek("a", PROMPT[:40] + [1] * 50) == 80
    cache.finish(run)
    cache.clear()
    assert cache.store.used_bytes == 0


def test_what_was_evicted_after_the_look_is_looked_up_again() -> None:
    """ENGINE_BUGS kind C16: a plan made before an eviction is not trusted."""
    cache = filled()
    prompt = PROMPT[:40] + [1] * 50
    assert cache.peek(prompt) == 80
    cache.clear()
    assert run_prompt(cache, MODEL, prompt) == (0, [cold(prompt)])


@pytest.mark.parametrize("order", list(itertools.permutations(range(2))))
def test_the_same_prompt_computed_twice_at_once(order: tuple[int, ...]) -> None:
    """ENGINE_BUGS kinds C17 and C18: the second to finish publishes nothing twice, and frees nothing of the first."""
    cache = make_cache(context=160, tokens=800, max_lanes=2)
    runs = [cache.begin(PROMPT[:100], 4, str(number)) for number in range(2)]
    for run in runs:
        cache.restore(run)
        fake_kv.compute(cache, MODEL, run, PROMPT[:100], CHUNK)
    for number in order:
        cache.finish(runs[number])
        check_contents(cache, MODEL)
    assert cache.view().cached_tokens == 96
    cache.store.free(cache.tree.evict(3))
    check_contents(cache, MODEL)
    assert run_prompt(cache, MODEL, PROMPT[:100])[1] == [cold(PROMPT[:100])]


@pytest.mark.parametrize("computed", range(0, 101, 4))
def test_cancel_at_every_point(computed: int) -> None:
    """ENGINE_BUGS kind C21: what a cancelled request leaves is whole blocks that are right, and no pin."""
    cache = filled()
    prompt = PROMPT[:30] + [4] * 70
    run = cache.begin(prompt, 10)
    cache.restore(run)
    while len(run.lane.ids) < computed:
        fake_kv.step(cache, MODEL, run, prompt[:computed], CHUNK)
    done = len(run.lane.ids)
    cache.finish(run)
    check_contents(cache, MODEL)
    assert cache.peek([*prompt, 0]) == done
    assert cache.tree.peek("a", prompt) >= done // BLOCK_TOKENS * BLOCK_TOKENS
    assert run_prompt(cache, MODEL, prompt)[1] == [cold(prompt)]


@pytest.mark.parametrize("written", range(0, 25, 3))
def test_an_error_inside_a_chunk(written: int) -> None:
    """ENGINE_BUGS kind C21: half-written slots are not vouched for, whatever stands in them."""
    cache = filled()
    prompt = PROMPT[:40] + [4] * 60
    run = cache.begin(prompt, 10)
    cache.restore(run)
    start = len(run.lane.ids)
    MODEL.forward(prompt, start, start + written, run.lane) if written else None
    run.lane.keys[0][:, :, start + written // 2 : start + CHUNK] = 1e4
    cache.finish(run)
    check_contents(cache, MODEL)
    assert run_prompt(cache, MODEL, prompt)[1] == [cold(prompt)]


def scenario(cache: PrefixCache, refused: list[str]) -> None:
    """A little life of a cache. Where memory fails a request is refused, and asked again."""
    for number, prompt in enumerate((PROMPT[:60], PROMPT[:40] + [1] * 60, [2] * 30, PROMPT[:60] + [3] * 80)):
        for attempt in range(2):
            try:
                logits = run_prompt(cache, MODEL, prompt, [number] * 5)[1]
            except MemoryError:
                refused.append(f"request {number}, attempt {attempt}")
                assert is_idle(cache)
                continue
            assert logits[0] == cold(prompt)
            break
        check_contents(cache, MODEL)


def test_every_allocation_may_fail() -> None:
    """ENGINE_BUGS kind C20: the allocator refuses the k-th call, for every k; each answer is right all the same."""
    cache = make_cache(context=160, tokens=420)
    assert isinstance(cache.store, FlakyStore)
    scenario(cache, [])
    calls = cache.store.allocations
    assert calls > 15
    for k, times in itertools.product(range(calls), (1, 2)):
        cache, refused = make_cache(context=160, tokens=420), list[str]()
        assert isinstance(cache.store, FlakyStore)
        cache.store.fail_after, cache.store.fail_for = k, times
        scenario(cache, refused)
        assert len(refused) <= 1
        cache.clear()
        assert cache.store.used_bytes == 0


@pytest.mark.parametrize("k", range(3))
def test_a_request_that_is_refused_leaves_no_trace(k: int) -> None:
    """ENGINE_BUGS kind C20: all or nothing; blocks, pins and kept paths are as before."""
    cache = filled()
    assert isinstance(cache.store, FlakyStore)
    before = state(cache)
    cache.store.fail_after, cache.store.fail_for = 0, 9
    for _ in range(k + 1):
        with pytest.raises(MemoryError):
            cache.begin(PROMPT[:40] + [5] * 110, 10)
    check_contents(cache, MODEL)
    assert state(cache) == before
    assert is_idle(cache)


def test_an_unexpected_error_in_begin_leaves_no_pin(monkeypatch: pytest.MonkeyPatch) -> None:
    """ENGINE_BUGS kind C20: not only a lack of memory is rolled back."""
    cache = filled()

    def broken(capacity: int) -> None:
        raise RuntimeError("the driver is gone")

    monkeypatch.setattr(cache.store, "new_lane", broken)
    with pytest.raises(RuntimeError, match="driver"):
        cache.begin(PROMPT[:40] + [5] * 110, 10)
    check_contents(cache, MODEL)
    assert pins(cache) == 0


def _fail_publish(cache: PrefixCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the driver is gone")

    monkeypatch.setattr(cache.store, "_copy_out", broken)


def _fail_insert(cache: PrefixCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the tree is gone")

    monkeypatch.setattr(cache.tree, "match", broken)


@pytest.mark.parametrize("fail", [_fail_publish, _fail_insert])
def test_an_unexpected_error_in_finish_leaves_no_pin(
    fail: Callable[[PrefixCache, pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """ENGINE_BUGS kind C17: a counter that is not taken back blocks the memory for ever."""
    cache = filled()
    run = cache.begin(PROMPT[:150], 5)
    cache.restore(run)
    fake_kv.compute(cache, MODEL, run, PROMPT[:150], CHUNK)
    with monkeypatch.context() as patch:
        fail(cache, patch)
        with pytest.raises(RuntimeError, match="gone"):
            cache.finish(run)
    check_contents(cache, MODEL)
    assert run_prompt(cache, MODEL, PROMPT[:150])[1] == [cold(PROMPT[:150])]


def test_regenerations_come_back_to_the_baseline() -> None:
    """Scenario 20, issue 3 point 6: whatever was asked, memory is what the budget allows, and nothing after a clear."""
    cache = make_cache(context=160, tokens=700)
    used = []
    for attempt in range(200):
        run_prompt(cache, MODEL, PROMPT[:48], [attempt % 7, attempt] * 8, owner="chat")
        used.append(cache.store.used_bytes)
    check_contents(cache, MODEL)
    assert max(used) <= cache.store.budget_bytes
    assert used[-1] == used[-101], "still growing"
    assert len(lanes(cache)) == 1
    cache.clear()
    assert cache.store.used_bytes == real_bytes(cache.store) == 0


def test_a_cold_run_takes_room_and_gives_it_back() -> None:
    """ENGINE_BUGS kind C22: a request that stores nothing ends, though longer than a chunk, and leaves no trace."""
    cache = filled(tokens=160 + 160)
    cold_cache = NullCache(cache.store, cache.make_room)
    reused, logits = run_prompt(cold_cache, MODEL, PROMPT[:150], [1] * 10)
    assert (reused, logits[0]) == (0, cold(PROMPT[:150]))
    check_contents(cache, MODEL)
    assert cache.tree.peek("a", PROMPT[:40]) == 32, "a kept prefix went"
    assert is_idle(cache)


def test_what_is_kept_for_a_time_goes_when_it_is_over() -> None:
    now = [0.0]
    cache = make_cache(context=128, tokens=600, clock=lambda: now[0])
    model = DigestModel()
    ids = list(range(48))
    run_prompt(cache, model, ids)
    cache.keep_for(ids[:32], 300.0)
    assert cache.kept_tokens(ids) == 32
    now[0] = 200.0
    cache.keep_for(ids[:32], 300.0)
    now[0] = 499.0
    assert cache.kept_tokens(ids) == 32
    now[0] = 500.0
    assert cache.kept_tokens(ids) == 0
    cache.check_integrity()

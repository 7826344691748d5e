"""One hard byte budget over everything the cache holds, and what the cache view says about it."""

from __future__ import annotations

import random
from functools import partial

import pytest
import torch

from engine.cache.null_cache import NullCache
from engine.types import BLOCK_TOKENS
from tests.engine import fake_kv
from tests.engine.fake_kv import LAYOUT, DigestModel, FlakyStore, check_contents, run_prompt, unlike
from tests.engine.inside import forget_lanes, real_bytes

MODEL = DigestModel()
TOKEN = LAYOUT.bytes_per_token
BLOCK = LAYOUT.bytes_per_block
make_cache = partial(fake_kv.make_cache, lane_step=32)
"""Lanes grow in small steps, so that short prompts make them grow."""


@pytest.mark.parametrize("chats", [1, 12])
@pytest.mark.parametrize("budget", [256, 300, 700])
def test_the_budget_holds_in_real_bytes(chats: int, budget: int) -> None:
    """ENGINE_BUGS kind D28: with one chat that grows and with many, at every moment."""
    chance, cache = random.Random(4), make_cache(context=256, tokens=budget)
    histories = [unlike(number, 20) for number in range(chats)]
    for turn in range(60):
        chat = chance.randrange(chats)
        histories[chat] = (histories[chat] + unlike(50 + turn, chance.randrange(1, 40)))[:240]
        run_prompt(cache, MODEL, histories[chat], [turn] * 6)
        assert real_bytes(cache.store) == cache.store.used_bytes <= budget * TOKEN
    check_contents(cache, MODEL)


def test_branches_cost_their_prefix_once() -> None:
    """Issue 3 point 5: N branches over one prefix."""
    cache = make_cache(context=256, tokens=4096)
    for branch in range(10):
        run_prompt(cache, MODEL, unlike(1, 128) + unlike(10 + branch, 32))
    assert cache.view().cached_tokens == 128 + 10 * 32


def test_a_prompt_larger_than_the_budget_is_answered() -> None:
    """Issue 3 point 5: with an uncached part, and the budget holds. The least budget is one lane."""
    cache = make_cache(context=256, tokens=1)
    assert cache.store.budget_bytes == 256 * TOKEN
    prompt = unlike(1, 250)
    reused, logits = run_prompt(cache, MODEL, prompt, [1] * 6)
    cold = run_prompt(NullCache(FlakyStore(LAYOUT, 10**9)), MODEL, prompt, [1] * 6)
    assert (reused, logits) == cold
    check_contents(cache, MODEL)
    assert run_prompt(cache, MODEL, prompt)[0] == 249, "the lane itself is the cache then"


def test_a_prompt_too_large_to_publish_leaves_others_alone_where_it_can() -> None:
    """ENGINE_BUGS kind D28: what does not fit is published as far as it does, never past the budget."""
    cache = make_cache(context=256, tokens=256 + 4 * BLOCK_TOKENS)
    run_prompt(cache, MODEL, unlike(1, 250), [1] * 6)
    check_contents(cache, MODEL)
    assert cache.view().cached_tokens == 4 * BLOCK_TOKENS
    forget_lanes(cache)
    assert cache.peek(unlike(1, 250)) == 4 * BLOCK_TOKENS


def test_lowering_the_budget_takes_effect_at_once() -> None:
    """Scenario 21: whole blocks leave, oldest leaves first."""
    cache = make_cache(context=128, tokens=1000)
    for number in range(6):
        run_prompt(cache, MODEL, unlike(number, 96))
    before = cache.view()
    cache.set_budget(500 * TOKEN)
    after = cache.view()
    assert after.used_bytes <= after.budget_bytes == 500 * TOKEN
    assert after.evicted_bytes - before.evicted_bytes == before.used_bytes - after.used_bytes > 0
    assert cache.tree.peek("a", unlike(5, 96)) == 96
    assert cache.tree.peek("a", unlike(0, 96)) == 0
    check_contents(cache, MODEL)


@pytest.mark.parametrize("computed", [0, 24, 96])
def test_lowering_the_budget_while_a_long_chat_runs(computed: int) -> None:
    """Scenario 21: the running request goes on in its lane; everything else may go, its published hits too."""
    cache = make_cache(context=128, tokens=1000)
    prompt = unlike(1, 64) + unlike(2, 60)
    run_prompt(cache, MODEL, unlike(1, 64))
    run = cache.begin(prompt, 4)
    cache.restore(run)
    while len(run.lane.ids) < min(len(prompt), run.reused + computed):
        fake_kv.step(cache, MODEL, run, prompt, 24)
    cache.set_budget(0)
    check_contents(cache, MODEL)
    assert cache.store.budget_bytes == 128 * TOKEN
    logits = fake_kv.compute(cache, MODEL, run, [*prompt, 5], 24)
    cache.finish(run)
    check_contents(cache, MODEL)
    assert logits == run_prompt(NullCache(FlakyStore(LAYOUT, 10**9)), MODEL, [*prompt, 5])[1][0]


def test_the_budget_never_falls_below_what_runs() -> None:
    """Two requests at once hold more than one lane: the budget waits until they are done."""
    cache = make_cache(context=128, tokens=1000, max_lanes=2)
    runs = [cache.begin(unlike(number, 120), 4) for number in range(2)]
    for run in runs:
        cache.restore(run)
    cache.set_budget(0)
    check_contents(cache, MODEL)
    assert cache.store.budget_bytes == 256 * TOKEN
    for run in runs:
        cache.finish(run)
    cache.set_budget(0)
    assert cache.store.budget_bytes == 128 * TOKEN
    check_contents(cache, MODEL)


def test_raising_the_budget_again_caches_again() -> None:
    cache = make_cache(context=128, tokens=1000)
    run_prompt(cache, MODEL, unlike(1, 96))
    cache.set_budget(0)
    assert cache.view().cached_tokens <= 32
    cache.set_budget(1000 * TOKEN)
    run_prompt(cache, MODEL, unlike(1, 96))
    assert cache.view().cached_tokens == 96


def test_kept_prefixes_survive_everything_but_their_release() -> None:
    cache = make_cache(context=128, tokens=600)
    run_prompt(cache, MODEL, unlike(1, 64), owner="chat")
    assert cache.keep(unlike(1, 64), "chat")
    for number in range(2, 12):
        run_prompt(cache, MODEL, unlike(number, 120))
    assert cache.tree.peek("a", unlike(1, 64)) == 64
    cache.release("chat")
    for number in range(12, 22):
        run_prompt(cache, MODEL, unlike(number, 120))
    assert cache.tree.peek("a", unlike(1, 64)) == 0


def test_kept_prefixes_never_take_everything() -> None:
    """However many conversations keep a system prompt, chats can still be cached: the oldest kept ones are let go."""
    cache = make_cache(context=128, tokens=128 + 640)
    for number in range(30):
        run_prompt(cache, MODEL, unlike(number, 64), owner=str(number))
        cache.keep(unlike(number, 64), str(number))
        assert cache.view().pinned_bytes <= 320 * TOKEN
    assert list(cache.tree.kept()) == [str(number) for number in range(25, 30)]
    run_prompt(cache, MODEL, unlike(99, 120))
    forget_lanes(cache)
    assert cache.peek(unlike(99, 120)) == 112
    check_contents(cache, MODEL)


def test_keeping_says_when_it_does_not() -> None:
    cache = make_cache(context=128, tokens=128 + 64)
    assert not cache.keep(unlike(1, 64), "chat"), "nothing is cached yet"
    run_prompt(cache, MODEL, unlike(1, 64))
    assert not cache.keep(unlike(1, 64), "chat"), "it would take more than half"
    assert cache.keep(unlike(1, 32), "chat")
    cache.set_budget(128 * TOKEN)
    assert cache.tree.kept() == {}
    check_contents(cache, MODEL)


def test_new_logits_take_the_place_of_the_old_ones() -> None:
    """No block has to go for them."""
    cache = make_cache(tokens=1000)
    run_prompt(cache, MODEL, [3] * 64)
    run = cache.begin([1] * 64, 0)
    cache.restore(run)
    fake_kv.compute(cache, MODEL, run, [1] * 64, 24)
    logits = torch.ones(2 * cache.store.layout.bytes_per_block, dtype=torch.uint8)
    cache.keep_logits(run, logits)
    cache.store.budget_bytes, blocks = cache.used_bytes, len(cache.tree)
    cache.keep_logits(run, logits * 2)
    assert (len(cache.tree), cache.evicted_bytes, cache.store.free_bytes) == (blocks, 0, 0)
    assert run.lane.end_logits is not None
    assert run.lane.end_logits[0] == 2
    cache.finish(run)

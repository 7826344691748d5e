"""The state machine of the cache, and whether its tools see what they are there for."""

from __future__ import annotations

import pytest

from engine.cache.null_cache import NullCache
from tests.depth import fewer
from tests.engine import fake_kv
from tests.engine.cache_machine import CacheMachine
from tests.engine.fake_kv import DigestModel, FlakyStore, check_contents, make_cache, run_prompt
from tests.engine.inside import forget_lanes, paths, swap_blocks

TestCacheMachine = CacheMachine.TestCase
TestCacheMachine.settings = fewer()


def test_the_model_sees_a_misplaced_block() -> None:
    """The tool itself: two blocks swapped in the pool are noticed, by the check and in the logits."""
    cache, model = make_cache(), DigestModel()
    prompt = [token % 3 for token in range(65)]
    _, before = run_prompt(cache, model, prompt)
    ((_, (first, second, *_)),) = paths(cache, "a")
    swap_blocks(cache.store, first, second)
    forget_lanes(cache)
    with pytest.raises(AssertionError, match="misplaced"):
        check_contents(cache, model)
    _, after = run_prompt(cache, model, prompt)
    assert after != before


def test_null_cache_is_an_oracle() -> None:
    """It reuses nothing, keeps nothing, and its logits are those of one piece."""
    store, model = FlakyStore(fake_kv.LAYOUT, 10**6, fill=fake_kv.NAN), DigestModel()
    cache = NullCache(store)
    prompt = [token % 3 for token in range(65)]
    for chunk in (24, 65):
        reused, logits = run_prompt(cache, model, prompt, chunk=chunk)
        assert (reused, store.used_bytes, cache.estimate(prompt).tokens) == (0, 0, 0)
        assert logits == run_prompt(NullCache(store), model, prompt, chunk=65)[1]

"""What a token costs: the bytes that a filled cache really takes, against what the model's config says by hand."""

from __future__ import annotations

import pytest

from engine.cache.prefix_cache import PrefixCache
from engine.cache.store import KVStore
from engine.types import BLOCK_TOKENS
from tests.engine.inside import forget_lanes, real_bytes
from tests.engine.model_zoo import CASES
from tests.engine.models.test_classes import Subject, make_subject, prompt
from tests.engine.turns import Ticks, prompt_logits

FP32 = 4
THEORY = {
    "Llama": 3 * 2 * (8 + 8) * FP32,
    "DeepSeek-V3": 3 * (12 + 4) * FP32,
    "Gemma-4": (3 * 2 * (8 + 8) + 2 * (16 + 16)) * FP32,
}
"""Layers * KV heads * (key + value). DeepSeek: the latent and its rotary part, for all heads together. Gemma-4: three
layers with a window, one without and with heads twice as wide; its last two layers keep nothing of their own."""
TOKENS = 512
NEAR = 0.02


@pytest.fixture(params=THEORY)
def subject(request: pytest.FixtureRequest) -> Subject:
    """A class with grouped heads, one with latents, one whose layers differ in shape."""
    return make_subject(next(case for case in CASES if case.name == request.param))


def make_cache(subject: Subject) -> PrefixCache:
    layout = subject.model.layout
    return PrefixCache(KVStore(layout, 4096 * layout.bytes_per_token), "model", TOKENS, Ticks())


def test_a_filled_cache_costs_what_is_said(subject: Subject) -> None:
    """Blocks and lane together, and the blocks alone."""
    cache, theory = make_cache(subject), THEORY[subject.case.name]
    said = subject.model.layout.bytes_per_token
    prompt_logits(cache, subject.model, prompt(TOKENS))
    assert cache.view().cached_tokens == TOKENS
    assert real_bytes(cache.store) / (2 * TOKENS) == pytest.approx(theory, rel=NEAR)
    assert cache.view().used_bytes == real_bytes(cache.store)
    forget_lanes(cache)
    assert real_bytes(cache.store) / TOKENS == pytest.approx(theory, rel=NEAR)
    assert said == pytest.approx(theory, rel=NEAR)


def test_branches_cost_their_prefix_once(subject: Subject) -> None:
    """Eight branches of 32 tokens over 256 tokens that they share."""
    cache, trunk = make_cache(subject), prompt(256)
    for branch in range(8):
        prompt_logits(cache, subject.model, trunk + prompt(2 * BLOCK_TOKENS, seed=100 + branch))
    forget_lanes(cache)
    tokens = 256 + 8 * 2 * BLOCK_TOKENS
    assert real_bytes(cache.store) / tokens == pytest.approx(THEORY[subject.case.name], rel=NEAR)

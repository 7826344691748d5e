"""Angles of positions that are kept are those that are computed for them, to the last bit."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.llama.family import Rope
from engine.llama.weights import KNOWN_ANGLES, MOST_KNOWN, Rotary, plain_frequencies

SHORT, LONG = (tuple(plain_frequencies(16, theta).tolist()) for theta in (10_000.0, 500_000.0))
STARTS = st.integers(0, 3 * KNOWN_ANGLES) | st.sampled_from([KNOWN_ANGLES - 1, KNOWN_ANGLES, 130_000])


@given(st.lists(st.tuples(STARTS, st.integers(0, 2 * KNOWN_ANGLES), st.booleans()), min_size=1, max_size=6))
def test_kept_angles(asked: list[tuple[int, int, bool]]) -> None:
    rotary = Rotary(Rope(SHORT, 1.25, LONG), torch.device("cpu"))
    like = torch.zeros(1)
    for start, count, is_long in asked:
        found = rotary.between(start, start + count, is_long=is_long)
        expected = rotary(like, torch.arange(start, start + count)[None], is_long=is_long)
        for one, other in zip(found, expected, strict=True):
            assert one.is_contiguous()
            assert torch.equal(one, other[0])


def test_no_more_are_kept_than_are_worth_it() -> None:
    rotary = Rotary(Rope(SHORT), torch.device("cpu"))
    kept = [rotary.between(first, first + 1)[0] for first in range(0, (MOST_KNOWN + 2) * KNOWN_ANGLES, KNOWN_ANGLES)]
    again = rotary.between(0, 1)[0]
    assert torch.equal(again, kept[0])

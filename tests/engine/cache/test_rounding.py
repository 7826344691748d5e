"""Keys and values in 8 bits: what is rounded once stays as it is."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from engine.cache.rounding import MOST, codes_of, exponents_of, rounded, rows_of

TYPES = st.sampled_from([torch.float32, torch.bfloat16, torch.float16])
NUMBERS = st.lists(st.floats(-60_000, 60_000, width=32), min_size=4, max_size=4)


def row(numbers: list[float], dtype: torch.dtype) -> Tensor:
    return torch.tensor([numbers]).to(dtype)


@given(NUMBERS, TYPES)
def test_rounding_again_changes_nothing(numbers: list[float], dtype: torch.dtype) -> None:
    """So a block gives back exactly what the lane held that it was made from."""
    once = rounded(row(numbers, dtype))
    assert torch.equal(rounded(once), once)
    exponents = exponents_of(once)
    codes = codes_of(once, exponents).to(torch.int8)
    assert torch.equal(rows_of(codes, exponents.to(torch.int8), dtype), once)


@given(NUMBERS, TYPES)
def test_it_is_off_by_half_a_step_at_most(numbers: list[float], dtype: torch.dtype) -> None:
    rows = row(numbers, dtype)
    step = max(float(rows.abs().max()) / (MOST / 2), 2.0**-24)
    assert float((rounded(rows).float() - rows.float()).abs().max()) <= step / 2


def test_what_is_no_number_does_not_get_lost() -> None:
    odd = torch.tensor([[1.0, float("nan"), float("inf"), float("-inf")]])
    assert torch.equal(rounded(odd)[0, 1:].isfinite(), torch.tensor([False] * 3))

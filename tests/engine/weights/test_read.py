"""Products of many rows in bf16 by the compiled part: right, and the same bits for a row among any others, whatever
form the weights have."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from gguf.constants import GGMLQuantizationType
from hypothesis import given
from hypothesis import strategies as st

from engine.weights.compiled_matrix import CompiledStack, can_read
from engine.weights.row_products import multiply
from tests.engine.weights.test_packed import mapped, read

pytestmark = pytest.mark.skipif(not can_read(torch.bfloat16), reason="this processor has no AMX")
HALF_A_STEP = 2.0**-8
"""Of bf16, as a part of the number that is rounded."""


def numbers(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(torch.bfloat16)


EIGHTS = st.integers(1, 40) | st.sampled_from([80, 81, 96, 150])
"""Of columns: where rows are few, the longest are taken a part at a time."""


@given(st.integers(1, 300), EIGHTS, st.integers(1, 200), st.integers(0, 2**31 - 1), st.booleans())
def test_products_are_right_and_a_row_has_the_same_bits_among_any_others(
    count: int, eights: int, outputs: int, seed: int, has_bias: bool
) -> None:
    rows, weights = numbers(count, 8 * eights, seed=seed), numbers(outputs, 8 * eights, seed=seed + 1)
    bias = numbers(outputs, seed=seed + 2) if has_bias else None
    stack = CompiledStack([weights[: outputs // 2], weights[outputs // 2 :]] if outputs > 1 else [weights], bias)
    found = stack.read(rows)
    exact = rows.double() @ weights.double().t()
    exact = exact if bias is None else exact + bias.double()
    size = rows.double().abs() @ weights.double().abs().t() + 1
    assert ((found - exact).abs() <= HALF_A_STEP * exact.abs() + 1e-5 * size).all()
    first = seed % count
    for last in {first + 1, min(first + 17, count), count}:
        assert torch.equal(stack.read(rows[first:last]), found[first:last])
    assert torch.equal(CompiledStack([weights], bias).read(rows), found)
    assert torch.equal(multiply(rows, weights.t(), bias), found)


@pytest.mark.parametrize("kind", ["Q4_1", "Q4_K", "Q6_K", "Q8_0", "F32"])
def test_weights_in_few_bits_give_what_they_give_in_bf16(kind: str, tmp_path: Path) -> None:
    for outputs, count, columns in ((1, 1, 512), (37, 5, 512), (200, 150, 512), (70, 10, 1280), (64, 60, 768)):
        rows = numbers(count, columns, seed=count)
        if kind == "F32":
            matrix = numbers(outputs, columns, seed=7).float()
            wide = matrix.to(torch.bfloat16)
        else:
            form = GGMLQuantizationType[kind]
            make = mapped if kind in ("Q4_K", "Q8_0") else read
            matrix, _ = make(tmp_path / "blocks", form, outputs, columns, seed=1)  # type: ignore[assignment]
            wide = matrix.widened(torch.bfloat16)  # type: ignore[attr-defined]
        assert torch.equal(CompiledStack([matrix]).read(rows), CompiledStack([wide]).read(rows))


def test_a_number_that_is_none_stays_in_its_row() -> None:
    rows, weights = numbers(40, 64, seed=1), numbers(48, 64, seed=2)
    sound = CompiledStack([weights]).read(rows)
    rows[3, 5] = float("nan")
    found = CompiledStack([weights]).read(rows)
    assert found[3].isnan().all()
    others = torch.arange(40) != 3
    assert torch.equal(found[others], sound[others])

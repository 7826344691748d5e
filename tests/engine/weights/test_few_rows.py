"""Products of a few rows by the compiled part: what they give, in which order they are summed up, and for what."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from engine.weights.few_rows import MOST, can_multiply, multiply_few, part_like, parts

BF16 = torch.bfloat16


def turned(outputs: int, inputs: int) -> Tensor:
    return torch.randn(outputs, inputs).to(BF16).t()


needs_tiles = pytest.mark.skipif(not can_multiply(turned(32, 32)), reason="this processor has no registers for it")


def product(rows: Tensor, matrix: Tensor, part: int) -> Tensor:
    out = torch.full((len(rows), matrix.shape[1]), float("nan"), dtype=BF16)
    multiply_few(rows, matrix, part, out)
    return out


@needs_tiles
@pytest.mark.parametrize("shape", [(32, 32), (96, 64), (960, 576), (576, 1536)])
@pytest.mark.parametrize("threads", [1, 2, 3])
@torch.inference_mode()
def test_it_is_the_product_and_a_row_is_the_same_bits_with_any_others(shape: tuple[int, int], threads: int) -> None:
    torch.set_num_threads(threads)
    matrix, rows = turned(*shape), torch.randn(MOST, shape[1]).to(BF16)
    for part in parts(shape[1])[:4]:
        whole = product(rows, matrix, part)
        torch.testing.assert_close(whole.double(), rows.double() @ matrix.double(), atol=0.01, rtol=0.01)
        for start, count in ((0, 1), (3, 15), (20, 16), (1, 17), (30, 33), (2, 48)):
            assert torch.equal(product(rows[start : start + count], matrix, part), whole[start : start + count])


@needs_tiles
def test_parts_are_summed_up_by_themselves() -> None:
    """A small number is lost beside a large one, but not in a part of its own where the large ones cancel out."""
    matrix, rows = torch.ones(32, 128).to(BF16).t(), torch.zeros(2, 128).to(BF16)
    rows[0, [0, 64, 96]] = torch.tensor([2.0**30, 1, -(2.0**30)], dtype=BF16)
    rows[1, [0, 32, 64]] = torch.tensor([2.0**30, -(2.0**30), 1], dtype=BF16)
    assert product(rows, matrix, 128)[:, 0].tolist() == [0, 1]
    assert product(rows, matrix, 64)[:, 0].tolist() == [0, 1]
    rows[0, [64, 32]] = torch.tensor([0, -(2.0**30)], dtype=BF16)
    rows[0, [96, 127]] = torch.tensor([0, 1], dtype=BF16)
    assert product(rows, matrix, 96)[:, 0].tolist() == [1, 1]


@needs_tiles
@torch.inference_mode()
def test_the_part_is_found_that_gives_the_same_bits() -> None:
    matrix, rows = turned(64, 640), torch.randn(MOST, 640).to(BF16)
    rows[:, 320:], matrix[320:] = -rows[:, :320].flip(1), matrix[:320].flip(0)  # rounding alone is left
    assert parts(640)[:5] == [640, 320, 224, 160, 128]
    for part in (640, 320, 160):
        assert part_like(rows, matrix, product(rows, matrix, part)) == part
    assert part_like(rows, matrix, product(rows, matrix, 320) + 1) == 0


def test_other_matrices_are_left_to_torch() -> None:
    assert not can_multiply(turned(64, 48))
    assert not can_multiply(turned(48, 64))
    assert not can_multiply(torch.randn(64, 64).t())
    assert not can_multiply(torch.randn(64, 64).to(BF16)[:, :32].t())
    assert not can_multiply(torch.randn(64, 32).to(BF16))

"""Products and functions of numbers that give a row the same bits whatever is computed with it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from engine.weights import row_products
from engine.weights.row_products import COUNTS, MEASURE, counts_for, in_vectors, multiply, parts

SHAPES = [(32, 48), (33, 7), (17, 1), (64, 5), (577, 8), (576, 960), (1536, 576)]


@pytest.mark.parametrize("counts", [COUNTS, (64,), (64, 96, 128), (16, 64, 512)])
def test_all_rows_are_in_one_part(counts: tuple[int, ...]) -> None:
    for total in range(1, 700):
        found = list(parts(total, counts))
        assert [start for start, _ in found] == [sum(n for _, n in found[:i]) for i in range(len(found))]
        assert total <= sum(count for _, count in found) < total + MEASURE
        assert {count for _, count in found} <= set(counts)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("is_turned", [True, False])
@torch.inference_mode()
def test_a_row_is_the_same_bits_in_any_number_of_rows(
    shape: tuple[int, int], dtype: torch.dtype, threads: int, is_turned: bool
) -> None:
    torch.set_num_threads(threads)
    matrix = (torch.randn(shape[::-1]).t() if is_turned else torch.randn(shape)).to(dtype)
    rows, bias = torch.randn(300, shape[0]).to(dtype), torch.randn(shape[1]).to(dtype)
    whole = multiply(rows, matrix, bias)
    torch.testing.assert_close(whole, rows @ matrix + bias, atol=0.5 if dtype is torch.bfloat16 else 1e-4, rtol=0.02)
    for start, count in ((0, 1), (7, 3), (30, 57), (1, 64), (99, 201)):
        assert torch.equal(multiply(rows[start : start + count], matrix, bias), whole[start : start + count])


@pytest.mark.parametrize(
    ("is_like_measure", "counts"),
    [
        (lambda rows: len(rows) < 200, (16, 64, 96, 128, 192)),
        (lambda rows: len(rows) > 50, (64, 96, 128, 192, 256)),
        (lambda rows: len(rows) == 64, (64,)),
    ],
)
@torch.inference_mode()
def test_counts_that_give_other_bits_are_not_used(is_like_measure, counts, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    """As libraries do that take another kernel for many rows, or for few."""

    def product(rows: Tensor, matrix: Tensor, bias: Tensor | None, out: Tensor | None = None) -> Tensor:
        found = rows @ matrix if is_like_measure(rows) else (rows.double() @ matrix.double()).float() * 1.000001
        return found if out is None else out.copy_(found)

    monkeypatch.setattr(row_products, "known_counts", {})
    monkeypatch.setattr(row_products, "_product", product)
    matrix, rows = torch.randn(32, 48), torch.randn(500, 32)
    assert counts_for(matrix) == counts
    assert torch.equal(multiply(rows[100:], matrix), multiply(rows, matrix)[100:])


def test_where_a_rows_place_matters_nothing_is_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    def product(rows: Tensor, matrix: Tensor, bias: Tensor | None, out: Tensor | None = None) -> Tensor:
        return rows @ matrix + torch.arange(len(rows))[:, None] * 1e-3

    monkeypatch.setattr(row_products, "known_counts", {})
    monkeypatch.setattr(row_products, "_product", product)
    assert counts_for(torch.randn(32, 48)) == ()


@pytest.mark.parametrize(
    "function", [functional.silu, torch.exp, torch.cos, torch.tanh, torch.sigmoid, functional.gelu]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_function_of_numbers_does_not_hang_on_their_place(function, dtype: torch.dtype, threads: int) -> None:  # type: ignore[no-untyped-def]
    torch.set_num_threads(threads)
    numbers = torch.randn(700, 77).to(dtype)
    whole = in_vectors(function, numbers)
    torch.testing.assert_close(whole, function(numbers))
    for start, end in ((0, 1), (3, 50), (500, 700), (13, 14)):
        assert torch.equal(in_vectors(function, numbers[start:end]), whole[start:end])

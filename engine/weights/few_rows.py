"""Products of a few rows with a matrix in bf16, by `engine/native/few.c`: it reads the matrix as it lies, once.

A library sums up long rows in parts, whose size it chooses by the shape; how else it computes does not show in the
bits. So the compiled part is told the size, and `part_like` finds the one that gives the library's bits.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from engine.native import library as native_library

MOST = 64
"""Rows at once."""

AMX = 3
"""As in `engine/native/tiles.h`. In the other ways few rows take longer than the library's own product."""

EVEN = 32
"""Rows and columns of a matrix are multiples of it."""


def can_multiply(matrix: Tensor) -> bool:
    """Whether the compiled part takes a matrix `[in, out]`: one in bf16 whose columns lie each in one piece."""
    return (
        matrix.dtype is torch.bfloat16
        and matrix.device.type == "cpu"
        and matrix.t().is_contiguous()
        and not (matrix.shape[0] % EVEN or matrix.shape[1] % EVEN)
        and _way() > 0
    )


@cache
def _way() -> int:
    """How products of bf16 are computed here (`engine/native/tiles.h`); 0 where they are not."""
    library = native_library.library()
    if library is None or torch.backends.cpu.get_cpu_capability() != "AVX512":
        return 0
    widest = int(library.headstart_widest(True))
    return widest if widest == AMX else 0


def multiply_few(rows: Tensor, matrix: Tensor, part: int, out: Tensor) -> None:
    """`out = rows @ matrix`, `[n, in]` and `[in, out]` to `[n, out]`, for at most MOST rows. Each `part` numbers of a
    column are summed up by themselves, and then the sums."""
    library = native_library.library()
    assert library is not None
    assert out.is_contiguous()
    assert 0 < len(rows) <= MOST
    rows = rows.contiguous()
    count, columns = rows.shape
    scratch = torch.empty(2 * MOST * columns + 64, dtype=torch.uint8)
    library.headstart_multiply_few(
        matrix.data_ptr(), rows.data_ptr(), out.data_ptr(), scratch.data_ptr(),
        count, columns, matrix.shape[1], part, _way(),
    )  # fmt: skip


def part_like(rows: Tensor, matrix: Tensor, expected: Tensor) -> int:
    """The part by which the products of some rows are `expected`, bit for bit; 0 if there is none."""
    for part in parts(len(matrix)):
        if _is_equal(rows[:1], matrix, part, expected[:1]) and all(
            _is_equal(rows[:count], matrix, part, expected[:count]) for count in (EVEN - 15, MOST)
        ):
            return part
    return 0


def _is_equal(rows: Tensor, matrix: Tensor, part: int, expected: Tensor) -> bool:
    out = torch.empty_like(expected)
    multiply_few(rows, matrix, part, out)
    return torch.equal(out, expected)


def parts(columns: int) -> list[int]:
    """The sizes of parts that are tried: those of which so many columns are a whole number, but for the last part. The
    largest come first."""
    steps = columns // EVEN
    return sorted({-(-steps // count) * EVEN for count in range(1, steps + 1)}, reverse=True)

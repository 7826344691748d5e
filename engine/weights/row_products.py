"""Products whose rows are the same bits however many are computed together, and the same for functions of numbers.

Libraries of matrix products choose a kernel by the shape, and kernels add up in different orders. So a token's numbers
would hang on how many tokens are read with it. Here products are computed for certain counts of rows only, for which
the library was seen to give every row the same bits; what is left over is filled up with zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn import functional

from engine.weights.arena import LINE
from engine.weights.compiled_matrix import CompiledStack, can_compile, can_read

MEASURE = 64
COUNTS = (16, 64, 96, 128, 192, 256)
"""Counts of rows that are tried: those are used that give the bits that MEASURE gives. Fewer rows are often computed by
another kernel. All are so even that a part of some rows begins with a whole cache line wherever it begins, if the first
part does."""

EVEN = 16
"""Columns of one cache line in fp32. With narrower matrices, or such as are wider by a little, a row's bits may hang on
where it stands among the others (MKL on an AMD processor: 8 columns and fewer), since it begins anywhere in a line."""

VECTORS = 128
"""A multiple of how many numbers the loops of torch take at a time. What is left over at the end of a loop is computed
in another way, whose last bit may differ."""

ONE_THREAD = 32768 - VECTORS
"""So many numbers torch gives to one thread. Where the parts of two threads meet is an end of a loop, too."""

known_counts: dict[str, tuple[int, ...]] = {}
"""What was measured, by shape, number type and threads."""

TILE = 4 << 20
"""Numbers of a matrix that are multiplied at once. Those of a larger one are taken some outputs at a time: what they
are widened into stays near the processor, and to measure `counts_for` takes no longer than for a small one."""

OUTPUTS = 64
"""Tiles are a multiple of so many outputs, but for the last."""


def multiply(rows: Tensor, matrix: Tensor, bias: Tensor | None = None) -> Tensor:
    """`rows @ matrix + bias`, `[n, in]` and `[in, out]` to `[n, out]`, each row the same bits whatever `n` is.

    That holds on the CPU, if it holds here for any count of rows at all (`counts_for` is not empty), for this matrix or
    for the same one with zeros around it; elsewhere this is torch's product.
    """
    weights = matrix.t()
    if can_read(rows.dtype) and can_compile([weights]) and weights.dtype is rows.dtype:
        return CompiledStack([weights], bias).read(rows)
    if counts := counts_for(matrix, bias):
        return _by_counts(rows, matrix, bias, counts)
    if matrix.device.type == "cpu" and (matrix.shape[0] % EVEN or matrix.shape[1] % EVEN):
        bias = None if bias is None else evened(bias, 1)
        return multiply(evened(rows, 1), evened(matrix, 2), bias)[:, : matrix.shape[1]]
    return _product(rows, matrix, bias)


def _by_counts(rows: Tensor, matrix: Tensor, bias: Tensor | None, counts: tuple[int, ...]) -> Tensor:
    rows = rows.clone() if rows.data_ptr() % LINE else rows  # from the middle of a line on, sums may have another order
    out = rows.new_empty(len(rows), matrix.shape[1])
    for start, count in parts(len(rows), counts):
        part = rows[start : start + count]
        if len(part) == count:
            _product(part, matrix, bias, out[start : start + count])
        else:
            filled = functional.pad(part, (0, 0, 0, count - len(part)))
            out[start:] = _product(filled, matrix, bias)[: len(part)]
    return out


def evened(numbers: Tensor, dimensions: int) -> Tensor:
    """The numbers with zeros behind them, up to a multiple of EVEN in each of the last `dimensions`."""
    more = [(0, -size % EVEN) for size in reversed(numbers.shape[-dimensions:])]
    return functional.pad(numbers, [side for pair in more for side in pair])


def tiles(outputs: int, inputs: int) -> list[tuple[int, int]]:
    """Where the tiles of a matrix with so many outputs and inputs begin and end: TILE numbers at most, and equal where
    up to half as many more make them so, for each shape is measured."""
    count = -(-outputs * inputs // TILE)
    count = next((more for more in range(count, count + count // 2 + 1) if outputs % (more * OUTPUTS) == 0), count)
    size = -(-outputs // count // OUTPUTS) * OUTPUTS
    return [(start, min(start + size, outputs)) for start in range(0, outputs, size)]


def parts(total: int, counts: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Where the parts of `total` rows begin, and their counts. The last may reach past the end, by fewer rows than
    MEASURE."""
    start = 0
    while start < total:
        left = total - start
        above = next((count for count in counts if 0 <= count - left < MEASURE), None)
        count = above or max(count for count in counts if count <= left)
        yield start, count
        start += count


def counts_for(matrix: Tensor, bias: Tensor | None = None) -> tuple[int, ...]:
    """The counts of rows for which products with a matrix of this shape give every row the same bits. Measured at the
    first use, for the present number of threads. Empty where a row's place among the others changes its bits already,
    and where the matrix is not on the CPU: there nothing was measured yet."""
    if matrix.device.type != "cpu":
        return ()
    lies, more = matrix.is_contiguous(), "" if bias is None else "+bias"
    key = f"{tuple(matrix.shape)} {matrix.dtype} {lies} {more} {torch.get_num_threads()}"
    if key not in known_counts:
        known_counts[key] = _measured(matrix, bias)
    return known_counts[key]


@torch.inference_mode()
def _measured(matrix: Tensor, bias: Tensor | None) -> tuple[int, ...]:
    rows, matrix = _telling(matrix)
    bias = None if bias is None else torch.zeros_like(bias)

    def by(count: int, some: Tensor) -> Tensor:
        return torch.cat([_product(some[i : i + count], matrix, bias) for i in range(0, len(some), count)])

    whole, moved = by(MEASURE, rows), MEASURE // 2 + 5
    if not torch.equal(by(MEASURE, rows[: 2 * MEASURE].roll(moved, 0)), whole[: 2 * MEASURE].roll(moved, 0)):
        return ()
    # Some rows of each count, from the end on: there they stand at other places than among MEASURE.
    return tuple(n for n in COUNTS if n == MEASURE or torch.equal(_product(rows[-n:], matrix, bias), whole[-n:]))


def _telling(like: Tensor) -> tuple[Tensor, Tensor]:
    """Rows, and a matrix that lies in memory as another does, whose products tell one order of sums from another.

    Every product but for its sign is added twice, so that nothing is left of the sums but what was rounded on the way.
    With other numbers, rounding the result to 16 bits would hide nearly all of that.
    """
    width, columns = like.shape
    chance, half = torch.Generator().manual_seed(0), width // 2
    pool = torch.randn(61, columns, generator=chance)
    matrix = torch.zeros_like(like)  # keeps the order of dimensions in memory
    matrix[:half] = pool[torch.arange(half) % len(pool)] * torch.randn(half, 1, generator=chance)
    rows = torch.zeros(COUNTS[-1], width)
    rows[:, :half] = torch.randn(len(rows), half, generator=chance)
    rows, again = rows.to(like.dtype), torch.randperm(half, generator=chance)
    matrix[half : 2 * half], rows[:, half : 2 * half] = matrix[again], -rows[:, again]
    return rows, matrix


def _product(rows: Tensor, matrix: Tensor, bias: Tensor | None, out: Tensor | None = None) -> Tensor:
    if bias is None:
        return torch.mm(rows, matrix, out=out)
    return torch.addmm(bias, rows, matrix, out=out)


def in_vectors(function: Callable[[Tensor], Tensor], numbers: Tensor) -> Tensor:
    """`function`, which treats each number for itself, of `numbers`: the same bits wherever a number stands."""
    if numbers.device.type != "cpu" or not numbers.is_floating_point():
        return function(numbers)
    flat = functional.pad(numbers.reshape(-1), (0, -numbers.numel() % VECTORS))
    out = torch.empty_like(flat)
    for some, to in zip(torch.split(flat, ONE_THREAD), torch.split(out, ONE_THREAD), strict=True):
        to.copy_(function(some))
    return out[: numbers.numel()].view(numbers.shape)

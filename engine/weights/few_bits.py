"""Few-bit copies of weight matrices, which make decoding faster: it reads every weight once for each token.

There are copies for the compiled part (a `Stack`) and for torch's kernels; `pack` chooses.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

import torch
from torch import Tensor

from engine.native import library as native_library
from engine.weights.fastest import fastest
from engine.weights.packed import STRETCH, PackedMatrix, pack_codes, padded_bytes, padded_groups
from engine.weights.quantise import GROUP, ROWS_AT_ONCE, Bits, quantise_int4, quantise_int8, takes_int4
from engine.weights.stack import Stack

VECTOR = 16
"""On the widest processors torch's few-bit kernels read this many numbers of a row at a time, past its end if need be.
So the length of a row must be a multiple of it."""


class Packed(Protocol):
    """A weight matrix in few bits. `kind` is "int4" or "int8"; `exact` says that its numbers are the model's own."""

    kind: str
    nbytes: int
    exact: bool

    def __call__(self, rows: Tensor) -> Tensor:
        """`rows @ weight.T` for a few rows `[m, in]`; returns `[m, out]`."""


class Int4:
    """Four bits a weight, for `_weight_int4pack_mm_for_cpu`. `in` is a multiple of 32, `out` of 16."""

    kind = "int4"
    exact = False

    def __init__(self, weight: Tensor) -> None:
        parts = [_int4_rows(rows) for rows in torch.split(weight, ROWS_AT_ONCE)]
        self._packed = torch.cat([codes for codes, _ in parts])
        self._scales = torch.cat([scales for _, scales in parts], dim=1)
        self.nbytes = self._packed.nbytes + self._scales.nbytes

    def __call__(self, rows: Tensor) -> Tensor:
        out: Tensor = torch.ops.aten._weight_int4pack_mm_for_cpu(
            rows.to(torch.bfloat16).contiguous(), self._packed, GROUP, self._scales
        )
        return out


class Int8:
    """Eight bits a weight, for `_weight_int8pack_mm`. `in` is a multiple of 16."""

    kind = "int8"
    exact = False

    def __init__(self, weight: Tensor) -> None:
        self._quantised, scale = quantise_int8(weight)
        self._scale = scale.to(torch.bfloat16)
        self.nbytes = self._quantised.nbytes + self._scale.nbytes

    def __call__(self, rows: Tensor) -> Tensor:
        out: Tensor = torch.ops.aten._weight_int8pack_mm(
            rows.to(torch.bfloat16).contiguous(), self._quantised, self._scale
        )
        return out


def _int4_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Some rows of a matrix as torch's int4 kernel reads them: codes `[rows, in / 2]`, scales and zeros
    `[in / 32, rows, 2]`.

    The kernel packs up to 64 rows together, so parts of ROWS_AT_ONCE rows can be joined afterwards.
    """
    codes, scale, zero = quantise_int4(weight)
    packed: Tensor = torch.ops.aten._convert_weight_to_int4pack_for_cpu(codes, 1)
    return packed, torch.stack([scale.t(), zero.t()], dim=-1).to(torch.bfloat16)


def pack(weight: Tensor, bits: Bits, is_native: bool) -> Packed | None:
    """A few-bit copy of a weight matrix `[out, in]`: for the compiled part if `is_native`, else for torch's kernels.

    None where those cannot take the matrix. Then the full weights are used.
    """
    if is_native:
        return Stack([quantised(weight, bits)])
    rows, columns = weight.shape
    if columns % VECTOR:
        return None
    return Int4(weight) if rows % VECTOR == 0 and takes_int4(weight, bits) else Int8(weight)


def quantised(weight: Tensor, bits: Bits) -> PackedMatrix:
    """A weight matrix `[out, in]` in few bits, which are not its own."""
    return _grouped(weight) if takes_int4(weight, bits) else _by_rows(weight)


def _grouped(weight: Tensor) -> PackedMatrix:
    """Four bits a weight, in groups of 32.

    ROWS_AT_ONCE rows are packed at a time: the unpacked codes of a whole output matrix would take gigabytes.
    """
    rows, columns = weight.shape
    words = torch.empty(rows, -(-columns // STRETCH), 8, dtype=torch.int32)
    scales = torch.empty(rows, -(-columns // GROUP // 8) * 8, dtype=torch.bfloat16)
    zeros = torch.empty_like(scales)
    for start in range(0, rows, ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        words[part], scales[part], zeros[part] = _some_grouped(weight[part])
    return PackedMatrix(rows, columns, 4, GROUP, 8, False, words, scales, zeros)


def _some_grouped(weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Words, scales and zeros of some rows."""
    codes, scale, zero = quantise_int4(weight)
    scale, zero = (padded_groups(part.to(torch.bfloat16)) for part in (scale, zero))
    return pack_codes(codes), scale, zero


def _by_rows(weight: Tensor) -> PackedMatrix:
    """Eight bits a weight, a scale for each output."""
    codes, scale = quantise_int8(weight)
    rows, columns = weight.shape
    return PackedMatrix(rows, columns, 8, columns, 0, False, padded_bytes(codes), scale[:, None])


@lru_cache(maxsize=2)
def few_bits_are_faster(dtype: torch.dtype) -> bool:
    """Whether a product of one row with few-bit weights is faster than with full ones on this CPU.

    The compiled part always is: it reads less, and computes as fast. For torch's kernels it is measured, once: on
    processors that torch has no few-bit kernel for, they are slow. The matrix that is measured is too large for most
    processors' caches, as a model's weights are, because few bits save the time of reading.
    """
    if native_library.library() is not None:
        return True
    weight = torch.ones(1024, 4096, dtype=dtype)
    packed, row = Int8(weight), torch.ones(1, 4096, dtype=dtype)
    return fastest(
        {True: lambda: packed(row), False: lambda: torch.nn.functional.linear(row, weight)},
        rounds=10,
    )

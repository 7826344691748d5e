"""Few-bit weights in the layout that the compiled part reads (`Matrix` in `engine/native/model.h` describes it)."""

from __future__ import annotations

from ctypes import byref

import torch
from torch import Tensor
from torch.nn import functional

from engine.native.library import Matrix, library
from engine.weights.quantise import GROUP, ROWS_AT_ONCE, quantise_int4, quantise_int8

STRETCH = 64
"""Columns whose int4 codes lie together, in eight words of 32 bits. Rows are padded to a multiple of it."""


class NativeMatrix:
    """A weight matrix `[out, in]` in few bits, of `kind` "int4" or "int8"."""

    def __init__(self, kind: str, codes: Tensor, scales: Tensor, rows: int, columns: int) -> None:
        self.kind = kind
        self.nbytes = codes.nbytes + scales.nbytes
        self._keep = codes, scales
        self._columns = columns
        bits, padded = int(kind.removeprefix("int")), -(-columns // STRETCH) * STRETCH
        self.matrix = Matrix(codes.data_ptr(), scales.data_ptr(), None, rows, padded, bits)

    def __call__(self, rows: Tensor) -> Tensor:
        loaded = library()
        assert loaded is not None
        out = torch.empty(len(rows), self.matrix.rows, dtype=torch.float32)
        scratch = torch.empty(2 * self.matrix.columns, dtype=torch.float32)
        for row, to in zip(rows.float().contiguous(), out, strict=True):
            loaded.headstart_multiply(
                byref(self.matrix), row.data_ptr(), self._columns, scratch.data_ptr(), to.data_ptr()
            )
        return out.to(rows.dtype)


def pack_int4(weight: Tensor) -> NativeMatrix:
    """Four bits a weight, in groups of 32.

    ROWS_AT_ONCE rows are packed at a time: the unpacked codes of a whole output matrix would take gigabytes.
    """
    rows, columns = weight.shape
    words = torch.empty(rows, -(-columns // STRETCH), 8, dtype=torch.int32)
    scales = torch.empty(rows, -(-columns // GROUP // 8) * 8, 2, dtype=torch.bfloat16)
    for start in range(0, rows, ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        words[part], scales[part] = _int4_rows(weight[part])
    return NativeMatrix("int4", words, scales, rows, columns)


def _int4_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Words and scales of some rows."""
    rows, columns = weight.shape
    codes, scale, zero = quantise_int4(weight)
    stretches = functional.pad(codes, (0, -columns % STRETCH)).view(rows, -1, 8, 8)
    words = torch.zeros(rows, stretches.shape[1], 8, dtype=torch.int32)
    for k in range(8):
        words |= stretches[:, :, k] << (4 * k)
    both = torch.stack([zero, scale], dim=-1).to(torch.bfloat16)  # little-endian: the scale is the upper half
    return words, functional.pad(both, (0, 0, 0, -(columns // GROUP) % 8))


def pack_int8(weight: Tensor) -> NativeMatrix:
    """Eight bits a weight, a scale for each output."""
    rows, columns = weight.shape
    codes, scale = quantise_int8(weight)
    return NativeMatrix("int8", functional.pad(codes, (0, -columns % STRETCH)).contiguous(), scale, rows, columns)

"""Packed and full matrices as the compiled part reads them (`Matrix` in `engine/native/model.h` describes it)."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import CDLL, byref, pointer
from functools import lru_cache

import numpy as np
import torch
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from torch import Tensor

from engine.gguf.blocks import Bytes
from engine.native.library import MOST_GROUPS, Matrix, library
from engine.weights.blocks import COMPUTED, BlockMatrix
from engine.weights.packed import STRETCH, CodedMatrix, PackedMatrix

FP16, BF16, NESTED, ROW = range(4)
"""How scales lie, as in `model.h`."""

_KINDS = {torch.float16: FP16, torch.bfloat16: BF16, torch.int8: NESTED, torch.float32: ROW}
_BLOCK_KINDS = {form: ROW + 1 + index for index, form in enumerate(COMPUTED)}
AMX = 3
"""The widest way of `tiles.h`."""
BLOCK_COLUMNS, BLOCK_GROUP = 256, 32
"""Rows of blocks are a multiple of so many columns, and so many share a scale."""


def can_compile(parts: Sequence[CodedMatrix | Tensor]) -> bool:
    """Whether the compiled part is here and can read these matrices."""
    return library() is not None and all(map(_fits, parts))


def _fits(part: CodedMatrix | Tensor) -> bool:
    if part.device.type != "cpu":
        return False
    if isinstance(part, BlockMatrix):
        return can_compute(part.form, part.columns)
    if isinstance(part, PackedMatrix):
        return part.columns % 8 == 0 and part.scales.shape[1] <= MOST_GROUPS
    assert isinstance(part, Tensor)
    return part.shape[1] % 8 == 0 and part.dtype in (torch.float32, torch.bfloat16) and part.is_contiguous()


def can_compute(form: int, columns: int) -> bool:
    """Whether the compiled part computes with blocks of a GGUF type as they lie in a file."""
    return form in COMPUTED and columns % BLOCK_COLUMNS == 0 and columns // BLOCK_GROUP <= MOST_GROUPS


class CompiledStack:
    """Matrices `[rows, in]` below each other, each packed or in full, read as one `[out, in]`. `bias` `[out]` is added
    to what a row gives."""

    def __init__(self, parts: Sequence[CodedMatrix | Tensor], bias: Tensor | None = None) -> None:
        loaded = library()
        assert loaded is not None
        self._library = loaded
        biases = [] if bias is None else torch.split(bias.float().contiguous(), [_rows(part) for part in parts])
        self._keep = parts, biases  # the structures do not
        self.columns = _columns(parts[0])
        self._structures = [structure(part) for part in parts]
        for one, some in zip(self._structures, biases, strict=False):
            one.bias = some.data_ptr()
        for one, below in zip(self._structures, self._structures[1:], strict=False):
            one.below = pointer(below)
        self.matrix = self._structures[0]
        self.rows = sum(one.rows for one in self._structures)

    def multiply(self, rows: Tensor) -> Tensor:
        """`rows @ weights.T`, one row after the other: `[m, in]` to `[m, out]`, in the rows' number type."""
        rows_in_fp32 = rows.float().contiguous()
        out = torch.empty(len(rows), self.rows, dtype=torch.float32)
        scratch = torch.empty(self._library.headstart_row_scratch(self.columns), dtype=torch.float32)
        for row, to in zip(rows_in_fp32, out, strict=True):
            self._library.headstart_multiply(
                byref(self.matrix), row.data_ptr(), self.columns, scratch.data_ptr(), to.data_ptr()
            )
        return out.to(rows.dtype)

    def read(self, rows: Tensor) -> Tensor:
        """`rows @ weights.T + bias` of many rows in bf16, where `can_read` says so: `[n, in]` to `[n, out]`. Each row
        has the same bits whatever n is."""
        rows = rows.contiguous()
        out = rows.new_empty(len(rows), self.rows)
        scratch = torch.empty(self._library.headstart_read_scratch(*rows.shape), dtype=torch.uint8)
        self._library.headstart_read_rows(
            byref(self.matrix), rows.data_ptr(), *rows.shape, out.data_ptr(), scratch.data_ptr()
        )
        return out

    def widen(self, first: int, out: Tensor) -> None:
        """The rows from `first` on, as many as `out` `[n, in]` has, in its number type (bf16 or fp32)."""
        assert out.is_contiguous()
        is_bf16 = out.dtype is torch.bfloat16
        self._library.headstart_widen(byref(self.matrix), first, len(out), self.columns, out.data_ptr(), is_bf16)

    def rows_at(self, ids: Tensor, dtype: torch.dtype) -> Tensor:
        """Some rows `[n]` in full, in this order, in bf16 or fp32. Raises IndexError where there is none."""
        if any(not 0 <= index < self.rows for index in ids.tolist()):
            raise IndexError(f"one of {ids.tolist()} is no row of {self.rows}")
        ids, out = ids.to(torch.long).contiguous(), torch.empty(len(ids), self.columns, dtype=dtype)
        self._library.headstart_widen_some(
            byref(self.matrix), ids.data_ptr(), len(ids), self.columns, out.data_ptr(), dtype is torch.bfloat16
        )
        return out


def can_read(dtype: torch.dtype) -> bool:
    """Whether the compiled part multiplies many rows of a number type faster than torch does: bf16, where the processor
    has AMX."""
    loaded = library()
    return loaded is not None and dtype is torch.bfloat16 and _has_amx(loaded)


@lru_cache
def _has_amx(loaded: CDLL) -> bool:
    return torch.backends.cpu.get_cpu_capability() == "AVX512" and loaded.headstart_widest(True) == AMX


def _rows(part: CodedMatrix | Tensor) -> int:
    return part.rows if isinstance(part, CodedMatrix) else len(part)


def _columns(part: CodedMatrix | Tensor) -> int:
    return part.columns if isinstance(part, CodedMatrix) else part.shape[1]


def structure(part: CodedMatrix | Tensor) -> Matrix:
    """A matrix as the compiled part sees it."""
    if isinstance(part, Tensor):
        rows, columns = part.shape
        return Matrix(codes=part.data_ptr(), rows=rows, columns=columns, bits=8 * part.dtype.itemsize)

    if isinstance(part, BlockMatrix):
        return Matrix(
            codes=part.blocks.data_ptr(),
            order=None if part.order is None else part.order.data_ptr(),
            rows=part.rows,
            columns=part.columns,
            bits=part.bits,
            group=BLOCK_GROUP,
            groups=part.columns // BLOCK_GROUP,
            kind=_BLOCK_KINDS[part.form],
        )
    assert isinstance(part, PackedMatrix)

    def address(tensor: Tensor | None) -> int | None:
        return None if tensor is None else tensor.data_ptr()

    padded = part.codes.shape[1] * (STRETCH if part.bits == 4 else 1)
    return Matrix(
        codes=part.codes.data_ptr(),
        scales=part.scales.data_ptr(),
        mins=address(part.mins),
        supers=address(part.supers),
        super_mins=address(part.super_mins),
        rows=part.rows,
        columns=padded,
        bits=part.bits,
        group=part.group,
        groups=part.scales.shape[1],
        offset=part.offset,
        kind=_KINDS[part.scales.dtype],
    )


def repack(kind: int, blocks: Bytes, into: PackedMatrix) -> None:
    """Write the blocks `[rows, bytes]` of the GGUF type `kind` into a packed matrix, with zeros behind its columns."""
    loaded = library()
    assert loaded is not None
    assert blocks.flags.c_contiguous
    assert blocks.dtype == np.uint8
    target = structure(into)
    loaded.headstart_repack(kind, blocks.ctypes.data, blocks.shape[1], into.columns, byref(target))


def are_numbers(kind: int, blocks: Tensor) -> bool:
    """Whether all scales of some blocks `[rows, bytes]` of a type that the compiled part computes with are numbers."""
    loaded = library()
    assert loaded is not None
    assert blocks.is_contiguous()
    return bool(
        loaded.headstart_are_numbers(
            kind, blocks.data_ptr(), blocks.numel() // GGML_QUANT_SIZES[GGMLQuantizationType(kind)][1]
        )
    )

"""Reads the weights of a GGUF file into memory: as they are packed in the file, or as numbers."""

from __future__ import annotations

from math import prod
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from engine.gguf.blocks import FORMATS, SUPER, BlockFormat, Bytes, take_apart
from engine.gguf.dequantise import StoredTensor
from engine.gguf.header import GgufDamagedError
from engine.gguf.tensors import Recipe, Rows
from engine.native.library import library
from engine.weights.compiled_matrix import repack
from engine.weights.packed import STRETCH, PackedMatrix, pack_codes, padded_bytes, padded_groups, rooms

PIECE_BYTES = 4 << 20
"""How much of a file is read at once: so little that the memory for it is the same again and again."""


def read_packed(recipe: Recipe) -> PackedMatrix | None:
    """A matrix `[out, in]` in few bits, as it is in the file; None where its type has no packed form here, or it is
    made of a file's tensors in another way than by taking rows.

    Beside the result, a part of PIECE_BYTES is in memory, and all of the matrix's bytes twice where its rows change
    places. Raises GgufDamagedError where a weight is no number, OSError.
    """
    found = recipe.rows()
    if found is None or found[0].kind not in FORMATS:
        return None
    matrix = _repacked(*found, FORMATS[found[0].kind])
    _check_finite(matrix)
    return matrix


def _repacked(tensor: StoredTensor, wanted: Rows, form: BlockFormat) -> PackedMatrix:
    rows = wanted.last - wanted.first
    matrix = _unwritten(form, rows, tensor.shape[1])
    into = repack_by_numpy if library() is None else repack
    if wanted.order is not None:
        into(tensor.kind, tensor.raw(wanted.first, wanted.last)[wanted.order], matrix)
        return matrix
    step = max(1, PIECE_BYTES // tensor.row_bytes)
    room = np.empty(min(step, rows) * tensor.row_bytes, np.uint8)
    for start in range(0, rows, step):
        end = min(rows, start + step)
        blocks = tensor.raw(wanted.first + start, wanted.first + end, room)
        into(tensor.kind, blocks, matrix.between(start, end))
    return matrix


def _unwritten(form: BlockFormat, rows: int, columns: int) -> PackedMatrix:
    """A matrix whose codes and scales are yet to be written; only what no block writes is there: zeros behind them."""
    groups, stretches = -(-columns // form.group // 8) * 8, -(-columns // STRETCH)
    bits: Literal[4, 8] = 4 if form.bits == 4 else 8
    codes = (torch.int32, (rows, stretches, 8)) if bits == 4 else (torch.int8, (rows, stretches * STRETCH))
    scales = (torch.int8 if form.is_nested else torch.float16, (rows, groups))
    supers = (torch.float16, (rows, columns // SUPER))
    wanted = {"codes": codes, "scales": scales}
    wanted |= {"mins": scales} if form.has_minimums else {}
    wanted |= {"supers": supers} if form.is_nested else {}
    wanted |= {"super_mins": supers} if form.is_nested and form.has_minimums else {}
    has_gaps = bool(columns % STRETCH or columns // form.group % 8)
    parts = dict(zip(wanted, rooms(list(wanted.values()), are_zeros=has_gaps), strict=True))
    return PackedMatrix(rows, columns, bits, form.group, form.offset, exact=True, **parts)


def repack_by_numpy(kind: int, blocks: Bytes, into: PackedMatrix) -> None:
    """What `engine.weights.compiled_matrix.repack` does, on every computer."""
    taken = take_apart(blocks, kind)
    codes = torch.from_numpy(taken.codes)
    into.codes.copy_(pack_codes(codes) if into.bits == 4 else padded_bytes(codes))
    for target, source in (
        (into.scales, taken.scales),
        (into.mins, taken.mins),
        (into.supers, taken.supers),
        (into.super_mins, taken.super_mins),
    ):
        if target is not None and source is not None:
            numbers = torch.from_numpy(source.view(np.int8) if source.dtype == np.uint8 else source)
            target.copy_(padded_groups(numbers) if target.shape != numbers.shape else numbers)


def _check_finite(matrix: PackedMatrix) -> None:
    """Raise GgufDamagedError where a scale is NaN or infinite: all weights of its group would be."""
    for part in matrix.parts:
        if part.dtype is torch.float16 and not torch.isfinite(part).all():
            raise GgufDamagedError("it has weights that are no numbers")


def read_numbers(recipe: Recipe, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """The numbers of a tensor of the model, piece by piece. Raises GgufDamagedError where one is none, OSError."""
    out = torch.empty(prod(shape), dtype=dtype)
    at = 0
    for piece in recipe.pieces():
        numbers = torch.from_numpy(np.ascontiguousarray(piece)).reshape(-1)
        if not torch.isfinite(numbers).all():
            raise GgufDamagedError("it has weights that are no numbers")
        out[at : at + len(numbers)] = numbers
        at += len(numbers)
    return out.view(shape)

"""Reads the weights of a GGUF file into memory: as they are packed in the file, or as numbers."""

from __future__ import annotations

from math import prod

import numpy as np
import torch
from torch import Tensor

from engine.gguf.blocks import FORMATS, BlockFormat
from engine.gguf.dequantise import SHORTER, StoredTensor
from engine.gguf.header import GgufDamagedError
from engine.gguf.tensors import Recipe, Rows
from engine.native.library import library
from engine.weights.arena import Arena
from engine.weights.blocks import BlockMatrix, repack_by_numpy, unwritten
from engine.weights.compiled_matrix import are_numbers, can_compute, repack
from engine.weights.mapped_file import MappedFiles, changed_while_read
from engine.weights.packed import CodedMatrix, PackedMatrix

PIECE_BYTES = 4 << 20
"""How much of a file is read at once: so little that the memory for it is the same again and again."""

NO_NUMBERS = "it has weights that are no numbers"


def packed_bytes(recipe: Recipe, where: torch.device) -> int | None:
    """How much memory a matrix in few bits takes on a device, in its file or copied out of it; None where `read_packed`
    gives None."""
    found = recipe.rows()
    if found is None or found[0].kind not in FORMATS:
        return None
    tensor, wanted = found
    if where.type == "cpu" and _stays_in_file(tensor):
        return (wanted.last - wanted.first) * tensor.row_bytes
    return FORMATS[tensor.kind].bytes_for((wanted.last - wanted.first) * tensor.shape[1])


def _stays_in_file(tensor: StoredTensor) -> bool:
    """Whether the compiled part is here and computes with a tensor as it lies."""
    return library() is not None and can_compute(tensor.kind, tensor.shape[1])


def read_packed(recipe: Recipe, files: MappedFiles | None = None, arena: Arena | None = None) -> CodedMatrix | None:
    """A matrix `[out, in]` in few bits, as it is in the file; None where its type has no packed form here, or it is
    made of a file's tensors in another way than by taking rows.

    What the compiled part computes with as it is stays in its file, one of `files`, where these are given. Anything
    else is in memory of `arena`; beside that a part of PIECE_BYTES, and all of the matrix's bytes twice where its rows
    change places.
    Raises GgufDamagedError where the file ends early, or a weight is no number that does not stay there
    (`check_numbers` tells of those), OSError.
    """
    found = recipe.rows()
    if found is None or found[0].kind not in FORMATS:
        return None
    tensor, wanted = found
    if files is not None and _stays_in_file(tensor):
        return _in_blocks(tensor, wanted, files)
    matrix = _repacked(tensor, wanted, FORMATS[tensor.kind], arena)
    _check_finite(matrix)
    return matrix


def _in_blocks(tensor: StoredTensor, wanted: Rows, files: MappedFiles) -> BlockMatrix:
    """Some rows as they lie in their file."""
    file, rows = files.of(tensor.path), wanted.last - wanted.first
    offset, size = tensor.offset + wanted.first * tensor.row_bytes, rows * tensor.row_bytes
    if offset + size > file.size:
        raise GgufDamagedError(SHORTER)
    blocks = file.part(offset, size).view(rows, tensor.row_bytes)
    file.read_now(blocks)
    if not file.is_whole:
        raise changed_while_read(file.path.name, file.path)
    order = None if wanted.order is None else torch.from_numpy(wanted.order.astype(np.int32))
    return BlockMatrix(tensor.shape[1], tensor.kind, blocks, order, file)


def _repacked(tensor: StoredTensor, wanted: Rows, form: BlockFormat, arena: Arena | None) -> PackedMatrix:
    rows = wanted.last - wanted.first
    matrix = unwritten(form, rows, tensor.shape[1], arena)
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


def check_numbers(matrix: BlockMatrix) -> None:
    """Raise GgufDamagedError where a weight that stays in its file is no number. All of it is read for that: where the
    file's weights are computed with anyway, their result tells it sooner."""
    if not are_numbers(matrix.form, matrix.blocks):
        raise GgufDamagedError(NO_NUMBERS)


def _check_finite(matrix: PackedMatrix) -> None:
    """Raise GgufDamagedError where a scale is NaN or infinite: all weights of its group would be."""
    for part in matrix.parts:
        if part.dtype is torch.float16 and not torch.isfinite(part).all():
            raise GgufDamagedError(NO_NUMBERS)


def read_numbers(recipe: Recipe, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """The numbers of a tensor of the model, piece by piece. Raises GgufDamagedError where one is none, OSError."""
    out = torch.empty(prod(shape), dtype=dtype)
    at = 0
    for piece in recipe.pieces():
        numbers = torch.from_numpy(np.ascontiguousarray(piece)).reshape(-1)
        if not torch.isfinite(numbers).all():
            raise GgufDamagedError(NO_NUMBERS)
        out[at : at + len(numbers)] = numbers
        at += len(numbers)
    return out.view(shape)

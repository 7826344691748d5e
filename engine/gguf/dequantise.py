"""The numbers of a GGUF tensor, dequantised to fp32 part by part, so that a large matrix is never there twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from pathlib import Path

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize
from numpy.typing import NDArray

from engine.gguf.blocks import Bytes
from engine.gguf.header import GgufDamagedError, GgufTensor

Numbers = NDArray[np.float32]

SHORTER = "it became shorter while it was read"

_PIECE = 1 << 24
"""About how many numbers are dequantised at once: 64 MB."""


class StoredTensor:
    """A tensor as it lies in its file. `shape` has the outermost dimension first, `kind` is the number of its type."""

    def __init__(self, where: GgufTensor) -> None:
        self.shape = where.shape
        self.kind = where.kind
        self.rows = prod(where.shape[:-1])
        self.row_bytes = where.size // self.rows
        self._where = where

    @property
    def path(self) -> Path:
        """Its file."""
        return self._where.path

    @property
    def offset(self) -> int:
        """Where it begins in its file, in bytes."""
        return self._where.offset

    def raw(self, first: int, last: int, room: Bytes | None = None) -> Bytes:
        """The bytes of some rows, `[last - first, row_bytes]`, copied: the file may change afterwards. They are in
        `room`, where that is given: a vector that is large enough.

        Raises GgufDamagedError where the file ends early, OSError.
        """
        count = (min(last, self.rows) - first) * self.row_bytes
        found = np.empty(count, np.uint8) if room is None else room[:count]
        with self._where.path.open("rb") as file:
            file.seek(self._where.offset + first * self.row_bytes)
            if file.readinto(found.data) < count:
                raise GgufDamagedError(SHORTER)
        return found.reshape(-1, self.row_bytes)

    def whole(self) -> Numbers:
        """All numbers, `shape`."""
        return self._dequantised(0, self.rows).reshape(self.shape)

    def part(self, index: int) -> Numbers:
        """One entry of the first dimension, `shape[1:]`."""
        rows = self.rows // self.shape[0]
        return self._dequantised(index * rows, (index + 1) * rows).reshape(self.shape[1:])

    def pieces(self) -> Iterator[Numbers]:
        """All numbers in their order, some rows at a time."""
        step = max(1, _PIECE // self.shape[-1])
        for start in range(0, self.rows, step):
            yield self._dequantised(start, start + step)

    def _dequantised(self, first: int, last: int) -> Numbers:
        numbers: Numbers = dequantize(self.raw(first, last), GGMLQuantizationType(self.kind))
        return numbers


def unreadable_types(tensors: Iterable[GgufTensor]) -> list[str]:
    """The names of the types among these tensors that cannot be dequantised."""
    return [name for kind in sorted({tensor.kind for tensor in tensors}) if (name := _unreadable(kind))]


def _unreadable(kind: int) -> str:
    """The name of a type that cannot be dequantised, else nothing. One block of zeros shows it."""
    known = GGMLQuantizationType(kind)
    try:
        dequantize(np.zeros((1, GGML_QUANT_SIZES[known][1]), np.uint8), known)
    except NotImplementedError:
        return str(known.name)
    return ""

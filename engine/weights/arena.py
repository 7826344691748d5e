"""Memory for the weights of a model: hundreds of tensors, many of them smaller than a large page, beside each other."""

from __future__ import annotations

import torch
from torch import Tensor

from engine import large_pages

CHUNK_BYTES = 16 << 20
LINE = 64
"""Bytes of a cache line, where tensors begin."""


class Arena:
    """Gives out memory, which is held for as long as any tensor in it is."""

    def __init__(self, chunk: int = CHUNK_BYTES) -> None:
        """`chunk` bytes are taken at a time, for what is smaller."""
        self._chunk = chunk
        self._left = torch.empty(0, dtype=torch.uint8)

    def room(self, nbytes: int) -> Tensor:
        """So many bytes `[nbytes]` (uint8), all zero, from the beginning of a cache line on. Raises MemoryError."""
        needed = nbytes + LINE
        if needed > self._chunk:
            return _from_a_line(large_pages.memory(needed), nbytes)
        if needed > len(self._left):
            self._left = large_pages.memory(self._chunk)
        found = _from_a_line(self._left, nbytes)
        self._left = self._left[found.data_ptr() + nbytes - self._left.data_ptr() :]
        return found


def _from_a_line(memory: Tensor, nbytes: int) -> Tensor:
    first = -memory.data_ptr() % LINE
    return memory[first : first + nbytes]

"""Memory in pages of 2 MB instead of 4 kB, where the system gives them to whoever asks.

The first write to each small page costs more than what is written. And the processor forgets where pages lie, in a
virtual machine at every rest: to find a small one again takes as long as to read it.
"""

from __future__ import annotations

import mmap
from contextlib import suppress

import torch
from torch import Tensor

LEAST_LARGE_BYTES = 4 << 20
"""Below that large pages would be mostly empty."""


def memory(nbytes: int) -> Tensor:
    """So many bytes of the processor's memory `[nbytes]` (uint8), all zero, in large pages where they are worth it.
    Raises MemoryError."""
    if nbytes < LEAST_LARGE_BYTES or not hasattr(mmap, "MADV_HUGEPAGE"):
        return torch.zeros(nbytes, dtype=torch.uint8)
    try:
        pages = mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(str(error)) from error
    with suppress(OSError):  # a system without them
        pages.madvise(mmap.MADV_HUGEPAGE)
    return torch.frombuffer(pages, dtype=torch.uint8)

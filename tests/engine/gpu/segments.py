"""How torch's allocator for CUDA takes memory of a card: in segments that it keeps, cut into blocks.

By c10/cuda/CUDACachingAllocator.cpp and c10/core/AllocatorConfig.h, without streams and expandable segments: blocks of
whole 512 bytes; those of up to 1 MiB lie in segments of 2 MiB, those of up to 10 MiB in segments of 20 MiB, larger ones
in one of their own of whole 2 MiB. The smallest free block that does is taken, and its rest stays free.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MIB = 1 << 20
SMALL, LARGE = 1 * MIB, 10 * MIB
SMALL_SEGMENT, LARGE_SEGMENT = 2 * MIB, 20 * MIB
LEAST = 512


@dataclass
class Segment:
    """Memory of the card: the blocks in it by where they begin, each with its size and whether it is taken."""

    size: int
    is_small: bool
    blocks: dict[int, tuple[int, bool]] = field(default_factory=dict)

    @property
    def is_free(self) -> bool:
        """Whether nothing is in it."""
        return not any(taken for _, taken in self.blocks.values())


class Segments:
    """All of them, on a card with `memory` bytes. `used` is in blocks, `reserved` in segments."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.used = 0
        self._segments: list[Segment] = []
        self._is_taking = False
        self._given: list[tuple[Segment, int]] = []
        """What the garbage collector gave back while a block was looked for, which would be changed by it."""

    @property
    def reserved(self) -> int:
        """Bytes of the card that are taken."""
        return sum(segment.size for segment in self._segments)

    def take(self, nbytes: int) -> tuple[Segment, int] | None:
        """A block, by its segment and its place there; None where there is no memory for it."""
        self._is_taking = True
        try:
            return self._take(nbytes)
        finally:
            self._is_taking = False
            while self._given:
                self.give(*self._given.pop())

    def _take(self, nbytes: int) -> tuple[Segment, int] | None:
        size = max(LEAST, -(-nbytes // LEAST) * LEAST)
        found = self._free_block(size) or self._new_segment(size)
        if found is None:
            return None
        segment, at = found
        whole, _ = segment.blocks[at]
        rest = whole - size
        if rest >= LEAST if segment.is_small else rest > SMALL:
            segment.blocks[at + size] = rest, False
        else:
            size = whole
        segment.blocks[at] = size, True
        self.used += size
        return segment, at

    def give(self, segment: Segment, at: int) -> None:
        """Give a block back; it joins free ones beside it."""
        if self._is_taking:
            self._given.append((segment, at))
            return
        self.used -= segment.blocks[at][0]
        segment.blocks[at] = segment.blocks[at][0], False
        joined: dict[int, tuple[int, bool]] = {}
        last = -1
        for start in sorted(segment.blocks):
            size, taken = segment.blocks[start]
            if last >= 0 and not taken and not joined[last][1]:
                joined[last] = joined[last][0] + size, False
            else:
                joined[start], last = (size, taken), start
        segment.blocks = joined

    def release(self) -> None:
        """Give segments that nothing is in back to the card (torch.cuda.empty_cache)."""
        self._segments = [segment for segment in self._segments if not segment.is_free]

    def _free_block(self, size: int) -> tuple[Segment, int] | None:
        fits = [
            (block, number, at)
            for number, segment in enumerate(self._segments)
            if segment.is_small == (size <= SMALL)
            for at, (block, taken) in segment.blocks.items()
            if not taken and block >= size
        ]
        if not fits:
            return None
        _, number, at = min(fits)
        return self._segments[number], at

    def _new_segment(self, size: int) -> tuple[Segment, int] | None:
        whole = SMALL_SEGMENT if size <= SMALL else LARGE_SEGMENT if size < LARGE else -(-size // (2 * MIB)) * 2 * MIB
        if self.reserved + whole > self.memory:
            self.release()
        if self.reserved + whole > self.memory:
            return None
        self._segments.append(Segment(whole, size <= SMALL, {0: (whole, False)}))
        return self._segments[-1], 0

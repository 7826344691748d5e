"""Blocks that a device had no room for any more, in the computer's memory: one more copy brings them back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor

from engine.cache.blocks import Key
from engine.cache.copies import Copies, Copy
from engine.cache.store import is_out_of_memory


@dataclass(eq=False, slots=True)
class Held:
    """A block in the computer's memory. `parent` is the name of the block before it, "" for none."""

    digest: str
    parent: str
    key: Key
    copy: Copy
    owners: set[str]
    last_used: int


class MemoryTier:
    """Blocks by their names, within `budget_bytes`; 0: none. `now` gives a time in ns.

    What was used longest ago goes first, a block only when none behind it is here. So whoever is here has its parent
    here or on the device, as long as the cache tells of every block that leaves the device. `version` grows with every
    change.
    """

    def __init__(
        self, copies: Copies | None, budget_bytes: int, block_bytes: int, now: Callable[[], int] = time.time_ns
    ) -> None:
        self.budget_bytes = budget_bytes if copies is not None else 0
        self.version = 0
        self.now = now
        self._copies = copies
        self._block_bytes = block_bytes
        self._held: dict[str, Held] = {}
        """What was used longest ago first."""
        self._behind: dict[str, set[str]] = {}
        """The blocks here that come right behind the one of a name, wherever that is."""

    @property
    def is_on(self) -> bool:
        """Whether anything can be kept here."""
        return self.budget_bytes >= self._block_bytes

    @property
    def used_bytes(self) -> int:
        """Bytes of all blocks."""
        return len(self._held) * self._block_bytes

    def take(self, digest: str, parent: str, key: Key, block: Tensor, owners: set[str]) -> Copy | None:
        """A block leaves the device: keep it. The copy that holds the block until it is made; None where none is
        needed, or none can be made: then what is behind it goes, too."""
        if (known := self._held.get(digest)) is not None:
            known.owners |= owners
            self._touch(known)
            return None
        if not self._make_room(self._block_bytes, spare=parent):
            self.remove(digest)
            return None
        assert self._copies is not None
        try:
            copy = self._copies.leave(block)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            self.remove(digest)
            return None
        self._held[digest] = Held(digest, parent, key, copy, set(owners), self.now())
        self._behind.setdefault(parent, set()).add(digest)
        self.version += 1
        return copy

    def extent(self, digests: Sequence[str]) -> int:
        """How many of these blocks, from the first on, are here."""
        return next((number for number, digest in enumerate(digests) if digest not in self._held), len(digests))

    def touch(self, digests: Sequence[str]) -> None:
        """They are used. The last ones of a path are the first to go."""
        for digest in reversed(digests):
            if digest in self._held:
                self._touch(self._held[digest])

    def arriving(self, digests: Sequence[str]) -> Iterator[Copy]:
        """Copy these blocks to the device, up to the first that is not to be had, or that there is no memory for. While
        one is used the next is under way: so two of them take memory of the device beside all that is counted."""
        ahead: Copy | None = None
        for digest in digests:
            begun = self._begin_arrival(digest)
            if ahead is not None:
                yield ahead
            ahead = begun
            if begun is None:
                return
        if ahead is not None:
            yield ahead

    def _begin_arrival(self, digest: str) -> Copy | None:
        tensor = self.tensor(digest)
        if tensor is None:
            return None
        assert self._copies is not None
        try:
            return self._copies.arrive(tensor)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            return None

    def tensor(self, digest: str) -> Tensor | None:
        """What a block holds, all of it there; None where it is not here."""
        held = self._held.get(digest)
        if held is None:
            return None
        if held.copy.wait():
            return held.copy.tensor
        self.remove(digest)
        return None

    def remove(self, digest: str) -> None:
        """Give up a block, if it is here, and all that is here behind it."""
        left = [digest]
        while left:
            name = left.pop()
            left += self._behind.get(name, ())
            if (held := self._held.pop(name, None)) is not None:
                siblings = self._behind[held.parent]
                siblings.discard(name)
                if not siblings:
                    del self._behind[held.parent]
                self.version += 1

    def forget(self, owner: str) -> None:
        """Give up what only this conversation used."""
        for held in list(self._held.values()):
            held.owners.discard(owner)
            if not held.owners:
                self.remove(held.digest)

    def clear(self) -> None:
        """Give up everything."""
        self._held.clear()
        self._behind.clear()
        self.version += 1

    def behind(self, digest: str) -> set[str]:
        """The blocks here that come right behind the one of this name, wherever that is."""
        return set(self._behind.get(digest, ()))

    def held(self) -> dict[str, Held]:
        """All blocks by their names, for looking only."""
        return self._held

    def check(self) -> None:
        """Raise AssertionError where an invariant is broken."""
        assert self.used_bytes <= self.budget_bytes
        assert all(digest == held.digest for digest, held in self._held.items())
        behind = {(held.parent, digest) for digest, held in self._held.items()}
        assert behind == {(parent, digest) for parent, digests in self._behind.items() for digest in digests}

    def _touch(self, held: Held) -> None:
        held.last_used = self.now()
        self._held[held.digest] = self._held.pop(held.digest)

    def _make_room(self, nbytes: int, spare: str = "") -> bool:
        """Let blocks go until so many bytes are free: whether they are. Not `spare`, which the new one is behind."""
        while self.used_bytes + nbytes > self.budget_bytes:
            oldest = (name for name in self._held if name not in self._behind and name != spare)
            if (name := next(oldest, None)) is None:
                return False
            self.remove(name)
        return True

"""Which blocks lie on disk, in memory: who follows whom, who used them, and which go first. No file is touched here.

A block is named by a digest chained over the tokens from the start of its path: its name stands for all of them.
"""

from __future__ import annotations

import hashlib
import heapq
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

DIGEST_LENGTH = 40
"""Hexadecimal digits of a name: 160 bits."""


@dataclass(slots=True)
class Entry:
    """One block on disk. `parent` is the block before it, "" at the start of a path; `folder` is that of its namespace.
    `last_used` is a time in ns; `owners` are the conversations that used it."""

    digest: str
    parent: str
    folder: str
    nbytes: int
    last_used: int
    owners: set[str] = field(default_factory=set)
    children: set[str] = field(default_factory=set)


def short_digest(data: bytes) -> str:
    """The digest of bytes, as short as names are."""
    return hashlib.sha256(data).hexdigest()[:DIGEST_LENGTH]


def chain(space: str, keys: Iterable[Sequence[int]]) -> list[str]:
    """The digests along a path: first that of the space itself, then one for each block of ids."""
    digests = [short_digest(space.encode())]
    for key in keys:
        digests.append(next_digest(digests[-1], key))
    return digests


def next_digest(before: str, key: Sequence[int]) -> str:
    """The digest of a block of ids behind the one before it."""
    return short_digest(before.encode() + array("q", key).tobytes())


class DiskIndex:
    """The set of blocks on disk, over all namespaces. It stays prefix-closed: the parent of a block in it is in it.

    `starts` are the blocks without a parent; `version` grows with every change of what is here and whose it is.
    """

    def __init__(self) -> None:
        self.starts: set[str] = set()
        self.used_bytes = 0
        self.version = 0
        self._entries: dict[str, Entry] = {}
        self._owned: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __contains__(self, digest: str) -> bool:
        return digest in self._entries

    def __getitem__(self, digest: str) -> Entry:
        return self._entries[digest]

    def extent(self, digests: Sequence[str]) -> int:
        """How many blocks at the start of a path are here."""
        return next((number for number, digest in enumerate(digests) if digest not in self._entries), len(digests))

    def owners(self) -> set[str]:
        """The conversations that own a block."""
        return set(+self._owned)

    def own(self, digests: Iterable[str], owner: str) -> None:
        """Note that a conversation used these blocks."""
        for entry in [self._entries[digest] for digest in digests if owner not in self._entries[digest].owners]:
            entry.owners.add(owner)
            self._owned[owner] += 1
            self.version += 1

    def add(self, entry: Entry) -> None:
        """Note a block; its parent is here already."""
        assert entry.digest not in self._entries
        (self._entries[entry.parent].children if entry.parent else self.starts).add(entry.digest)
        self._entries[entry.digest] = entry
        self._owned.update(entry.owners)
        self.used_bytes += entry.nbytes
        self.version += 1

    def fill(self, entries: Iterable[Entry]) -> list[Entry]:
        """Note all blocks that hang together with the start of a path; the others, which nothing leads to."""
        waiting: dict[str, list[Entry]] = {}
        for entry in entries:
            waiting.setdefault(entry.parent, []).append(entry)
        ready = waiting.pop("", [])
        left: list[Entry] = []
        while ready:
            entry = ready.pop()
            if entry.digest in self:  # a copy under another name
                left.append(entry)
                continue
            self.add(entry)
            ready += waiting.pop(entry.digest, [])
        return left + [entry for group in waiting.values() for entry in group]

    def remove(self, digest: str) -> list[Entry]:
        """Take out a block and all behind it, the last ones first."""
        found = [self._entries[digest]] if digest in self._entries else []
        for entry in found:  # grows while it is walked
            found += [self._entries[child] for child in entry.children]
        return [self._take_out(entry) for entry in reversed(found)]

    def evict(self, nbytes: int, spare: str = "") -> list[Entry]:
        """Take out at least `nbytes` bytes of blocks, the least recently used leaf first; less where there are no more.
        `spare` is not taken."""
        if nbytes <= 0:
            return []
        leaves = [(entry.last_used, entry.digest) for entry in self if not entry.children and entry.digest != spare]
        heapq.heapify(leaves)
        gone: list[Entry] = []
        while leaves and nbytes > 0:
            entry = self._take_out(self._entries[heapq.heappop(leaves)[1]])
            gone.append(entry)
            nbytes -= entry.nbytes
            parent = self._entries.get(entry.parent)
            if parent is not None and not parent.children and parent.digest != spare:
                heapq.heappush(leaves, (parent.last_used, parent.digest))
        return gone

    def disown(self, owner: str) -> list[Entry]:
        """Take out the blocks that only this conversation used; it owns no other any more."""
        for entry in self:
            entry.owners.discard(owner)
        del self._owned[owner]
        self.version += 1
        return self.remove_unowned()

    def remove_unowned(self) -> list[Entry]:
        """Take out what no conversation used, and all behind it."""
        unowned = [entry.digest for entry in self if not entry.owners]
        return [entry for digest in unowned for entry in self.remove(digest)]

    def check(self) -> None:
        """Raise AssertionError where an invariant is broken."""
        assert self.used_bytes == sum(entry.nbytes for entry in self)
        assert self.starts == {entry.digest for entry in self if not entry.parent}
        assert +self._owned == Counter(owner for entry in self for owner in entry.owners)
        for entry in self:
            assert entry.owners
            assert not entry.parent or entry.digest in self._entries[entry.parent].children
            assert all(self._entries[child].parent == entry.digest for child in entry.children)
            assert all(self._entries[child].owners <= entry.owners for child in entry.children)

    def _take_out(self, entry: Entry) -> Entry:
        assert not entry.children
        del self._entries[entry.digest]
        (self._entries[entry.parent].children if entry.parent else self.starts).discard(entry.digest)
        self._owned.subtract(entry.owners)
        self.used_bytes -= entry.nbytes
        self.version += 1
        return entry

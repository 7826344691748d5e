"""The disk tier of the prefix cache: published blocks as files, so that a start of a prompt survives a restart."""

from __future__ import annotations

import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from filelock import FileLock, Timeout
from torch import Tensor

from engine.cache.disk_files import HEADER_BYTES, DiskFiles, delete, delete_all_files, forget_files
from engine.cache.disk_index import DiskIndex, Entry, chain, short_digest
from engine.cache.disk_notes import OTHER_HEADSTART, note_of
from engine.cache.node import Key
from engine.cache.store import KVLayout, KVStore, Lane, is_out_of_memory
from engine.cache.tree import block_keys
from engine.types import BLOCK_TOKENS, check_disk_budget

DEFAULT_BYTES = 2 << 30
"""Budget where none is asked for; never more than a tenth of what the disk has free."""

MOST_WANTED = 32
"""Paths that wait for their turn to be written; the oldest is given up first."""

Cached = Callable[[str, list[Key]], Sequence[Tensor]]

log = logging.getLogger("headstart")


@dataclass(eq=False, slots=True)
class Wanted:
    """A path to write: its blocks' ids, and their digests behind that of the space."""

    space: str
    keys: list[Key]
    owner: str
    digests: list[str]


def no_disk(layout: KVLayout) -> DiskTier:
    """A tier that holds nothing, never."""
    return DiskTier(Path(os.devnull), "", layout, 0)


class DiskTier:
    """Blocks below `root`, all models together within `budget_bytes` (None: the default, 0: nothing, and what was there
    is deleted by `set_budget`).

    `namespace` must name everything a block depends on besides its tokens, its layout too. Nothing is touched before
    `open`. On the first error while writing the tier is off until it is opened again, and `note` says why in a
    sentence. `now` gives a time in ns that goes on over restarts. `index` and `files` are for looking only.
    """

    def __init__(
        self,
        root: Path,
        namespace: str,
        layout: KVLayout,
        budget_bytes: int | None,
        now: Callable[[], int] = time.time_ns,
    ) -> None:
        self.budget_bytes = budget_bytes or 0
        self.is_on = False
        self.note = ""
        self._asked_bytes = budget_bytes
        self.folder = short_digest(namespace.encode())
        self._layout = layout
        self.now = now
        self.files = DiskFiles(root)
        self.index = DiskIndex()
        self._lock = FileLock(root / "lock")
        self._wanted: dict[tuple[bool, str], Wanted] = {}

    @property
    def used_bytes(self) -> int:
        """Bytes of all blocks on disk, those of other models too."""
        return self.index.used_bytes

    def open(self) -> None:
        """Take the folder, as the only process, and see what lies there."""
        if self._asked_bytes != 0 and not self.is_on:
            self._take_folder()

    def close(self) -> None:
        """Give the folder to others. Safe to call twice."""
        if self.is_on:
            self.files.remove_empty_folders()
        self.is_on = False
        self.index = DiskIndex()
        self._wanted.clear()
        self._lock.release(force=True)

    def set_budget(self, budget_bytes: int | None) -> None:
        """Change the budget at once; 0 deletes everything of every model and switches the tier off."""
        self._asked_bytes = check_disk_budget(budget_bytes)
        if budget_bytes == 0:
            delete_all_files(self.files.root)  # also what another program that holds the folder has there
            self.close()
            self.note = ""
        elif not self.is_on:
            self._take_folder()
        elif self._guarded(self._choose_budget):
            self._make_room(0)

    def extent(self, space: str, ids: Sequence[int]) -> int:
        """Tokens at the start of `ids` that are on disk, without reading them."""
        return self.index.extent(chain(space, block_keys(ids))[1:]) * BLOCK_TOKENS if len(self.index) else 0

    def read(self, space: str, ids: Sequence[int], first: int) -> Iterator[Tensor]:
        """The blocks of `ids` from number `first` on, on the CPU, up to the first that is not there as it must be. That
        one is deleted, with all behind it; one that the system does not let us read now stays."""
        keys = block_keys(ids)
        digests = chain(space, keys)
        now = self.now()
        for number, key in enumerate(keys):
            if digests[number + 1] not in self.index:
                return
            entry = self.index[digests[number + 1]]
            if number >= first:
                try:
                    data = self.files.read(entry, digests[number], key)
                except OSError:
                    return
                if data is None or len(data) != self._layout.bytes_per_block:
                    self._delete(self.index.remove(entry.digest))
                    return
                yield torch.frombuffer(data, dtype=torch.uint8).view(self._layout.dtype)
            self.files.touch(entry, now)

    def fill(self, store: KVStore, lane: Lane, space: str, ids: Sequence[int], first: int) -> int:
        """Read the blocks of `ids` from number `first` on into the lane; the number of the first that was not read."""
        for number, tensor in enumerate(self.read(space, ids, first), first):
            store.copy_in(lane, number * BLOCK_TOKENS, tensor.to(store.layout.device))
            first = number + 1
        return first

    def want(self, space: str, ids: Sequence[int], owner: str, *, is_kept: bool = False) -> None:
        """Write what is cached of `ids` when there is time: what is kept first, then the newest."""
        if self.is_on and len(ids):
            self._wanted.pop((is_kept, owner), None)
            self._wanted[is_kept, owner] = Wanted(space, keys := block_keys(ids), owner, chain(space, keys))
            if len(self._wanted) > MOST_WANTED:
                del self._wanted[next(iter(self._wanted))]

    def write_back(self, cached: Cached) -> Iterator[None]:
        """Write what is wanted, a file a step. `cached` gives the published blocks at the start of a path, as they are
        at that moment."""
        while self._wanted:
            place = min(reversed(self._wanted), key=lambda place: not place[0])
            try:
                yield from self._write_path(place, self._wanted[place], cached)
            except (MemoryError, RuntimeError) as error:  # nobody asked for it: no memory, no copy on disk
                if not is_out_of_memory(error):
                    raise
            self._wanted.pop(place, None)

    def forget(self, conversation: str) -> None:
        """Delete the blocks that only this conversation used, of every model; also where the tier could not be opened.
        Where nothing is to be kept on disk, nothing is there."""
        for is_kept in (True, False):
            self._wanted.pop((is_kept, conversation), None)
        if self.is_on:
            self._delete(self.index.disown(conversation))
            self.files.delete_owner(conversation)
        elif self._asked_bytes != 0:
            forget_files(self.files.root, conversation)

    def drop(self, digest: str) -> None:
        """Delete the block of this name and all behind it."""
        self._wanted = {place: wanted for place, wanted in self._wanted.items() if digest not in wanted.digests}
        self._delete(self.index.remove(digest))

    def clear(self) -> None:
        """Delete every block of this model; also where the tier could not be opened, as `forget` does."""
        self._wanted.clear()
        self._delete([entry for digest in self.starts() for entry in self.index.remove(digest)])
        if not self.is_on and self._asked_bytes != 0:
            delete_all_files(self.files.root, self.folder)

    def starts(self) -> list[str]:
        """The blocks of this model at the start of a path."""
        return [digest for digest in self.index.starts if self.index[digest].folder == self.folder]

    def check(self) -> None:
        """Raise AssertionError where an invariant is broken."""
        self.index.check()
        assert not self.is_on or self.index.used_bytes <= self.budget_bytes
        assert self.is_on or not (len(self.index) or self._wanted)

    def _take_folder(self) -> None:
        try:
            self.files.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock.acquire(blocking=False)
            self.index, useless = self.files.scan()
            self._choose_budget()
        except Timeout:
            self._switch_off(OTHER_HEADSTART)
            return
        except OSError as error:
            self._switch_off(note_of(self.files.root, error), error)
            return
        self.is_on, self.note = True, ""
        for path in useless:
            delete(path)
        self._delete([gone for entry in self._cut_short() for gone in self.index.remove(entry.digest)])
        self._make_room(0)
        self.files.remove_empty_folders()

    def _write_path(self, place: tuple[bool, str], wanted: Wanted, cached: Cached) -> Iterator[None]:
        """Claim what is there for its owner, then write what is missing, as long as nobody calls it off."""
        digests = wanted.digests[1:]
        here = max(self.index.extent(digests), len(cached(wanted.space, wanted.keys)))
        self._guarded(partial(self._claim, wanted.owner, digests[:here]))
        yield
        while self._wanted.get(place) is wanted:
            number, tensors = self.index.extent(digests), cached(wanted.space, wanted.keys)
            if number >= len(tensors) or not self._has_room(wanted.digests[number] if number else ""):
                return
            self._guarded(partial(self._write, wanted, number, tensors[number]))
            yield

    def _claim(self, owner: str, digests: Sequence[str]) -> None:
        """Note that a conversation uses these blocks. Those to come are noted before they are written, so that no block
        ever lies there that nobody owns."""
        now, is_new = self.now(), False
        for digest in digests:
            if digest in self.index:
                self.files.touch(self.index[digest], now)
            is_new |= digest not in self.index or owner not in self.index[digest].owners
        if is_new:
            mine = [entry.digest for entry in self.index if owner in entry.owners and entry.folder == self.folder]
            self.files.write_owner(self.folder, owner, sorted({*mine, *digests}))
        self.index.own(digests[: self.index.extent(digests)], owner)

    def _write(self, wanted: Wanted, number: int, tensor: Tensor) -> None:
        before, digest = wanted.digests[number], wanted.digests[number + 1]
        parent = before if number else ""
        entry = Entry(digest, parent, self.folder, self._block_bytes, self.now(), {wanted.owner})
        data = tensor.cpu().view(torch.uint8).numpy().data
        self.files.write(entry, before, wanted.keys[number], data)
        self.index.add(entry)

    @property
    def _block_bytes(self) -> int:
        return HEADER_BYTES + self._layout.bytes_per_block

    def _cut_short(self) -> list[Entry]:
        return [entry for entry in self.index if entry.folder == self.folder and entry.nbytes != self._block_bytes]

    def _has_room(self, parent: str) -> bool:
        """Make room for one more block behind `parent`; False where there is none."""
        self._make_room(self._block_bytes, parent)
        return self.index.used_bytes + self._block_bytes <= self.budget_bytes

    def _make_room(self, nbytes: int, spare: str = "") -> None:
        self._delete(self.index.evict(self.index.used_bytes + nbytes - self.budget_bytes, spare))

    def _delete(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            delete(self.files.path(entry))
        if lost := {owner for entry in entries for owner in entry.owners}:
            for owner in lost - self.index.owners() - {wanted.owner for wanted in self._wanted.values()}:
                self.files.delete_owner(owner)

    def _choose_budget(self) -> None:
        if self._asked_bytes is not None:
            self.budget_bytes = self._asked_bytes
            return
        free = shutil.disk_usage(self.files.root).free + self.index.used_bytes
        self.budget_bytes = min(DEFAULT_BYTES, free // 10)

    def _guarded(self, write: Callable[[], None]) -> bool:
        """Whether it could be done; where not, the tier is off."""
        try:
            write()
        except OSError as error:
            self._switch_off(note_of(self.files.root, error), error)
        return self.is_on

    def _switch_off(self, note: str, error: OSError | None = None) -> None:
        self.close()
        self.note = note
        log.warning("%s %s", note, error or "")

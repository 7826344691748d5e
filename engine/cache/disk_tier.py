"""The disk tier of the prefix cache: published blocks as files, so that a start of a prompt survives a restart."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import torch
from filelock import FileLock, Timeout
from torch import Tensor

from engine.cache.blocks import Key, block_keys, chain, short_digest
from engine.cache.disk_files import (
    HEADER_BYTES,
    NOT_DELETED,
    DiskFiles,
    Wanted,
    delete_all,
    delete_all_files,
    delete_index,
    forget_files,
    keep_only_files,
    not_cleared,
)
from engine.cache.disk_index import INDEX_VERSION, DamagedIndexError, DiskIndex, Entry, index_path, owner_digest
from engine.cache.store import KVLayout, KVStore, Lane, is_out_of_memory
from engine.types import BLOCK_TOKENS, HeadstartError, check_disk_budget

DEFAULT_BYTES = 2 << 30
"""Budget where none is asked for; never more than a tenth of what the disk has free."""

SPARED_BYTES = 64 << 20
"""What is left free on the disk for the user's own files, whatever the budget."""

MOST_QUEUED = 32
"""Paths that wait for their turn to be written; the oldest is given up first."""

READERS = 2
"""Threads that read, check and copy blocks, where a lane can be written by several."""

OTHER_HEADSTART = "Another Headstart keeps its prompts on disk, so this one keeps them in memory only."
DISK_FULL = "The disk is full, so nothing more is kept on disk this time: free some space and start Headstart again."
ALMOST_FULL = "The disk is almost full, so nothing more is kept there until some space is free again."
DAMAGED = "The index of what is kept on disk cannot be read, so all of it is deleted and begins anew."

Cached = Callable[[str, list[Key]], Sequence[Tensor]]
T = TypeVar("T")

log = logging.getLogger("headstart")


@dataclass(eq=False, slots=True)
class QueuedPath:
    """A path to write for a conversation. `digests[0]` names the space, `digests[i + 1]` the block `keys[i]`."""

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
    sentence. `now` gives a time in ns that goes on over restarts. `names` says which conversation the index means by a
    digest, as far as it was heard of. `index` and `files` are for looking only.
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
        self.folder = short_digest(f"{INDEX_VERSION}/{namespace}".encode())
        self.names: dict[str, str] = {}
        self._layout = layout
        self.now = now
        self.files = DiskFiles(root)
        self.index = DiskIndex()
        self._lock = FileLock(root / "lock", mode=0o600)
        self._queue: dict[tuple[bool, str], QueuedPath] = {}

    @property
    def used_bytes(self) -> int:
        """Bytes of all blocks on disk, those of other models too."""
        return self._known(lambda: self.index.used_bytes, 0)

    def open(self, names: dict[str, str] | None = None) -> None:
        """Take the folder, as the only process, and see what lies there. `names` are added to, and outlive the tier."""
        self.names = self.names if names is None else names
        if self._asked_bytes != 0 and not self.is_on:
            self._take_folder()

    def close(self) -> None:
        """Give the folder to others. Safe to call twice."""
        if self.is_on:
            self.files.remove_empty_folders()
        self.is_on = False
        self.index.close()
        self._queue.clear()
        self._lock.release(force=True)

    def set_budget(self, budget_bytes: int | None) -> None:
        """Change the budget at once; 0 deletes everything of every model and switches the tier off. Raises
        HeadstartError where something is left."""
        self._asked_bytes = check_disk_budget(budget_bytes)
        if budget_bytes == 0:
            try:
                delete_all_files(self.files.root)  # also what another program that holds the folder has there
            finally:
                self.close()
                self.note = ""
        elif not self.is_on:
            self._take_folder()
        elif self._guarded(self._choose_budget):
            self._guarded(partial(self._make_room, 0))

    def extent(self, space: str, ids: Sequence[int]) -> int:
        """Tokens at the start of `ids` that are on disk, without reading them."""
        if not self.is_on:
            return 0
        digests = chain(space, block_keys(ids))[1:]
        return self._known(lambda: self.index.extent(digests), 0) * BLOCK_TOKENS

    def fill(self, store: KVStore, lane: Lane, space: str, ids: Sequence[int], first: int) -> int:
        """Read the blocks of `ids` from number `first` on into the lane, up to the first that is not there as it must
        be; the number of that one. It is deleted, with all behind it; one that the system does not let us read now
        stays."""
        keys = block_keys(ids)
        digests = chain(space, keys)
        here: list[Entry] = self._known(lambda: self.index.path(digests[1:]), [])
        wanted = [Wanted(entry, digests[number], keys[number]) for number, entry in enumerate(here)][first:]

        def take(number: int, data: memoryview) -> None:
            block = torch.frombuffer(data, dtype=torch.uint8).view(self._layout.block_dtype)
            store.copy_in(lane, (first + number) * BLOCK_TOKENS, block)

        threads = READERS if store.layout.device.type == "cpu" else 1
        count, is_damaged = self.files.read_path(wanted, self._layout.bytes_per_block, take, threads)
        if is_damaged:
            self._guarded(partial(self._remove, wanted[count].entry.digest))
        end = min(first, len(here)) + count
        self._guarded(lambda: self.index.touch([entry.digest for entry in here[:end]], self.now()))
        return first + count

    def enqueue(self, space: str, ids: Sequence[int], owner: str, *, is_kept: bool = False) -> None:
        """Have what is cached of `ids` written when there is time: what is kept first, then the newest. Nothing is
        written in nobody's name: no deletion would ever reach it."""
        if self.is_on and len(ids) and owner:
            self.names[owner_digest(owner)] = owner
            self._queue.pop((is_kept, owner), None)
            self._queue[is_kept, owner] = QueuedPath(space, keys := block_keys(ids), owner, chain(space, keys))
            if len(self._queue) > MOST_QUEUED:
                del self._queue[next(iter(self._queue))]

    def write_back(self, cached: Cached) -> Iterator[None]:
        """Write what waits in the queue, a file a step. `cached` gives the published blocks at the start of a path, as
        they are at that moment."""
        while self._queue:
            place = min(reversed(self._queue), key=lambda place: not place[0])
            try:
                yield from self._write_path(place, self._queue[place], cached)
            except (MemoryError, RuntimeError) as error:  # nobody asked for it: no memory, no copy on disk
                if not is_out_of_memory(error):
                    raise
            self._queue.pop(place, None)

    def forget(self, conversation: str) -> None:
        """Delete the blocks that only this conversation used, of every model; also where the tier could not be opened.
        Where nothing is to be kept on disk, nothing is there. Raises HeadstartError where that cannot be done now."""
        for is_kept in (True, False):
            self._queue.pop((is_kept, conversation), None)
        self.names.pop(owner_digest(conversation), None)
        if self.is_on:
            self._delete_surely(lambda: self.index.disown(owner_digest(conversation)))
        elif self._asked_bytes != 0:
            forget_files(self.files.root, conversation)

    def keep_only(self, conversations: Collection[str]) -> None:
        """Delete the blocks that none of these conversations used, of every model, and write nothing more of those
        that are gone: they were deleted. Raises HeadstartError as `forget` does."""
        self._queue = {place: path for place, path in self._queue.items() if path.owner in conversations}
        if self.is_on:
            owners = {owner_digest(conversation) for conversation in conversations}
            self._delete_surely(lambda: self.index.keep_only(owners))
        elif self._asked_bytes != 0:
            keep_only_files(self.files.root, conversations)

    def drop(self, digest: str) -> None:
        """Delete the block of this name and all behind it. Raises HeadstartError where something is left."""
        self._queue = {place: path for place, path in self._queue.items() if digest not in path.digests}
        self._delete_surely(lambda: self.index.remove(digest), not_cleared(self.files.root))

    def clear(self) -> None:
        """Delete every block of this model; also where the tier could not be opened, as `forget` does. Raises
        HeadstartError where something is left."""
        self._queue.clear()
        if self.is_on:
            self._delete_surely(lambda: self.index.clear(self.folder), not_cleared(self.files.root))
        elif self._asked_bytes != 0:
            delete_all_files(self.files.root, self.folder)

    def starts(self) -> list[str]:
        """The blocks of this model at the start of a path."""
        return self._known(lambda: self.index.starts(self.folder), [])

    def version(self) -> tuple[int, int]:
        """Another value after every change of what is here and whose it is."""
        return self._known(lambda: self.index.version, (-1, 0))

    def entries(self) -> dict[str, Entry]:
        """All blocks, of other models too."""
        return self._known(self.index.entries, {})

    def names_of(self, owners: Iterable[str]) -> tuple[str, ...]:
        """The conversations behind the index's names for them, as far as they are known."""
        return tuple(sorted(self.names[owner] for owner in owners if owner in self.names))

    def check(self) -> None:
        """Raise AssertionError where an invariant is broken."""
        self.index.check()
        assert not self.is_on or self.index.used_bytes <= self.budget_bytes
        assert self.is_on or not (self.index.entries() or self._queue)

    def _take_folder(self) -> None:
        try:
            self.files.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock.acquire(blocking=False)
            self._open_index()
            self._choose_budget()
            is_clean = self._match_files()
            self._make_room(0)
        except Timeout:
            self._switch_off(OTHER_HEADSTART)
            return
        except OSError as error:
            self._switch_off(note_of(self.files.root, error), error)
            return
        self.is_on = True
        if not is_clean:
            self.note = not_cleared(self.files.root)
        elif self.note != DISK_FULL:  # which is said until something was written
            self.note = ""
        self.files.remove_empty_folders()

    def _open_index(self) -> None:
        """Open the index. Where it is damaged, or of another version, it goes with all blocks."""
        try:
            self.index.open(index_path(self.files.root))
        except DamagedIndexError as error:
            log.warning("%s %s", DAMAGED, error)
            delete_index(self.files.root)
            self.index.open(index_path(self.files.root))

    def _match_files(self) -> bool:
        """Delete the files that the index does not know, which a program that was killed leaves, and take out the
        blocks whose files are gone. Whether no unknown file is left."""
        known = {self.files.path(entry): entry.digest for entry in self.index.entries().values()}
        unknown = [path for path in self.files.paths() if known.pop(path, None) is None]
        for digest in known.values():
            self._remove(digest)
        return delete_all(unknown)

    def _write_path(self, place: tuple[bool, str], path: QueuedPath, cached: Cached) -> Iterator[None]:
        """Claim what is there for its owner, then write what is missing, as long as nobody calls it off."""
        digests = path.digests[1:]
        self._guarded(partial(self._claim, path))
        yield
        while self._queue.get(place) is path:
            number, tensors = self._known(lambda: self.index.extent(digests), 0), cached(path.space, path.keys)
            if number >= len(tensors) or not self._guarded(partial(self._write, path, number, tensors)):
                return
            if self._known(lambda: self.index.extent(digests), 0) <= number:
                return
            yield

    def _claim(self, path: QueuedPath) -> None:
        """Make room where the disk has filled up, then note that a conversation uses the blocks that are there."""
        digests = path.digests[1:]
        self._make_room(0)
        self.index.own(digests[: self.index.extent(digests)], owner_digest(path.owner), self.now())

    def _write(self, path: QueuedPath, number: int, tensors: Sequence[Tensor]) -> None:
        """Write block `number` if there is room for it. The index knows it first: whatever happens meanwhile, there is
        no file of a conversation that the index would not find."""
        before, digest = path.digests[number], path.digests[number + 1]
        parent = before if number else ""
        self._make_room(self._block_bytes, parent)
        if self._excess(self._block_bytes) > 0:
            self.note = ALMOST_FULL if self._free_bytes < SPARED_BYTES + self._block_bytes else self.note
            return
        entry = Entry(digest, parent, self.folder, self._block_bytes, self.now())
        data = tensors[number].cpu().view(torch.uint8).numpy().data
        if not self.index.add(entry, owner_digest(path.owner)):
            return
        if self.files.write(entry, before, path.keys[number], data):
            self.note = "" if self.note in (DISK_FULL, ALMOST_FULL) else self.note
        else:
            self.index.remove(digest)

    @property
    def _block_bytes(self) -> int:
        return HEADER_BYTES + self._layout.bytes_per_block

    @property
    def _free_bytes(self) -> int:
        return shutil.disk_usage(self.files.root).free

    def _excess(self, nbytes: int) -> int:
        """Bytes that would be too many with `nbytes` more: for the budget, or for a disk that the user needs, too."""
        return nbytes + max(self.index.used_bytes - self.budget_bytes, SPARED_BYTES - self._free_bytes)

    def _make_room(self, nbytes: int, spare: str = "") -> None:
        self.files.delete(self.index.evict(self._excess(nbytes), spare))

    def _remove(self, digest: str) -> None:
        self.files.delete(self.index.remove(digest))

    def _delete_surely(self, take_out: Callable[[], list[Entry]], sentence: str = NOT_DELETED) -> None:
        """Delete what the user does not want to be there, or raise HeadstartError with the sentence. Files that the
        system does not let us delete go when the folder is opened again: the index does not know them any more."""
        try:
            left = self.files.delete(take_out())
        except OSError as error:
            self._switch_off(note_of(self.files.root, error), error)
            if not isinstance(error, DamagedIndexError) or self.note == not_cleared(self.files.root):
                raise HeadstartError(sentence, str(error)) from error
        else:
            if left:
                raise HeadstartError(sentence)

    def _choose_budget(self) -> None:
        if self._asked_bytes is not None:
            self.budget_bytes = self._asked_bytes
            return
        free = self._free_bytes + self.index.used_bytes
        self.budget_bytes = min(DEFAULT_BYTES, free // 10)

    def _known(self, look: Callable[[], T], nothing: T) -> T:
        """What the index says; `nothing` where it cannot be read, and the tier is off then."""
        try:
            return look()
        except OSError as error:
            self._switch_off(note_of(self.files.root, error), error)
            return nothing

    def _guarded(self, change: Callable[[], object]) -> bool:
        """Whether it could be done; where not, the tier is off."""
        try:
            change()
        except OSError as error:
            self._switch_off(note_of(self.files.root, error), error)
        return self.is_on

    def _switch_off(self, note: str, error: OSError | None = None) -> None:
        self.close()
        if isinstance(error, DamagedIndexError) and not delete_index(self.files.root):
            note = not_cleared(self.files.root)  # nobody knows any more whose the blocks are
        self.note = note
        log.warning("%s %s", note, error or "")


def note_of(root: Path, error: OSError) -> str:
    """What an error says about the folder of the blocks."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DISK_FULL
    reason = error.strerror or type(error).__name__
    return (
        f"Nothing is kept on disk this time: {root} cannot be used ({reason}). "
        "Check its permissions, then start Headstart again."
    )

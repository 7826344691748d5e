"""The files of the disk tier: a block a file, and a file for each conversation that lists the blocks it used. No torch.

Below the root there is a folder for each namespace. Nothing here trusts a file: what does not check out is None.
"""

from __future__ import annotations

import json
import os
import re
import stat
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from engine.cache.disk_index import DIGEST_LENGTH, DiskIndex, Entry, next_digest, short_digest
from engine.types import BLOCK_TOKENS

_MAGIC = b"HSBLOCK1"
_SUM = struct.Struct("<8sII")
_BODY = struct.Struct(f"<Q{DIGEST_LENGTH}s{BLOCK_TOKENS}q")
HEADER_BYTES = _SUM.size + _BODY.size
"""Magic word and checksum of all that follows; then length of the data, parent, and the block's token ids."""

_BLOCK_NAME = re.compile(rf"([0-9a-f]{{{DIGEST_LENGTH}}})(?:-([0-9a-f]{{{DIGEST_LENGTH}}}))?\.kv")
_OURS = (".kv", ".owner", ".tmp")


class DiskFiles:
    """Reads, writes and deletes below `root`. Deleting never raises; reading and writing raise OSError where the system
    refuses: then nothing is known of what lies there."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def scan(self) -> tuple[DiskIndex, list[Path]]:
        """What lies here, and the files of ours that are of no use any more: to be deleted by whoever writes here."""
        entries: list[Entry] = []
        owners: list[tuple[str, str, list[str]]] = []
        useless: list[Path] = []
        for path in self.paths():
            try:
                entry, owned = (_entry(path), _owned(path)) if is_file(path) else (None, None)
            except FileNotFoundError:  # another program deletes what a conversation used
                continue
            if entry is not None:
                entries.append(entry)
            elif owned is not None:
                owners.append((path.parent.name, *owned))
            else:
                useless.append(path)
        index = DiskIndex()
        useless += [self.path(entry) for entry in index.fill(entries)]
        for folder, conversation, digests in owners:
            mine = [digest for digest in digests if digest in index]
            index.own(mine, conversation)
            if not mine:
                useless.append(self._owner_path(folder, conversation))
        useless += [self.path(entry) for entry in index.remove_unowned()]
        return index, useless

    def path(self, entry: Entry) -> Path:
        """Where a block lies."""
        return self.root / entry.folder / f"{entry.digest}{'-' if entry.parent else ''}{entry.parent}.kv"

    def read(self, entry: Entry, before: str, key: Sequence[int]) -> memoryview | None:
        """The data of a block, None unless it is the one for the ids `key` behind the digest `before`, and whole."""
        data = bytearray(self.path(entry).read_bytes() if is_file(self.path(entry)) else b"")
        if len(data) < HEADER_BYTES:
            return None
        magic, checksum, _ = _SUM.unpack_from(data)
        length, parent, *ids = _BODY.unpack_from(data, _SUM.size)
        is_ours = (magic, parent.decode("ascii", "replace"), tuple(ids)) == (_MAGIC, before, tuple(key))
        is_whole = length == len(data) - HEADER_BYTES and zlib.crc32(memoryview(data)[_SUM.size :]) == checksum
        return memoryview(data)[HEADER_BYTES:] if is_ours and is_whole else None

    def read_ids(self, entry: Entry) -> Sequence[int]:
        """The token ids of a block, none where they are not those that it is named after. Its data is not read."""
        if not is_file(self.path(entry)):
            return ()
        with self.path(entry).open("rb") as file:
            head = file.read(HEADER_BYTES)
        if len(head) < HEADER_BYTES:
            return ()
        _, before, *ids = _BODY.unpack_from(head, _SUM.size)
        return ids if next_digest(before.decode("ascii", "replace"), ids) == entry.digest else ()

    def write(self, entry: Entry, before: str, key: Sequence[int], data: memoryview) -> None:
        """Write a block: under another name first, so that half a block is never seen."""
        body = _BODY.pack(len(data), before.encode("ascii"), *key)
        self._put(self.path(entry), (_SUM.pack(_MAGIC, zlib.crc32(data, zlib.crc32(body)), 0), body, data))
        os.utime(self.path(entry), ns=(entry.last_used, entry.last_used))

    def touch(self, entry: Entry, now: int) -> None:
        """Note that a block was used, also for the next start."""
        entry.last_used = now
        with suppress(OSError):
            os.utime(self.path(entry), ns=(now, now))

    def write_owner(self, folder: str, conversation: str, digests: Sequence[str]) -> None:
        """Note which blocks of a namespace a conversation used, those that are written next too."""
        text = json.dumps({"conversation": conversation, "blocks": list(digests)})
        self._put(self._owner_path(folder, conversation), (text.encode(),))

    def delete_owner(self, conversation: str) -> None:
        """Forget what a conversation used, in every namespace."""
        with suppress(OSError):
            for folder in _folders(self.root):
                delete(self._owner_path(folder.name, conversation))

    def remove_empty_folders(self) -> None:
        """Remove the folders of namespaces that have nothing left; only for whoever alone writes here."""
        with suppress(OSError):
            for folder in _folders(self.root):
                with suppress(OSError):
                    folder.rmdir()

    def _owner_path(self, folder: str, conversation: str) -> Path:
        return self.root / folder / f"{short_digest(conversation.encode())}.owner"

    def paths(self) -> Iterator[Path]:
        """The files of ours."""
        for folder in _folders(self.root):
            with suppress(FileNotFoundError):
                yield from [path for path in folder.iterdir() if path.suffix in _OURS]

    def _put(self, path: Path, parts: Sequence[bytes | memoryview]) -> None:
        draft = path.with_suffix(".tmp")
        path.parent.mkdir(mode=0o700, exist_ok=True)
        try:
            with draft.open("wb") as file:
                file.writelines(parts)
            os.replace(draft, path)
        except BaseException:
            delete(draft)
            raise


def forget_files(root: Path, conversation: str) -> None:
    """Delete the blocks that only this conversation used, where no tier is open to do it. Where it cannot be seen now
    which these are, they go at the next start: nobody owns them any more."""
    files = DiskFiles(root)
    with suppress(OSError):
        index, _ = files.scan()
        for entry in index.disown(conversation):
            delete(files.path(entry))
    files.delete_owner(conversation)


def delete_all_files(root: Path, folder: str = "*") -> None:
    """Delete what every model has on disk, or one of them, where no tier is open to do it."""
    for path in root.glob(f"{folder}/*"):
        if path.suffix in _OURS and not path.parent.is_symlink():
            delete(path)


def delete(path: Path) -> None:
    """Delete a file if that can be done."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def is_file(path: Path) -> bool:
    """Whether a plain file is there: nothing else is ever opened, a pipe would never end. Raises OSError where that
    cannot be known."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def _folders(root: Path) -> list[Path]:
    try:
        return [path for path in root.iterdir() if path.is_dir() and not path.is_symlink()]
    except FileNotFoundError:
        return []


def _entry(path: Path) -> Entry | None:
    """A block by its name; what is in it is read when it is needed."""
    if (match := _BLOCK_NAME.fullmatch(path.name)) is None:
        return None
    found = path.lstat()
    return Entry(match[1], match[2] or "", path.parent.name, found.st_size, found.st_mtime_ns)


def _owned(path: Path) -> tuple[str, list[str]] | None:
    """The conversation and the digests that an owner's file names."""
    if path.suffix != ".owner":
        return None
    text = path.read_bytes()
    try:
        stored = json.loads(text)
        conversation, digests = stored["conversation"], stored["blocks"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    is_sound = isinstance(conversation, str) and isinstance(digests, list)
    is_named = is_sound and path.stem == short_digest(conversation.encode())
    return (conversation, [digest for digest in digests if isinstance(digest, str)]) if is_named else None

"""The files of the disk tier: a block a file, in a folder for each namespace. No torch.

Nothing here trusts a file: what does not check out is None.
"""

from __future__ import annotations

import os
import stat
import struct
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

from engine.cache.blocks import DIGEST_LENGTH, Key, next_digest
from engine.cache.disk_index import DamagedIndexError, DiskIndex, Entry, index_path, owner_digest
from engine.private_file import write_private
from engine.types import BLOCK_TOKENS, HeadstartError

_MAGIC = b"HSBLOCK1"
_SUM = struct.Struct("<8sII")
_BODY = struct.Struct(f"<Q{DIGEST_LENGTH}s{BLOCK_TOKENS}q")
HEADER_BYTES = _SUM.size + _BODY.size
"""Magic word and checksum of all that follows; then length of the data, parent, and the block's token ids."""

_OURS = (".kv", ".owner", ".tmp")
"""Blocks, half-written ones, and lists that versions before the index wrote."""

NOT_DELETED = (
    "What is kept on disk of deleted conversations could not be deleted now. It is deleted when Headstart starts again."
)


class Wanted(NamedTuple):
    """A block as the index knows it, and what its file must say: the digest before it and its own ids."""

    entry: Entry
    before: str
    key: Key


class DiskFiles:
    """Reads, writes and deletes below `root`. Deleting never raises; reading and writing raise OSError where the system
    refuses: then nothing is known of what lies there."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, entry: Entry) -> Path:
        """Where a block lies."""
        return self.root / entry.folder / f"{entry.digest}.kv"

    def read(self, block: Wanted, data: memoryview) -> bool:
        """Read the data of a block into `data`, which is as long. False unless it is the one wanted, and whole."""
        path = self.path(block.entry)
        if not is_file(path):
            return False
        with path.open("rb") as file:
            head = file.read(HEADER_BYTES)
            if len(head) < HEADER_BYTES or file.readinto(data) < len(data) or file.read(1):
                return False
        magic, checksum, _ = _SUM.unpack_from(head)
        length, before, *ids = _BODY.unpack_from(head, _SUM.size)
        found = (magic, length, before.decode("ascii", "replace"), tuple(ids))
        is_ours = found == (_MAGIC, len(data), block.before, tuple(block.key))
        is_whole = zlib.crc32(data, zlib.crc32(head[_SUM.size :])) == checksum
        return is_ours and is_whole

    def read_path(
        self, blocks: Sequence[Wanted], nbytes: int, take: Callable[[int, memoryview], None], threads: int
    ) -> tuple[int, bool]:
        """Read blocks with several threads, each into a buffer of `nbytes` that it uses again, and give them to `take`
        in any order: the number of a block, and its data. How many were read at the start without a gap, and whether
        what is in the place of the next one is no good; False also where the system does not let us read it now.

        Reading, the checksum and copying all go on beside other threads.
        """
        numbers: SimpleQueue[int] = SimpleQueue()
        for number in range(len(blocks)):
            numbers.put(number)

        def work() -> tuple[int, bool]:
            data = memoryview(bytearray(nbytes))
            with suppress(Empty):
                while True:
                    number = numbers.get_nowait()
                    try:
                        is_good = self.read(blocks[number], data)
                    except OSError:
                        return number, False
                    if not is_good:
                        return number, True
                    take(number, data)
            return len(blocks), False

        with ThreadPoolExecutor(threads, "headstart-disk") as others:
            helping = [others.submit(work) for _ in range(threads - 1)]
            return min(work(), *(future.result() for future in helping), (len(blocks), False))

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

    def write(self, entry: Entry, before: str, key: Sequence[int], data: memoryview) -> bool:
        """Write a block. False where something that is not ours has its name, such as a folder."""
        path = self.path(entry)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if path.is_dir():
            return False
        body = _BODY.pack(len(data), before.encode("ascii"), *key)
        write_private(path, (_SUM.pack(_MAGIC, zlib.crc32(data, zlib.crc32(body)), 0), body, data))
        return True

    def delete(self, entries: Sequence[Entry]) -> list[Entry]:
        """Delete blocks; those whose files are still there because the system refuses."""
        return [entry for entry in entries if not delete(self.path(entry))]

    def remove_empty_folders(self) -> None:
        """Remove the folders of namespaces that have nothing left; only for whoever alone writes here."""
        with suppress(OSError):
            for folder in _folders(self.root):
                with suppress(OSError):
                    folder.rmdir()

    def paths(self) -> Iterator[Path]:
        """The files of ours."""
        for folder in _folders(self.root):
            with suppress(FileNotFoundError):
                yield from [path for path in folder.iterdir() if path.suffix in _OURS]


def forget_files(root: Path, conversation: str) -> None:
    """Delete the blocks that only this conversation used, where no tier is open to do it. Raises HeadstartError where
    that cannot be done now."""
    _delete_by_index(root, lambda index: index.disown(owner_digest(conversation)))


def keep_only_files(root: Path, conversations: Collection[str]) -> None:
    """Delete the blocks that none of these conversations used, where no tier is open to do it. Raises HeadstartError
    where that cannot be done now."""
    owners = {owner_digest(conversation) for conversation in conversations}
    _delete_by_index(root, lambda index: index.keep_only(owners))


def delete_all_files(root: Path, folder: str | None = None) -> None:
    """Delete what every model has on disk, or one of them, where no tier is open to do it. Raises HeadstartError where
    something is left."""
    with suppress(HeadstartError):  # a block without its file is a miss
        _delete_by_index(root, lambda index: index.clear(folder))
    if not _delete_paths(root, folder):
        raise HeadstartError(not_cleared(root))


def delete_index(root: Path) -> bool:
    """Delete an index that cannot be used, and all blocks with it; whether nothing is left."""
    index = index_path(root)
    is_gone = delete_all([index.with_name(index.name + name) for name in ("", "-journal", "-wal", "-shm")])
    return _delete_paths(root) and is_gone


def not_cleared(root: Path) -> str:
    """What is said where not everything could be deleted."""
    return (
        "Not everything that is kept on disk could be deleted now. Start Headstart again and delete it once more, or "
        f"delete the folder {root} yourself."
    )


def delete(path: Path) -> bool:
    """Delete a file if that can be done; whether no file is there then. A folder of that name is none of ours."""
    try:
        path.unlink(missing_ok=True)
    except NotADirectoryError:
        return True
    except OSError:
        return os.path.isdir(path)
    return True


def delete_all(paths: Sequence[Path]) -> bool:
    """Delete every file that can be; whether none is left."""
    return False not in [delete(path) for path in paths]


def is_file(path: Path) -> bool:
    """Whether a plain file is there: nothing else is ever opened, a pipe would never end. Raises OSError where that
    cannot be known."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def _delete_by_index(root: Path, take_out: Callable[[DiskIndex], list[Entry]]) -> None:
    """Delete the blocks that are taken out of the index, where there is one."""
    if not index_path(root).exists():
        return
    index = DiskIndex()
    try:
        index.open(index_path(root))
        gone = take_out(index)
    except DamagedIndexError as error:  # nobody knows whose they are
        if not delete_index(root):
            raise HeadstartError(not_cleared(root), str(error)) from error
    except OSError as error:
        raise HeadstartError(NOT_DELETED, str(error)) from error
    else:
        if DiskFiles(root).delete(gone):
            raise HeadstartError(NOT_DELETED)
    finally:
        index.close()


def _delete_paths(root: Path, folder: str | None = None) -> bool:
    """Delete the files of every model, or of one; whether none is left."""
    try:
        paths = [path for path in DiskFiles(root).paths() if folder in (None, path.parent.name)]
    except OSError:  # nobody can tell what is there
        return False
    return delete_all(paths)


def _folders(root: Path) -> list[Path]:
    try:
        return [path for path in root.iterdir() if path.is_dir() and not path.is_symlink()]
    except (FileNotFoundError, NotADirectoryError):
        return []

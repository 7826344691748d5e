"""Which blocks lie on disk: who follows whom, who used them, and which go first. One SQLite file beside the blocks.

Blocks go by the names that `engine.cache.blocks` gives them. Conversations are named by digests, too, so that the file
says nothing about them.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import stat
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.cache.blocks import short_digest

INDEX_VERSION = 2
"""Of the index and of the files it is about. Another version is not read: everything begins anew."""

WAIT_S = 1.0
"""How long another program may hold the index."""

_SCHEMA = f"""
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS block (
        digest TEXT PRIMARY KEY, parent TEXT NOT NULL, folder TEXT NOT NULL, nbytes INTEGER NOT NULL,
        last_used INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS block_parent ON block (parent);
    CREATE INDEX IF NOT EXISTS block_last_used ON block (last_used);
    CREATE TABLE IF NOT EXISTS owner (
        owner TEXT NOT NULL, block TEXT NOT NULL, PRIMARY KEY (owner, block)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS owner_block ON owner (block);
    PRAGMA user_version = {INDEX_VERSION};
    COMMIT;
"""
"""Another program may have begun the same index a moment before: then nothing changes."""

_NAMES = " OR ".join(
    f"typeof({name}) != 'text' OR length({name}) != length(CAST({name} AS BLOB)) OR {name} GLOB '*[^0-9A-Za-z_-]*'"
    for name in ("digest", "parent", "folder")
)
_NUMBERS = " OR ".join(
    f"typeof({name}) != 'integer' OR {name} NOT BETWEEN 0 AND {most}"
    for name, most in (("nbytes", 2**40), ("last_used", 2**63 - 1))
)
_UNSOUND = f"SELECT 1 FROM block WHERE {_NAMES} OR {_NUMBERS} LIMIT 1"
"""Names that can be no part of a path, or are no text, and numbers that are none."""

_ADRIFT = """
    WITH RECURSIVE reached (name) AS (VALUES ('') UNION SELECT digest FROM block JOIN reached ON parent = name)
    SELECT 1 FROM block WHERE digest = '' OR digest NOT IN reached LIMIT 1
"""
"""Blocks without a start: their parents are not there, or follow one another in a ring, which has no end."""

_BLOCK = "SELECT digest, parent, folder, nbytes, last_used FROM block"
_MEANINGS = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_PERM: errno.EACCES,
    sqlite3.SQLITE_BUSY: errno.EBUSY,
    sqlite3.SQLITE_LOCKED: errno.EBUSY,
}
"""What SQLite says, in the system's words; anything else is an I/O error."""


class DamagedIndexError(OSError):
    """The index cannot be understood, or is of another version."""


@dataclass(slots=True)
class Entry:
    """One block on disk. `parent` is the block before it, "" at the start of a path; `folder` is that of its namespace.
    `last_used` is a time in ns. `owners` (the digests of the conversations that used it) and `children` are known in
    what `DiskIndex.entries` gives only."""

    digest: str
    parent: str
    folder: str
    nbytes: int
    last_used: int
    owners: set[str] = field(default_factory=set)
    children: set[str] = field(default_factory=set)


def owner_digest(conversation: str) -> str:
    """What the index calls a conversation. Any name has one, also one that is no valid text."""
    return short_digest(conversation.encode("utf-8", "surrogatepass"))


class DiskIndex:
    """The set of blocks on disk, over all namespaces; empty until it is opened. It stays prefix-closed: the parent of a
    block in it is in it, and whoever owns a block owns its parent.

    Each change is one transaction, so a program that is killed leaves the index as it was before or after. The disk is
    not waited for (`synchronous=OFF`): a power failure may damage the index, which is noticed and costs the blocks.
    Another program may change it meanwhile. Every method raises OSError where the system refuses.
    """

    def __init__(self) -> None:
        self._db: sqlite3.Connection | None = None
        self._changes = 0
        self._entries: tuple[tuple[int, int], dict[str, Entry]] | None = None
        self._used: tuple[tuple[int, int], int] | None = None

    def open(self, path: Path) -> None:
        """Read the index, or begin a new one. Raises DamagedIndexError where there is one that cannot be used."""
        _make_private(path)
        with _system_errors():
            self._db = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None)
        try:
            with _system_errors():
                self._db.execute("PRAGMA synchronous = OFF")
                self._db.execute("PRAGMA secure_delete = ON")
                self._check_version(self._db)
                self._db.execute("BEGIN IMMEDIATE")  # says now whether it can be written
                self._db.execute("COMMIT")
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the file; the index is empty then. Safe to call twice."""
        db, self._db = self._db, None
        self._changes += 1
        if db is not None:
            db.close()

    @property
    def version(self) -> tuple[int, int]:
        """Another value after every change of what is here and whose it is, also by another program."""
        return self._changes, self._number("PRAGMA data_version")

    @property
    def used_bytes(self) -> int:
        """Bytes of all blocks."""
        if self._used is None or self._used[0] != self.version:
            self._used = self.version, self._number("SELECT coalesce(sum(nbytes), 0) FROM block")
        return self._used[1]

    def entries(self) -> dict[str, Entry]:
        """All blocks by their names, with who follows whom and who used them. Read once for each `version`."""
        if self._entries is None or self._entries[0] != self.version:
            found = {row[0]: Entry(*row) for row in self._rows(_BLOCK)}
            for entry in found.values():
                if entry.parent in found:
                    found[entry.parent].children.add(entry.digest)
            for owner, block in self._rows("SELECT owner, block FROM owner"):
                if block in found:
                    found[block].owners.add(owner)
            self._entries = self.version, found
        return self._entries[1]

    def extent(self, digests: Sequence[str]) -> int:
        """How many blocks at the start of a path are here. A few look-ups, however long the path is: where a block is
        missing, all behind it are."""
        return bisect_left(digests, True, key=lambda digest: not self._rows(f"{_BLOCK} WHERE digest = ?", digest))

    def path(self, digests: Sequence[str]) -> list[Entry]:
        """The blocks at the start of a path that are here."""
        path = "(SELECT key AS number, value FROM json_each(?))"
        query = f"{_BLOCK} JOIN {path} ON digest = value ORDER BY number"
        return [Entry(*row) for row in self._rows(query, json.dumps(digests))]

    def own(self, digests: Sequence[str], owner: str, now: int) -> None:
        """Note that a conversation uses these blocks, which are the start of a path."""
        with self._changing() as db:
            before = db.total_changes
            db.executemany("INSERT OR IGNORE INTO owner VALUES (?, ?)", [(owner, digest) for digest in digests])
            is_new = db.total_changes != before
        self._changes += is_new
        self.touch(digests, now)

    def touch(self, digests: Iterable[str], now: int) -> None:
        """Note that blocks were used."""
        digests = list(digests)
        if not digests:
            return
        with self._changing() as db:
            db.executemany("UPDATE block SET last_used = ? WHERE digest = ?", [(now, digest) for digest in digests])
        known = self._entries[1] if self._entries else {}
        for digest in digests:
            if digest in known:
                known[digest].last_used = now

    def add(self, entry: Entry, owner: str) -> bool:
        """Note a block that is about to be written for a conversation. False where the block before it was deleted
        meanwhile, or is no longer of this conversation."""
        row = (entry.digest, entry.parent, entry.folder, entry.nbytes, entry.last_used)
        with self._changing() as db:
            if entry.parent and not self._rows(
                "SELECT 1 FROM owner JOIN block ON digest = block WHERE owner = ? AND digest = ?", owner, entry.parent
            ):
                return False
            db.execute("INSERT OR REPLACE INTO block VALUES (?, ?, ?, ?, ?)", row)
            db.execute("INSERT OR IGNORE INTO owner VALUES (?, ?)", (owner, entry.digest))
        self._changes += 1
        return True

    def remove(self, digest: str) -> list[Entry]:
        """Take out a block and all behind it. No block is named "": that only stands for what is before the first."""
        if not digest:
            return []
        behind = "(VALUES (?) UNION SELECT digest FROM block JOIN behind ON parent = name)"
        query = f"WITH RECURSIVE behind (name) AS {behind} {_BLOCK} JOIN behind ON digest = name"
        return self._deleting(lambda db: self._take_out(db, query, digest))

    def evict(self, nbytes: int, spare: str = "") -> list[Entry]:
        """Take out at least `nbytes` bytes of blocks, the least recently used leaf first; less where there are no more.
        `spare` is not taken."""
        return self._deleting(lambda db: self._take_oldest(db, nbytes, spare)) if nbytes > 0 else []

    def disown(self, owner: str) -> list[Entry]:
        """Take out the blocks that only this conversation used; it owns no other any more."""
        return self._deleting(lambda db: self._take_from(db, [owner]))

    def keep_only(self, owners: Collection[str]) -> list[Entry]:
        """Take out the blocks that none of these conversations used."""
        return self._deleting(lambda db: self._take_from(db, self.owners() - set(owners)))

    def clear(self, folder: str | None = None) -> list[Entry]:
        """Take out the blocks of one namespace, or all."""
        query, values = (_BLOCK, ()) if folder is None else (f"{_BLOCK} WHERE folder = ?", (folder,))
        return self._deleting(lambda db: self._take_out(db, query, *values))

    def owners(self) -> set[str]:
        """The conversations that own a block."""
        return {owner for (owner,) in self._rows("SELECT DISTINCT owner FROM owner")}

    def starts(self, folder: str) -> list[str]:
        """The blocks of a namespace at the start of a path."""
        return [row[0] for row in self._rows("SELECT digest FROM block WHERE parent = '' AND folder = ?", folder)]

    def check(self) -> None:
        """Raise AssertionError where an invariant is broken."""
        entries = self.entries()
        assert self.used_bytes == sum(entry.nbytes for entry in entries.values())
        assert self.owners() == {owner for entry in entries.values() for owner in entry.owners}
        for entry in entries.values():
            assert entry.owners
            assert not entry.parent or entry.owners <= entries[entry.parent].owners

    def _deleting(self, delete: Callable[[sqlite3.Connection], list[Entry]]) -> list[Entry]:
        """Delete in one transaction. On a full disk, where a deletion is most wanted, its journal is in memory, for
        this once: a program that is killed in that moment may leave a damaged index, which is noticed at the next start
        and costs all blocks."""
        try:
            with self._changing() as db:
                return delete(db)
        except OSError as error:
            if error.errno != errno.ENOSPC or self._db is None:
                raise
            with _system_errors():
                self._db.execute("PRAGMA journal_mode = MEMORY")
            try:
                with self._changing() as db:
                    return delete(db)
            finally:
                with _system_errors():
                    self._db.execute("PRAGMA journal_mode = DELETE")

    def _take_from(self, db: sqlite3.Connection, owners: Iterable[str]) -> list[Entry]:
        """These conversations own nothing any more; the blocks that nobody owns then."""
        db.executemany("DELETE FROM owner WHERE owner = ?", [(owner,) for owner in owners])
        return self._take_out(db, f"{_BLOCK} WHERE NOT EXISTS (SELECT 1 FROM owner WHERE block = digest)")

    def _take_oldest(self, db: sqlite3.Connection, nbytes: int, spare: str) -> list[Entry]:
        """Delete leaves, the least recently used first, until that many bytes are gone; what that was."""
        leaf = f"{_BLOCK} AS leaf WHERE digest != ? AND NOT EXISTS (SELECT 1 FROM block WHERE parent = leaf.digest)"
        gone: list[Entry] = []
        while nbytes > 0 and (taken := self._take_out(db, f"{leaf} ORDER BY last_used, digest LIMIT 1", spare)):
            gone += taken
            nbytes -= taken[0].nbytes
        return gone

    def _take_out(self, db: sqlite3.Connection, query: str, *values: object) -> list[Entry]:
        """Delete what a query finds; what that was."""
        gone = [Entry(*row) for row in db.execute(query, values)]
        names = [(entry.digest,) for entry in gone]
        db.executemany("DELETE FROM block WHERE digest = ?", names)
        db.executemany("DELETE FROM owner WHERE block = ?", names)
        self._changes += 1
        return gone

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        if self._db is None:
            return []
        with _system_errors():
            return self._db.execute(query, values).fetchall()

    def _number(self, query: str) -> int:
        return int(rows[0][0]) if (rows := self._rows(query)) else 0

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """One transaction."""
        db = self._db or _nothing()
        with _system_errors():
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has rolled it back already
                    db.execute("ROLLBACK")
                raise
            finally:
                if db is not self._db:
                    db.close()

    def _check_version(self, db: sqlite3.Connection) -> None:
        """Begin an empty index, or make sure that this one is whole and ours."""
        is_new = not db.execute("SELECT 1 FROM sqlite_master").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()  # read last: whoever made the tables has set it
        if is_new and not version:
            db.executescript(_SCHEMA)
        elif version != INDEX_VERSION:
            raise DamagedIndexError(errno.EINVAL, f"its version is {version}, not {INDEX_VERSION}")
        elif (found := db.execute("PRAGMA quick_check").fetchone()[0]) != "ok":
            raise DamagedIndexError(errno.EINVAL, str(found))
        db.execute("SELECT 1 FROM block, owner LIMIT 0")
        if any(db.execute(query).fetchone() for query in (_UNSOUND, _ADRIFT)):
            raise DamagedIndexError(errno.EINVAL, "it holds what was never written there")


def index_path(root: Path) -> Path:
    """Where the index of the blocks below `root` lies."""
    return root / "index.sqlite3"


def _nothing() -> sqlite3.Connection:
    """What a closed index looks at and changes: nothing."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.executescript(_SCHEMA)
    return db


def _make_private(path: Path) -> None:
    """Make an empty file that only this user may read, unless there is one. SQLite gives its own further files the same
    rights. Only a plain file is ever opened: a pipe would never end."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise OSError(errno.EINVAL, f"{path.name} is not a file") from None
        with suppress(OSError):
            path.chmod(0o600)


@contextmanager
def _system_errors() -> Iterator[None]:
    """What SQLite says, as the error of the system that it comes from."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.IntegrityError):
        raise
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_IOERR) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_SCHEMA):
            raise DamagedIndexError(errno.EIO, str(error)) from error
        number = _MEANINGS.get(code, errno.EIO)
        raise OSError(number, os.strerror(number), str(error)) from error

"""What can be read of a damaged conversation file goes into a new one, row by row.

SQLite reads a table in the order of its row ids. Where a page of it is damaged, the rows of that page are lost, and
those behind it are found again by asking for greater ids.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.history.records import UNREADABLE_TITLE

TABLES = ("folder", "conversation", "sent_system", "message", "preset", "draft", "answered_by", "model_of", "deletion")
"""In an order in which what is named by others comes first. The index of words is made anew by the file itself."""

LARGEST_STEP = 2**40
"""Ids are given one after the other: nothing lies so far behind the last row that was read."""

_ORPHANS = """UPDATE message SET parent_id =
    (SELECT max(p.id) FROM message p WHERE p.conversation_id = message.conversation_id AND p.id < message.id)
    WHERE parent_id IS NOT NULL AND parent_id NOT IN (SELECT id FROM message)"""
"""A message whose parent is lost stands behind the one that was written before it."""

_LOST = "conversation_id != 0 AND conversation_id NOT IN (SELECT id FROM conversation)"
"""What belongs to a conversation that is lost: a new one with its id would have it. 0 stands for the blank one."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """How much was read of a damaged file."""

    conversations: int = 0
    messages: int = 0

    @property
    def sentence(self) -> str:
        """For the user."""
        if not self.conversations:
            return "Nothing could be read of it"
        chats = "one conversation" if self.conversations == 1 else f"{self.conversations:,} conversations"
        messages = "one message" if self.messages == 1 else f"{self.messages:,} messages"
        return f"{chats} with {messages} could be read of it, and are here"


@contextmanager
def readable(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a file that is only read, or to a copy where SQLite left a log that belongs to it."""
    log_file = path.with_name(path.name + "-wal")
    if not log_file.exists():
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as db:
            yield db
        return
    with tempfile.TemporaryDirectory(prefix="headstart-") as folder:
        copy = Path(folder) / path.name
        shutil.copyfile(path, copy)
        shutil.copyfile(log_file, copy.with_name(log_file.name))
        with closing(sqlite3.connect(copy)) as db:
            yield db


def recover(damaged: Path, db: sqlite3.Connection) -> Recovered:
    """Copy every row that can be read of the file `damaged`, which stays as it is, into the tables of `db`, which are
    those of the newest version and empty. Does not raise for whatever the file holds."""
    db.execute("PRAGMA foreign_keys=OFF")
    with suppress(sqlite3.Error, OSError), readable(damaged) as source:
        source.text_factory = lambda text: text.decode("utf-8", "replace")
        source.execute("PRAGMA writable_schema=ON")  # also reads a file that is shorter than its header says
        db.execute("BEGIN IMMEDIATE")
        for table in TABLES:
            _copy_table(source, db, table)
        _mend(db)
        db.execute("COMMIT")
    if db.in_transaction:
        db.execute("ROLLBACK")
    db.execute("PRAGMA foreign_keys=ON")
    counted = {"conversation": "id", "message": "conversation_id"}  # what was deleted, and can be taken back, is not
    count = "SELECT count(*) FROM {} WHERE {} NOT IN (SELECT conversation_id FROM deletion)"
    return Recovered(*(db.execute(count.format(*each)).fetchone()[0] for each in counted.items()))


def _copy_table(source: sqlite3.Connection, db: sqlite3.Connection, table: str) -> None:
    """Copy the columns that both have. Values of no use are left to whoever reads them."""
    known = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    with suppress(sqlite3.DatabaseError):
        there = {row[1] for row in source.execute(f"PRAGMA table_info({table})")}
        columns = [name for name in known if name in there]
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        for row in _readable_rows(source, f"SELECT rowid, {names} FROM {table}") if columns else ():
            with suppress(sqlite3.IntegrityError):
                db.execute(f"INSERT OR IGNORE INTO {table}({names}) VALUES ({marks})", row)


def _readable_rows(source: sqlite3.Connection, query: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a query that begins with the row id, without those that cannot be read; without that id."""
    start: int | None = -LARGEST_STEP
    while start is not None:
        try:
            with closing(source.execute(f"{query} WHERE rowid >= ? ORDER BY rowid", (start,))) as found:
                for number, *row in found:
                    yield tuple(row)
                    start = number + 1
                return
        except sqlite3.DatabaseError:  # a damaged page lies ahead
            start = _next_readable(source, query, max(start, 0))


def _next_readable(source: sqlite3.Connection, query: str, failed: int) -> int | None:
    """The least row id behind `failed` from which on a row can be read; None where there is none."""
    step = 1
    while not (reads := _reads(source, query, failed + step)):
        step *= 2
        if step > LARGEST_STEP:
            return None
    low, high = failed + step // 2, failed + step
    while reads and high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _reads(source, query, middle) else (middle, high)
    return high


def _reads(source: sqlite3.Connection, query: str, start: int) -> bool:
    """Whether the first row from this id on can be read, or there is none."""
    try:
        source.execute(f"{query} WHERE rowid >= ? ORDER BY rowid LIMIT 1", (start,)).fetchone()
    except sqlite3.DatabaseError:
        return False
    return True


def _mend(db: sqlite3.Connection) -> None:
    """Make of what was read conversations that can be opened."""
    lost = "SELECT DISTINCT conversation_id FROM message WHERE conversation_id NOT IN (SELECT id FROM conversation)"
    db.execute(
        "INSERT OR IGNORE INTO conversation(id, title, system_prompt, sampling, day, created, updated, leaf_id)"
        " SELECT conversation_id, ?, '', '{}', '2000-01-01', 0.0, 0.0,"
        f" (SELECT max(id) FROM message m WHERE m.conversation_id = lost.conversation_id) FROM ({lost}) lost",
        (UNREADABLE_TITLE,),
    )
    db.execute(_ORPHANS)
    for table in ("draft", "answered_by", "model_of", "deletion"):
        db.execute(f"DELETE FROM {table} WHERE {_LOST}")

"""The conversation file as a whole: copied while it is in use, checked before it is used, and told from another that
was copied into its place.

SQLite keeps the newest changes in a log (WAL) beside the file, and carries over whatever log it finds there. Where
somebody copies an earlier file back after a crash, the log of the later one would be mixed into it. So each opening
writes a word of its own into the file and into a third file beside it (-opened): as long as both say the same, the log
belongs to the file.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path

from app.files import keep_private, set_aside
from app.history.schema import refuse_foreign
from engine import HeadstartError

LOG, INDEX, OPENED = "-wal", "-shm", "-opened"
"""Endings of SQLite's log and its index, and of the file that says which opening it belongs to."""
COMPANIONS = (LOG, INDEX)
"""Endings of the files that SQLite keeps beside its own."""


def copy_to(db: sqlite3.Connection, target: Path) -> None:
    """Write all that the connection sees into a new file. Raises sqlite3.Error."""
    with closing(sqlite3.connect(target)) as copy:
        db.backup(copy)


def refuse_unusable(path: Path, name: str) -> None:
    """Raises HeadstartError where this is no whole file of conversations; `name` is what the user knows it by."""
    refused = f"{name} is no backup of Headstart, or it is damaged."
    try:
        with closing(sqlite3.connect(path)) as db:
            refuse_foreign(db, path)
            if db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise HeadstartError(refused)
    except sqlite3.DatabaseError as error:
        raise HeadstartError(refused, str(error)) from None


def set_strange_log_aside(path: Path) -> Path | None:
    """Rename a log that belongs to another state of the file, with its index, and return its new name; None where there
    is none. Raises OSError."""
    log, note = path.with_name(path.name + LOG), path.with_name(path.name + OPENED)
    if not log.exists() or log.stat().st_size == 0 or not note.is_file():
        return None
    word = _word_in(path)
    if word is None or word in note.read_text("ascii", "replace").split():
        return None
    kept = set_aside(log, why="of-another-state")
    path.with_name(path.name + INDEX).unlink(missing_ok=True)
    return kept


def begin_opening(db: sqlite3.Connection, path: Path) -> None:
    """Write a new word into the file and beside it. The log is to be empty before and after. Raises sqlite3.Error or
    OSError; the old word is good then."""
    word, old = secrets.token_hex(8), [word for (word,) in db.execute("SELECT word FROM opening")]
    note = path.with_name(path.name + OPENED)
    _write_note(note, [*old, word])  # whichever of the two the file holds if this ends here
    db.execute("BEGIN IMMEDIATE")
    db.execute("DELETE FROM opening")
    db.execute("INSERT INTO opening(word) VALUES (?)", (word,))
    db.execute("COMMIT")
    busy, left, carried = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if not busy and left == carried:
        _write_note(note, [word])


def _word_in(path: Path) -> str | None:
    """The word in the file itself, whatever lies in its log; "" in one of an older version, None where it is empty or
    cannot be read."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as db:
            tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
            words = db.execute("SELECT word FROM opening") if "opening" in tables else ()
            return "".join(str(word) for (word,) in words) if tables else None
    except sqlite3.Error:
        return None


def _write_note(path: Path, words: list[str]) -> None:
    with path.open("w", encoding="ascii") as file:
        file.write("\n".join(words))
        file.flush()
        os.fsync(file.fileno())
    keep_private(path)

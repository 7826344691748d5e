"""Conversations in one SQLite file. The only door to sqlite3; no Qt.

Messages form a tree by their parent; a conversation's active branch ends at its leaf. One program owns the file at a
time, so an answer that is still open when the file is opened was cut off by a crash.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import date
from pathlib import Path

from app.message_table import MessageTable
from app.placeholders import Cure
from app.preset_table import PresetTable
from app.records import (
    CONVERSATION_COLUMNS,
    MESSAGE_COLUMNS,
    Conversation,
    StoredMessage,
    read_conversation,
    read_message,
    write_cures,
    write_sampling,
)
from app.schema import migrate, refuse_foreign
from app.storage_errors import DamagedFileError, in_words, is_damage, set_aside
from engine import DiskFullError, HeadstartError, Sampling, data_dir

__all__ = ["Conversation", "History", "StoredMessage", "default_path"]


def default_path() -> Path:
    """Where the conversations of this user are kept."""
    return data_dir() / "history.sqlite3"


class History(MessageTable):
    """All conversations of one user. Attributes: presets, the system prompts kept under a name.

    A damaged file is set aside under another name and a fresh one is begun; `notice` then holds a sentence that says
    so. Every method raises HeadstartError (DiskFullError where the disk is full) with a sentence for the user; what
    was stored before stays as it was.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self.notice = ""
        self.clock = clock
        self._depth = 0
        self.presets = PresetTable(self)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HeadstartError(
                f"The folder {path.parent} cannot be made. Check its permissions.", str(error)
            ) from error
        with _speaking(path):
            self.db = self._open()
        try:
            self._close_interrupted()
        except DiskFullError as error:  # reading still works, and the next start tries again
            self.notice = str(error)

    def close(self) -> None:
        """Give the file back. Safe to call twice."""
        self.db.close()

    @contextmanager
    def speaking(self) -> Iterator[None]:
        """What SQLite says inside becomes a HeadstartError."""
        with _speaking(self.path):
            yield

    @contextmanager
    def together(self) -> Iterator[None]:
        """Changes made inside are stored all or none. May be nested."""
        self._depth += 1
        outermost = self._depth == 1
        try:
            with _speaking(self.path), self._transaction() if outermost else nullcontext():
                yield
        finally:
            self._depth -= 1

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.db.execute("COMMIT")
        except BaseException:
            if self.db.in_transaction:  # a full disk may have rolled it back already
                self.db.execute("ROLLBACK")
            raise

    def conversations(self, search: str = "") -> list[Conversation]:
        """Newest first; with `search`, those that hold it in their title or a message, in any case."""
        query = f"SELECT {CONVERSATION_COLUMNS} FROM conversation c"
        if search:
            query += """ WHERE holds(c.title, :needle) OR EXISTS
                (SELECT 1 FROM message m WHERE m.conversation_id = c.id AND holds(m.content, :needle))"""
        with _speaking(self.path):
            rows = self.db.execute(f"{query} ORDER BY updated DESC, id DESC", {"needle": search.casefold()})
            return [read_conversation(row) for row in rows]

    def conversation(self, conversation_id: int) -> Conversation:
        """One conversation. Raises HeadstartError when there is none with this id."""
        with _speaking(self.path):
            query = f"SELECT {CONVERSATION_COLUMNS} FROM conversation WHERE id = ?"
            row = self.db.execute(query, (conversation_id,)).fetchone()
        if row is None:
            raise HeadstartError("This conversation is no longer there. Choose another one.")
        return read_conversation(row)

    def create(
        self, system_prompt: str, sampling: Sampling, day: date, title: str = "", cures: tuple[Cure, ...] = ()
    ) -> Conversation:
        """A new conversation without messages."""
        now = self.clock()
        with self.together():
            cursor = self.db.execute(
                "INSERT INTO conversation(title, system_prompt, sampling, day, created, updated, cures)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (title, system_prompt, write_sampling(sampling), day.isoformat(), now, now, write_cures(cures)),
            )
            return self.conversation(int(cursor.lastrowid or 0))

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation another title."""
        self.change("UPDATE conversation SET title = ? WHERE id = ?", title, conversation_id)

    def set_system_prompt(self, conversation_id: int, text: str, cures: tuple[Cure, ...] = ()) -> None:
        """Change the system prompt of one conversation, and what is cured in it."""
        query = "UPDATE conversation SET system_prompt = ?, cures = ? WHERE id = ?"
        self.change(query, text, write_cures(cures), conversation_id)

    def set_sampling(self, conversation_id: int, sampling: Sampling) -> None:
        """Change the sampling settings of one conversation."""
        self.change("UPDATE conversation SET sampling = ? WHERE id = ?", write_sampling(sampling), conversation_id)

    def set_leaf(self, conversation_id: int, message_id: int | None) -> None:
        """Make the branch that ends at this message the active one; None for an empty branch."""
        self.change("UPDATE conversation SET leaf_id = ? WHERE id = ?", message_id, conversation_id)

    def set_seen_from(self, conversation_id: int, message_id: int, left_out: int) -> None:
        """The model no longer sees the `left_out` messages before this question, nor before what stands in its place in
        another branch."""
        place = "(SELECT parent_id FROM message WHERE id = ?)"
        with self.together():
            self.change("UPDATE conversation SET seen_from_id = ? WHERE id = ?", message_id, conversation_id)
            self.change(f"UPDATE message SET left_out = ? WHERE parent_id = {place}", left_out, message_id)

    def delete(self, conversation_id: int) -> None:
        """Forget a conversation with all its messages."""
        self.change("DELETE FROM conversation WHERE id = ?", conversation_id)

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except DamagedFileError:
            pass
        except sqlite3.DatabaseError as error:
            if not is_damage(_name(error)):
                raise
        self.notice = set_aside(self.path)
        return self._connect()

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=1.0, isolation_level=None)
        try:
            # One owner at a time: another program gets "locked" at once instead of mixing its writes with ours.
            db.execute("PRAGMA locking_mode=EXCLUSIVE")
            if db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise DamagedFileError
            refuse_foreign(db, self.path)
            for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
                db.execute(f"PRAGMA {pragma}")
            migrate(db)
            db.create_function("holds", 2, lambda text, needle: needle in text.casefold(), deterministic=True)
        except BaseException:
            db.close()
            raise
        return db

    def _close_interrupted(self) -> None:
        """Answers that were open when the program ended: mark them, and drop those in which nothing was written."""
        query = f"SELECT {MESSAGE_COLUMNS} FROM message WHERE role = 'assistant' AND finish_reason = ''"
        with _speaking(self.path):
            cut_off = [read_message(row) for row in self.db.execute(query)]
        for answer in cut_off:
            if answer.content:
                self.change("UPDATE message SET finish_reason = 'interrupted' WHERE id = ?", answer.id)
            else:
                self.discard(answer.id, self._leaf_without(answer))

    def _leaf_without(self, answer: StoredMessage) -> int | None:
        others = [other.id for other in self.siblings(answer.id) if other.id != answer.id]
        return self.newest_leaf(others[-1]) if others else answer.parent_id


@contextmanager
def _speaking(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise in_words(_name(error), str(error), path) from error


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", None) or ""

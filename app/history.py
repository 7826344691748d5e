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

import platformdirs

from app.records import (
    CONVERSATION_COLUMNS,
    MESSAGE_COLUMNS,
    Conversation,
    StoredMessage,
    pack_ids,
    read_conversation,
    read_message,
    write_divergence,
    write_sampling,
    write_stats,
)
from app.schema import migrate, refuse_foreign
from app.storage_errors import DamagedFileError, in_words, is_damage
from engine import DiskFullError, Divergence, HeadstartError, Role, Sampling, TurnStats

__all__ = ["Conversation", "History", "StoredMessage", "default_path"]

_BRANCH = """
    WITH RECURSIVE branch(id, parent_id, depth) AS (
        SELECT m.id, m.parent_id, 0 FROM message m JOIN conversation c ON c.leaf_id = m.id WHERE c.id = ?
        UNION ALL
        SELECT m.id, m.parent_id, branch.depth + 1 FROM message m JOIN branch ON m.id = branch.parent_id
    )
"""


def default_path() -> Path:
    """Where the conversations of this user are kept."""
    return Path(platformdirs.user_data_dir("headstart", appauthor=False)) / "history.sqlite3"


class History:
    """All conversations of one user.

    A damaged file is set aside under another name and a fresh one is begun; `notice` then holds a sentence that says
    so. Every method raises HeadstartError (DiskFullError where the disk is full) with a sentence for the user; what
    was stored before stays as it was.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self.notice = ""
        self._clock = clock
        self._depth = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HeadstartError(
                f"The folder {path.parent} cannot be made. Check its permissions.", str(error)
            ) from error
        with _speaking(path):
            self._db = self._open()
        try:
            self._close_interrupted()
        except DiskFullError as error:  # reading still works, and the next start tries again
            self.notice = str(error)

    def close(self) -> None:
        """Give the file back. Safe to call twice."""
        self._db.close()

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
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # a full disk may have rolled it back already
                self._db.execute("ROLLBACK")
            raise

    def conversations(self, search: str = "") -> list[Conversation]:
        """Newest first; with `search`, those that hold it in their title or a message, in any case."""
        query = f"SELECT {CONVERSATION_COLUMNS} FROM conversation c"
        if search:
            query += """ WHERE holds(c.title, :needle) OR EXISTS
                (SELECT 1 FROM message m WHERE m.conversation_id = c.id AND holds(m.content, :needle))"""
        with _speaking(self.path):
            rows = self._db.execute(f"{query} ORDER BY updated DESC, id DESC", {"needle": search.casefold()})
            return [read_conversation(row) for row in rows]

    def conversation(self, conversation_id: int) -> Conversation:
        """One conversation. Raises HeadstartError when there is none with this id."""
        with _speaking(self.path):
            query = f"SELECT {CONVERSATION_COLUMNS} FROM conversation WHERE id = ?"
            row = self._db.execute(query, (conversation_id,)).fetchone()
        if row is None:
            raise HeadstartError("This conversation is no longer there. Choose another one.")
        return read_conversation(row)

    def create(self, system_prompt: str, sampling: Sampling, day: date, title: str = "") -> Conversation:
        """A new conversation without messages."""
        now = self._clock()
        with self.together():
            cursor = self._db.execute(
                "INSERT INTO conversation(title, system_prompt, sampling, day, created, updated)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (title, system_prompt, write_sampling(sampling), day.isoformat(), now, now),
            )
            return self.conversation(int(cursor.lastrowid or 0))

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation another title."""
        self._change("UPDATE conversation SET title = ? WHERE id = ?", title, conversation_id)

    def set_system_prompt(self, conversation_id: int, text: str) -> None:
        """Change the system prompt of one conversation."""
        self._change("UPDATE conversation SET system_prompt = ? WHERE id = ?", text, conversation_id)

    def set_sampling(self, conversation_id: int, sampling: Sampling) -> None:
        """Change the sampling settings of one conversation."""
        self._change("UPDATE conversation SET sampling = ? WHERE id = ?", write_sampling(sampling), conversation_id)

    def set_leaf(self, conversation_id: int, message_id: int | None) -> None:
        """Make the branch that ends at this message the active one; None for an empty branch."""
        self._change("UPDATE conversation SET leaf_id = ? WHERE id = ?", message_id, conversation_id)

    def delete(self, conversation_id: int) -> None:
        """Forget a conversation with all its messages."""
        self._change("DELETE FROM conversation WHERE id = ?", conversation_id)

    def messages(self, conversation_id: int) -> tuple[StoredMessage, ...]:
        """The active branch, from the first message to the leaf."""
        columns = ", ".join(f"m.{name}" for name in MESSAGE_COLUMNS.split(", "))
        query = f"{_BRANCH} SELECT {columns} FROM message m JOIN branch ON branch.id = m.id ORDER BY branch.depth DESC"
        with _speaking(self.path):
            return tuple(read_message(row) for row in self._db.execute(query, (conversation_id,)))

    def message(self, message_id: int) -> StoredMessage:
        """One message. Raises HeadstartError when there is none with this id."""
        with _speaking(self.path):
            row = self._db.execute(f"SELECT {MESSAGE_COLUMNS} FROM message WHERE id = ?", (message_id,)).fetchone()
        if row is None:
            raise HeadstartError("This message is no longer there. Open the conversation again.")
        return read_message(row)

    def siblings(self, message_id: int) -> tuple[StoredMessage, ...]:
        """All messages with the same parent, this one among them, oldest first."""
        query = f"""SELECT {MESSAGE_COLUMNS} FROM message WHERE conversation_id = ? AND parent_id IS ? ORDER BY id"""
        message = self.message(message_id)
        with _speaking(self.path):
            rows = self._db.execute(query, (message.conversation_id, message.parent_id))
            return tuple(read_message(row) for row in rows)

    def newest_leaf(self, message_id: int) -> int:
        """The newest message at or below this one: where a branch that is shown again ends."""
        query = """
            WITH RECURSIVE below(id) AS (
                SELECT ? UNION ALL SELECT m.id FROM message m JOIN below ON m.parent_id = below.id
            ) SELECT max(id) FROM below"""
        with _speaking(self.path):
            return int(self._db.execute(query, (message_id,)).fetchone()[0])

    def append(self, conversation_id: int, parent_id: int | None, role: Role, content: str) -> StoredMessage:
        """A new message under `parent_id` (None: the first), which becomes the leaf."""
        now = self._clock()
        with self.together():
            cursor = self._db.execute(
                "INSERT INTO message(conversation_id, parent_id, role, content, created) VALUES (?, ?, ?, ?, ?)",
                (conversation_id, parent_id, role, content, now),
            )
            message = self.message(int(cursor.lastrowid or 0))
            self._change(
                "UPDATE conversation SET leaf_id = ?, updated = ? WHERE id = ?", message.id, now, conversation_id
            )
        return message

    def save_text(self, message_id: int, content: str) -> None:
        """Keep what is written so far of an answer that goes on."""
        self._change("UPDATE message SET content = ? WHERE id = ?", content, message_id)

    def finish(
        self,
        message_id: int,
        content: str,
        token_ids: tuple[int, ...],
        stats: TurnStats | None,
        divergence: Divergence | None,
        finish_reason: str,
    ) -> None:
        """Keep an answer that has ended."""
        self._change(
            "UPDATE message SET content = ?, token_ids = ?, stats = ?, divergence = ?, finish_reason = ? WHERE id = ?",
            content,
            pack_ids(token_ids),
            write_stats(stats),
            write_divergence(divergence),
            finish_reason,
            message_id,
        )

    def discard(self, message_id: int, leaf_id: int | None) -> None:
        """Forget an answer in which nothing was written; where it was the leaf, `leaf_id` is again."""
        with self.together():
            self._change("UPDATE conversation SET leaf_id = ? WHERE leaf_id = ?", leaf_id, message_id)
            self._change("DELETE FROM message WHERE id = ?", message_id)

    def _change(self, statement: str, *values: object) -> None:
        with self.together():
            self._db.execute(statement, values)

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except DamagedFileError:
            pass
        except sqlite3.DatabaseError as error:
            if not is_damage(_name(error)):
                raise
        self.notice = self._set_aside()
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

    def _set_aside(self) -> str:
        target = self.path.with_name(f"{self.path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        while target.exists():
            target = target.with_name(target.name + "x")
        for suffix in ("", "-wal", "-shm"):
            part = self.path.with_name(self.path.name + suffix)
            try:
                if part.exists():
                    part.rename(target.with_name(target.name + suffix))
            except OSError as error:
                raise HeadstartError(f"{part} is damaged and in the way. Move it elsewhere.", str(error)) from error
        return f"The file with your conversations is damaged. It was kept as {target}, and a new one was begun."

    def _close_interrupted(self) -> None:
        """Answers that were open when the program ended: mark them, and drop those in which nothing was written."""
        query = f"SELECT {MESSAGE_COLUMNS} FROM message WHERE role = 'assistant' AND finish_reason = ''"
        with _speaking(self.path):
            cut_off = [read_message(row) for row in self._db.execute(query)]
        for answer in cut_off:
            if answer.content:
                self._change("UPDATE message SET finish_reason = 'interrupted' WHERE id = ?", answer.id)
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

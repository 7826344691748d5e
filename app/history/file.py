"""Conversations in one SQLite file. The only door to sqlite3; no Qt.

Messages form a tree by their parent; a conversation's active branch ends at its leaf. One program owns the file at a
time, so an answer that is still open when the file is opened was cut off by a crash.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from datetime import date
from pathlib import Path

from app.files import keep_private
from app.history.errors import DamagedFileError, in_words, is_damage, is_forbidden, set_aside
from app.history.messages import MessageTable
from app.history.presets import PresetTable
from app.history.records import (
    SELECT_CONVERSATION,
    SELECT_MESSAGE,
    Conversation,
    ConversationEntry,
    StoredMessage,
    read_conversation,
    read_entry,
    read_message,
    write_cures,
    write_sampling,
)
from app.history.schema import ERASES_FROM, migrate, refuse_foreign
from app.placeholders import Cure
from engine import HeadstartError, Sampling, data_dir

__all__ = ["Conversation", "ConversationEntry", "History", "StoredMessage", "default_path"]

PIECE_MESSAGES, PIECE_CHARACTERS = 500, 1_000_000
"""How much a search looks at between two returns to its caller."""

SMALLEST_FILE = 512
"""SQLite takes a file that is shorter for a new one, and writes over it."""

EVERY_ID = 2**63 - 1
_LIST = "SELECT id, title, updated FROM conversation WHERE id > 0 ORDER BY updated DESC, id DESC"
log = logging.getLogger("headstart")


def default_path() -> Path:
    """Where the conversations of this user are kept."""
    return data_dir() / "history.sqlite3"


class History(MessageTable):
    """All conversations of one user. Attributes: presets, the system prompts kept under a name.

    A damaged file is set aside under another name and a fresh one is begun; `notice` then holds a sentence that says
    so. A file that cannot be written can be read all the same; `notice` says that nothing new is stored. Every method
    raises HeadstartError (DiskFullError where the disk is full) with a sentence for the user; what was stored before
    stays as it was.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self.notice = ""
        self.clock = clock
        self._depth = 0
        self._is_read_only = False
        self.presets = PresetTable(self)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HeadstartError(
                f"The folder {path.parent} cannot be made. Check its permissions.", str(error)
            ) from error
        with _speaking(path):
            try:
                self.db = self._open()
            except OSError as error:
                raise in_words("SQLITE_CANTOPEN", str(error), path) from error
        try:
            self._close_interrupted()
        except HeadstartError as error:  # reading still works, and the next start tries again
            self.notice = self.notice or str(error)
        if self._is_read_only:
            self.db.execute("PRAGMA query_only=ON")
        self._empty_log()

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
    def erasing(self) -> Iterator[None]:
        """As `together`; what is overwritten or deleted inside is found in no file afterwards."""
        with self.together():
            yield
        if self._depth == 0:  # otherwise nothing is stored yet; what surrounds this is to be `erasing`, too
            self._empty_log()

    def _empty_log(self) -> None:
        """Carry over what SQLite keeps in its log beside the file, where old texts are found until then."""
        try:
            self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:  # the deletion itself is stored; the next one, or the end, empties the log
            log.warning("The log of %s is not emptied yet: %s", self.path, error)

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

    def conversations(self, search: str = "") -> list[ConversationEntry]:
        """Newest first; with `search`, those that hold it in their title or a message, in any case."""
        found: list[ConversationEntry] = []
        for entries in self.search(search):
            found = entries
        return found

    def search(self, needle: str) -> Iterator[list[ConversationEntry]]:
        """As `conversations`, in pieces: what was found so far, again and again until every message was looked at.

        Newest messages first, a few hundred at a time, so that whoever waits can do something else in between.
        """
        with _speaking(self.path):
            rows = self.db.execute(_LIST)
            entries = [read_entry(row) for row in rows]
        wanted = needle.casefold()
        found = {entry.id for entry in entries if wanted in entry.title.casefold()}
        for more in self._holding(wanted) if wanted else [set[int]()]:
            found |= more
            yield [entry for entry in entries if entry.id in found]

    def _holding(self, wanted: str) -> Iterator[set[int]]:
        """The conversations with this in a message, piece by piece."""
        last = EVERY_ID
        while True:
            with _speaking(self.path):
                rows = self._piece(last)
            yield {owner for _, owner, text in rows if wanted in text.casefold()}
            if not rows:
                return
            last = rows[-1][0] - 1

    def _piece(self, last: int) -> list[tuple[int, int, str]]:
        """The id, the conversation and the text of the newest messages up to this one, as many as a piece takes."""
        query = "SELECT id, conversation_id, content FROM message WHERE id <= ? ORDER BY id DESC LIMIT ?"
        rows, characters = [], 0
        with closing(self.db.execute(query, (last, PIECE_MESSAGES))) as found:
            for number, owner, text in found:
                rows.append((number, owner, text if isinstance(text, str) else ""))
                characters += len(rows[-1][2])
                if characters >= PIECE_CHARACTERS:
                    break
        return rows

    def conversation(self, conversation_id: int) -> Conversation:
        """One conversation. Raises HeadstartError when there is none with this id."""
        with _speaking(self.path):
            row = self.db.execute(f"{SELECT_CONVERSATION} WHERE c.id = ?", (conversation_id,)).fetchone()
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
        with self.erasing():
            self.change("UPDATE conversation SET title = ? WHERE id = ?", title, conversation_id)

    def set_system_prompt(self, conversation_id: int, text: str, cures: tuple[Cure, ...] = ()) -> None:
        """Change the system prompt of one conversation, and what is cured in it."""
        query = "UPDATE conversation SET system_prompt = ?, cures = ? WHERE id = ?"
        with self.erasing():
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
        with self.erasing():
            self.change("DELETE FROM conversation WHERE id = ?", conversation_id)

    def _open(self) -> sqlite3.Connection:
        if self.path.exists() and not self.path.is_file():
            raise HeadstartError(
                f"{self.path} cannot be written: it is no file. Move it away and start Headstart again."
            )
        keep_private(self.path.parent)
        self._keep_private()
        if self.path.is_file() and self.path.stat().st_size < SMALLEST_FILE:
            self.notice = set_aside(self.path)
        try:
            return self._connect()
        except DamagedFileError:
            pass
        except sqlite3.DatabaseError as error:
            if is_forbidden(_name(error)) and self.path.is_file():
                return self._read_only()
            if not is_damage(_name(error)):
                raise
        self.notice = set_aside(self.path)
        return self._connect()

    def _keep_private(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            keep_private(self.path.with_name(self.path.name + suffix))

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=1.0, isolation_level=None)
        try:
            # One owner at a time: another program gets "locked" at once instead of mixing its writes with ours.
            db.execute("PRAGMA locking_mode=EXCLUSIVE")
            if db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise DamagedFileError
            self._prepare(db)
            self._keep_private()
        except BaseException:
            db.close()
            raise
        return db

    def _prepare(self, db: sqlite3.Connection) -> None:
        """Set the connection up and bring the file to the newest version."""
        refuse_foreign(db, self.path)
        # What is deleted is overwritten, and lies in no temporary file, however SQLite was built.
        pragmas = ("secure_delete=ON", "temp_store=MEMORY", "journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON")
        for pragma in pragmas:
            db.execute(f"PRAGMA {pragma}").fetchall()
        db.text_factory = lambda text: text.decode("utf-8", "replace")
        if 0 < migrate(db) < ERASES_FROM:
            self._rewrite(db)
        db.execute("BEGIN IMMEDIATE")  # raises where the file can only be read
        db.execute("ROLLBACK")

    def _rewrite(self, db: sqlite3.Connection) -> None:
        """Leave behind what an older version deleted and did not overwrite."""
        try:
            db.execute("VACUUM")
        except sqlite3.OperationalError as error:
            log.warning("%s is not rewritten: %s", self.path, error)
            self.notice = (
                f"Parts of what was deleted earlier may still be in {self.path}: there was no room to rewrite it."
            )

    def _read_only(self) -> sqlite3.Connection:
        """The conversations in memory, where their file may be read and not written. What would change them raises."""
        db = sqlite3.connect(":memory:", isolation_level=None)
        with _readable(self.path) as source:
            source.backup(db)
        self._prepare(db)
        self._is_read_only = True
        self.notice = (
            f"{self.path} cannot be written: your conversations can be read, and nothing new is stored. "
            "Check its permissions and those of its folder, and start Headstart again."
        )
        return db

    def _close_interrupted(self) -> None:
        """Answers that were open when the program ended: mark them, and drop those in which nothing was written."""
        query = f"{SELECT_MESSAGE} WHERE m.role = 'assistant' AND m.finish_reason = ''"
        with _speaking(self.path):
            cut_off = [read_message(row) for row in self.db.execute(query)]
        for answer in cut_off:
            is_empty = not answer.content and not answer.unread
            if is_empty and self.newest_leaf(answer.id) == answer.id:
                self.discard(answer.id, self._leaf_without(answer))
            else:
                self.change("UPDATE message SET finish_reason = 'interrupted' WHERE id = ?", answer.id)

    def _leaf_without(self, answer: StoredMessage) -> int | None:
        others = [other.id for other in self.siblings(answer.id) if other.id != answer.id]
        return self.newest_leaf(others[-1]) if others else answer.parent_id


@contextmanager
def _readable(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a file that cannot be written, or to a copy where SQLite left a log that belongs to it."""
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


@contextmanager
def _speaking(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise in_words(_name(error), str(error), path) from error
    except UnicodeEncodeError as error:
        raise HeadstartError("This text holds half of a character. Write it anew.", str(error)) from error


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", None) or ""

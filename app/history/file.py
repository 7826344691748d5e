"""The SQLite file in which conversations are kept: opening it, changing it, and what to do where it is broken.

One program owns the file at a time. Only its owner may read it, and what is deleted is found in no file afterwards.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from app.files import keep_private, set_aside
from app.history.copies import COMPANIONS, LOG, OPENED, begin_opening, set_strange_log_aside
from app.history.errors import NO_ROOM_TO_DELETE, DamagedFileError, in_sentences, in_words, is_damage, is_forbidden
from app.history.records import Row
from app.history.recovery import readable, recover
from app.history.schema import ERASES_FROM, migrate, refuse_foreign
from engine import DiskFullError, HeadstartError

SMALLEST_FILE = 512
"""SQLite takes a file that is shorter, in bytes, for a new one, and writes over it."""

CHECKED_BYTES = 16_000_000
"""A file up to this size is checked at each start, in some hundredths of a second. A larger one is checked where damage
was met in it, so that the time of a start does not grow with what is kept."""

log = logging.getLogger("headstart")


class HistoryFile:
    """The connection to the conversation file. Attributes: path; db, the connection itself; notice;
    is_read_only, whether it holds a copy in memory and no lock.

    A damaged file is set aside under another name, and what can be read of it goes into a fresh one; `notice` then
    holds a sentence that says so, with how much that was, as where the file was empty. Where damage is met later, a
    file beside it, whose name ends in "-suspect", has the next start look for it. A file that cannot be written is read
    into memory; `notice` says that nothing new is stored, and every change raises. Every method raises HeadstartError
    (DiskFullError where the disk is full) with a sentence for the user; what was stored before stays as it was.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notice = ""
        self._depth = 0
        self._pages = 0
        self._has_haste = False
        self.is_read_only = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            sentence = f"The folder {path.parent} cannot be made. Check its permissions."
            raise HeadstartError(sentence, str(error)) from error
        with self.speaking():
            try:
                self.db = self._open()
            except OSError as error:
                raise in_words("SQLITE_CANTOPEN", str(error), path) from error

    def finish_opening(self) -> None:
        """Call it once what the last run left open is mended: from here on a file that is only read takes no change."""
        self._empty_log()
        if self.is_read_only:
            self.db.execute("PRAGMA query_only=ON")
            return
        try:
            begin_opening(self.db, self.path)
        except (sqlite3.Error, OSError) as error:  # the word of an earlier opening is good, too
            log.warning("%s keeps the word of an earlier opening: %s", self.path, error)

    def close(self) -> None:
        """Give the file back. Safe to call twice."""
        self.db.close()

    def query(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """What a SELECT finds."""
        with self.speaking():
            return self.db.execute(statement, values).fetchall()

    def rows(self, statement: str, *values: object) -> list[Row]:
        """What a SELECT finds, to be read by the names of its columns."""
        with self.speaking():
            cursor = self.db.execute(statement, values)
            columns = [description[0] for description in cursor.description]
            return [Row(dict(zip(columns, found, strict=True))) for found in cursor]

    def change(self, statement: str, *values: object) -> int:
        """Carry out one statement, stored or not at all. Returns the id of the row that an INSERT made."""
        with self.together():
            return self.db.execute(statement, values).lastrowid or 0

    @property
    def changes(self) -> int:
        """How many rows were changed since it was opened, also such as were changed back."""
        return self.db.total_changes

    @property
    def is_changing(self) -> bool:
        """Whether something was changed that is not stored yet."""
        return self.db.in_transaction

    @contextmanager
    def speaking(self) -> Iterator[None]:
        """What SQLite says inside becomes a HeadstartError."""
        try:
            with in_sentences(self.path):
                yield
        except HeadstartError as error:
            if isinstance(error.__cause__, sqlite3.Error) and is_damage(error.__cause__) and not self.is_read_only:
                with suppress(OSError):
                    self._suspect.touch(0o600)
            raise

    @property
    def _suspect(self) -> Path:
        return self.path.with_name(self.path.name + "-suspect")

    @contextmanager
    def together(self) -> Iterator[None]:
        """Changes made inside are stored all or none. May be nested."""
        self._depth += 1
        outermost = self._depth == 1
        try:
            with self.speaking(), self._transaction() if outermost else nullcontext():
                yield
            if outermost and not self._has_haste:
                self._take_room()
        finally:
            self._depth -= 1

    @contextmanager
    def in_haste(self) -> Iterator[None]:
        """What is changed inside is stored at once, as always, but the file takes its room at the end only."""
        had_haste, self._has_haste = self._has_haste, True
        try:
            yield
        finally:
            self._has_haste = had_haste
            if not (had_haste or self._depth):
                self._take_room()

    @contextmanager
    def erasing(self) -> Iterator[None]:
        """As `together`; what is overwritten or deleted inside is found in no file afterwards."""
        with self.together():
            yield
        if self._depth == 0:  # otherwise nothing is stored yet; what surrounds this is to be `erasing`, too
            self._empty_log()

    def delete(self, change: Callable[[], object]) -> None:
        """Carry out a `change` that deletes, as in `erasing`; on a full disk in the room that the log takes until then.

        The `change` may be called twice. Not for use inside `together`. Raises DiskFullError where that room is not
        enough. With `journal_mode=MEMORY`, that is without a log, more deletions would succeed, but where a disk is so
        full that even what lies there cannot be written over, as on one that copies on write, that breaks the file.
        """
        try:
            with self.erasing():
                change()
        except DiskFullError:
            self._empty_log()
            try:
                with self.erasing():
                    change()
            except DiskFullError as error:
                raise DiskFullError(NO_ROOM_TO_DELETE, error.detail) from error

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

    def _take_room(self) -> None:
        """Let the file itself grow as soon as something in it does, and not when its log is emptied: on a disk that is
        full by then the log could not be emptied, and nothing be deleted."""
        try:
            (pages,) = self.db.execute("PRAGMA page_count").fetchone()
            if pages > self._pages:
                self.db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            self._pages = pages
        except sqlite3.Error as error:  # what was changed is stored all the same
            log.warning("The log of %s is not carried over yet: %s", self.path, error)

    def _empty_log(self) -> None:
        """Carry over what SQLite keeps in its log beside the file, where old texts are found until then."""
        try:
            self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:  # the deletion itself is stored; the next one, or the end, empties the log
            log.warning("The log of %s is not emptied yet: %s", self.path, error)

    def _open(self) -> sqlite3.Connection:
        for ending in ("", "-journal", *COMPANIONS):
            place = self.path.with_name(self.path.name + ending)
            if place.exists() and not place.is_file():  # SQLite would wait for a pipe, and take others for a full disk
                raise HeadstartError(
                    f"{place} cannot be written: it is no file. Move it away and start Headstart again."
                )
        keep_private(self.path.parent)
        self._keep_private()
        if kept := set_strange_log_aside(self.path):
            self.notice = (
                "The file with your conversations is another one than at the end: it was copied back. Changes that were"
                f" not yet carried over belong to the other one, and were kept as {kept}."
            )
        if self._is_short() and self.path.with_name(self.path.name + LOG).exists():
            self._set_aside()  # at once: SQLite deletes the log of an empty file; none that is just made has a log
        try:
            return self._connect()
        except DamagedFileError:
            pass
        except sqlite3.DatabaseError as error:
            if is_forbidden(error) and self.path.is_file():
                return self._read_only()
            if not is_damage(error):
                raise
        return self._begin_anew()

    def _begin_anew(self) -> sqlite3.Connection:
        """Set the damaged file aside, and take what can be read of it into a new one."""
        kept = self._set_aside()
        db = self._connect()
        recovered = recover(kept, db)
        self.notice = f"The file with your conversations was damaged. It was kept as {kept}. {recovered.sentence}."
        return db

    def _is_short(self) -> bool:
        return self.path.is_file() and self.path.stat().st_size < SMALLEST_FILE

    def _look_at_short(self, db: sqlite3.Connection) -> None:
        """A short file may be one that another start is just making: take its lock first, and only then see."""
        db.execute("BEGIN EXCLUSIVE")
        db.execute("ROLLBACK")  # the lock stays
        if self.path.stat().st_size == 0:
            self.notice = "The file with your conversations was empty. A new one was begun."
        elif self._is_short():
            raise DamagedFileError

    def _set_aside(self) -> Path:
        try:
            kept = set_aside(self.path, COMPANIONS)
            self.path.with_name(self.path.name + OPENED).unlink(missing_ok=True)
        except OSError as error:
            raise HeadstartError(f"{self.path} is damaged and in the way. Move it elsewhere.", str(error)) from error
        self.notice = f"The file with your conversations is damaged. It was kept as {kept}, and a new one was begun."
        return kept

    def _keep_private(self) -> None:
        for ending in ("", *COMPANIONS):
            keep_private(self.path.with_name(self.path.name + ending))

    def _connect(self) -> sqlite3.Connection:
        is_short = self._is_short()  # before SQLite makes one where there is none
        db = sqlite3.connect(self.path, timeout=1.0, isolation_level=None)
        try:
            # One owner at a time: another program gets "locked" at once instead of mixing its writes with ours.
            db.execute("PRAGMA locking_mode=EXCLUSIVE")
            if is_short:
                self._look_at_short(db)
            self._check(db)
            self._prepare(db)
            self._keep_private()
        except BaseException:
            db.close()
            raise
        return db

    def _check(self, db: sqlite3.Connection) -> None:
        """Raise DamagedFileError where the file is damaged; a large one is looked through only where that is to be
        expected."""
        if self.path.stat().st_size <= CHECKED_BYTES or self._suspect.exists():
            if db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise DamagedFileError
            self._suspect.unlink(missing_ok=True)

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
        """The conversations in memory, where their file may be read and not written."""
        db = sqlite3.connect(":memory:", isolation_level=None)
        with readable(self.path) as source:
            source.backup(db)
        try:
            self._prepare(db)
        except DamagedFileError as error:
            raise HeadstartError(f"{self.path} is damaged and cannot be written. Move it elsewhere.") from error
        self.is_read_only = True
        self.notice = (
            f"{self.path} cannot be written: your conversations can be read, and nothing new is stored. "
            "Check its permissions and those of its folder, and start Headstart again."
        )
        return db

"""What SQLite reports, as sentences for the user. SQLite's own names of its errors tell them apart."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine import DiskFullError, HeadstartError

_DAMAGED = ("SQLITE_NOTADB", "SQLITE_CORRUPT")
_IN_USE = ("SQLITE_BUSY", "SQLITE_LOCKED")
_FULL = ("SQLITE_FULL", "SQLITE_IOERR_WRITE")
_FORBIDDEN = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR_LOCK")

NO_ROOM_TO_DELETE = "The disk is so full that this could not be deleted. Free some space, then delete it again."
"""Said where a deletion finds no way on a full disk."""


class InUseError(HeadstartError):
    """Another program has the conversations open."""


class DamagedFileError(Exception):
    """A check of the conversation file found damage."""


@contextmanager
def in_sentences(path: Path) -> Iterator[None]:
    """What SQLite raises inside about the file at `path` becomes a HeadstartError with a sentence for the user."""
    try:
        yield
    except sqlite3.Error as error:
        raise in_words(_name(error), str(error), path) from error
    except UnicodeEncodeError as error:
        raise HeadstartError("This text holds half of a character. Write it anew.", str(error)) from error


def in_words(name: str, message: str, path: Path) -> HeadstartError:
    """The error to raise in place of SQLite's error `name` on the file `path`."""
    detail = f"{path}: {message} ({name})"
    if name.startswith(_IN_USE):
        sentence = "Another program, perhaps a second Headstart, has the conversations open. Close it and try again."
        return InUseError(sentence, detail)
    if name.startswith(_FULL):
        return DiskFullError("The disk is full, so this is not stored yet. Free some space and try again.", detail)
    if name.startswith(_FORBIDDEN):
        sentence = f"{path} cannot be written. Check its permissions and those of its folder."
    elif name.startswith(_DAMAGED):
        sentence = "The file with your conversations is damaged. Start Headstart again: it sets the file aside."
    else:
        sentence = "The conversations cannot be stored. Start Headstart again."
    return HeadstartError(sentence, detail)


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is broken, so that it has to be set aside."""
    return _name(error).startswith(_DAMAGED)


def is_forbidden(error: sqlite3.Error) -> bool:
    """Whether the file may only be read, or not even that."""
    return _name(error).startswith(_FORBIDDEN)


def _name(error: sqlite3.Error) -> str:
    """SQLite's name of the error, "" for those that Python's module raises by itself."""
    return getattr(error, "sqlite_errorname", None) or ""

"""What SQLite reports, as sentences for the user. Names are SQLite's own error names."""

from __future__ import annotations

import time
from pathlib import Path

from engine import DiskFullError, HeadstartError

_DAMAGED = ("SQLITE_NOTADB", "SQLITE_CORRUPT")
_IN_USE = ("SQLITE_BUSY", "SQLITE_LOCKED")
_FULL = ("SQLITE_FULL", "SQLITE_IOERR_WRITE")
_FORBIDDEN = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR_LOCK")


class InUseError(HeadstartError):
    """Another program has the conversations open."""


class DamagedFileError(Exception):
    """A check of the conversation file found damage."""


def is_damage(name: str) -> bool:
    """True where the file itself is broken, so that it has to be set aside."""
    return name.startswith(_DAMAGED)


def is_forbidden(name: str) -> bool:
    """True where the file may only be read, or not even that."""
    return name.startswith(_FORBIDDEN)


def in_words(name: str, message: str, path: Path) -> HeadstartError:
    """The error to raise in place of SQLite's error `name` on the file `path`."""
    detail = f"{path}: {message} ({name})"
    if name.startswith(_IN_USE):
        sentence = "Another program, perhaps a second Headstart, has the conversations open. Close it and try again."
        return InUseError(sentence, detail)
    if name.startswith(_FULL):
        return DiskFullError("The disk is full, so this is not stored yet. Free some space and try again.", detail)
    elif name.startswith(_FORBIDDEN):
        sentence = f"{path} cannot be written. Check its permissions and those of its folder."
    elif is_damage(name):
        sentence = "The file with your conversations is damaged. Start Headstart again: it sets the file aside."
    else:
        sentence = "The conversations cannot be stored. Start Headstart again."
    return HeadstartError(sentence, detail)


def set_aside(path: Path) -> str:
    """Keep a damaged conversation file under another name; a sentence that says which. Raises HeadstartError."""
    target = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    while target.exists():
        target = target.with_name(target.name + "x")
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        try:
            if part.exists():
                part.rename(target.with_name(target.name + suffix))
        except OSError as error:
            raise HeadstartError(f"{part} is damaged and in the way. Move it elsewhere.", str(error)) from error
    return f"The file with your conversations is damaged. It was kept as {target}, and a new one was begun."

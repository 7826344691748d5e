"""What SQLite reports, as sentences for the user. Names are SQLite's own error names."""

from __future__ import annotations

from pathlib import Path

from engine import DiskFullError, HeadstartError

_DAMAGED = ("SQLITE_NOTADB", "SQLITE_CORRUPT")
_IN_USE = ("SQLITE_BUSY", "SQLITE_LOCKED")
_FULL = ("SQLITE_FULL", "SQLITE_IOERR_WRITE")
_FORBIDDEN = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")


class DamagedFileError(Exception):
    """A check of the conversation file found damage."""


def is_damage(name: str) -> bool:
    """True where the file itself is broken, so that it has to be set aside."""
    return name.startswith(_DAMAGED)


def in_words(name: str, message: str, path: Path) -> HeadstartError:
    """The error to raise in place of SQLite's error `name` on the file `path`."""
    detail = f"{path}: {message} ({name})"
    if name.startswith(_IN_USE):
        sentence = "Another program, perhaps a second Headstart, has the conversations open. Close it and try again."
    elif name.startswith(_FULL):
        return DiskFullError("The disk is full, so this is not stored yet. Free some space and try again.", detail)
    elif name.startswith(_FORBIDDEN):
        sentence = f"{path} cannot be written. Check its permissions and those of its folder."
    elif is_damage(name):
        sentence = "The file with your conversations is damaged. Start Headstart again: it sets the file aside."
    else:
        sentence = "The conversations cannot be stored. Start Headstart again."
    return HeadstartError(sentence, detail)

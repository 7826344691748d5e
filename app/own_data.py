"""What Headstart keeps of its user on this computer: where it lies, how much it is, and how it is deleted. No Qt.

Only names that Headstart gives are looked at. HEADSTART_DATA_DIR may be a folder in which other things lie, too, and a
model that was opened from elsewhere stays where it is.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app import settings
from app.command.logs import log_path
from app.history.history import default_path
from app.language import tr
from engine import blocks_dir, data_dir, models_dir, runtimes_dir

CONVERSATIONS, SETTINGS, CACHE = (
    tr("Conversations and saved system prompts"),
    tr("Settings"),
    tr("Prompts kept on disk"),
)
MODELS, RUNTIMES, LOGS = (
    tr("Models that Headstart fetched or converted"),
    tr("Software for the graphics card"),
    tr("Log files"),
)


@dataclass(frozen=True, slots=True)
class Kept:
    """One kind of data: what it is called, the files and folders it lies in, and the bytes of all of them."""

    name: str
    paths: tuple[Path, ...]
    bytes: int


def everything() -> list[Kept]:
    """All that is kept, by kinds; a kind of which nothing is there is left out."""
    history, log = default_path(), log_path()
    places = (
        (CONVERSATIONS, history.parent.glob(f"{history.name}*")),
        (SETTINGS, settings.default_path().parent.glob(f"{settings.default_path().name}*")),
        (CACHE, [blocks_dir()]),
        (MODELS, [models_dir()]),
        (RUNTIMES, [runtimes_dir()]),
        (LOGS, [*log.parent.glob(f"{log.name}*"), log.with_name("fault.log")]),
    )
    return [kept for name, paths in places if (kept := _kept(name, paths)).paths]


def _kept(name: str, paths: Iterable[Path]) -> Kept:
    there = tuple(sorted(path for path in paths if os.path.lexists(path) and str(path) != os.devnull))
    return Kept(name, there, sum(_bytes(path) for path in there))


def _bytes(path: Path) -> int:
    """What a file, or all files below a folder, take. Links are not followed: what they lead to is not deleted."""
    total = 0
    with suppress(OSError):
        total = path.lstat().st_size if path.is_symlink() or not path.is_dir() else 0
    if path.is_dir() and not path.is_symlink():
        for folder, _, names in os.walk(path):
            for name in names:
                with suppress(OSError):
                    total += os.lstat(os.path.join(folder, name)).st_size
    return total


def delete(kinds: Iterable[Kept]) -> list[str]:
    """Delete all of this, for good, and folders of Headstart's that are empty then; gives what could not be deleted,
    each with the system's reason. Call it once nothing of it is in use: after engine and history are closed."""
    left: list[str] = []
    folders = {data_dir(), blocks_dir().parent, settings.default_path().parent, log_path().parent}
    folders |= {folder.parent for folder in folders if folder.parent.name == "headstart"}
    for path in (path for kind in kinds for path in kind.paths):
        left += _delete(path)
    for folder in sorted(folders, reverse=True):
        with suppress(OSError):  # others keep something in it, or it was never made
            folder.rmdir()
    return left


def _delete(path: Path) -> Iterator[str]:
    failed: list[str] = []

    def note(_: object, place: str, problem: tuple[type[BaseException], BaseException, object]) -> None:
        failed.append(f"{place} ({getattr(problem[1], 'strerror', None) or problem[1]})")

    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, onerror=note)
    else:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            failed.append(f"{path} ({error.strerror})")
    yield from failed[:1]  # all above it fail for the same reason

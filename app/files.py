"""Files that a user must be able to rely on: written whole or not at all, private where they must be, and never lost
because they are damaged. No Qt."""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import ExitStack, suppress
from pathlib import Path

OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""Every right of the group and of everybody else."""


def write_whole(path: Path, data: bytes, *, is_private: bool = False) -> None:
    """Write a draft beside `path` and rename it, so that a reader meets the old file or the new one, never half of it.
    Where that fails the old file stays, no draft is left, and the OSError is raised. Only the owner may read what
    `is_private`."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        draft.touch(0o600 if is_private else 0o666)
        draft.write_bytes(data)
        os.replace(draft, path)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def set_aside(path: Path, companions: tuple[str, ...] = (), why: str = "damaged") -> Path:
    """Give a file another name in its folder, one that says why and when, and return that path. Files whose name is
    that of `path` and one of the endings `companions` are renamed with it, all of them or none. Raises OSError."""
    target = path.with_name(f"{path.name}.{why}-{time.strftime('%Y%m%d-%H%M%S')}")
    while target.exists():
        target = target.with_name(target.name + "x")
    rename(path, target, companions)
    return target


def rename(path: Path, target: Path, companions: tuple[str, ...] = ()) -> None:
    """Rename a file and those beside it with these endings, all of them or none. Raises OSError."""
    with ExitStack() as undo:
        for ending in ("", *companions):
            part, other = path.with_name(path.name + ending), target.with_name(target.name + ending)
            if part.exists():
                part.rename(other)
                undo.callback(other.rename, part)
        undo.pop_all()


def refuse_pipe(path: Path) -> None:
    """Raise OSError where a pipe has the name of a file: opening it would wait for somebody at its other end."""
    if path.is_fifo():
        raise OSError(errno.EINVAL, "it is no file")


def keep_private(path: Path) -> None:
    """Take the rights of all others at this file or folder away; the owner's stay as they are.

    Nothing happens where there is no such file, where the disk knows no permissions, and in a folder of everybody's
    (as /tmp).
    """
    with suppress(OSError):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & OTHERS and not mode & stat.S_ISVTX:
            os.chmod(path, mode & ~OTHERS)

"""Where models, conversations and cached blocks lie on disk, whether there is room, and who may write. No torch."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout
from platformdirs import user_cache_dir, user_data_dir

from engine.library.child_process import POLL_S, Progress
from engine.side_programs import installed_folder
from engine.types import DiskFullError, ModelError

SNAPSHOTS, CACHED = "snapshots", "models--"
"""How the Hugging Face cache names the folder with all revisions of a model, and how a model's own folder begins."""


def data_dir() -> Path:
    """Where models and conversations are kept: the user's data directory, or HEADSTART_DATA_DIR where that is set."""
    chosen = os.environ.get("HEADSTART_DATA_DIR") or user_data_dir("headstart", appauthor=False)
    return Path(chosen).expanduser().absolute()


def blocks_dir() -> Path:
    """Where the disk tier of the prefix cache lies: in the user's cache directory, or inside HEADSTART_DATA_DIR.

    A place that cannot be written where the system knows no home of this user: there is no tier on disk then.
    """
    chosen = os.environ.get("HEADSTART_DATA_DIR")
    try:
        cache = Path(chosen) / "cache" if chosen else Path(user_cache_dir("headstart", appauthor=False))
        return cache.expanduser().absolute() / "blocks"
    except RuntimeError:  # no home
        return Path(os.devnull) / "blocks"


def models_dir() -> Path:
    """Where fetched models lie."""
    return data_dir() / "models"


def runtimes_dir() -> Path:
    """Where software for the graphics card lies, which the user had installed."""
    return data_dir() / "runtimes"


def installed_models_dir() -> Path | None:
    """Where a model lies that was installed with Headstart: HEADSTART_MODEL_DIR where that is set, else the folder
    `models` beside the frozen program. None where Headstart was not installed by an installer."""
    if chosen := os.environ.get("HEADSTART_MODEL_DIR"):
        return Path(chosen).expanduser().absolute()
    beside = installed_folder()
    if beside is None:
        return None
    return beside.parent / "Resources" / "models" if sys.platform == "darwin" else beside / "models"


def remove_empty(folder: Path) -> None:
    """Remove a folder of Headstart's models, and those above it, as long as they are empty."""
    with suppress(OSError):
        while folder != models_dir() and folder.is_relative_to(models_dir()):
            folder.rmdir()
            folder = folder.parent


def model_name(path: Path) -> str:
    """What a model is called: the name of its folder, or that of its GGUF file without its ending and the number of its
    part. Where that is called as in every folder of its kind, `model.gguf`, the folder's name says more.

    The Hugging Face cache keeps a model in `models--ORG--NAME/snapshots/REVISION`, and there it is called ORG/NAME.
    """
    is_snapshot = path.parent.name == SNAPSHOTS and path.parent.parent.name.startswith(CACHED)
    if is_snapshot:
        return "/".join(path.parent.parent.name.split("--")[1:])
    if path.name.lower() == "model.gguf":
        return path.parent.name
    return re.sub(r"(-\d{5}-of-\d{5})?\.gguf$", "", path.name, flags=re.IGNORECASE)


def require_space(folder: Path, needed: int) -> None:
    """Raise DiskFullError unless `needed` bytes are free on the disk of `folder`."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DiskFullError(
            f"This model needs {needed / 1e9:.1f} GB in {models_dir()}, and {free / 1e9:.1f} GB are free: "
            "free some space, or set HEADSTART_DATA_DIR to a folder on another disk."
        )


def explain(error: OSError) -> ModelError | DiskFullError:
    """The error for the user that stands for what the system refused."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_full(models_dir())
    return ModelError(
        f"The model cannot be prepared in {models_dir()} ({error.strerror}): check its permissions.", str(error)
    )


def disk_full(place: Path) -> DiskFullError:
    """The error for a disk that ran full while something was written to `place`."""
    return DiskFullError(
        "The disk is full: free some space, or set HEADSTART_DATA_DIR to a folder on another disk.", str(place)
    )


@contextmanager
def alone(key: str, progress: Progress) -> Iterator[Path]:
    """An empty folder in which one process at a time prepares the model `key`; the folder is gone afterwards."""
    models_dir().mkdir(parents=True, exist_ok=True)
    lock = FileLock(models_dir() / f"{key[:16]}.lock")
    while True:
        try:
            lock.acquire(timeout=POLL_S)
            break
        except Timeout:
            progress("Waiting for another Headstart that prepares this model", None)
    stage = models_dir() / f"{key[:16]}.partial"
    try:
        shutil.rmtree(stage, ignore_errors=True)  # left behind by a process that was killed
        stage.mkdir()
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        lock.release()

"""The log file: where it lies, how it turns over. No Qt. It holds no text of any conversation."""

from __future__ import annotations

import logging
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

import platformdirs

from app.command.terminal import say_error
from app.files import keep_private, refuse_pipe

LOG_BYTES = 1_000_000
KEPT_FILES = 3
"""A full log file is put aside, and so many of those are kept."""


class PrivateFileHandler(RotatingFileHandler):
    """Writes log files that only their owner may read, each new one too."""

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        refuse_pipe(path)
        path.touch(0o600)
        keep_private(path)
        return super()._open()


def log_path() -> Path:
    """The log file of this user."""
    return Path(platformdirs.user_log_dir("headstart", appauthor=False)) / "headstart.log"


def start_logging(path: Path | None = None) -> Path:
    """Send all log records from INFO up to the file, warnings of Python included; return its path.

    Where the file cannot be written the program goes on without one, and says so on standard error.
    """
    path = path or log_path()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for each in (path.parent, *path.parent.glob(f"{path.name}.*")):
            keep_private(each)
        handler = PrivateFileHandler(
            path, maxBytes=LOG_BYTES, backupCount=KEPT_FILES, encoding="utf-8", errors="backslashreplace"
        )
    except OSError as error:
        say_error(f"No log is kept: {path} cannot be written ({error.strerror}).")
        logging.getLogger().addHandler(logging.NullHandler())
        return path
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    logging.captureWarnings(True)
    return path


def end_logging() -> None:
    """Close the log file and write no more to it, so that it can be deleted."""
    root = logging.getLogger()
    for handler in [each for each in root.handlers if isinstance(each, PrivateFileHandler)]:
        root.removeHandler(handler)
        handler.close()

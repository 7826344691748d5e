"""The log file is for nobody else."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.command.logs import LOG_BYTES, PrivateFileHandler, end_logging, start_logging


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """Where to log to. Whatever logs there stops at the end."""
    root = logging.getLogger()
    before, level = [*root.handlers], root.level
    yield tmp_path / "state" / "log" / "headstart.log"
    for handler in [each for each in root.handlers if each not in before]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    logging.captureWarnings(False)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
@pytest.mark.parametrize("is_there_already", [False, True])
def test_nobody_else_can_read_the_log(path: Path, is_there_already: bool) -> None:
    """Nor those that are full and put aside, also of an older version."""
    if is_there_already:
        path.parent.mkdir(parents=True)
        for name in ("headstart.log", "headstart.log.1"):
            path.with_name(name).write_bytes(b"x" * LOG_BYTES)
            path.with_name(name).chmod(0o644)
        path.parent.chmod(0o755)
    start_logging(path)
    logging.getLogger("headstart").info("Begun")
    names = ["headstart.log", *(f"headstart.log.{number}" for number in range(1, 3) if is_there_already)]
    assert sorted(each.name for each in path.parent.iterdir()) == names
    modes = {oct(each.stat().st_mode & 0o777) for each in path.parent.iterdir()}
    assert (oct(path.parent.stat().st_mode & 0o777), modes) == ("0o700", {"0o600"})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe with a name is Unix's")
def test_a_pipe_in_place_of_the_log_is_not_waited_for(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    start_logging(path)
    assert "No log is kept" in capsys.readouterr().err


def test_a_name_that_is_no_text_is_logged(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Such as that of a file whose name is no UTF-8."""
    start_logging(path)
    record = logging.makeLogRecord({"levelno": logging.ERROR, "msg": "No model at %s", "args": ("caf\udce9",)})
    handlers = (each for each in logging.getLogger().handlers if isinstance(each, PrivateFileHandler))
    (handler,) = (each for each in handlers if each.baseFilename == str(path))
    handler.handle(record)  # not through the logger: the runner of tests could not pass on what it heard
    assert "No model at caf\\udce9" in path.read_text("utf-8")
    assert capsys.readouterr().err == ""


def test_a_log_that_is_ended_can_be_deleted(path: Path) -> None:
    start_logging(path)
    logging.getLogger("headstart").info("before")
    end_logging()
    path.unlink()
    logging.getLogger("headstart").info("after")
    assert not path.exists()

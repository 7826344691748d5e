"""Programs that run beside: their end, their output, and how a wait for them is cancelled."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.library.child_process import run_python


def test_program_is_ended_when_its_progress_raises(tmp_path: Path) -> None:
    """A cancel during a download: the program would wait for ever."""
    log = tmp_path / "log"

    def cancel() -> None:
        if log.read_text():
            raise KeyError("enough")

    program = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"
    with pytest.raises(KeyError, match="enough"):
        run_python(["-c", program], os.environ, log, cancel)
    with pytest.raises(ProcessLookupError):
        os.kill(int(log.read_text()), 0)


def test_exit_status_and_output_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "log"
    status = run_python(["-c", "import sys; print('said'); sys.exit(3)"], os.environ, log, lambda: None)
    assert (status, log.read_text().strip()) == (3, "said")

"""Runs another Python program and tells somebody how far it is, so that the wait can be shown and ended."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from engine.side_programs import python_command

Progress = Callable[[str, float | None], None]
"""Hears what is being done, and which fraction of it is done (None where that cannot be known).

It is called every 0.2 s at least while something takes time. What it raises ends the work, and nothing half done stays.
"""

POLL_S = 0.2


def run_python(arguments: list[str], env: Mapping[str, str], log: Path, tick: Callable[[], None]) -> int:
    """Run the Python file `arguments[0]` with what follows it, as `run_program` does."""
    return run_program(python_command(arguments), env, log, tick)


def run_program(command: list[str], env: Mapping[str, str], log: Path, tick: Callable[[], None]) -> int:
    """Run a program, its output going to `log`; return its exit status.

    `tick` is called every 0.2 s. What it raises ends the program and is passed on: that is how a wait is cancelled.
    The program's standard input closes when this process dies, so the program can notice that and end, too.
    """
    no_window = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # exists on Windows only
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=log.parent,
            env=dict(env),
            creationflags=no_window,
        )
        with process:
            try:
                return _wait(process, tick)
            except BaseException:
                process.kill()
                raise


def _wait(process: subprocess.Popen[bytes], tick: Callable[[], None]) -> int:
    while True:
        try:
            return process.wait(timeout=POLL_S)
        except subprocess.TimeoutExpired:
            tick()

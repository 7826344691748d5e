"""A peer in a process of its own, so that neither side's threads are in the other's way.

OpenMP keeps a team of threads for each thread that computes, and lets all of a process's teams spin for a shorter time
where they are more than the processors: two engines in one process slow each other down even in turn.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

Call = Callable[..., Any]
"""`call(method, *arguments)`: the method of the peer, carried out where it lives."""


@contextmanager
def beside(make: Callable[..., object], *arguments: object, python: str | None = None) -> Iterator[Call]:
    """Make a peer in another process, call its methods, end it. `python` is another Python than this one to run it."""
    context = get_context("spawn")
    context.set_executable(python or sys.executable)
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, _packages_of(python), make, arguments), daemon=True)
    process.start()

    def call(method: str, *given: object) -> Any:
        here.send((method, given))
        return here.recv()

    try:
        yield call
    finally:
        process.kill()
        process.join()


def _packages_of(python: str | None) -> list[str]:
    """Where that Python keeps its packages: a process that multiprocessing starts gets this one's places instead."""
    if python is None:
        return []
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    return [subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()]


def _serve(there: Connection, packages: list[str], make: Callable[..., object], arguments: tuple[object, ...]) -> None:
    sys.path[:0] = packages
    peer = make(*arguments)
    while True:
        method, given = there.recv()
        there.send(getattr(peer, method)(*given))

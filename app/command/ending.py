"""Signals end the program in order: Ctrl+C, a polite kill, a terminal that was closed. The status is then 128 and the
number of the signal, as shells have it."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from app.command.terminal import BY_SIGNAL

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Windows has no SIGHUP."""


class Ending:
    """Whether the program was told to end. Attributes: number, that of the first signal that came, 0 for none."""

    number = 0

    def status(self, otherwise: int) -> int:
        """The status to end with; `otherwise` where no signal came."""
        return BY_SIGNAL + self.number if self.number else otherwise


@contextmanager
def handled(handle: Callable[[int], None], signals: tuple[signal.Signals, ...] = SIGNALS) -> Iterator[None]:
    """Let these signals call `handle` in the main thread. One that is ignored (`nohup`) stays ignored."""
    before = {number: signal.getsignal(number) for number in signals}
    mine = [number for number, handler in before.items() if handler != signal.SIG_IGN]
    if threading.current_thread() is not threading.main_thread():
        mine = []

    def call(number: int, frame: FrameType | None) -> None:
        handle(number)

    for number in mine:
        signal.signal(number, call)
    try:
        yield
    finally:
        for number in mine:
            signal.signal(number, before[number])


@contextmanager
def unwound_by_signals() -> Iterator[None]:
    """A signal unwinds what is being done, so that temporary files go: SystemExit. Ctrl+C does so by itself."""

    def leave(number: int) -> None:
        sys.exit(BY_SIGNAL + number)

    with handled(leave, tuple(number for number in SIGNALS if number != signal.SIGINT)):
        yield

"""What is printed for a user in a terminal: sentences about what went wrong, and how far something is.

Exit status of `headstart`: DONE, UNEXPECTED (also where the doctor misses something), REFUSED with a sentence on
standard error, and 128 and the number of the signal where one ended it.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO

DONE, UNEXPECTED, REFUSED, BY_SIGNAL = 0, 1, 2, 128


def say_error(sentence: str) -> None:
    """One line on standard error. Where nothing can be written to that, the status has to say it alone."""
    try:
        print(f"headstart: {sentence}", file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """Let what is still to be written to this stream go nowhere."""
    with suppress(OSError):  # io.UnsupportedOperation is one: a stream without a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def replace_missing_streams() -> None:
    """Python has no standard output or error where the system gave none (`>&-`, or a start without a terminal on
    Windows): what is printed goes nowhere then."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (it stays to the end)


class OutputError(OSError):
    """What is printed cannot be written: the disk that it goes to is full, for one."""


def say(text: str, end: str = "\n") -> None:
    """Print, and see that it arrived. Raises BrokenPipeError where its reader is gone, and OutputError."""
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.errno, error.strerror) from error


class ProgressLine:
    """Standard output as one line that is written over; where it is no terminal, as one line for each stage."""

    def __init__(self) -> None:
        self.overwrite = sys.stdout.isatty()
        self.shown = ""

    def show(self, stage: str, fraction: float | None) -> None:
        """Say what is being done, and how much of it is done."""
        text = stage if fraction is None or not self.overwrite else f"{stage} {fraction:4.0%}"
        if text == self.shown:
            return
        before, end = ("\r", "") if self.overwrite else ("", "\n")
        width = len(self.shown) if self.overwrite else 0
        # Whoever read it may have left, and this may be a slot of Qt, where nothing may be raised.
        with suppress(BrokenPipeError):
            say(f"{before}{text:<{width}}", end)
        self.shown = text

    def say(self, text: str) -> None:
        """Write a line of its own, below what was shown."""
        if self.overwrite and self.shown:
            say("")
        self.shown = ""
        say(text)

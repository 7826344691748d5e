"""How far a download or conversion is, on a terminal."""

from __future__ import annotations

import sys
from contextlib import suppress


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
        end = "" if self.overwrite else "\n"
        with suppress(
            BrokenPipeError
        ):  # nobody reads it any more; this may be a slot of Qt, where nothing may be raised
            print(f"\r{text:<{len(self.shown)}}" if self.overwrite else text, end=end, flush=True)
        self.shown = text

    def say(self, text: str) -> None:
        """Write a line of its own, below what was shown."""
        if self.overwrite and self.shown:
            print()
        self.shown = ""
        print(text, flush=True)

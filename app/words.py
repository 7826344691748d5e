"""Measured figures in words, the same in every part of the window: durations and sizes. No Qt."""

from __future__ import annotations

import math


def seconds(value: float) -> str:
    """A measured duration: "4 ms", "0.11 s", "1.59 s", "14.2 s"."""
    if math.isnan(value):
        return "…"
    if value < 0.01:
        return f"{value * 1000:.0f} ms"
    return f"{value:.2f} s" if value < 10 else f"{value:,.1f} s"


def size(count: float) -> str:
    """Bytes in decimal units: "0 MB", "640 kB", "1.4 MB", "214 MB", "1.0 GB"."""
    number, unit = scaled(count, count)
    return f"{number} {unit}"


def scaled(count: float, whole: float) -> tuple[str, str]:
    """Bytes as a number in the unit that suits `whole`, and that unit."""
    if whole >= 999.5e6:
        return f"{count / 1e9:.1f}", "GB"
    if 0 < whole < 999.5e3:
        return f"{count / 1e3:.0f}", "kB"
    return f"{count / 1e6:.{1 if 0 < whole < 9.95e6 else 0}f}", "MB"

"""Measured figures in words, the same in every part of the window: durations, sizes and counts. No Qt."""

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


def time_ago(age_s: float) -> str:
    """A time that has passed, in whole units: "40 s ago", "3 min ago", "2 h ago", "5 days ago"."""
    if age_s < 60:
        return f"{int(age_s)} s ago"
    if age_s < 3600:
        return f"{int(age_s) // 60} min ago"
    return f"{int(age_s) // 3600} h ago" if age_s < 48 * 3600 else f"{int(age_s) // 86_400} days ago"


def counted(number: int, thing: str) -> str:
    """ "1 token", "3,012 tokens"."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"

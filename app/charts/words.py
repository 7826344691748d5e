"""Figures in words, as the charts say them. No Qt."""

from __future__ import annotations

import math

from app.words import about_seconds, estimated_seconds, seconds
from engine import Divergence


def exact_seconds(value: float) -> str:
    """A duration to the millisecond, for hovering."""
    return "…" if math.isnan(value) else f"{value:.3f} s"


def scale_seconds(value: float) -> str:
    """A value beside a plot: "0.05 s", "10 s"."""
    return f"{value:.4g} s"


def scale_tokens(value: float) -> str:
    """A value beside a plot, the unit under it."""
    return f"{value:,.0f}\ntokens"


def many(number: int) -> str:
    """A count with room for six digits: "310,220", "12.3 million"."""
    return f"{number:,}" if number < 1_000_000 else f"{number / 1e6:,.1f} million"


def about_span(value: float) -> str:
    """An estimate: "about 3 to 5 s"."""
    return f"about {estimated_seconds(value)}"


def cold(cold_s: float, measured: bool) -> str:
    """What a turn would have taken from scratch, and whether that was measured or estimated."""
    return f"from scratch {exact_seconds(cold_s)}" if measured else f"from scratch {about_span(cold_s)}"


_WHY_READ_AGAIN = {
    "new": "it was new",
    "edited": "the text differs",
    "date": "a date moved on",
    "reasoning removed": "reasoning left out",
    "empty thought": "an empty thought put in",
    "answer frame": "answers begin otherwise",
    "system moved": "system prompt moved",
    "settings": "another setting",
    "tools": "other tools",
    "trimmed": "oldest turns left out",
    "evicted": "the memory was full",
    "other client": "others needed the memory",
    "positions": "other positions, once",
    "other model": "another model",
    "cache off": "remembering was off",
}
"""Why a prompt was read again, in a few words, by the cause that the engine names."""


def read_again(divergence: Divergence, place: str) -> str:
    """How many tokens were read again and why, for where there is room for a few words: "read 3,128 again: a date moved
    on", "read 3,128 again: your 2nd message changed"."""
    why = _WHY_READ_AGAIN[divergence.cause]
    if divergence.cause == "edited" and place.startswith("in "):
        why = f"{place.removeprefix('in ')} changed"
    return f"read {divergence.recomputed_tokens:,} again: {why}"


def duration(value: float, estimated: bool = False) -> str:
    """A sum of waits: "9.80 s", "2 min 41 s", "3 h 12 min"; "about 10 s" where it is an estimate."""
    if estimated and value > 0:
        return f"about {about_seconds(value)}" if value < 7200 else f"about {value / 3600:,.0f} h"
    if value < 120:
        return seconds(value) if value else "0 s"
    if value < 7200:
        return f"{int(value) // 60} min {int(value) % 60} s"
    return f"{int(value) // 3600:,} h {int(value) % 3600 // 60} min"

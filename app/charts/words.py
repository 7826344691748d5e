"""Figures in words, as the charts say them. No Qt."""

from __future__ import annotations

import math

from app.words import seconds
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


def percent(part: int, whole: int) -> str:
    """A share of tokens: "<1%" below 1%; 100% only where it is all of them, 0% only where it is none."""
    if not whole:
        return "0%"
    share = 100 * part / whole
    if 0 < share < 1:
        return "<1%"
    return f"{min(share, 99.0) if part < whole else share:.0f}%"


def sooner(ttft_s: float, cold_s: float, measured: bool, reused: int) -> str:
    """How the first token compares with a cold run, said plainly also when nothing was gained."""
    if math.isnan(ttft_s):
        return "waiting"
    if not reused or cold_s <= 0 or ttft_s <= 0:
        return "as long as cold"
    about = "" if measured else "about "
    if ttft_s > 1.1 * cold_s:
        return f"{about}{_times(ttft_s / cold_s)} as long as cold"
    if cold_s < 1.1 * ttft_s:
        return "as long as cold"
    return f"{about}{_times(cold_s / ttft_s)} sooner than cold"


def cold(cold_s: float, measured: bool) -> str:
    """The cold reference of one turn, and whether it was measured or estimated."""
    if measured:
        return f"cold {exact_seconds(cold_s)}, measured"
    return f"cold about {cold_s:.2f} s" if cold_s < 1 else f"cold about {cold_s:,.1f} s"


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
    "evicted": "the cache was full",
    "positions": "other positions, once",
    "other model": "another model",
    "cache off": "the cache was off",
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
    """A sum of waits: "9.80 s", "2 min 41 s", "3 h 12 min"; "about 9.8 s" where it is an estimate."""
    about = "about " if estimated and value else ""
    if value < 120:
        exact = seconds(value) if value else "0 s"
        rounded = f"{value:.0f} s" if value >= 9.95 else f"{value:.1f} s"
        return f"{about}{rounded if about and value >= 0.1 else exact}"
    if value < 7200:
        return f"{about}{int(value) // 60} min {int(value) % 60} s"
    return f"{about}{int(value) // 3600:,} h {int(value) % 3600 // 60} min"


def _times(ratio: float) -> str:
    return f"{ratio:.1f} times" if ratio < 3 else f"{ratio:,.0f} times"

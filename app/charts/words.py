"""Figures in words, as the charts say them. No Qt."""

from __future__ import annotations

import math

from app.language import numeral, tr
from app.words import about_seconds, estimated_seconds, seconds
from engine import Divergence


def exact_seconds(value: float) -> str:
    """A duration to the millisecond, for hovering."""
    return "…" if math.isnan(value) else tr("{value:.3f} s", value=value)


def scale_seconds(value: float) -> str:
    """A value beside a plot: "0.05 s", "10 s"."""
    return tr("{value:.4g} s", value=value)


def scale_tokens(value: float) -> str:
    """A value beside a plot, the unit under it."""
    return tr("{value:,.0f}\ntokens", value=value)


def many(number: int) -> str:
    """A count with room for six digits: "310,220", "12.3 million"."""
    return numeral(number, ",") if number < 1_000_000 else tr("{number:,.1f} million", number=number / 1000000.0)


def about_span(value: float) -> str:
    """An estimate: "about 3 to 5 s"."""
    return tr("about {estimated_seconds}", estimated_seconds=estimated_seconds(value))


def cold(cold_s: float, measured: bool) -> str:
    """What a turn would have taken from scratch, and whether that was measured or estimated."""
    return (
        tr("from scratch {exact_seconds}", exact_seconds=exact_seconds(cold_s))
        if measured
        else tr("from scratch {about_span}", about_span=about_span(cold_s))
    )


_WHY_READ_AGAIN = {
    "new": tr("it was new"),
    "edited": tr("the text differs"),
    "date": tr("a date moved on"),
    "reasoning removed": tr("reasoning left out"),
    "empty thought": tr("an empty thought put in"),
    "answer frame": tr("answers begin otherwise"),
    "system moved": tr("system prompt moved"),
    "settings": tr("another setting"),
    "tools": tr("other tools"),
    "trimmed": tr("oldest turns left out"),
    "evicted": tr("the memory was full"),
    "other client": tr("others needed the memory"),
    "positions": tr("other positions, once"),
    "other model": tr("another model"),
    "cache off": tr("remembering was off"),
}
"""Why a prompt was read again, in a few words, by the cause that the engine names."""


def read_again(divergence: Divergence, place: str) -> str:
    """How many tokens were read again and why, for where there is room for a few words: "read 3,128 again: a date moved
    on", "read 3,128 again: your 2nd message changed"."""
    why = _WHY_READ_AGAIN[divergence.cause]
    if divergence.cause == "edited" and place.startswith("in "):
        why = tr("{place} changed", place=place.removeprefix("in "))
    return tr("read {recomputed_tokens:,} again: {why}", recomputed_tokens=divergence.recomputed_tokens, why=why)


def duration(value: float, estimated: bool = False) -> str:
    """A sum of waits: "9.80 s", "2 min 41 s", "3 h 12 min"; "about 10 s" where it is an estimate."""
    if estimated and value > 0:
        return (
            tr("about {about_seconds}", about_seconds=about_seconds(value))
            if value < 7200
            else tr("about {value:,.0f} h", value=value / 3600)
        )
    if value < 120:
        return seconds(value) if value else "0 s"
    if value < 7200:
        return tr("{value} min {value2} s", value=int(value) // 60, value2=int(value) % 60)
    return tr("{value:,} h {value2} min", value=int(value) // 3600, value2=int(value) % 3600 // 60)

"""How much two prompts, as tokens or as text, have in common."""

from __future__ import annotations

from collections.abc import Sequence


def common_length(one: Sequence[object], other: Sequence[object]) -> int:
    """How many tokens, or characters, at the start of both agree."""
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))


def common_end(one: Sequence[object], other: Sequence[object]) -> int:
    """How many at the end of both agree."""
    return common_length(one[::-1], other[::-1])

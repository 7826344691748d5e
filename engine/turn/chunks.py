"""How the missing part of a prompt is cut into chunks, computed one by one. Where it is cut changes no number."""

from __future__ import annotations

from collections.abc import Callable, Iterator

CHUNK_TOKENS = 512
"""The largest chunk: larger ones read no faster."""

CHUNK_S = 2.0
"""A chunk that would take longer is halved, so that progress is told. A stop is heard within a chunk."""

BEHIND_CHAT_S, BESIDE_CHAT_S = 0.25, 0.1
"""The same for another program's request: where the chat may come at any moment, and where it is under way."""

AHEAD_S = 0.1
"""The same for what nobody asked for yet: that much at most is lost where somebody asks for something meanwhile."""

LEAST_CHUNK_TOKENS = 16


def timed_chunks(
    start: int,
    end: int,
    most_tokens: int,
    estimate: Callable[[int, int], float],
    most_s: Callable[[], float] = lambda: CHUNK_S,
) -> Iterator[tuple[int, int]]:
    """The stretches to compute, in order: `most_tokens` at a time, fewer where these would take longer than `most_s`
    seconds, which is asked before each. `estimate` gives the seconds for so many tokens behind so many that are
    computed already; it may learn meanwhile."""
    while start < end:
        tokens, longest = most_tokens, most_s()
        while tokens > LEAST_CHUNK_TOKENS and estimate(tokens, start) > longest:
            tokens //= 2
        yield start, min(start + tokens, end)
        start += tokens

"""How the missing part of a prompt is cut into chunks, computed one by one: their size, and the grid of exact mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator

CHUNK_TOKENS = 512
"""Largest chunk of the default mode: larger ones read no faster."""

CHUNK_S = 2.0
"""A chunk that would take longer is halved, so that progress is told. A stop is heard within a chunk."""

LEAST_CHUNK_TOKENS = 16

EXACT_STEP = 128
"""The grid of exact mode, in tokens. Smaller steps reuse more and read slower: see the log of measurements."""


def grid_chunks(start: int, end: int, step: int) -> Iterator[tuple[int, int]]:
    """The stretches of exact mode, in order: each ends on the grid of `step` tokens or at `end`. So every token is
    computed together with the same others, whether the run began cold or with cached tokens."""
    while start < end:
        stop = min(end, start - start % step + step)
        yield start, stop
        start = stop


def exact_chunks(start: int, end: int, step: int) -> Iterator[tuple[int, int]]:
    """Those of a whole prompt: its last token is computed on its own, as the next answer's tokens are."""
    yield from grid_chunks(start, end - 1, step)
    yield end - 1, end


def timed_chunks(
    start: int, end: int, most_tokens: int, estimate: Callable[[int, int], float]
) -> Iterator[tuple[int, int]]:
    """The stretches to compute, in order: `most_tokens` at a time, fewer where these would take longer than CHUNK_S.
    `estimate` gives the seconds for so many tokens behind so many that are computed already; it may learn meanwhile."""
    while start < end:
        tokens = most_tokens
        while tokens > LEAST_CHUNK_TOKENS and estimate(tokens, start) > CHUNK_S:
            tokens //= 2
        yield start, min(start + tokens, end)
        start += tokens

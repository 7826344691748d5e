"""How the missing part of a prompt is cut into the chunks that are computed one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

CHUNK_TOKENS = 512
"""Largest chunk of the default mode: larger ones read no faster."""

CHUNK_S = 2.0
"""A chunk that would take longer is halved, so that progress is told. A stop is heard within a chunk."""

LEAST_CHUNK_TOKENS = 16


def pieces(start: int, end: int, step: int, *, is_exact: bool) -> Iterator[tuple[int, int]]:
    """The stretches to compute, in order. Exact: cut on the grid of `step`, and the last token on its own, so that
    every token is computed in the same company whether the run began cold or warm."""
    last = end - 1 if is_exact else end
    while start < last:
        stop = min(last, start - start % step + step if is_exact else start + step)
        yield start, stop
        start = stop
    if is_exact:
        yield last, end


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

"""How the missing part of a prompt is cut into the pieces that are computed one by one."""

from __future__ import annotations

from collections.abc import Iterator


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

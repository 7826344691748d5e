"""Which of several ways to compute something is the fastest here: a measurement at load."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

Way = TypeVar("Way")


def fastest(ways: Mapping[Way, Callable[[], object]], rounds: int) -> Way:
    """The way whose shortest run of up to `rounds`, in turn with the others, is the shortest: on a busy machine single
    runs say little. Where one is far ahead, three rounds do."""
    best = dict.fromkeys(ways, float("inf"))
    for count in range(rounds):
        if count >= 3 and max(best.values()) > 2 * min(best.values()):
            break
        for way, run in ways.items():
            start = time.perf_counter()
            run()
            best[way] = min(best[way], time.perf_counter() - start)
    return min(best, key=best.__getitem__)

"""Which of several ways to compute something is the fastest here: a measurement at load."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import torch

Way = TypeVar("Way")

ENOUGH = {3: 6.0, 5: 2.0}
"""After so many rounds, the race is over where one way is so many times as fast as another."""


def fastest(ways: Mapping[Way, Callable[[], object]], rounds: int) -> Way:
    """The way whose shortest run of up to `rounds`, in turn with the others, is the shortest.

    In one thread: several wait for whichever of them another program holds up, and a model's whole session would go
    by what happened to run while it was loaded. Where one way is far ahead, a few rounds do.
    """
    best = dict.fromkeys(ways, float("inf"))
    with _one_thread():
        for count in range(rounds):
            slowest, quickest = max(best.values()), min(best.values())
            if any(count >= least and slowest > far * quickest for least, far in ENOUGH.items()):
                break
            for way, run in ways.items():
                start = time.perf_counter()
                run()
                best[way] = min(best[way], time.perf_counter() - start)
    return min(best, key=best.__getitem__)


@contextmanager
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)

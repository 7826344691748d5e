"""A micro-benchmark while a model is loaded: which of several ways to compute something is the fastest here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import torch

Way = TypeVar("Way")

FINE_S = 1e-5
clock = time.thread_time if time.get_clock_info("thread_time").resolution <= FINE_S else time.perf_counter
"""The time that this thread computes, where the system counts it finely enough. It does not count while another program
has the processor, or another thread of this one holds Python: each wait for that is 5 ms, longer than what is measured.
"""

ENOUGH = {3: 6.0, 5: 2.0}
"""After 3 rounds the measurement ends where one way is 6 times as fast as another, after 5 rounds where it is twice."""


def fastest(ways: Mapping[Way, Callable[[], object]], rounds: int) -> Way:
    """The way whose shortest run is the shortest. All are run in turn, up to `rounds` times each.

    torch computes in one thread meanwhile. Several threads wait for the one that another program holds up, and then the
    whole session of a model would hang on what happened to run while it was loaded. Where one way is far ahead, a few
    rounds are enough.
    """
    best = dict.fromkeys(ways, float("inf"))
    with _one_thread():
        for count in range(rounds):
            slowest, quickest = max(best.values()), min(best.values())
            if any(count >= least and slowest > far * quickest for least, far in ENOUGH.items()):
                break
            for way, run in ways.items():
                start = clock()
                run()
                best[way] = min(best[way], clock() - start)
    return min(best, key=best.__getitem__)


@contextmanager
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)

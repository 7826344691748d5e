"""The measurement at load: the shortest run counts, in one thread."""

from __future__ import annotations

import threading

import pytest
import torch
from torch import Tensor

from engine.weights import fastest as race
from engine.weights.fastest import fastest


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    clock = _Clock()
    monkeypatch.setattr(race, "clock", clock)
    return clock


def _way(clock: _Clock, *seconds: float):
    left = list(seconds)

    def run() -> None:
        clock.now += left.pop(0) if len(left) > 1 else left[0]

    return run


def test_the_shortest_run_counts_not_the_first_ones(clock: _Clock) -> None:
    ways = {"held up at first": _way(clock, 9, 9, 9, 9, 1), "steady": _way(clock, 2)}
    assert fastest(ways, rounds=10) == "held up at first"


@pytest.mark.parametrize(("slow", "rounds"), [(1.5, 10), (3, 5), (100, 3)])
def test_a_way_that_is_far_ahead_ends_the_race_early(slow: float, rounds: int, clock: _Clock) -> None:
    fastest({"slow": _way(clock, slow), "fast": _way(clock, 1)}, rounds=10)
    assert clock.now == rounds * (slow + 1)


def test_the_race_is_run_in_one_thread_and_the_threads_come_back() -> None:
    before, seen = torch.get_num_threads(), []
    torch.set_num_threads(2)
    try:
        fastest({"a": lambda: seen.append(torch.get_num_threads())}, rounds=1)
        assert (seen, torch.get_num_threads()) == ([1], 2)
    finally:
        torch.set_num_threads(before)


def test_another_thread_that_computes_in_python_decides_nothing() -> None:
    """The tokenizer is opened meanwhile: each product waited 5 ms for Python, until it was done, and what came next
    won. fp32 was chosen as often as bf16."""
    is_over = threading.Event()

    def compute() -> None:
        while not is_over.is_set():
            sum(range(1000))

    other = threading.Thread(target=compute)
    little, much, matrix = torch.ones(64, 576), torch.ones(256, 576), torch.ones(576, 576)
    rounds: list[Tensor] = []

    def little_work() -> None:
        rounds.append(little @ matrix)
        if len(rounds) == 4:
            is_over.set()
            other.join()

    other.start()
    assert fastest({"little": little_work, "much": lambda: much @ matrix}, rounds=4) == "little"


def _broken() -> None:
    raise RuntimeError("no kernel for this")


@pytest.mark.parametrize("is_worker", [False, True])
def test_the_threads_come_back_after_an_error_on_any_thread(is_worker: bool) -> None:
    """The engine measures on a thread of its own; others may compute meanwhile or later."""
    before, seen = torch.get_num_threads(), []

    def measure() -> None:
        torch.set_num_threads(2)
        with pytest.raises(RuntimeError, match="no kernel"):
            fastest({"good": lambda: None, "bad": _broken}, rounds=3)
        seen.append(torch.get_num_threads())

    try:
        if is_worker:
            thread = threading.Thread(target=measure)
            thread.start()
            thread.join()
            other = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
            other.start()
            other.join()
        else:
            measure()
        assert set(seen) == {2}
    finally:
        torch.set_num_threads(before)

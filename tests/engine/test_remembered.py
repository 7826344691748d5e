"""A memory that is bounded by bytes, not by a number of things of any size."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from engine.remembered import Remembered, size_of


@given(st.lists(st.tuples(st.text(max_size=30), st.integers(0, 50))), st.integers(0, 3000))
def test_results_are_right_and_bytes_bounded(calls: list[tuple[str, int]], budget: int) -> None:
    repeat = Remembered(lambda text, times: text * times, budget)
    for text, times in calls:
        assert repeat(text, times) == text * times
        assert repeat.nbytes <= budget


def test_what_was_asked_last_stays() -> None:
    asked: list[str] = []

    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    remembered = Remembered(length, 3 * 400)
    for text in ("a", "b", "c", "a", "d", "a", "b"):
        remembered(text)
    assert ("b",) in remembered
    assert ("c",) not in remembered
    assert asked == ["a", "b", "c", "d", "b"]


def test_bytes_are_what_python_takes() -> None:
    tracemalloc.start()
    value = tuple(range(1000, 101_000)), "ä" * 100_000
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.8 * taken < size_of(value) < 1.2 * taken


def test_what_two_threads_compute_at_the_same_time_counts_once() -> None:
    """Here the second one asks, and is done, while the first one computes."""
    asked: list[str] = []

    def double(text: str) -> str:
        asked.append(text)
        return remembered(text) if len(asked) == 1 else text * 2

    remembered = Remembered(double, 10_000)
    alone = Remembered(lambda text: text * 2, 10_000)
    assert remembered("parcel") == alone("parcel")
    assert asked == ["parcel", "parcel"]
    assert remembered.nbytes == alone.nbytes


def test_what_is_forgotten_is_computed_again_and_counts_no_more() -> None:
    asked: list[str] = []
    remembered = Remembered(lambda text: asked.append(text) or text, 10_000)
    remembered("one")
    remembered("one")
    remembered.forget()
    assert (remembered.nbytes, ("one",) in remembered) == (0, False)
    remembered("one")
    assert asked == ["one", "one"]

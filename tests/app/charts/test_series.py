"""The rings behind the charts hold exactly what was fed to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.charts import words
from app.charts.series import MemorySeries, Ring, ShownTurn, TurnSeries, thin
from app.words import percent
from engine import CacheView, TtftParts, TurnStats


def turn(
    prompt: int, reused: int, ttft_s: float | None = 0.1, cold_s: float = 1.5, measured: bool = False
) -> TurnStats:
    return TurnStats(1, prompt, reused, prompt - reused, 5, ttft_s, TtftParts(), 50.0, cold_s, measured, 0)


def view(time_s: float, pinned: int, live: int, reusable: int, evicted: int = 0, budget: int = 1000) -> CacheView:
    return CacheView(0, time_s, budget, pinned, live, reusable, evicted, 0)


def test_a_ring_keeps_the_newest_rows_in_order() -> None:
    ring = Ring(4, np.dtype([("n", "i8")]))
    for n in range(10):
        ring.append((n,))
        assert list(ring.rows()["n"]) == list(range(max(0, n - 3), n + 1))
    assert list(ring.rows(2)["n"]) == [8, 9]
    ring.replace_newest((42,))
    assert list(ring.rows()["n"]) == [6, 7, 8, 42]
    ring.clear()
    assert len(ring) == len(ring.rows()) == 0


def test_turns_are_kept_figure_by_figure() -> None:
    series = TurnSeries()
    series.add(turn(3065, 0, 1.6, 1.6, True))
    parts = TtftParts(0.01, 0.02, 0.003, 0.0, 0.05, 0.027)
    series.add(replace(turn(3137, 3096, 0.11, 1.8), parts=parts), 7, "Parcels")
    expected = [
        (0, "", 1.6, 1.6, True, 3065, 0, 3065, 0, *[0.0] * 6),
        (7, "Parcels", 0.11, 1.8, False, 3137, 3096, 41, 0, 0.01, 0.02, 0.003, 0.0, 0.05, 0.027),
    ]
    assert [tuple(row) for row in series.rows().tolist()] == expected
    assert len(series) == 2


def test_a_live_turn_is_replaced_by_each_update_and_by_its_end() -> None:
    series = TurnSeries()
    series.add(turn(100, 0))
    series.update(turn(200, 96, None))
    assert series.live
    assert np.isnan(series.rows()["ttft_s"][-1])
    series.update(turn(200, 96, 0.2))
    assert len(series) == 2
    series.add(turn(200, 96, 0.3))
    assert (len(series), series.live) == (2, False)
    assert list(series.rows()["ttft_s"]) == [0.1, 0.3]


def test_a_live_turn_in_a_full_ring_leaves_the_others_alone() -> None:
    series = TurnSeries(capacity=3)
    for prompt in (1, 2, 3):
        series.add(turn(prompt, 0))
    series.update(turn(4, 0))
    series.update(turn(5, 0))
    series.add(turn(6, 0))
    assert list(series.rows()["prompt_tokens"]) == [2, 3, 6]
    assert len(series) == 4


def test_loading_a_conversation_forgets_the_one_before() -> None:
    series = TurnSeries()
    series.add(turn(100, 80))
    series.update(turn(200, 0, None))
    series.load([ShownTurn(turn(7, 3)), ShownTurn(turn(9, 4))])
    assert list(series.rows()["reused_tokens"]) == [3, 4]
    assert (len(series), series.live) == (2, False)


def test_memory_rows_hold_the_parts_and_what_was_evicted_since() -> None:
    series = MemorySeries()
    for picture in (view(1, 10, 0, 0, 5), view(2, 10, 5, 20, 5), view(3, 10, 0, 8, 17)):
        series.add(picture)
    rows = series.rows()
    assert list(rows["evicted_bytes"]) == [0, 0, 12], "what left before the first picture is not news"
    assert [tuple(row)[2:5] for row in rows] == [(10, 0, 0), (10, 5, 20), (10, 0, 8)]
    assert list(rows["budget_bytes"]) == [1000] * 3


def test_another_model_starts_the_memory_anew() -> None:
    series = MemorySeries()
    series.add(view(1, 10, 0, 0, 50))
    series.add(view(2, 0, 0, 0, 0))
    assert list(series.rows()["time_s"]) == [2.0]


def test_a_window_of_time_begins_with_the_picture_before_it() -> None:
    series = MemorySeries()
    for time_s in (0, 100, 690, 700):
        series.add(view(time_s, 1, 0, 0))
    assert list(series.rows(60)["time_s"]) == [100, 690, 700]
    assert len(series.rows()) == 4
    assert len(MemorySeries().rows(60)) == 0


def test_thinning_keeps_peaks_evictions_and_the_newest_row() -> None:
    series = MemorySeries()
    for n in range(1000):
        series.add(view(n, 100, 900 if n == 555 else 1, 0, evicted=n // 100))
    rows = series.rows()
    thinned = thin(rows, 40)
    assert len(thinned) == 40
    assert thinned["live_bytes"].max() == 900
    assert thinned["evicted_bytes"].sum() == rows["evicted_bytes"].sum() == 9
    assert thinned[-1] == rows[-1]
    assert (np.diff(thinned["time_s"]) > 0).all()
    assert (thin(rows, 1000) == rows).all()


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (3096, 3137, "99%"),
        (3075, 3137, "98%"),
        (3136, 3137, "99%"),
        (1, 3137, "<1%"),
        (5, 3014, "<1%"),
        (32, 3137, "1%"),
        (0, 9, "0%"),
        (9, 9, "100%"),
    ],
)
def test_percent_says_all_or_none_only_when_it_is(part: int, whole: int, text: str) -> None:
    assert percent(part, whole) == text


@pytest.mark.parametrize(
    ("value", "estimated", "text"),
    [
        (0.0, True, "0 s"),
        (0.04, True, "about 0.04 s"),
        (3.36, False, "3.36 s"),
        (3.36, True, "about 3 s"),
        (9.96, True, "about 10 s"),
        (161.9, True, "about 3 min"),
        (161.9, False, "2 min 41 s"),
        (11_530.0, True, "about 3 h"),
        (11_530.0, False, "3 h 12 min"),
    ],
)
def test_a_sum_of_waits_in_words(value: float, estimated: bool, text: str) -> None:
    assert words.duration(value, estimated) == text


def test_large_counts_take_little_room() -> None:
    assert [words.many(number) for number in (0, 310_220, 12_345_678)] == ["0", "310,220", "12.3 million"]

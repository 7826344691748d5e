"""Durations and sizes, as every part of the window says them."""

from __future__ import annotations

import pytest

from app import words


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.004, "4 ms"), (0.114, "0.11 s"), (1.594, "1.59 s"), (14.42, "14.4 s"), (float("nan"), "…")],
)
def test_seconds(value: float, text: str) -> None:
    assert words.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 MB"),
        (900, "1 kB"),
        (640e3, "640 kB"),
        (1.44e6, "1.4 MB"),
        (9.96e6, "10 MB"),
        (214e6, "214 MB"),
        (999.9e6, "1.0 GB"),
        (1e9, "1.0 GB"),
        (12.34e9, "12.3 GB"),
    ],
)
def test_sizes(value: float, text: str) -> None:
    assert words.size(value) == text


def test_parts_of_a_size_have_its_unit() -> None:
    assert words.scaled(90e6, 1.2e9) == ("0.1", "GB")


@pytest.mark.parametrize(
    ("age_s", "text"),
    [(42.9, "42 s ago"), (60, "1 min ago"), (1900, "31 min ago"), (7200, "2 h ago"), (90_000, "25 h ago")],
)
def test_times_that_have_passed_are_in_whole_units(age_s: float, text: str) -> None:
    assert words.time_ago(age_s) == text


def test_one_thing_and_many() -> None:
    assert [words.counted(number, "token") for number in (0, 1, 3_012)] == ["0 tokens", "1 token", "3,012 tokens"]

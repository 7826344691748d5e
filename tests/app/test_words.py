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

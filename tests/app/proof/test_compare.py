"""Where two answers to the same prompt stop being equal."""

from __future__ import annotations

import pytest

from app.proof.compare import Parted, compare


@pytest.mark.parametrize(
    ("on", "off", "parted"),
    [
        ((1, 2, 3), (1, 2, 3), None),
        ((1, 2, 3), (1, 9, 3), Parted(4, 1, 0.2)),
        ((1, 2), (1, 2, 3), Parted(4, 2, 0.3)),
        ((1, 2, 3, 4), (1, 2, 3), Parted(4, 3, None)),
    ],
)
def test_compare_finds_the_first_difference(on: tuple[int, ...], off: tuple[int, ...], parted: Parted | None) -> None:
    assert compare(4, on, off, (0.1, 0.2, 0.3)) == parted

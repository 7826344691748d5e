"""What is seen of the tree: all of it, closer around a point, and never past its edges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.charts.tree.camera import CLOSEST, MARGIN, ROW, TALLEST_ROW, WIDEST, Camera


def large() -> Camera:
    camera = Camera()
    camera.show(2400, 1000, 960, 500)
    return camera


def test_a_large_tree_is_shown_whole() -> None:
    camera = large()
    assert camera.fits
    assert camera.to_view(0, 0) == (MARGIN, MARGIN)
    assert camera.to_view(2400, 1000) == pytest.approx((960 - MARGIN, 500 - MARGIN))


def test_a_small_tree_is_not_blown_up_without_end() -> None:
    camera = Camera()
    camera.show(100, 2, 960, 500)
    assert (camera.scale_x, camera.scale_y) == (WIDEST, TALLEST_ROW)
    camera.zoom_by(-3, 0, 0)
    assert (camera.scale_x, camera.scale_y) == (WIDEST, TALLEST_ROW), "there is nothing farther away to see"
    camera.zoom_by(99, 0, 0)
    assert camera.scale_x == WIDEST * CLOSEST


@given(st.lists(st.tuples(st.integers(-4, 4), st.floats(0, 960), st.floats(0, 500)), max_size=12))
def test_zooming_keeps_rows_in_reach_and_the_tree_in_view(steps: list[tuple[int, float, float]]) -> None:
    camera = large()
    for step, x, y in steps:
        camera.zoom_by(step, x, y)
        assert 0 <= camera.zoom <= CLOSEST
        left, top = camera.to_view(0, 0)
        right, bottom = camera.to_view(2400, 1000)
        assert left <= MARGIN + 1e-6
        assert top <= MARGIN + 1e-6
        assert right >= 960 - MARGIN - 1e-6
        assert bottom >= 500 - MARGIN - 1e-6
        assert camera.scale_y <= CLOSEST * ROW


def test_the_point_under_the_mouse_stays_there() -> None:
    camera = large()
    before = camera.to_tree(480, 250)
    camera.zoom_by(3, 480, 250)
    assert camera.to_tree(480, 250) == pytest.approx(before)
    assert not camera.fits


def test_fit_and_a_change_of_size_show_all_again() -> None:
    camera = large()
    camera.zoom_by(5, 100, 100)
    camera.pan(-300, -200)
    camera.fit()
    assert camera.to_view(2400, 1000) == pytest.approx((960 - MARGIN, 500 - MARGIN))
    camera.show(2400, 1200, 800, 500)
    assert camera.to_view(2400, 1200) == pytest.approx((800 - MARGIN, 500 - MARGIN))


def test_what_grows_elsewhere_does_not_move_a_closer_look() -> None:
    camera = large()
    camera.zoom_by(4, 480, 250)
    camera.zoom = 1.0
    camera.left, camera.top = 100.0, 100.0
    camera.show(2400, 1010, 960, 500)
    assert (camera.left, camera.top) == (100.0, 100.0)


def test_a_box_is_brought_into_view() -> None:
    camera = large()
    camera.zoom_by(5, 0, 0)
    camera.reveal(2000, 900, 100, 1)
    left, top = camera.to_view(2000, 900)
    assert 0 <= left <= 960
    assert 0 <= top <= 500

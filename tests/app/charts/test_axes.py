"""Beside and under the charts: what a height is worth, and which turns and times are shown."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from app.charts.axes import Axis, Mark, Scale, scale_end
from app.charts.bars import MOST_SLOTS, OF_ALL
from app.charts.panel import ChartPanel
from app.charts.series import ShownTurn
from app.theme import LIGHT
from engine import CacheView, TtftParts, TurnStats
from tests.app.chart_panels import shown_panel


def turn(prompt: int, ttft_s: float | None, cold_s: float) -> TurnStats:
    return TurnStats(1, prompt, 0, prompt, 40, ttft_s, TtftParts(), 51.0, cold_s, True, 0)


@pytest.fixture
def panel(qtbot: QtBot) -> ChartPanel:
    return shown_panel(qtbot, 900)


@given(st.floats(1e-6, 1e9))
def test_a_scale_ends_a_little_above_the_largest_value(largest: float) -> None:
    assert 1.0199 * largest <= scale_end(largest) <= 1.53 * largest


def test_an_empty_scale_is_none() -> None:
    assert scale_end(0.0) == 0.0


def test_bars_have_a_scale_with_its_unit_and_the_numbers_of_the_turns(panel: ChartPanel) -> None:
    panel.load_turns([ShownTurn(turn(700 + n, 1.6, 1.6)) for n in range(4)])
    panel.redraw()
    assert panel.first_token.scale.shown == ["2 s", "1 s"]
    assert panel.tokens.scale.shown == ["800\ntokens", "400"]
    for card in (panel.first_token, panel.tokens):
        assert card.axis.shown == ["4", "3", "2", "1", "turn"]
    assert panel.tokens.bars.item.boundingRect().height() == 800, "the grid lines stand at what the scale says"


def test_of_many_turns_the_newest_and_those_at_even_distances_have_numbers(panel: ChartPanel) -> None:
    panel.load_turns([ShownTurn(turn(1000, 0.1, 1.0)) for _ in range(100)])
    panel.redraw()
    *numbers, unit = panel.tokens.axis.shown
    steps = [int(later) - int(earlier) for later, earlier in pairwise(numbers)]
    assert (numbers[0], unit, len(set(steps[1:]))) == ("100", "turn", 1), "the last is moved inside the plot"
    assert int(numbers[-1]) > 100 - MOST_SLOTS


def test_turns_of_all_conversations_have_no_numbers(panel: ChartPanel) -> None:
    panel.load_turns([ShownTurn(turn(1000, 0.1, 1.0), 1, "Parcels")])
    panel.redraw()
    assert panel.tokens.axis.shown == [OF_ALL, "turn"]


def test_memory_says_its_largest_value_and_that_it_runs_over_time(panel: ChartPanel) -> None:
    for time_s, reusable in ((1.0, 90_000_000), (41.0, 20_000_000)):
        panel.add_cache_view(CacheView(0, time_s, 1_000_000_000, 0, 0, reusable, 0, 0))
    panel.add_turn(turn(1000, 0.1, 1.0))
    panel.redraw()
    assert panel.cache.scale.shown == ["90 MB"]
    assert panel.cache.axis.shown == ["newest", "40 s ago", "time"]


def test_before_anything_there_is_nothing_to_say(panel: ChartPanel) -> None:
    panel.add_turn(turn(1000, None, 0.0))
    panel.redraw()
    assert panel.first_token.scale.shown == []
    assert panel.cache.scale.shown == panel.cache.axis.shown == []


def test_words_without_room_are_left_out(qtbot: QtBot) -> None:
    scale, axis = Scale(LIGHT), Axis(LIGHT, "turn")
    for words in (scale, axis):
        qtbot.addWidget(words)
    scale.resize(56, 24)
    scale.show_marks([Mark(1.0, "800\ntokens"), Mark(0.5, "400")])
    assert scale.shown == ["800\ntokens"]
    axis.resize(120, 16)
    axis.show_marks([Mark(1.0, "newest"), Mark(0.0, "40 s ago")])
    assert axis.shown == ["newest", "turn"]
    scale.grab()
    axis.grab()


def test_a_value_between_that_is_too_wide_to_be_read_is_left_out(qtbot: QtBot) -> None:
    scale = Scale(LIGHT)
    qtbot.addWidget(scale)
    scale.resize(scale.width(), 100)
    scale.show_marks([Mark(1.0, "0.025 s"), Mark(0.5, "0.012345678 s")])
    assert scale.shown == ["0.025 s"]
    scale.show_marks([Mark(1.0, "0.05 s"), Mark(0.5, "0.025 s")])
    assert scale.shown == ["0.05 s", "0.025 s"]

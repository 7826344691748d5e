"""The panel shows the figures that were fed to it, redraws rarely, and only while it is visible."""

from __future__ import annotations

from dataclasses import astuple, replace
from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor, QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from app.charts.bars import MINIMUM_PIXELS, MOST_SLOTS, SEGMENT_PIXELS, segments
from app.charts.panel import ChartPanel
from app.charts.series import ShownTurn
from app.charts.tree.prefix_card import LABEL
from app.chat.savings import Savings
from app.theme import DARK, LIGHT
from engine import CacheView, TtftParts, TurnStats
from tests.app import tree_pictures
from tests.app.chart_panels import shown_panel


def turn(prompt: int, reused: int, ttft_s: float | None, cold_s: float = 1.8, measured: bool = True) -> TurnStats:
    return TurnStats(1, prompt, reused, prompt - reused, 40, ttft_s, TtftParts(), 51.0, cold_s, measured, 0)


def view(time_s: float, pinned: int, live: int, reusable: int, evicted: int = 0) -> CacheView:
    return CacheView(0, time_s, 1_000_000_000, pinned, live, reusable, evicted, 0)


TURNS = [turn(3065, 0, 1.6, 1.6), turn(3100, 3056, 0.13), turn(3137, 3096, 0.11)]


@pytest.fixture
def panel(qtbot: QtBot) -> ChartPanel:
    return shown_panel(qtbot, 800)


def wait_for_redraw(qtbot: QtBot, panel: ChartPanel) -> None:
    qtbot.waitUntil(lambda: not panel.redraw_pending)


def test_empty_it_says_in_one_sentence_what_to_do(panel: ChartPanel) -> None:
    assert "Send a message" in panel.first_token.hint
    assert [card.hint for card in panel.cards[1:]] == ["", "", ""]
    assert [card.number for card in panel.cards] == ["–", "–", "–", "0 s"]


def test_bars_equal_the_turns_that_were_fed(qtbot: QtBot, panel: ChartPanel) -> None:
    for stats in TURNS:
        panel.add_turn(stats)
    wait_for_redraw(qtbot, panel)
    cold, measured = panel.first_token.bars.layers
    read, reused = panel.tokens.bars.layers
    assert (cold.color, measured.color, read.color, reused.color) == ("cold", "computed", "computed", "reused")
    assert list(cold.top) == [stats.cold_ttft_s for stats in TURNS]
    assert list(measured.top) == [stats.ttft_s for stats in TURNS]
    assert list(read.top) == [stats.prompt_tokens for stats in TURNS]
    assert list(reused.top) == [stats.reused_tokens for stats in TURNS]


def test_words_are_about_the_newest_turn(qtbot: QtBot, panel: ChartPanel) -> None:
    for stats in TURNS:
        panel.add_turn(stats)
    wait_for_redraw(qtbot, panel)
    assert (panel.first_token.number, panel.first_token.note) == ("0.11 s", "16 times sooner than cold")
    assert (panel.tokens.number, panel.tokens.note) == ("99% reused", "3,096 of 3,137")
    assert (panel.saved.number, panel.saved.note) == ("3.36 s", "6,152 tokens not read again")
    assert panel.tokens.accessibleDescription() == "99% reused, 3,096 of 3,137"
    assert panel.first_token.hint == ""


def test_a_live_turn_moves_and_then_stays(panel: ChartPanel) -> None:
    panel.update_turn(turn(3137, 3096, None))
    panel.redraw()
    assert (panel.first_token.number, panel.first_token.note) == ("…", "waiting")
    panel.add_turn(TURNS[2])
    panel.redraw()
    assert panel.first_token.number == "0.11 s"
    assert panel.first_token.bars.places() == 1


def test_memory_equals_the_pictures_that_were_fed(panel: ChartPanel) -> None:
    panel.add_cache_view(view(1.0, 70_000_000, 20_000_000, 0))
    panel.add_cache_view(view(9.0, 70_000_000, 24_000_000, 120_000_000, 24_000_000))
    panel.redraw()
    rows = panel.cache.areas.rows
    assert list(rows["pinned_bytes"]) == [70_000_000] * 2
    assert list(rows["live_bytes"]) == [20_000_000, 24_000_000]
    assert list(rows["reusable_bytes"]) == [0, 120_000_000]
    assert list(rows["evicted_bytes"]) == [0, 24_000_000]
    assert (panel.cache.number, panel.cache.note) == ("214 MB", "budget 1.0 GB")
    assert not panel.cache.areas.to_scale
    panel.add_cache_view(view(9.5, 70_000_000, 24_000_000, 500_000_000, 24_000_000))
    panel.redraw()
    assert panel.cache.areas.to_scale


def test_hovering_gives_the_exact_figures_of_that_turn(qtbot: QtBot, panel: ChartPanel) -> None:
    panel.load_turns(map(ShownTurn, TURNS))
    panel.redraw()
    bars = panel.first_token.bars
    second_of_eight = QPoint(bars.width() * 3 // 16, bars.height() // 2)
    qtbot.mouseMove(bars.viewport(), second_of_eight)
    qtbot.waitUntil(lambda: panel.first_token.number == "0.130 s")
    assert (panel.first_token.name, panel.first_token.note) == ("Turn 2", "cold 1.800 s, measured")
    bars.hover(-1)
    assert (panel.first_token.name, panel.first_token.number) == ("First token", "0.11 s")


def test_the_arrow_keys_walk_through_the_turns(qtbot: QtBot, panel: ChartPanel) -> None:
    panel.load_turns(map(ShownTurn, TURNS))
    panel.redraw()
    notes = []
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Escape):
        qtbot.keyClick(panel.tokens.bars, key)
        notes.append(panel.tokens.note)
    third, second = "3,096 reused, 41 computed", "3,056 reused, 44 computed"
    assert notes == [third, second, third, "3,096 of 3,137"]


def test_the_keyboard_finds_the_newest_turn_and_leaves_no_mark_behind(qtbot: QtBot, panel: ChartPanel) -> None:
    panel.load_turns(map(ShownTurn, TURNS))
    panel.redraw()
    with qtbot.waitActive(panel):
        panel.activateWindow()
    panel.tokens.bars.setFocus(Qt.FocusReason.TabFocusReason)
    assert panel.tokens.name == "Turn 3"
    panel.cache.areas.setFocus(Qt.FocusReason.TabFocusReason)
    assert panel.tokens.name == "Tokens this turn"


def test_a_hovered_turn_that_is_gone_is_let_go(panel: ChartPanel) -> None:
    panel.load_turns(map(ShownTurn, TURNS))
    panel.redraw()
    panel.tokens.bars.hover(2)
    panel.load_turns(map(ShownTurn, TURNS[:1]))
    panel.redraw()
    assert (panel.tokens.name, panel.tokens.number) == ("Tokens this turn", "0% reused")


def test_hovering_memory_tells_its_parts_and_what_was_evicted_and_weights_stand_apart(panel: ChartPanel) -> None:
    panel.add_cache_view(view(1.0, 70_000_000, 20_000_000, 0))
    panel.add_cache_view(view(41.0, 70_000_000, 24_000_000, 120_000_000, evicted=24_000_000))
    panel.show_weights(269_000_000)
    panel.redraw()
    assert (panel.cache.number, panel.cache.note) == ("214 MB", "budget 1.0 GB\nweights apart: 269 MB")
    panel.cache.areas.hover(panel.cache.areas.place_at(20.0))
    assert (panel.cache.name, panel.cache.number) == ("40 s ago", "90 MB")
    assert panel.cache.note == "70 pinned, 20 in use, 0 reusable"
    panel.cache.areas.hover(1)
    assert panel.cache.note == "70 pinned, 24 in use, 120 reusable\nevicted 24 MB"


def test_what_is_kept_beside_the_cache_is_said_once_it_is_a_megabyte(panel: ChartPanel) -> None:
    for time_s, overhead, said in ((1.0, 999_999, ""), (9.0, 12_400_000, "12 MB beside it for texts and token ids")):
        panel.add_cache_view(replace(view(time_s, 70_000_000, 0, 0), overhead_bytes=overhead))
        panel.redraw()
        assert panel.cache.more == said
    assert panel.cache.accessibleDescription() == f"70 MB, budget 1.0 GB, {said}"
    panel.cache.areas.hover(0)
    assert panel.cache.more == ""
    panel.cache.areas.hover(1)
    assert panel.cache.more == said


def test_long_conversations_show_their_newest_turns(panel: ChartPanel) -> None:
    panel.load_turns([ShownTurn(turn(1000 + n, 990, 0.1)) for n in range(100)])
    panel.redraw()
    assert panel.tokens.bars.places() == MOST_SLOTS
    panel.tokens.bars.hover(MOST_SLOTS - 1)
    assert panel.tokens.name == "Turn 100"


def test_many_figures_make_one_redraw_and_the_timer_rests(
    qtbot: QtBot, panel: ChartPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    monkeypatch.setattr(panel.tokens, "draw", lambda: drawn.append(panel.turns.rows()["prompt_tokens"][-1]))
    for written in range(1000):
        panel.update_turn(turn(3000 + written, 0, None))
    wait_for_redraw(qtbot, panel)
    assert drawn == [3999]


def test_hidden_it_does_not_draw_and_catches_up_when_shown(panel: ChartPanel) -> None:
    panel.add_turn(TURNS[0])
    panel.hide()
    panel.load_turns(map(ShownTurn, TURNS))
    assert not panel.redraw_pending
    assert panel.tokens.bars.places() == 0
    panel.show()
    assert panel.tokens.bars.places() == 3


def test_a_theme_change_repaints_what_is_there(panel: ChartPanel) -> None:
    panel.load_turns(map(ShownTurn, TURNS))
    panel.redraw()
    seen = []
    for theme in (LIGHT, DARK, LIGHT):
        panel.set_theme(theme)
        picture = panel.grab().toImage()
        bars = panel.tokens.bars
        inside = bars.mapTo(panel, QPoint(bars.width() * 3 // 16, bars.height() - 20))
        assert picture.pixelColor(inside) == QColor(theme.reused)
        assert picture.pixelColor(4, 4) == QColor(theme.panel)
        seen.append(bytes(picture.constBits()))
    assert seen[0] == seen[2] != seen[1]


def test_small_parts_stay_visible(panel: ChartPanel) -> None:
    panel.load_turns([ShownTurn(turn(100_000, 99_999, 0.1))])
    panel.redraw()
    panel.grab()
    read, reused = panel.tokens.bars.bars.heights([100_000.0, 99_999.0])
    assert read - reused == MINIMUM_PIXELS
    assert panel.tokens.bars.bars.heights([5.0, float("nan")])[1] == 0
    assert np.isclose(*panel.tokens.bars.bars.heights([50_000.0, 50_000.0]))


PARTS = TtftParts(queue=0.01, template=0.1, lookup=0.02, restore=0.07, prefill=1.2, first_token=0.2)


def test_the_first_token_is_split_into_its_parts(qtbot: QtBot, panel: ChartPanel) -> None:
    panel.add_turn(replace(TURNS[0], parts=PARTS))
    panel.redraw()
    measured = panel.first_token.bars.layers[1]
    assert measured.split is not None
    assert measured.split.tolist() == [list(astuple(PARTS))]
    panel.first_token.bars.hover(0)
    said = [text for _, text in panel.first_token.details()]
    assert said == [
        "queue 0.010 s",
        "template 0.100 s",
        "look-up 0.020 s",
        "restore 0.070 s",
        "prefill 1.200 s",
        "first token 0.200 s",
    ]
    assert all(text in panel.first_token.accessibleDescription() for text in said)
    assert "prefill 1.200 s" in QToolTip.text()
    panel.first_token.bars.hover(-1)
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_only_parts_that_are_large_enough_are_cut_off() -> None:
    parts = np.array(astuple(PARTS))
    cut = segments(parts, 80.0)
    assert [part for _, _, part in cut] == [1, 3, 4, 5], "the queue and the look-up go with what is next to them"
    assert (cut[0][0], cut[-1][1]) == (0, 80)
    assert all(high - low >= SEGMENT_PIXELS for low, high, _ in cut)
    assert all(before[1] == after[0] for before, after in pairwise(cut))
    assert [part for _, _, part in segments(parts, 5.0)] == [4]
    assert segments(np.zeros(6), 80.0) == segments(np.full(6, np.nan), 80.0) == []


def test_a_click_or_enter_on_a_bar_tells_which_answer_it_is(qtbot: QtBot, panel: ChartPanel) -> None:
    panel.load_turns([ShownTurn(stats, 40 + n) for n, stats in enumerate(TURNS)])
    panel.redraw()
    bars = panel.tokens.bars
    third = QPoint(bars.width() * 5 // 16, bars.height() // 2)
    qtbot.mouseMove(bars.viewport(), third)
    with qtbot.waitSignal(panel.turn_chosen) as chosen:
        qtbot.mouseClick(bars.viewport(), Qt.MouseButton.LeftButton, pos=third)
    assert chosen.args == [42]
    qtbot.keyClick(panel.first_token.bars, Qt.Key.Key_Left)
    qtbot.keyClick(panel.first_token.bars, Qt.Key.Key_Left)
    with qtbot.waitSignal(panel.turn_chosen) as chosen:
        qtbot.keyClick(panel.first_token.bars, Qt.Key.Key_Return)
    assert chosen.args == [41]
    panel.load_turns([ShownTurn(TURNS[0])])
    panel.redraw()
    with qtbot.assertNotEmitted(panel.turn_chosen):
        bars.chosen.emit(0)


def test_savings_here_and_since_installation(panel: ChartPanel) -> None:
    panel.load_turns(map(ShownTurn, TURNS))
    panel.show_total(Savings(161.0, 310_220, estimated=True))
    panel.redraw()
    assert (panel.saved.number, panel.saved.note) == ("3.36 s", "6,152 tokens not read again")
    assert panel.saved.more == "since installation: about 2 min 41 s, 310,220 tokens"
    panel.scope.all.click()
    panel.redraw()
    assert (panel.saved.name, panel.saved.number) == ("Saved since installation", "about 2 min 41 s")
    assert (panel.saved.note, panel.saved.more) == ("310,220 tokens\nnot read again", "in all conversations together")


def test_the_short_list_of_runs_says_what_the_engine_told(qtbot: QtBot, panel: ChartPanel) -> None:
    assert panel.prefixes.runs.lines == ["Nothing is cached yet."]
    panel.show_prefixes(tree_pictures.view(tree_pictures.FEW), tree_pictures.TITLES)
    lines = ["pinned 3,008", "Parcels 184", "Parcels, branch 32", "Parcels, branch 96", "Returns 512"]
    assert panel.prefixes.runs.lines == lines
    assert panel.prefixes.accessibleDescription() == ", ".join(lines)
    runs = panel.prefixes.runs
    with qtbot.waitSignal(panel.prefixes.open_wanted) as opened:
        qtbot.mouseClick(runs, Qt.MouseButton.LeftButton, pos=QPoint(30, 4 * 22 + 10))
    assert opened.args == [2, 3008]
    with qtbot.waitSignal(panel.prefixes.tree_wanted):
        qtbot.mouseClick(runs, Qt.MouseButton.LeftButton, pos=QPoint(30, 10))
    panel.show_prefixes(tree_pictures.view(tree_pictures.many(2000)), {})
    assert len(panel.prefixes.runs.lines) == 6
    assert panel.prefixes.runs.lines[-1] == "+1,995 more"
    panel.grab()


def test_a_label_of_the_short_list_has_room_and_is_whole_where_it_is_pointed_at(panel: ChartPanel) -> None:
    title = "May I change the address of an order that is on its way?"
    panel.show_prefixes(tree_pictures.view(tree_pictures.FEW), {1: title, 2: "Returns"})
    runs = panel.prefixes.runs
    for number, line in enumerate(runs.lines):
        assert runs.bar_of(number).right() <= runs.width() - LABEL
        place = runs.bar_of(number).center().toPoint()
        QApplication.sendEvent(runs, QHelpEvent(QEvent.Type.ToolTip, place, runs.mapToGlobal(place)))
        assert QToolTip.text().split("\n")[0] == line.rpartition(" ")[0]
    assert f"{title}, branch 32" in runs.lines
    QToolTip.hideText()


def test_a_short_window_scrolls_and_nothing_is_wider_than_the_column(panel: ChartPanel) -> None:
    panel.load_turns(map(ShownTurn, TURNS))
    panel.add_cache_view(view(1.0, 70_000_000, 24_000_000, 120_000_000, 24_000_000))
    panel.show_weights(269_000_000)
    panel.show_total(Savings(161.0, 310_220, estimated=True))
    for size in ((360, 800), (360, 400)):
        panel.resize(*size)
        panel.redraw()
        panel.grab()
        assert all(card.mapTo(panel, QPoint(card.width(), 0)).x() <= 344 for card in panel.cards)


def test_written_tokens_alone_redraw_nothing(panel: ChartPanel) -> None:
    """Twenty figures a second come while an answer is written; what the cards show stands still."""
    stats = turn(3137, 3096, 0.1)
    panel.update_turn(stats)
    panel.redraw()
    panel.update_turn(replace(stats, written_tokens=9, tokens_per_s=30.0, cache_bytes=5))
    assert not panel.redraw_pending
    panel.update_turn(replace(stats, ttft_s=0.2))
    assert panel.redraw_pending
    panel.redraw()
    panel.load_turns([])
    panel.redraw()
    panel.update_turn(replace(stats, ttft_s=0.2))
    assert panel.redraw_pending
    panel.redraw()

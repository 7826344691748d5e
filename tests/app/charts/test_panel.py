"""The panel shows the figures that were fed to it, redraws rarely, and only while it is visible."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor, QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from app.charts.bars import MINIMUM_PIXELS, MOST_SLOTS
from app.charts.headline import bar_rows, headline
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


def lay_out() -> None:
    """Let Qt give what was just shown its place."""
    for _ in range(3):
        QApplication.processEvents()


def wait_for_redraw(qtbot: QtBot, panel: ChartPanel) -> None:
    qtbot.waitUntil(lambda: not panel.redraw_pending)


def test_before_the_first_answer_there_is_one_sentence_and_no_chart(panel: ChartPanel) -> None:
    assert panel.nothing.startswith("Shown here with the first answer")
    assert not any(part.isVisible() for part in (panel.headline, *panel.cards, panel.prefixes))
    panel.show_reading(True)
    panel.redraw()
    assert panel.nothing.startswith("The first prompt is being read.")
    panel.add_turn(TURNS[0])
    panel.redraw()
    assert panel.nothing == ""
    assert all(part.isVisible() for part in (panel.headline, *panel.cards, panel.prefixes))
    panel.load_turns([])
    panel.redraw()
    assert not any(part.isVisible() for part in (panel.headline, *panel.cards, panel.prefixes))


def test_bars_equal_the_turns_that_were_fed(qtbot: QtBot, panel: ChartPanel) -> None:
    for stats in TURNS:
        panel.add_turn(stats)
    wait_for_redraw(qtbot, panel)
    cold, scratch, warm = panel.first_token.bars.layers
    read, reused, remembered = panel.tokens.bars.layers
    colours = [layer.color for layer in (cold, scratch, warm, read, reused)]
    assert colours == ["cold", "cold", "reused", "computed", "reused"], "one meaning each"
    nan = float("nan")
    np.testing.assert_equal(cold.top, [nan, 1.8, 1.8])
    np.testing.assert_equal(scratch.top, [1.6, nan, nan])
    np.testing.assert_equal(warm.top, [nan, 0.13, 0.11])
    assert list(read.top) == [stats.prompt_tokens for stats in TURNS]
    assert list(reused.top) == [stats.reused_tokens for stats in TURNS]
    assert list(remembered.top) == [stats.reused_tokens - stats.ahead_tokens for stats in TURNS]


def test_of_a_server_that_does_not_say_what_it_reused_only_the_prompt_is_told(qtbot: QtBot, panel: ChartPanel) -> None:
    panel.add_turn(replace(TURNS[-1], reused_tokens=0, computed_tokens=0))
    wait_for_redraw(qtbot, panel)
    assert (panel.tokens.number, panel.tokens.note) == (f"{TURNS[-1].prompt_tokens:,} tokens", "")


def test_words_are_about_the_newest_turn(qtbot: QtBot, panel: ChartPanel) -> None:
    for stats in TURNS:
        panel.add_turn(stats)
    wait_for_redraw(qtbot, panel)
    assert (panel.headline.text, panel.headline.says) == (
        "16 times sooner",
        "first word after 0.11 s instead of 1.80 s",
    )
    assert (panel.first_token.number, panel.first_token.note) == ("after 0.11 s", "from scratch 1.800 s")
    assert (panel.tokens.number, panel.tokens.note) == ("99% remembered", "3,096 remembered, 41 read")
    assert panel.tokens.accessibleDescription() == "99% remembered, 3,096 remembered, 41 read"


def test_the_headline_says_what_happened_and_no_more() -> None:
    """A false cause or a false digit is worse than none."""
    assert headline(turn(3000, 0, 3.5, 3.5)) == ("Read from scratch", "first word after 3.50 s")
    assert headline(turn(40, 0, 0.05, 0.05)) == ("First word after 0.050 s", "too short a prompt to compare")
    assert headline(turn(3000, 2900, 0.2, 3.7, measured=False)) == (
        "About 20 times sooner",
        "first word after 0.20 s instead of about 3 to 5 s",
    )
    assert headline(turn(90, 80, 0.1, 0.4, measured=False)) == (
        "First word after 0.10 s",
        "too short a prompt to compare",
    )
    slow = headline(turn(3000, 2900, 3.6, 3.7, measured=False))
    assert slow == ("No sooner this time", "first word after 3.60 s, from scratch about 3 to 5 s")
    assert headline(turn(3000, 2900, None))[0] == "Reading"


def test_the_bars_of_the_headline_are_to_scale_and_show_how_sure_they_are() -> None:
    warm, cold = bar_rows(turn(3000, 2900, 0.2, 4.0, measured=False))
    assert (warm[3], warm[4], cold[3], cold[4]) == (0.2, 0.2, 3.0, 5.0)
    assert (warm[2], cold[2]) == ("reused", "cold")
    assert bar_rows(turn(3000, 2900, 0.2, 4.0))[1][3:] == (4.0, 4.0), "measured"
    assert [row[2] for row in bar_rows(turn(3000, 0, 3.5, 3.5))] == ["cold"]
    assert bar_rows(turn(40, 0, 0.05, 0.05)) == bar_rows(turn(3000, 2900, None)) == []


def test_all_of_it_is_in_sight_on_a_first_window(panel: ChartPanel) -> None:
    """800 pixels of height are enough for the headline, the three charts and the folded list."""
    for stats in TURNS:
        panel.add_turn(stats)
    panel.add_cache_view(view(1.0, 70_000_000, 20_000_000, 0))
    panel.show_saved(Savings(3.36, 6152), Savings(161.0, 310_220, estimated=True))
    panel.set_folded("prefixes")
    panel.redraw()
    lay_out()
    for part in (panel.headline, *panel.cards, panel.prefixes):
        assert part.mapTo(panel, QPoint(0, part.height())).y() <= 800
    assert min(card.plot.height() for card in panel.cards) >= 60


def test_each_part_folds_and_says_so(qtbot: QtBot, panel: ChartPanel) -> None:
    panel.add_turn(TURNS[0])
    panel.redraw()
    for name, part in (("first", panel.first_token), ("tokens", panel.tokens), ("memory", panel.cache)):
        panel.set_folded("")
        with qtbot.waitSignal(panel.folded_changed) as told:
            part.fold.click()
        assert (told.args, panel.folded) == ([name], name)
        assert (part.plot.isVisible(), part.number != "") == (False, True)
        panel.redraw()
        assert not part.plot.isVisible(), "what comes later unfolds nothing"
        part.fold.click()
        assert part.plot.isVisible()
    panel.prefixes.fold.click()
    assert (panel.folded, panel.prefixes.runs.isVisible()) == ("prefixes", False)


def test_a_live_turn_moves_and_then_stays(panel: ChartPanel) -> None:
    panel.update_turn(turn(3137, 3096, None))
    panel.redraw()
    assert (panel.headline.text, panel.first_token.number) == ("Reading", "…")
    panel.add_turn(TURNS[2])
    panel.redraw()
    assert panel.first_token.number == "after 0.11 s"
    assert panel.first_token.bars.places() == 1


def test_memory_equals_the_pictures_that_were_fed(panel: ChartPanel) -> None:
    panel.add_turn(TURNS[0])
    panel.add_cache_view(view(1.0, 70_000_000, 20_000_000, 0))
    panel.add_cache_view(view(9.0, 70_000_000, 24_000_000, 120_000_000, 24_000_000))
    panel.redraw()
    rows = panel.cache.areas.rows
    assert list(rows["pinned_bytes"]) == [70_000_000] * 2
    assert list(rows["live_bytes"]) == [20_000_000, 24_000_000]
    assert list(rows["reusable_bytes"]) == [0, 120_000_000]
    assert list(rows["evicted_bytes"]) == [0, 24_000_000]
    assert panel.cache.number == "214 MB of 1.0 GB"
    assert not panel.cache.areas.to_scale
    panel.add_cache_view(view(9.5, 70_000_000, 24_000_000, 500_000_000, 24_000_000))
    panel.redraw()
    assert panel.cache.areas.to_scale


def test_hovering_gives_the_exact_figures_of_that_turn(qtbot: QtBot, panel: ChartPanel) -> None:
    panel.load_turns(map(ShownTurn, TURNS))
    panel.redraw()
    lay_out()
    bars = panel.first_token.bars
    second_of_eight = QPoint(bars.width() * 3 // 16, bars.height() // 2)
    qtbot.mouseMove(bars.viewport(), second_of_eight)
    qtbot.waitUntil(lambda: panel.first_token.number == "0.130 s")
    assert (panel.first_token.name, panel.first_token.note) == ("Turn 2", "from scratch 1.800 s")
    bars.hover(-1)
    assert (panel.first_token.name, panel.first_token.number) == ("First word", "after 0.11 s")


def test_the_arrow_keys_walk_through_the_turns(qtbot: QtBot, panel: ChartPanel) -> None:
    panel.load_turns(map(ShownTurn, TURNS))
    panel.redraw()
    notes = []
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Escape):
        qtbot.keyClick(panel.tokens.bars, key)
        notes.append((panel.tokens.name, panel.tokens.note))
    third, second = "3,096 remembered, 41 read", "3,056 remembered, 44 read"
    assert notes == [("Turn 3", third), ("Turn 2", second), ("Turn 3", third), ("Tokens", third)]


def test_the_keyboard_finds_the_newest_turn_and_leaves_no_mark_behind(qtbot: QtBot, panel: ChartPanel) -> None:
    panel.load_turns(map(ShownTurn, TURNS))
    panel.redraw()
    with qtbot.waitActive(panel):
        panel.activateWindow()
    panel.tokens.bars.setFocus(Qt.FocusReason.TabFocusReason)
    assert panel.tokens.name == "Turn 3"
    panel.cache.areas.setFocus(Qt.FocusReason.TabFocusReason)
    assert panel.tokens.name == "Tokens"


def test_a_hovered_turn_that_is_gone_is_let_go(panel: ChartPanel) -> None:
    panel.load_turns(map(ShownTurn, TURNS))
    panel.redraw()
    panel.tokens.bars.hover(2)
    panel.load_turns(map(ShownTurn, TURNS[:1]))
    panel.redraw()
    assert (panel.tokens.name, panel.tokens.number) == ("Tokens", "0% remembered")


def test_hovering_memory_tells_its_parts_and_what_was_evicted_and_weights_stand_apart(panel: ChartPanel) -> None:
    panel.add_cache_view(view(1.0, 70_000_000, 20_000_000, 0))
    panel.add_cache_view(view(41.0, 70_000_000, 24_000_000, 120_000_000, evicted=24_000_000))
    panel.show_weights(269_000_000)
    panel.redraw()
    assert (panel.cache.number, panel.cache.note) == ("214 MB of 1.0 GB", "the model itself takes 269 MB")
    panel.cache.areas.hover(panel.cache.areas.place_at(20.0))
    assert (panel.cache.name, panel.cache.number) == ("40 s ago", "90 MB")
    assert panel.cache.note == "70 kept, 20 in use, 0 can go"
    panel.cache.areas.hover(1)
    assert panel.cache.note == "70 kept, 24 in use, 120 can go, 24 MB dropped"


def test_what_is_kept_beside_the_cache_is_said_once_it_is_a_megabyte(panel: ChartPanel) -> None:
    for time_s, overhead, said in ((1.0, 999_999, ""), (9.0, 12_400_000, "12 MB beside it for texts and token ids")):
        panel.add_cache_view(replace(view(time_s, 70_000_000, 0, 0), overhead_bytes=overhead))
        panel.redraw()
        assert panel.cache.note == said
    assert panel.cache.accessibleDescription() == f"70 MB of 1.0 GB, {said}"


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


def test_hovering_says_where_the_wait_went(qtbot: QtBot, panel: ChartPanel) -> None:
    panel.add_turn(replace(TURNS[0], parts=PARTS))
    panel.redraw()
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


def test_a_click_or_enter_on_a_bar_tells_which_answer_it_is(qtbot: QtBot, panel: ChartPanel) -> None:
    panel.load_turns([ShownTurn(stats, 40 + n) for n, stats in enumerate(TURNS)])
    panel.redraw()
    lay_out()
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
    panel.redraw()
    assert panel.headline.saved == "", "nothing yet"
    panel.show_saved(Savings(3.36, 6152), Savings(161.0, 310_220, estimated=True))
    panel.redraw()
    assert panel.headline.saved == "3.36 s saved in this conversation, 6,152 tokens not read again"
    assert panel.headline.more == "About 3 min saved since installation, 310,220 tokens not read again"
    panel.scope.all.click()
    panel.redraw()
    assert panel.headline.saved == "About 3 min saved in all conversations, 310,220 tokens not read again"
    assert panel.headline.more == ""


def test_the_short_list_of_runs_says_what_the_engine_told(qtbot: QtBot, panel: ChartPanel) -> None:
    panel.add_turn(TURNS[0])
    panel.redraw()
    assert panel.prefixes.runs.lines == ["Nothing is remembered yet."]
    panel.show_prefixes(tree_pictures.view(tree_pictures.FEW), tree_pictures.TITLES)
    lines = [
        "You are the support bot., pinned 3,008",
        *("Can I change the address? 184", "Yes. 32", "Has it left? 96", "A jacket from the sale 512"),
    ]
    assert panel.prefixes.runs.lines == lines
    assert panel.prefixes.accessibleDescription() == ", ".join(lines)
    runs = panel.prefixes.runs
    with qtbot.waitSignal(panel.prefixes.open_wanted) as opened:
        qtbot.mouseClick(runs, Qt.MouseButton.LeftButton, pos=QPoint(30, 4 * 22 + 10))
    assert opened.args == [2, 3008, tree_pictures.FEW[1].text]
    with qtbot.waitSignal(panel.prefixes.tree_wanted):
        qtbot.mouseClick(runs, Qt.MouseButton.LeftButton, pos=QPoint(30, 10))
    panel.show_prefixes(tree_pictures.view(tree_pictures.many(2000)), {})
    assert len(panel.prefixes.runs.lines) == 6
    assert panel.prefixes.runs.lines[-1] == "+1,995 more"
    panel.grab()


def test_a_label_of_the_short_list_has_room_and_is_whole_where_it_is_pointed_at(panel: ChartPanel) -> None:
    panel.add_turn(TURNS[0])
    panel.redraw()
    words = "May I change the address of an order that is on its way?"
    few = [*tree_pictures.FEW[:4], tree_pictures.FEW[4]._replace(text=words)]
    panel.show_prefixes(tree_pictures.view(few), tree_pictures.TITLES)
    runs = panel.prefixes.runs
    for number, line in enumerate(runs.lines):
        assert runs.bar_of(number).right() <= runs.width() - LABEL
        place = runs.bar_of(number).center().toPoint()
        QApplication.sendEvent(runs, QHelpEvent(QEvent.Type.ToolTip, place, runs.mapToGlobal(place)))
        assert QToolTip.text().split("\n")[0] == line.rpartition(" ")[0]
    assert f"{words} 32" in runs.lines
    QToolTip.hideText()


def test_a_short_window_scrolls_and_nothing_is_wider_than_the_column(panel: ChartPanel) -> None:
    panel.load_turns(map(ShownTurn, TURNS))
    panel.add_cache_view(view(1.0, 70_000_000, 24_000_000, 120_000_000, 24_000_000))
    panel.show_weights(269_000_000)
    panel.show_saved(Savings(3.36, 6152), Savings(161.0, 310_220, estimated=True))
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

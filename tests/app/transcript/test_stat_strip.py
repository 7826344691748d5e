"""The line under an answer leads with the result, and says nothing where there is nothing to compare."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QColor, QHelpEvent, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app import theme
from app.transcript.stat_strip import StatStrip
from engine import TtftParts, TurnStats

STATS = TurnStats(1, 3137, 3096, 41, 64, 0.11, TtftParts(prefill=0.09, first_token=0.02), 48.6, 1.6, False, 0)


def shown(qtbot: QtBot, stats: TurnStats, reason: str = "end", width: int = 500) -> StatStrip:
    strip = StatStrip()
    qtbot.addWidget(strip)
    strip.resize(width, 60)
    strip.show_stats(stats, reason)
    return strip


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "First word after 0.11 s instead of about 1.2 to 2 s, 99% remembered"),
        ({"cold_measured": True}, "First word after 0.11 s instead of 1.60 s, 99% remembered"),
        ({"disk_tokens": 3000}, "First word after 0.11 s instead of about 1.2 to 2 s, 99% remembered, from disk"),
        ({"ttft_s": 1.5}, "First word after 1.50 s no sooner than from scratch, 99% remembered"),
        ({"cold_ttft_s": 0.49}, "First word after 0.11 s"),
        ({"reused_tokens": 0, "computed_tokens": 3137, "ttft_s": 1.6}, "Read from scratch: first word after 1.60 s"),
        ({"reused_tokens": 0, "computed_tokens": 40, "ttft_s": 0.05}, "First word after 0.050 s"),
        ({"ttft_s": None}, ""),
    ],
)
def test_it_leads_with_the_result(qtbot: QtBot, changes: dict[str, object], says: str) -> None:
    strip = shown(qtbot, replace(STATS, **changes))  # type: ignore[arg-type]
    assert strip.text == strip.accessibleName() == says


def test_how_an_answer_ended_is_said_where_that_is_not_its_own_end(qtbot: QtBot) -> None:
    assert shown(qtbot, STATS, "length").text.endswith(" · length limit")
    assert shown(qtbot, replace(STATS, ttft_s=None), "stopped").text == "stopped"


def test_the_figures_come_on_hovering_to_a_screen_reader_and_by_a_setting(qtbot: QtBot) -> None:
    strip = shown(qtbot, STATS)
    figures = "3,096 of 3,137 tokens remembered · 41 read · 64 written · 49 tokens a second"
    assert strip.figures == figures
    assert strip.toolTip().split("\n") == [figures, "reading 0.090 s", "first token 0.020 s"]
    assert figures in strip.accessibleDescription()
    before = strip.sizeHint().height()
    strip.show_figures(True)
    assert strip.sizeHint().height() > before


def test_figures_out_of_sight_are_worked_out_when_somebody_points_at_them(qtbot: QtBot) -> None:
    strip = shown(qtbot, STATS, reason="")
    strip.show_stats(replace(STATS, written_tokens=65))
    assert strip.toolTip() == ""
    where = QPoint(4, 4)
    QApplication.sendEvent(strip, QHelpEvent(QEvent.Type.ToolTip, where, strip.mapToGlobal(where)))
    assert "65 written" in strip.toolTip()


def test_what_writing_ahead_gave_stands_among_the_figures(qtbot: QtBot) -> None:
    strip = shown(qtbot, replace(STATS, passes=20, guessed_tokens=60, accepted_tokens=43))
    assert strip.figures.endswith("49 tokens a second · 2.1 tokens a pass written ahead, 43 of 60 guesses held")
    nothing = shown(qtbot, replace(STATS, passes=63))
    assert "ahead" not in nothing.figures


def test_it_wraps_where_there_is_little_room_and_paints(qtbot: QtBot) -> None:
    strip = shown(qtbot, STATS, width=180)
    assert strip.heightForWidth(180) > strip.heightForWidth(700)
    image = QImage(180, 60, QImage.Format.Format_RGB32)
    strip.render(image)
    pixels = range(0, 170)
    colours = {image.pixelColor(x, y).name() for x in pixels for y in range(2, 18)}
    assert len(colours) > 4


def test_the_blue_square_stands_before_what_came_sooner_only(qtbot: QtBot) -> None:
    """Not where some tokens were reused and the first word came no sooner."""
    later = replace(STATS, ttft_s=STATS.cold_ttft_s)
    for stats, is_sooner in ((STATS, True), (later, False)):
        strip = shown(qtbot, stats)
        image = QImage(strip.size(), QImage.Format.Format_RGB32)
        strip.render(image)
        colours = {image.pixelColor(x, y).name() for x in range(30) for y in range(strip.height())}
        assert (QColor(theme.current().reused).name() in colours) == is_sooner

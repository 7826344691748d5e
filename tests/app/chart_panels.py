"""A chart panel on screen, for the tests of what is in it."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.charts.panel import ChartPanel
from app.theme import LIGHT


def shown_panel(qtbot: QtBot, height: int) -> ChartPanel:
    """A light panel as wide as in the window."""
    made = ChartPanel(LIGHT)
    qtbot.addWidget(made)
    made.resize(360, height)
    made.show()
    return made

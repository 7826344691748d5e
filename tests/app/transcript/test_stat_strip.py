"""The figures under an answer are all in sight, at any width."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.transcript.message import Answer, MessageContent
from app.transcript.message_actions import Wishes
from app.transcript.stat_strip import LINE
from engine import TtftParts, TurnStats

STATS = TurnStats(1, 3266, 3203, 63, 40, 0.99, TtftParts(), 5.2, 20.3, False, 0)


@pytest.mark.parametrize(("width", "lines"), [(900, 1), (480, 2), (220, 3)])
def test_the_strip_is_as_tall_as_its_parts(qtbot: QtBot, width: int, lines: int) -> None:
    answer = Answer(MessageContent(1, "assistant", "Hello", STATS, None, "end"), Wishes(), {})
    qtbot.addWidget(answer)
    answer.resize(width, 200)
    answer.show()
    strip = answer.strip
    assert strip.height() == lines * LINE
    assert strip.rect().contains(strip.explain.geometry())
    assert strip.explain in answer.tab_stops
    assert strip.explain.focusPolicy() == Qt.FocusPolicy.StrongFocus

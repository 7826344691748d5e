"""Cut text keeps what stands at its end."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFontMetrics
from pytestqt.qtbot import QtBot

from app.theme import SMALL, text_font
from app.widgets.plain import elided


@pytest.mark.parametrize("room", [0, 60, 120, 200, 400])
def test_the_tail_is_never_cut_and_the_text_in_its_middle(qtbot: QtBot, room: int) -> None:
    metrics = QFontMetrics(text_font(SMALL))
    text, tail = "Hello, may I change the address of my order", ", branch 96"
    shown = elided(metrics, text, tail, room)
    assert shown.endswith(tail)
    assert metrics.horizontalAdvance(shown) <= max(room, metrics.horizontalAdvance("…" + tail))
    if room == 200:
        assert shown.startswith("Hello")
        assert shown.endswith(f"order{tail}")
    if room == 400:
        assert shown == text + tail

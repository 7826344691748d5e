"""What sending now would cost: one line, and the prompt as a ribbon of cells."""

from __future__ import annotations

import math
from typing import Literal

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import theme
from app.widgets.words import next_prompt
from engine import BLOCK_TOKENS, Preview

Cell = Literal["pinned", "reused", "computed", "empty"]
PITCH, CELL_WIDTH, CELL_HEIGHT = 8, 6.5, 12
LINE = 20


class NextPrompt(QWidget):
    """Deep blue is the system prompt that is kept, blue what is reused, orange what must be computed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._preview: Preview | None = None
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Next prompt")

    @property
    def text(self) -> str:
        """The line, "" while nothing is known."""
        return f"Next prompt  ·  {next_prompt(self._preview)}" if self._preview else ""

    def show_preview(self, preview: Preview | None) -> None:
        """Show this preview; None while there is nothing to send to, or an answer is being written."""
        self._preview = preview
        self.setAccessibleName(self.text or "Next prompt")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, LINE + CELL_HEIGHT + 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._preview is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.text_font(theme.SMALL))
        painter.setPen(QColor(theme.current().soft))
        line = QRectF(0, 0, self.width(), LINE)
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, "Next prompt")
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(line, right, next_prompt(self._preview))
        for number, cell in enumerate(cells(self._preview, self.width() // PITCH)):
            self._paint_cell(painter, QRectF(number * PITCH, LINE + 2, CELL_WIDTH, CELL_HEIGHT), cell)

    def _paint_cell(self, painter: QPainter, box: QRectF, cell: Cell) -> None:
        colours = theme.current()
        if cell == "empty":
            painter.setPen(QColor(colours.line))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            box = box.adjusted(0.5, 0.5, -0.5, -0.5)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(getattr(colours, cell)))
        painter.drawRoundedRect(box, 1.5, 1.5)


def cells(preview: Preview, room: int) -> list[Cell]:
    """The prompt as at most `room` cells. A cell stands for one block of tokens, or 2, 4, 8... so that all fit.

    What is there at all has at least one cell: rounding never hides that something must be computed.
    """
    if room < 3:
        return []
    unit = BLOCK_TOKENS
    while math.ceil(preview.prompt_tokens / unit) + 2 > room:
        unit *= 2
    pinned = min(preview.system_tokens, preview.reused_tokens)
    kinds: tuple[tuple[Cell, int], ...] = (
        ("pinned", pinned),
        ("reused", preview.reused_tokens - pinned),
        ("computed", preview.computed_tokens),
    )
    made: list[Cell] = []
    for kind, tokens in kinds:
        made += [kind] * (max(1, round(tokens / unit)) if tokens else 0)
    return made[:room] + ["empty"] * (room - len(made))

"""The words for the colours of a chart."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.charts.plot import mixed
from app.theme import SMALL, Theme, text_font


class Legend(QWidget):
    """Small squares with a word each: `entries` are the word, the theme's colour, and how strongly it is filled; 0 is
    hollow with a bar inside.

    `ground` is the theme's colour behind what is explained.
    """

    def __init__(self, entries: Sequence[tuple[str, str, float]], theme: Theme, ground: str = "panel") -> None:
        super().__init__()
        self._entries, self._theme, self._ground = tuple(entries), theme, ground
        self.setFont(text_font(SMALL))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Colours: " + ", ".join(word for word, _, _ in entries))

    def set_theme(self, theme: Theme) -> None:
        """Colours at run time."""
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        width = sum(24 + metrics.horizontalAdvance(word) for word, _, _ in self._entries) - 10
        return QSize(max(0, width), metrics.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x, metrics = 0, self.fontMetrics()
        for word, color, strength in self._entries:
            full = QColor(getattr(self._theme, color))
            painter.setPen(full)
            painter.setBrush(mixed(full.name(), getattr(self._theme, self._ground), strength))
            square = QRectF(x + 0.5, metrics.height() / 2 - 4.5, 9, 9)
            painter.drawRoundedRect(square, 2, 2)
            if not strength:
                painter.fillRect(square.adjusted(2, 2, -5, -2), full)
            painter.setPen(QColor(self._theme.soft))
            painter.drawText(x + 14, metrics.ascent(), word)
            x += 24 + metrics.horizontalAdvance(word)

"""A line across the transcript with a few words in its middle."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import theme

HEIGHT, AROUND = 40, 12


class Divider(QWidget):
    """Says what is different above and below it; the words are its accessible name."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = text
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(120, HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colours, font = theme.current(), theme.text_font(theme.SMALL)
        metrics = QFontMetrics(font)
        text = metrics.elidedText(self.text, Qt.TextElideMode.ElideRight, self.width() - 2 * AROUND)
        words = QRectF((self.width() - metrics.horizontalAdvance(text)) / 2, 0, metrics.horizontalAdvance(text), HEIGHT)
        middle = HEIGHT // 2
        painter.setPen(QColor(colours.edge))
        painter.drawLine(0, middle, int(words.left()) - AROUND, middle)
        painter.drawLine(int(words.right()) + AROUND, middle, self.width(), middle)
        painter.setFont(font)
        painter.setPen(QColor(colours.soft))
        painter.drawText(words, Qt.AlignmentFlag.AlignCenter, text)

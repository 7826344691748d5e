"""The one line of figures under an answer."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import theme
from app.widgets.explain import Explain
from app.widgets.plain import tool_tip
from app.words import turn_parts
from engine import TurnStats

SQUARE = 10
COLUMNS = (112, 132)
"""Least width of the first two parts, so that the strips of several answers stand in columns."""
LINE = 20
EXPLAIN = 24
"""Room for the "?" behind the last part."""


class StatStrip(QWidget):
    """A blue square with what was reused, an orange one with what was computed, then the rest; wraps where it must.

    `explain` is the "?" at its end, which says what the figures are. It is painted while `is_awake` says so.
    """

    def __init__(self, parent: QWidget | None = None, is_awake: Callable[[], bool] = lambda: True) -> None:
        super().__init__(parent)
        self._parts = ("", "", "")
        self.explain = Explain("strip", self, is_awake)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.hide()

    @property
    def text(self) -> str:
        """Everything the strip says, in one line."""
        return " ".join(part for part in self._parts if part)

    def show_stats(self, stats: TurnStats, finish_reason: str = "") -> None:
        """Show the figures of a turn, so far or at its end."""
        parts = turn_parts(stats, finish_reason)
        if parts != self._parts:
            self._parts = parts
            self.setAccessibleName(self.text)
            self.setToolTip(tool_tip(_explain(stats)))
            self._fit()
            self.update()
        self.setVisible(True)

    def sizeHint(self) -> QSize:
        return QSize(320, LINE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """As tall as the parts need at this width, with the "?" behind the last one."""
        self.setFixedHeight(self._places()[-1][1] + LINE)
        self._place_explain()

    def _place_explain(self) -> None:
        """Behind the last part, wherever that stands."""
        left, top, _ = self._places()[-1]
        room = self.width() - EXPLAIN + 8
        self.explain.move(min(left + self._widths()[-1] + 8, room), top + (LINE - self.explain.height()) // 2)

    def _places(self) -> list[tuple[int, int, str]]:
        """Left, top and text of each part."""
        left, top, places = 0, 0, []
        for number, (part, width) in enumerate(zip(self._parts, self._widths(), strict=True)):
            is_last = number == len(self._parts) - 1
            if left and left + width + EXPLAIN * is_last > self.width():
                left, top = 0, top + LINE
            places.append((left, top, part))
            left += width
        return places

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.text_font(theme.SMALL))
        colours = theme.current()
        for (left, top, part), colour in zip(self._places(), (colours.reused, colours.computed, ""), strict=True):
            self._paint_part(painter, part, left, top, colour)

    def _paint_part(self, painter: QPainter, part: str, left: int, top: int, colour: str) -> None:
        if colour:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colour))
            painter.drawRoundedRect(QRectF(left, top + (LINE - SQUARE) / 2, SQUARE, SQUARE), 2, 2)
            left += SQUARE + 6
        painter.setPen(QColor(theme.current().soft))
        painter.drawText(QRectF(left, top, self.width() - left, LINE), Qt.AlignmentFlag.AlignVCenter, part)

    def _widths(self) -> tuple[int, int, int]:
        metrics = QFontMetrics(theme.text_font(theme.SMALL))
        first, second, rest = (metrics.horizontalAdvance(part) + 1 for part in self._parts)
        gap = SQUARE + 6 + 16
        return max(COLUMNS[0], first + gap), max(COLUMNS[1], second + gap), rest


def _explain(stats: TurnStats) -> str:
    """Where the wait for the first token went, for hovering."""
    named = (
        ("waiting its turn", stats.parts.queue),
        ("template and tokens", stats.parts.template),
        ("look-up", stats.parts.lookup),
        ("restoring", stats.parts.restore),
        ("reading", stats.parts.prefill),
        ("first token", stats.parts.first_token),
    )
    parts = [f"{name} {value:.3f} s" for name, value in named if value >= 0.0005]
    return f"{stats.prompt_tokens:,} tokens in the prompt\n" + "\n".join(parts)

"""Cache memory over time: what is pinned, in use and reusable, one above the other, under the budget."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from app.charts.axes import Mark
from app.charts.plot import PixelItem, Plot, mixed
from app.charts.series import MEMORY, Rows, thin, used_bytes
from app.language import tr
from app.theme import SMALL, Theme, text_font
from app.words import size, time_ago

ROOM_FOR_WORDS = 56
"""A plot lower than this many pixels marks evictions without saying how much; hovering does."""

MOST_ROWS = 300
"""About one a pixel."""

FULL_SCALE_SHARE = 0.3
"""The budget is drawn to scale when at least this share of it has been used; below, the areas would be slivers."""

PARTS = (
    ("reusable_bytes", "reused", 0.4),
    ("live_bytes", "reused", 1.0),
    ("pinned_bytes", "pinned", 1.0),
)
"""From the top of the pile to its bottom: the row's field, the theme's colour and how strongly it is filled."""


class MemoryPlot(Plot):
    """An area chart of the cache's memory over time, in steps: memory keeps its size between two pictures."""

    def __init__(self, theme: Theme) -> None:
        self.memory = MemoryItem(theme)
        super().__init__(self.memory, theme)
        self.set_rows(np.zeros(0, MEMORY))

    @property
    def rows(self) -> Rows:
        """What is drawn, oldest first."""
        return self.memory.rows

    @property
    def to_scale(self) -> bool:
        """Whether the budget line stands at its true height."""
        return self.memory.to_scale

    def set_rows(self, rows: Rows) -> None:
        """Draw these pictures of the cache, oldest first. Of very many only MOST_ROWS are drawn."""
        self.memory.rows = rows = thin(rows, MOST_ROWS)
        used = float(used_bytes(rows).max(initial=0.0))
        budget = float(rows["budget_bytes"][-1]) if len(rows) else 0.0
        self.memory.to_scale = used >= FULL_SCALE_SHARE * budget
        top = max(used, budget) / 0.9 if self.to_scale else used / 0.7
        self.set_range(*_stretch(rows), top or 1.0)
        self.mark([Mark(used / top, size(used))] if used else [], _time_marks(rows))

    def places(self) -> int:
        return len(self.memory.rows)

    def x_of(self, place: int) -> float:
        return float(self.memory.rows["time_s"][place])

    def place_at(self, x: float) -> int:
        if not self.places():
            return -1
        return max(0, int(np.searchsorted(self.memory.rows["time_s"], x, side="right")) - 1)


class MemoryItem(PixelItem):
    """Paints the areas, the budget line, the evictions, and a line at the hovered moment."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.rows: Rows = np.zeros(0, MEMORY)
        self.to_scale = True

    def draw(self, painter: QPainter) -> None:
        if not len(self.rows):
            return
        painter.setFont(text_font(SMALL))
        for place, (_, color, strength) in enumerate(PARTS):
            height = np.sum([self.rows[name] for name, _, _ in PARTS[place:]], axis=0)
            self._paint_area(painter, height, color, strength)
        self._paint_budget(painter)
        self._paint_evictions(painter)
        if self.hovered >= 0:
            x = self.pixel(self.rows["time_s"][self.hovered], 0).x() + 0.5
            painter.setPen(QPen(QColor(self.theme.text), 1))
            painter.drawLine(QPointF(x, self.area().top()), QPointF(x, self.area().bottom()))

    def _paint_area(self, painter: QPainter, height: NDArray[np.int64], color: str, strength: float) -> None:
        if not height.any():
            return
        times = np.append(self.rows["time_s"], self._bounds.right())
        xs = self.pixels_x(np.repeat(times, 2)[1:-1]).tolist()
        ys = (self.pixels_y(np.repeat(height, 2)) + 0.5).tolist()
        steps = [QPointF(x, y) for x, y in zip(xs, ys, strict=True)]
        ends = [self.pixel(times[-1], 0), self.pixel(times[0], 0)]
        full = QColor(getattr(self.theme, color))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(mixed(color=full.name(), ground=self.theme.panel, share=strength))
        painter.drawPolygon(QPolygonF([*steps, *ends]))
        painter.setPen(QPen(full, 1))
        painter.drawPolyline(QPolygonF(steps))

    def _paint_budget(self, painter: QPainter) -> None:
        area = self.area()
        y = self.pixel(0, self.rows["budget_bytes"][-1]).y() if self.to_scale else area.top()
        pen = QPen(QColor(self.theme.evicted), 1)
        pen.setDashPattern([5, 4])
        painter.setPen(pen)
        painter.drawLine(QPointF(area.left(), y + 0.5), QPointF(area.right(), y + 0.5))
        if not self.to_scale:
            self._paint_text(
                painter, QPointF(area.left(), y + 4), tr("↑ most it may take, not to scale"), self.theme.soft
            )

    def _paint_evictions(self, painter: QPainter) -> None:
        """Paint a triangle at each eviction. The newest one also says how much was evicted."""
        places = np.flatnonzero(self.rows["evicted_bytes"])
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self.theme.evicted))
        xs, ys = self.pixels_x(self.rows["time_s"]) + 0.5, self.pixels_y(used_bytes(self.rows))
        for x, y in zip(xs[places].tolist(), ys[places].tolist(), strict=True):
            painter.drawPolygon(QPolygonF([QPointF(x - 4, y - 9), QPointF(x + 4, y - 9), QPointF(x, y - 2)]))
        if len(places) and self.area().height() >= ROOM_FOR_WORDS:
            text = tr("evicted {size}", size=size(self.rows["evicted_bytes"][places[-1]]))
            room = painter.fontMetrics().size(0, text)
            left = min(x + 8, self.area().right() - room.width())
            under = ys[(xs >= left) & (xs <= left + room.width())]
            top = float(min(y, under.min(initial=y))) - room.height() - 2
            self._paint_text(painter, QPointF(left, top), text, self.theme.evicted)

    def _paint_text(self, painter: QPainter, corner: QPointF, text: str, color: str) -> None:
        """Text with its top left at `corner`, moved inside the plot."""
        room = painter.fontMetrics().size(0, text)
        left = min(corner.x(), self.area().right() - room.width())
        top = max(corner.y(), self.area().top())
        painter.setPen(QColor(color))
        painter.drawText(QRectF(left, top, room.width() + 1, room.height()), Qt.AlignmentFlag.AlignLeft, text)


def _time_marks(rows: Rows) -> list[Mark]:
    """The words at both ends of the time that is shown."""
    if not len(rows):
        return []
    age = float(rows["time_s"][-1] - rows["time_s"][0])
    return [Mark(1.0, tr("newest")), *([Mark(0.0, time_ago(age))] if age >= 1 else [])]


def _stretch(rows: Rows) -> tuple[float, float]:
    """From when to when time is shown: all of it, and a little more, so that the newest picture has a width."""
    if not len(rows):
        return 0.0, 1.0
    first, last = float(rows["time_s"][0]), float(rows["time_s"][-1])
    return first, last + max(0.06 * (last - first), 1e-3)

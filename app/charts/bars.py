"""One bar a turn, in layers that stand in front of each other on the same ground line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.charts.axes import Mark, scale_end
from app.charts.plot import PixelItem, Plot, mixed
from app.language import tr
from app.theme import Theme

OF_ALL = tr("all conversations, newest last")
"""Stands under turns that have no number of their own."""
FEWEST_SLOTS = 8
MOST_SLOTS = 32
MINIMUM_PIXELS = 2
"""A value that is not zero stays visible."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One bar for each turn, from 0 to `top`, in the theme colour called `color`, at this `strength` (opacity).

    Where `top` is nan there is no bar.
    """

    color: str
    top: NDArray[np.float64]
    strength: float = 1.0


class BarsPlot(Plot):
    """A bar chart of the newest turns, at most MOST_SLOTS of them. The newest turn is the last bar on the right."""

    leads_somewhere = True

    def __init__(self, theme: Theme, value: Callable[[float], str]) -> None:
        """`value` turns a value of the vertical axis into words; the unit may stand on a second line."""
        self.bars = BarsItem(theme)
        self._value = value
        super().__init__(self.bars, theme)
        self.set_layers(())

    @property
    def layers(self) -> tuple[Layer, ...]:
        """What is drawn, the first one at the back."""
        return self.bars.layers

    def set_layers(self, layers: Sequence[Layer], first: int = 0) -> None:
        """Draw these layers, the first one at the back. `first` is the number of the first turn, 0 where the turns are
        of several conversations."""
        self.bars.layers = tuple(layers)
        top = max((float(np.nanmax(layer.top, initial=0.0)) for layer in layers), default=0.0)
        end = scale_end(top)
        self.set_range(0, self.slots(), end or 1.0)
        halves = ((1.0, self._value(end)), (0.5, self._value(end / 2).partition("\n")[0])) if end else ()
        self.mark([Mark(*half) for half in halves], self._turn_marks(first))

    def _turn_marks(self, first: int) -> list[Mark]:
        """The number of each turn under its bar, the newest first."""
        if not self.places():
            return []
        if not first:
            return [Mark(0.0, OF_ALL)]
        return [Mark((place + 0.5) / self.slots(), str(first + place)) for place in reversed(range(self.places()))]

    def places(self) -> int:
        return len(self.bars.layers[0].top) if self.bars.layers else 0

    def slots(self) -> int:
        """How many bars fit side by side now."""
        return max(FEWEST_SLOTS, self.places())

    def x_of(self, place: int) -> float:
        return float(place)

    def place_at(self, x: float) -> int:
        return int(x) if 0 <= x < self.places() else -1


class BarsItem(PixelItem):
    """Paints the layers with bars three fifths of their slot wide, and a quiet column behind the hovered one."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.layers: tuple[Layer, ...] = ()

    def draw(self, painter: QPainter) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        if self.hovered >= 0:
            painter.setBrush(mixed(self.theme.line, self.theme.panel, 0.6))
            left, right = self.pixel(self.hovered, 0).x(), self.pixel(self.hovered + 1, 0).x()
            painter.drawRect(QRectF(left, self.area().top(), right - left, self.area().height()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for slot in range(len(self.layers[0].top) if self.layers else 0):
            self._paint_slot(painter, slot)

    def heights(self, values: Sequence[float]) -> list[float]:
        """The heights of one turn's layers in pixels, from back to front. A value that is larger by any amount is drawn
        at least MINIMUM_PIXELS taller than the one in front of it."""
        ground, made, front, tallest = self.pixel(0, 0).y(), [], 0.0, 0.0
        for value in reversed(values):
            height = 0.0
            if value > 0:
                least = tallest + MINIMUM_PIXELS if value > front else 0.0
                height = max(ground - self.pixel(0, value).y(), least)
                front, tallest = max(front, value), max(tallest, height)
            made.append(height)
        return made[::-1]

    def _paint_slot(self, painter: QPainter, slot: int) -> None:
        left, right = self.pixel(slot + 0.2, 0), self.pixel(slot + 0.8, 0)
        radius = 2 if right.x() - left.x() >= 8 else 0
        heights = self.heights([float(layer.top[slot]) for layer in self.layers])
        for layer, height in zip(self.layers, heights, strict=True):
            full = QColor(getattr(self.theme, layer.color))
            bar = QRectF(left.x(), left.y() - height, right.x() - left.x(), height)
            painter.setBrush(mixed(full.name(), self.theme.panel, layer.strength))
            painter.setPen(QPen(full, 1) if layer.strength < 1 else Qt.PenStyle.NoPen)
            if height:
                inset = 0.5 if layer.strength < 1 else 0
                painter.drawRoundedRect(bar.adjusted(inset, inset, -inset, -inset), radius, radius)

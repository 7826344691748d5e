"""What stands beside and under a plot: values of its height with their unit, and which turns or times it shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import SMALL, Theme, text_font

SCALE_WIDTH = 56
AXIS_HEIGHT = 16
GAP = 6
"""Least distance between two words, and from the plot to its scale, in pixels."""
SCALE_ENDS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""A scale ends at one of these times a power of ten, so that half of it is a short number too."""


class Mark(NamedTuple):
    """A word and where it stands: a share, 0 to 1, of the height or of the width."""

    share: float
    text: str


class _Words(QWidget):
    """Paints words in a quiet colour. A word that would overlap one before it in the list is left out."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._marks: tuple[Mark, ...] = ()
        self.setFont(text_font(SMALL))
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    @property
    def shown(self) -> list[str]:
        """The words that are painted, because there is room for them."""
        return [text for text, _ in self._placed()]

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of this theme from now on."""
        self._theme = theme
        self.update()

    def show_marks(self, marks: Sequence[Mark]) -> None:
        """Show these words from now on. The most important one stands first: it is left out last."""
        if tuple(marks) != self._marks:
            self._marks = tuple(marks)
            self.update()

    def _placed(self) -> list[tuple[str, QRectF]]:
        raise NotImplementedError

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QColor(self._theme.soft))
        for text, box in self._placed():
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, text)


class Scale(_Words):
    """The vertical axis, right of a plot: each value stands at its height."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.setFixedWidth(SCALE_WIDTH)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Ignored)

    def _placed(self) -> list[tuple[str, QRectF]]:
        placed: list[tuple[str, QRectF]] = []
        for share, text in self._marks:
            lines = text.count("\n") + 1
            high, line = lines * self.fontMetrics().lineSpacing(), self.fontMetrics().lineSpacing()
            top = max(0.0, min(self.height() - high, (1 - share) * self.height() - line / 2))
            box = QRectF(GAP, top, self.width() - GAP, high)
            is_cut = share < 1 and self.fontMetrics().horizontalAdvance(text) > box.width()
            if not is_cut and not any(box.intersects(other) for _, other in placed):
                placed.append((text, box))
        return placed


class Axis(_Words):
    """The horizontal axis, under a plot: turns or times at their place, and right of them what they are (`unit`)."""

    def __init__(self, theme: Theme, unit: str) -> None:
        super().__init__(theme)
        self._unit = unit
        self.setFixedHeight(AXIS_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(3 * SCALE_WIDTH, AXIS_HEIGHT)

    def _placed(self) -> list[tuple[str, QRectF]]:
        if not self._marks:
            return []
        whole = self.width() - SCALE_WIDTH
        widths = [self.fontMetrics().horizontalAdvance(mark.text) for mark in self._marks]
        placed: list[tuple[str, QRectF]] = []
        for (share, text), width in zip(self._marks, widths, strict=True):
            left = max(0.0, min(whole - width, share * whole - width / 2))
            box = QRectF(left, 0, width + 1, self.height())
            more = (max(widths) - width) / 2 + GAP  # numbers then stand at even distances
            if not any(box.adjusted(-more, 0, more, 0).intersects(other) for _, other in placed):
                placed.append((text, box))
        unit_width = self.fontMetrics().horizontalAdvance(self._unit) + 1
        return [*placed, (self._unit, QRectF(self.width() - unit_width, 0, unit_width, self.height()))]


def scale_end(largest: float) -> float:
    """Return the short number that an axis ends at, a little above the largest value; 0 where there is no value."""
    return round_up(1.02 * largest, SCALE_ENDS) if largest > 0 else 0.0


def round_up(value: float, steps: Sequence[float]) -> float:
    """The smallest of `steps` (from 1 to 10) times a power of ten that is at least `value`, which is above 0."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in steps if step * power >= value)

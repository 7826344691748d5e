"""What all charts are made of: a pyqtgraph view with fixed ranges, grid lines and a hovered place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPen, QTransform
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.charts.axes import Mark
from app.theme import Theme

LEAST_HEIGHT = 60
"""Pixels in which the words in and beside a plot do not cover each other."""
EMPTY_LINES = (0.5, 1.0)
"""Where lines are while nothing is drawn, besides the one on the ground."""


class Plot(pg.GraphicsView):
    """A pyqtgraph view without menu and dragging. `item` paints the data, which a subclass holds.

    `scale` are words at shares of the height, each with a grid line; `axis` are words at shares of the width.
    Signals: hovered(int): the place (a turn, a picture) under the mouse or found with the arrow keys, -1 for none;
    chosen(int): a place was clicked, or Enter was pressed on it.
    """

    hovered = Signal(int)
    chosen = Signal(int)
    leads_somewhere = False
    """Whether a click on a place does something, which the mouse then shows."""

    def __init__(self, item: PixelItem, theme: Theme) -> None:
        super().__init__(background=theme.panel)
        self.item = item
        self._hover = -1
        self.scale: tuple[Mark, ...] = ()
        self.axis: tuple[Mark, ...] = ()
        self._box = pg.ViewBox(enableMouse=False, enableMenu=False, defaultPadding=0)
        self._box.disableAutoRange()
        self.setCentralWidget(self._box)
        self._box.addItem(item, ignoreBounds=True)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setFrameShape(pg.GraphicsView.Shape.NoFrame)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(LEAST_HEIGHT)

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of this theme from now on: the background here, the rest in the item."""
        self.setBackground(theme.panel)
        self.item.set_theme(theme)

    def set_range(self, left: float, right: float, top: float) -> None:
        """Show this stretch of x, and y from 0 to `top`."""
        bounds = QRectF(left, 0, right - left, top)
        self.item.set_bounds(bounds)
        self._box.setRange(bounds, padding=0, disableAutoRange=True)

    def sizeHint(self) -> QSize:
        return QSize(240, LEAST_HEIGHT)

    def mark(self, scale: Sequence[Mark], axis: Sequence[Mark]) -> None:
        """Set the words beside and under the plot. The last ones are left out first."""
        self.scale, self.axis = tuple(scale), tuple(axis)
        self.item.set_lines([mark.share for mark in scale])

    def place_at(self, x: float) -> int:
        """The index of what is drawn at this x, -1 for nothing."""
        raise NotImplementedError

    def places(self) -> int:
        """How many places (turns, pictures) there are to hover."""
        raise NotImplementedError

    def hover(self, place: int) -> None:
        """Mark a place and emit `hovered`; -1 takes the mark away."""
        if place != self._hover:
            self._hover = place
            hand = self.leads_somewhere and place >= 0
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor)
            self.item.set_hover(place)
            self.hovered.emit(place)

    def forget_lost_place(self) -> None:
        """Take the mark away where the newest data no longer have the marked place."""
        if self._hover >= self.places():
            self.hover(-1)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = self._box.mapSceneToView(self.mapToScene(event.position().toPoint())).x()
        self.hover(self.place_at(x))

    def below(self, place: int) -> QPoint:
        """The point on the screen just below a place of the plot."""
        x = self._box.mapViewToScene(QPointF(self.x_of(place), 0)).x()
        return self.mapToGlobal(QPoint(round(x), self.height()))

    def x_of(self, place: int) -> float:
        """Where a place begins, as an x of the data."""
        raise NotImplementedError

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._hover >= 0:
            self.chosen.emit(self._hover)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        event.ignore()

    def leaveEvent(self, event: QEvent) -> None:
        self.hover(-1)
        super().leaveEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Mark the newest place when the focus comes by the Tab key, which also shows where the focus is."""
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self.hover(self.places() - 1)
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.hover(-1)
        super().focusOutEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right walk through the places, beginning at the newest; Enter chooses; Escape ends that."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if step and self.places():
            newest = self.places() - 1
            self.hover(newest if self._hover < 0 else max(0, min(newest, self._hover + step)))
        elif event.key() == Qt.Key.Key_Escape and self._hover >= 0:
            self.hover(-1)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._hover >= 0:
            self.chosen.emit(self._hover)
        else:
            event.ignore()


class PixelItem(pg.GraphicsObject):
    """An item with bounds in data units that paints in whole pixels, so that edges stay sharp at any size."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self.hovered = -1
        self._bounds = QRectF(0, 0, 1, 1)
        self._lines: tuple[float, ...] = EMPTY_LINES
        self._to_pixels = QTransform()

    def boundingRect(self) -> QRectF:
        return self._bounds

    def set_bounds(self, bounds: QRectF) -> None:
        """Set the range of the data that fills the view."""
        if bounds != self._bounds:
            self.prepareGeometryChange()
            self._bounds = bounds
        self.update()

    def set_lines(self, shares: Sequence[float]) -> None:
        """Grid lines at these shares of the height; where there are none, those of an empty plot."""
        self._lines = tuple(shares) or EMPTY_LINES
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Paint in these colours from now on."""
        self.theme = theme
        self.update()

    def set_hover(self, place: int) -> None:
        """Paint a mark at this place; -1 for none."""
        self.hovered = place
        self.update()

    def paint(self, painter: QPainter, option: object, widget: QWidget | None = None) -> None:
        painter.save()
        self._to_pixels = painter.worldTransform()
        painter.setWorldTransform(QTransform())
        self._paint_grid(painter)
        self.draw(painter)
        painter.restore()

    def draw(self, painter: QPainter) -> None:
        """Paint the data; positions come from `pixel` and `pixels`."""
        raise NotImplementedError

    def pixel(self, x: float, y: float) -> QPointF:
        """Where a data point lies, in whole pixels."""
        point = self._to_pixels.map(QPointF(x, y))
        return QPointF(round(point.x()), round(point.y()))

    def pixels_x(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """Where many x lie, in whole pixels."""
        return np.round(x * self._to_pixels.m11() + self._to_pixels.dx())

    def pixels_y(self, y: NDArray[Any]) -> NDArray[np.float64]:
        """Where many y lie, in whole pixels."""
        return np.round(y * self._to_pixels.m22() + self._to_pixels.dy())

    def area(self) -> QRectF:
        """The whole plot in pixels."""
        return self._to_pixels.mapRect(self._bounds)

    def _paint_grid(self, painter: QPainter) -> None:
        area = self.area()
        painter.setPen(QPen(QColor(self.theme.line), 1))
        for share in (0.0, *self._lines):
            y = round(area.top() + (1 - share) * (area.height() - 1)) + 0.5
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))


def mixed(color: str, ground: str, share: float) -> QColor:
    """An opaque colour that looks like `color` at this opacity on `ground`; opaque fills are cheap to paint."""
    a, b = QColor(color), QColor(ground)
    parts = zip((a.red(), a.green(), a.blue()), (b.red(), b.green(), b.blue()), strict=True)
    return QColor(*(round(x * share + y * (1 - share)) for x, y in parts))

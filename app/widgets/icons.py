"""The drawings in resources/icons, in any colour and sharp at any scale."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app import theme

ICON_FOLDER = Path(__file__).parent.parent.parent / "resources" / "icons"


def icon(name: str) -> QIcon:
    """The drawing called `name`, in the present theme's soft text colour, whatever the theme is when it is painted."""
    return QIcon(_DrawnIcon(name))


def app_icon() -> QIcon:
    """The program's own icon, in its own colours."""
    return QIcon(_DrawnIcon("headstart"))


@cache
def _source(name: str) -> str:
    return (ICON_FOLDER / f"{name}.svg").read_text(encoding="utf-8")


class _DrawnIcon(QIconEngine):
    """Paints an SVG whose `currentColor` is the theme's."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def paint(self, painter: QPainter, rect, mode: QIcon.Mode, state: QIcon.State) -> None:
        colours = theme.current()
        colour = colours.line if mode == QIcon.Mode.Disabled else colours.soft
        if mode == QIcon.Mode.Active:
            colour = colours.text
        source = _source(self._name).replace("currentColor", colour)
        QSvgRenderer(QByteArray(source.encode())).render(painter, QRectF(rect))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        made = QPixmap(size)
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        self.paint(painter, made.rect(), mode, state)
        painter.end()
        return made

    def clone(self) -> QIconEngine:
        return _DrawnIcon(self._name)

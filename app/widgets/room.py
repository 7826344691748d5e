"""Room on the screen: what opens is never larger than the screen, and what then does not fit into it scrolls."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

FRAME = QSize(16, 48)
"""Pixels that the desktop may draw around a window."""


def fit(widget: QWidget, wanted: QSize) -> None:
    """Make a window as large as wanted, or as its screen has room for."""
    widget.resize(bounded(wanted, widget.screen().availableGeometry().size()))


def bounded(wanted: QSize, available: QSize) -> QSize:
    """The size of a window on a screen that has `available` room for it and its frame."""
    return wanted.boundedTo(available - FRAME)


def scrolling(content: QWidget) -> QScrollArea:
    """What is scrolled up and down where there is too little room for it."""
    area = QScrollArea()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.viewport().setAutoFillBackground(False)
    area.setWidget(content)
    content.setAutoFillBackground(False)  # a scroll area fills it otherwise
    return area

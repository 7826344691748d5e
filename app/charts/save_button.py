"""The small button of a chart that offers it as a file."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QPoint, QSize, Qt, SignalInstance
from PySide6.QtGui import QFocusEvent, QPaintEvent
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from app.charts.export import KINDS
from app.widgets.icons import icon


class Savable(Protocol):
    """A widget that asks to be saved."""

    save_wanted: SignalInstance


class SaveButton(QToolButton):
    """Always there for the keyboard, painted only while its chart is pointed at (`set_awake`) or it has the focus."""

    def __init__(self, chart: QWidget) -> None:
        super().__init__(chart)
        self._chart = chart
        self._awake = False
        self.setObjectName("action")
        self.setIcon(icon("save"))
        self.setIconSize(QSize(14, 14))
        self.setFixedSize(16, 16)
        self.setAccessibleName("Save this chart")
        self.setToolTip("Save as PNG, SVG or CSV")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.clicked.connect(self._open)

    def menu_to_save(self) -> QMenu:
        """One action for each kind of file."""
        chart: Savable = self._chart  # type: ignore[assignment]
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for kind in KINDS:
            action = menu.addAction(f"Save as &{kind.upper()}…")
            action.triggered.connect(lambda _=False, kind=kind: chart.save_wanted.emit(kind))
        return menu

    def set_awake(self, awake: bool) -> None:
        """Paint it or not."""
        self._awake = awake
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._awake or self.hasFocus():
            super().paintEvent(event)

    def _open(self) -> None:
        self.menu_to_save().popup(self.mapToGlobal(QPoint(0, self.height())))

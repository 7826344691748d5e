"""Which turns the charts show: those of the conversation in view, or all."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QWidget

from app.theme import SMALL, Theme


class ScopeSwitch(QWidget):
    """Two words, the chosen one underlined. Signals: changed(bool): whether all turns are wanted now."""

    changed = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName("Turns in the charts")
        self.one, self.all = QPushButton("This conversation"), QPushButton("All")
        self.one.setAccessibleName("Show the turns of this conversation")
        self.all.setAccessibleName("Show the turns of all conversations")
        group = QButtonGroup(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(16)
        for button in (self.one, self.all):
            button.setCheckable(True)
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            group.addButton(button)
            row.addWidget(button)
        row.addStretch(1)
        self.one.setChecked(True)
        self.all.toggled.connect(self.changed)
        self.set_theme(theme)

    @property
    def shows_all(self) -> bool:
        """Whether all turns are chosen."""
        return self.all.isChecked()

    def set_theme(self, theme: Theme) -> None:
        """Colours at run time."""
        self.setStyleSheet(f"""
            QPushButton {{ border: none; border-bottom: 2px solid transparent; border-radius: 0; padding: 0 0 2px 0;
                min-height: 18px; background: transparent; color: {theme.soft}; font-size: {SMALL}px; }}
            QPushButton:checked {{ color: {theme.text}; border-bottom-color: {theme.accent}; }}
            QPushButton:hover {{ color: {theme.text}; background: transparent; }}
            QPushButton:focus {{ color: {theme.accent}; }}""")

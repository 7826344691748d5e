"""What an empty transcript says: one sentence about what to do next, and a button that does it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app import theme
from app.widgets.plain import Label


class EmptyState(QWidget):
    """The sentence and its buttons. Signals: chosen(str) with the key of the button that was pressed."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._title, self._says = Label(self), Label(self)
        self._title.setFont(theme.text_font(theme.LARGE, bold=True))
        self._says.setObjectName("soft")
        for label in (self._title, self._says):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setWordWrap(True)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(8)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(8)
        column.addStretch(2)
        column.addWidget(self._title)
        column.addWidget(self._says)
        column.addSpacing(8)
        column.addLayout(self._buttons)
        column.addStretch(3)

    @property
    def text(self) -> str:
        """The sentence shown."""
        return self._says.text()

    def say(self, title: str, sentence: str, buttons: tuple[tuple[str, str], ...] = ()) -> None:
        """Show this; `buttons` are (key, label) pairs, the first one is the one to press."""
        self._title.setText(title)
        self._says.setText(sentence)
        while item := self._buttons.takeAt(0):
            if button := item.widget():
                button.deleteLater()
        self._buttons.addStretch()
        for number, (key, label) in enumerate(buttons):
            self._buttons.addWidget(self._button(key, label, first=number == 0))
        self._buttons.addStretch()

    def _button(self, key: str, label: str, first: bool) -> QPushButton:
        button = QPushButton(label, self)
        button.setObjectName("primary" if first else "")
        button.clicked.connect(lambda: self.chosen.emit(key))
        return button

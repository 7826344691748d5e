"""A box over the window that says something and asks what to do: in the program's own look, however long its texts."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app import theme
from app.language import tr, translated
from app.widgets.plain import Label
from app.widgets.room import fit, scrolling

WIDTH, DETAILS_HEIGHT = 440, 160
"""Pixels: of the box, and of the field that holds details."""


class MessageBox(QDialog):
    """Says `text`, and `more` under it. Its buttons are added with `add`, from the left to the right; Escape presses
    none of them. `details` are in a field of their own, to be read and copied; it is there once there are any."""

    def __init__(self, parent: QWidget | None, title: str, text: str, more: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setModal(True)
        self.text, self.more = translated(text), translated(more)
        self.buttons: list[QPushButton] = []
        self._field = QPlainTextEdit()
        self._field.setObjectName("field")
        self._field.setReadOnly(True)
        self._field.setAccessibleName(tr("Details"))
        self._field.setMinimumHeight(DETAILS_HEIGHT)
        self._field.hide()
        self._lay_out()
        self._fit()

    def _lay_out(self) -> None:
        said = QWidget()
        texts = QVBoxLayout(said)
        texts.setContentsMargins(0, 0, 0, 0)
        texts.setSpacing(8)
        for words, is_heading in ((self.text, True), (self.more, False)):
            label = Label(words)
            label.setWordWrap(True)
            label.setFont(theme.text_font(bold=is_heading))
            label.setVisible(bool(words))
            texts.addWidget(label)
        texts.addStretch(1)
        self._texts = texts
        self._row = QHBoxLayout()
        self._row.setSpacing(8)
        self._row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(16)
        column.addWidget(scrolling(said), 1)
        column.addWidget(self._field)
        column.addLayout(self._row)

    @property
    def details(self) -> str:
        """What the field for details holds."""
        return self._field.toPlainText()

    def set_details(self, text: str) -> None:
        """Show these details; "" hides the field."""
        self._field.setPlainText(text)
        self._field.setVisible(bool(text))
        self._fit()

    def add(self, label: str, act: Callable[[], object] | None = None, kind: str = "", closes: bool = True) -> None:
        """A button that does this and closes the box. Of `kind` "primary" it is what Enter presses, of "danger" it
        does what cannot be undone; a "safe" one is what Enter presses beside that."""
        button = QPushButton(label)
        button.setObjectName(kind)
        button.setAutoDefault(kind in ("primary", "safe"))
        button.setDefault(kind in ("primary", "safe"))
        if closes:
            button.clicked.connect(self.accept)
        if act is not None:
            button.clicked.connect(lambda: act())
        self.buttons.append(button)
        self._row.addWidget(button)
        if button.isDefault():
            button.setFocus()

    def press(self, label: str) -> None:
        """Press the button with this label. Raises StopIteration where there is none."""
        next(button for button in self.buttons if button.text() == label).click()

    def _fit(self) -> None:
        """As tall as the texts are, as far as the screen has room; what is left scrolls."""
        height = self._texts.totalHeightForWidth(WIDTH - 48)
        details = DETAILS_HEIGHT + 16 if not self._field.isHidden() else 0
        fit(self, QSize(WIDTH, height + details + 48 + 16 + 40))

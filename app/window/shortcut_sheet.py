"""All that can be done from the keyboard, on one sheet."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog, QGridLayout, QPushButton, QVBoxLayout, QWidget

from app import theme
from app.language import tr
from app.widgets.plain import Label, SoftLabel
from app.widgets.room import fit, scrolling

WRITING = (
    (tr("Send"), tr("Enter")),
    (tr("Break the line"), tr("Shift+Enter")),
    (tr("Look through the prompt, a chart, the tree"), "← →"),
)
"""What belongs to a field or a picture and is no action of the window."""


class ShortcutSheet(QDialog):
    """A line for each of `shortcuts`, pairs of what is done and with which keys."""

    def __init__(self, shortcuts: Sequence[tuple[str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keyboard shortcuts"))
        self.setModal(True)
        content = QWidget()
        grid = QGridLayout(content)
        grid.setContentsMargins(0, 0, 12, 0)
        grid.setHorizontalSpacing(32)
        grid.setVerticalSpacing(6)
        for row, (what, keys) in enumerate((*WRITING, *shortcuts)):
            grid.addWidget(_wrapped(what), row, 0)
            grid.addWidget(SoftLabel(keys), row, 1)
        grid.setColumnStretch(0, 1)
        grid.setRowStretch(grid.rowCount(), 1)
        title = Label(tr("Keyboard shortcuts"))
        title.setFont(theme.text_font(bold=True))
        close = QPushButton(tr("Close"))
        close.setObjectName("primary")
        close.clicked.connect(self.accept)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(12)
        column.addWidget(title)
        column.addWidget(scrolling(content), 1)
        column.addWidget(close)
        fit(self, QSize(520, 640))


def _wrapped(text: str) -> Label:
    label = Label(text)
    label.setWordWrap(True)
    return label

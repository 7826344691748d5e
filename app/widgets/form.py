"""Fields under each other, each with its name beside it and what it is for under it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QVBoxLayout, QWidget

from app.widgets.plain import Label, SoftLabel

ROW = 30
"""Pixels that the name of a field is high: as high as the field, so that both stand on one line."""


def form() -> QFormLayout:
    """A form without rows."""
    made = QFormLayout()
    made.setContentsMargins(0, 0, 0, 0)
    made.setHorizontalSpacing(12)
    made.setVerticalSpacing(12)
    made.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
    return made


def add_field(into: QFormLayout, name: str, field: QWidget, *under: QWidget) -> None:
    """A row: a field called `name`, and what stands under it."""
    label = Label(name)
    label.setFixedHeight(ROW)  # a form makes it taller otherwise, and its words sink
    cell = QVBoxLayout()
    cell.setContentsMargins(0, 0, 0, 0)
    cell.setSpacing(4)
    cell.addWidget(field)
    for widget in under:
        cell.addWidget(widget)
    into.addRow(label, cell)


def note(text: str) -> Label:
    """A sentence under a field, on as many lines as it needs."""
    made = SoftLabel(text)
    made.setWordWrap(True)
    return made

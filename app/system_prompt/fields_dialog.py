"""The dialog that asks for a few texts by their names: what the variables of a saved system prompt stand for, or a
folder."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QFormLayout, QLineEdit, QVBoxLayout, QWidget

from app.widgets.form import note
from app.widgets.room import fit, scrolling

WIDTH = 420


class FieldsDialog(QDialog):
    """One field for each name, filled with its value. Signals: chosen(dict, bool): the texts by their names, and
    whether the box `keeps` is checked, which is there where its label is given."""

    chosen = Signal(object, bool)

    def __init__(
        self, title: str, about: str, values: Mapping[str, str], parent: QWidget | None = None, keeps: str = ""
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setModal(True)
        self.fields = {name: QLineEdit(value) for name, value in values.items()}
        self.keeps = QCheckBox(keeps)
        self.keeps.setVisible(bool(keeps))
        self._lay_out(about)
        next(iter(self.fields.values())).setFocus()

    def _lay_out(self, about: str) -> None:
        content = QWidget()
        form = QFormLayout(content)
        form.setContentsMargins(0, 0, 0, 0)
        form.setSpacing(8)
        for name, field in self.fields.items():
            field.setAccessibleName(name)
            form.addRow(name, field)
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel)
        self.buttons.button(kinds.Ok).setObjectName("primary")
        for button in self.buttons.buttons():
            button.setIcon(QIcon())
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(24, 24, 24, 24)
        whole.setSpacing(12)
        whole.addWidget(note(about))
        whole.addWidget(scrolling(content), 1)
        whole.addWidget(self.keeps)
        whole.addWidget(self.buttons)
        fit(self, QSize(WIDTH, 190 + 38 * len(self.fields)))

    def _accept(self) -> None:
        self.chosen.emit({name: field.text() for name, field in self.fields.items()}, self.keeps.isChecked())
        self.accept()

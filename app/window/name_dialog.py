"""The dialog that asks for a name."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QVBoxLayout, QWidget

from app.language import translated
from app.widgets.plain import Label
from engine import HeadstartError


class NameDialog(QDialog):
    """Asks for the name of something. `use` gets it; what it refuses with HeadstartError stands below the field, and
    the dialog stays."""

    def __init__(self, title: str, label: str, name: str, use: Callable[[str], object], parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setModal(True)
        self._use = use
        self.field = QLineEdit(name, self)
        self.field.setAccessibleName(label)
        self.field.selectAll()
        self.wrong = Label("", self)
        self.wrong.setWordWrap(True)
        self.wrong.hide()
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel, self)
        self.buttons.button(kinds.Ok).setObjectName("primary")
        for button in self.buttons.buttons():
            button.setIcon(QIcon())
        self.buttons.accepted.connect(self._on_accepted)
        self.buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(12)
        for widget in (Label(label, self), self.field, self.wrong, self.buttons):
            column.addWidget(widget)
        self.resize(360, self.sizeHint().height())

    def _on_accepted(self) -> None:
        try:
            self._use(self.field.text())
        except HeadstartError as error:
            self.wrong.setText(translated(str(error)))
            self.wrong.show()
            return
        self.accept()

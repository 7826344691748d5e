"""The dialog that names a server whose model is to answer in place of one of this computer, everywhere or in one
conversation."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QFormLayout, QLineEdit, QVBoxLayout, QWidget

from app.language import tr, translated
from app.widgets.plain import Label, SoftLabel, tool_tip
from engine import HeadstartError

ABOUT = tr(
    "A server with OpenAI's API: vLLM, SGLang, llama.cpp's server, another Headstart. Your "
    "conversations are sent to it. What it says of reuse is shown like that of this computer."
)
ABOUT_HERE = tr("All others ask the model that is open. Without an address this conversation does so again, too.")
ABOUT_KEY = tr("The key is kept in the keyring of this system; empty where the server wants none.")


class ServerDialog(QDialog):
    """Asks for an address and a key. Signals: chosen(str), the address, after `keep_key` has stored the key;
    chosen_here(str) where it is for the conversation in view only, with "" for none any more. What `keep_key` refuses
    with HeadstartError stands below the fields, and the dialog stays. `here` is the server of that conversation."""

    chosen = Signal(str)
    chosen_here = Signal(str)

    def __init__(
        self, address: str, keep_key: Callable[[str, str], None], parent: QWidget | None = None, here: str = ""
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Use a server"))
        self.setModal(True)
        self._keep_key = keep_key
        self.address = QLineEdit(here or address)
        self.address.setPlaceholderText("http://127.0.0.1:8000/v1")
        self.address.setAccessibleName(tr("Address of the server"))
        self.key = QLineEdit()
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setPlaceholderText(tr("None"))
        self.key.setAccessibleName(tr("Key of the server"))
        self.only_here = QCheckBox(tr("For this conversation only"))
        self.only_here.setChecked(bool(here))
        self.only_here.setToolTip(tool_tip(ABOUT_HERE))
        self.only_here.setAccessibleDescription(ABOUT_HERE)
        self.wrong = Label("")
        self.wrong.setWordWrap(True)
        self.wrong.hide()
        self._lay_out()

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setSpacing(8)
        form.addRow(tr("Address"), self.address)
        form.addRow(tr("Key"), self.key)
        form.addRow("", self.only_here)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.button(QDialogButtonBox.StandardButton.Ok).setText(tr("Use it"))
        buttons.button(QDialogButtonBox.StandardButton.Ok).setObjectName("primary")
        for button in buttons.buttons():
            button.setIcon(QIcon())
        buttons.accepted.connect(self._use)
        buttons.rejected.connect(self.reject)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(24, 24, 24, 24)
        whole.setSpacing(12)
        for text in (ABOUT, ABOUT_KEY):
            note = SoftLabel(text)
            note.setWordWrap(True)
            whole.addWidget(note)
        whole.addLayout(form)
        whole.addWidget(self.wrong)
        whole.addWidget(buttons)
        self.resize(520, whole.totalHeightForWidth(520))

    def _use(self) -> None:
        address = self.address.text().strip()
        is_here = self.only_here.isChecked()
        if is_here and not address:
            self.chosen_here.emit("")
            self.accept()
            return
        try:
            self._keep_key(address, self.key.text())
        except HeadstartError as error:
            self.wrong.setText(translated(str(error)))
            self.wrong.show()
            return
        (self.chosen_here if is_here else self.chosen).emit(address)
        self.accept()

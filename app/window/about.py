"""The About box: which Headstart this is, and the licences of all that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from app import theme
from app.widgets.icons import app_icon
from app.widgets.plain import Label, SoftLabel
from app.widgets.room import fit
from app.widgets.work import Work

SAYS = "A desktop chat for local language models that never reads the same prompt twice, and shows what that saves."


class AboutDialog(QDialog):
    """`parts` gives the titles of what Headstart is made of, with their licence texts; the first is Headstart itself.
    To read them all takes a moment, so that a thread does it.

    `ask` looks for a newer version, and calls what it is given with sentences; None where nobody can be asked.
    """

    def __init__(
        self,
        version: str,
        parts: Callable[[], Sequence[tuple[str, str]]],
        parent: QWidget | None = None,
        ask: Callable[[Callable[[str], None]], None] | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("About Headstart")
        self.setModal(True)
        self._parts: Sequence[tuple[str, str]] = ()
        self.list = QListWidget()
        self.list.setAccessibleName("Parts of Headstart")
        self.list.setMaximumWidth(280)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.text = QPlainTextEdit()
        self.text.setObjectName("field")
        self.text.setAccessibleName("Licence")
        self.text.setReadOnly(True)
        self.list.currentRowChanged.connect(self._show)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(24, 24, 24, 24)
        whole.setSpacing(16)
        whole.addLayout(_head(version))
        self.said = SoftLabel()
        self.said.setWordWrap(True)
        self.ask = QPushButton("Look for a newer version")
        self.ask.setAutoDefault(False)
        if ask is not None:
            self.ask.clicked.connect(lambda: ask(self._say))
            row = QHBoxLayout()
            row.setSpacing(16)
            row.addWidget(self.ask)
            row.addWidget(self.said, 1)
            whole.addLayout(row)
        both = QHBoxLayout()
        both.setSpacing(16)
        both.addWidget(self.list, 2)
        both.addWidget(self.text, 3)
        whole.addLayout(both, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        for button in buttons.buttons():
            button.setIcon(QIcon())
        buttons.rejected.connect(self.reject)
        whole.addWidget(buttons)
        self.text.setPlainText("The licences are being read…")
        self._reading = Work(lambda say: parts(), self)
        self._reading.done.connect(self._show_parts)
        self.finished.connect(self._reading.stop)
        self._reading.start()
        fit(self, QSize(860, 560))

    def _say(self, sentence: str) -> None:
        if isValid(self):  # it may have been closed before the answer came
            self.said.setText(sentence)

    def _show_parts(self, parts: Sequence[tuple[str, str]]) -> None:
        self._parts = parts
        self.list.addItems([title for title, _ in parts])
        self.list.setCurrentRow(0)

    def _show(self, row: int) -> None:
        self.text.setPlainText(self._parts[row][1])


def _head(version: str) -> QHBoxLayout:
    picture = Label()
    picture.setPixmap(app_icon().pixmap(QSize(48, 48)))
    name = Label(f"Headstart {version}")
    name.setFont(theme.text_font(bold=True))
    name.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    says = SoftLabel(SAYS)
    says.setWordWrap(True)
    words = QVBoxLayout()
    words.setSpacing(4)
    words.addWidget(name)
    words.addWidget(says)
    row = QHBoxLayout()
    row.setSpacing(16)
    row.addWidget(picture)
    row.addLayout(words, 1)
    return row

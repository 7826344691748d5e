"""What an empty transcript says: what the program does, and one button that shows it, or what to do without a model."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app import theme
from app.language import tr
from app.widgets.plain import Label, SoftLabel
from app.widgets.room import scrolling

WIDTH, NARROW = 560, 420
"""Pixels of the column, and below how many the steps stand one under the other."""
STEPS = (
    (tr("1  Ask"), tr("A support bot with long rules reads them once. That takes some seconds.")),
    (tr("2  Ask again"), tr("The rules are remembered. Only your question is new, so the answer starts at once.")),
    (tr("3  See why"), tr("What was remembered is blue. Prove it on any answer.")),
)


class EmptyState(QWidget):
    """A headline, a sentence, buttons, and three steps where `say` asks for them. Where there is no room for all of it,
    it scrolls.

    Signals: chosen(str) with the key of the button that was pressed.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[object, ...] = ()
        self._wants_steps = False
        self._title, self._says, self._beside = Label(), Label(), SoftLabel()
        self._title.setFont(theme.text_font(theme.LARGE, bold=True))
        self._says.setObjectName("soft")
        for label in (self._title, self._says, self._beside):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setWordWrap(True)
        self._buttons = QVBoxLayout()
        self._buttons.setSpacing(8)
        self._steps = [_Step(*step) for step in STEPS]
        self._lay_out()

    def _lay_out(self) -> None:
        inside, page = QWidget(), QWidget()
        inside.setMaximumWidth(WIDTH)
        self._row = QHBoxLayout()
        self._row.setSpacing(12)
        for step in self._steps:
            self._row.addWidget(step, 1)
        column = self._column = QVBoxLayout(inside)
        column.setContentsMargins(24, 16, 24, 16)
        column.setSpacing(12)
        column.addStretch(2)
        for part in (self._title, self._says):
            column.addWidget(part)
        column.addLayout(self._buttons)
        column.addWidget(self._beside)
        column.addSpacing(4)
        column.addLayout(self._row)
        column.addStretch(3)
        middle = QHBoxLayout(page)
        middle.setContentsMargins(0, 0, 0, 0)
        middle.addStretch(1)
        middle.addWidget(inside, 1000)
        middle.addStretch(1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(scrolling(page))

    @property
    def text(self) -> str:
        """The sentence shown."""
        return self._says.text()

    @property
    def title(self) -> str:
        """The headline shown."""
        return self._title.text()

    @property
    def beside(self) -> str:
        """What stands under the buttons."""
        return self._beside.text()

    def say(
        self,
        title: str,
        sentence: str,
        buttons: tuple[tuple[str, str], ...] = (),
        beside: str = "",
        steps: bool = False,
    ) -> None:
        """Show this; `buttons` are (key, label) pairs, the first one is the one to press; `beside` stands under them,
        and `steps` under that."""
        if self._shown == (title, sentence, buttons, beside, steps):
            return
        self._shown = (title, sentence, buttons, beside, steps)
        self._title.setText(title)
        self._says.setText(sentence)
        self._beside.setText(beside)
        self._beside.setVisible(bool(beside))
        self._wants_steps = steps
        self._show_steps()
        while item := self._buttons.takeAt(0):
            if button := item.widget():
                button.hide()
                button.deleteLater()
        for number, (key, label) in enumerate(buttons):
            self._buttons.addWidget(self._button(key, label, first=number == 0), 0, Qt.AlignmentFlag.AlignHCenter)

    def _button(self, key: str, label: str, first: bool) -> QPushButton:
        button = QPushButton(label, self)
        button.setObjectName("primary" if first else "")
        button.clicked.connect(lambda: self.chosen.emit(key))
        return button

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < NARROW
        self._row.setDirection(QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight)
        self._show_steps()

    def _show_steps(self) -> None:
        """The steps are there where all of them is in sight: half of them would say less than none."""
        for step in self._steps:
            step.setVisible(self._wants_steps)
        width = min(WIDTH, max(1, self.width()))
        if self._wants_steps and self._column.totalHeightForWidth(width) > self.height():
            for step in self._steps:
                step.hide()


class _Step(QWidget):
    """A small box with a bold word and what happens then."""

    def __init__(self, name: str, says: str) -> None:
        super().__init__()
        head, text = Label(name), SoftLabel(says)
        head.setFont(theme.text_font(bold=True))
        text.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(4)
        column.addWidget(head)
        column.addWidget(text)
        column.addStretch(1)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.current().panel))
        painter.drawRoundedRect(QRectF(self.rect()), 8, 8)

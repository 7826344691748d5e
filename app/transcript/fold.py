"""Parts of a message that are folded to one line until somebody wants to read them: thoughts, tool calls, results."""

from __future__ import annotations

import json
import re
from contextlib import suppress

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app import theme
from app.transcript.answer_view import AnswerView
from app.widgets.icons import icon
from app.widgets.plain import LINK_PADDING
from app.words import shortened_line

ICON = 12
"""Pixels of the arrow in front of the line."""
BAR_LEFT, BODY_LEFT = ICON // 2 + LINK_PADDING - 1, ICON + 2 * LINK_PADDING
"""Where the bar beside the opened text stands, and the text itself."""
LONGEST_LINE = 80
"""Characters of the line that are shown; the name of a tool may have any number."""


class Fold(QWidget):
    """One quiet line, and under it Markdown in a soft tone that is drawn only once it is opened, with a click or with
    Enter or Space. `name` is what a screen reader calls the text. Attributes: line, the button; view, the text, None
    until it is opened for the first time.

    Signals: toggled(bool) when the user opens or closes it.
    """

    toggled = Signal(bool)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view: AnswerView | None = None
        self._name = name
        self._text = ""
        self.line = FoldLine(self)
        self.line.say(name)
        self.line.clicked.connect(self._on_clicked)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 4)
        self._column.setSpacing(4)
        self._column.addWidget(self.line, 0, Qt.AlignmentFlag.AlignLeft)
        self._body = QVBoxLayout()
        self._body.setContentsMargins(BODY_LEFT, 0, 0, 4)
        self._column.addLayout(self._body)

    @property
    def is_open(self) -> bool:
        """Whether the text is shown."""
        return self.line.isChecked()

    @property
    def text(self) -> str:
        """All of the text, shown or not."""
        return self._text

    def say(self, line: str) -> None:
        """What the line says."""
        self.line.say(line)

    def set_text(self, text: str) -> None:
        """This is the text now; what is drawn of it already stays."""
        self._text = text
        self._draw()

    def append(self, text: str) -> None:
        """More of the text has come."""
        self._text += text
        if self.is_open and self.view is not None:
            self.view.append(text)

    def set_open(self, is_open: bool) -> None:
        """Show the text, or the line only."""
        self.line.set_open(is_open)
        if is_open and self.view is None:
            self.view = AnswerView(self, tone="soft")
            self.view.setAccessibleName(self._name)
            self._body.addWidget(self.view)
            QWidget.setTabOrder(self.line, self.view)
        if self.view is not None:
            self.view.setVisible(is_open)
        self._draw()
        self.update()

    def stop(self) -> None:
        """Draw no more."""
        if self.view is not None:
            self.view.stop()

    def _draw(self) -> None:
        """Draw what is not drawn yet of an open text; a folded one costs nothing."""
        if self.view is None or not self.is_open or self.view.text == self._text:
            return
        if self._text.startswith(self.view.text):
            self.view.append(self._text[len(self.view.text) :])
        else:
            self.view.set_text(self._text)

    def _on_clicked(self) -> None:
        self.set_open(self.line.isChecked())
        self.toggled.emit(self.is_open)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.view is not None and self.is_open:
            bar = QRectF(BAR_LEFT, self.view.y(), 2, self.view.height())
            QPainter(self).fillRect(bar, QColor(theme.current().line))


class FoldLine(QToolButton):
    """The line of a fold: an arrow and a few words. It is checked while the fold is open."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("fold")
        self.setCheckable(True)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(ICON, ICON))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.set_open(False)

    def say(self, line: str) -> None:
        """Show these words, on one line and not too many."""
        shown = shortened_line(line, LONGEST_LINE)
        if shown != self.accessibleName():
            self.setAccessibleName(shown)
            self.setText(shown.replace("&", "&&"))

    def set_open(self, is_open: bool) -> None:
        """The fold is open, or no longer."""
        self.setChecked(is_open)
        self.setIcon(icon("open" if is_open else "next"))
        self.setAccessibleDescription("Open; Enter folds it" if is_open else "Folded; Enter opens it")

    def minimumSizeHint(self) -> QSize:
        return QSize(1, self.sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)


def as_code(arguments: str) -> str:
    """The arguments of a tool call as a block of code in Markdown, laid out where they are JSON."""
    with suppress(ValueError, RecursionError):  # then they are shown as the model wrote them
        arguments = json.dumps(json.loads(arguments), indent=2, ensure_ascii=False)
    longest = max((len(run) for run in re.findall("`+", arguments)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}json\n{arguments}\n{fence}\n"

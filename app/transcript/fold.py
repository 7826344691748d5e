"""Parts of a message that are folded to one line until somebody wants to read them: thoughts, tool calls, results."""

from __future__ import annotations

import json
import re
from contextlib import suppress

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QVBoxLayout, QWidget

from app import theme
from app.language import tr
from app.transcript.answer_view import AnswerView
from app.widgets.icons import icon
from app.words import shortened_line

HEIGHT, ICON, WORDS_LEFT = 22, 16, 18
"""Pixels of the line, of the arrow in front of it, and where its words begin."""
BAR_LEFT, BAR = 7, 2
"""Where the bar beside the opened text stands, under the arrow, and how wide it is. The text is under the words."""
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
        self._column.addWidget(self.line)
        self._body = QVBoxLayout()
        self._body.setContentsMargins(WORDS_LEFT, 0, 0, 4)
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
            bar = QRectF(BAR_LEFT, self.view.y(), BAR, self.view.height())
            QPainter(self).fillRect(bar, QColor(theme.current().line))


class FoldLine(QAbstractButton):
    """The line of a fold: an arrow and a few words, cut where there is no room; checked while the fold is open."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.set_open(False)

    @property
    def words(self) -> str:
        """What the line says."""
        return self.accessibleName()

    def say(self, line: str) -> None:
        """Show these words, on one line and not too many."""
        shown = shortened_line(line, LONGEST_LINE)
        if shown != self.words:
            self.setAccessibleName(shown)
            self.updateGeometry()
            self.update()

    def set_open(self, is_open: bool) -> None:
        """The fold is open, or no longer."""
        self.setChecked(is_open)
        self.setAccessibleDescription(tr("Open; Enter folds it") if is_open else tr("Folded; Enter opens it"))

    def sizeHint(self) -> QSize:
        return QSize(WORDS_LEFT + self._metrics().horizontalAdvance(self.words) + 8, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(1, HEIGHT)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours, frame = theme.current(), QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QColor(colours.accent) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.hover) if self.underMouse() else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame, 4, 4)
        arrow = QRect(0, (self.height() - ICON) // 2, ICON, ICON)
        icon("open" if self.isChecked() else "next").paint(painter, arrow)
        painter.setFont(theme.text_font(theme.SMALL))
        painter.setPen(QColor(colours.text if self.underMouse() else colours.soft))
        room = self.width() - WORDS_LEFT
        shown = self._metrics().elidedText(self.words, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRectF(WORDS_LEFT, 0, room, self.height()), Qt.AlignmentFlag.AlignVCenter, shown)

    def _metrics(self) -> QFontMetrics:
        return QFontMetrics(theme.text_font(theme.SMALL))


def as_code(arguments: str) -> str:
    """The arguments of a tool call as a block of code in Markdown, laid out where they are JSON."""
    with suppress(ValueError, RecursionError):  # then they are shown as the model wrote them
        arguments = json.dumps(json.loads(arguments), indent=2, ensure_ascii=False)
    return fenced(arguments, "json")


def fenced(text: str, language: str = "") -> str:
    """A text as a block of code in Markdown, whatever it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}\n"

"""The field a question is typed in: plain text, as tall as what is in it, within limits."""

from __future__ import annotations

import math

from PySide6.QtCore import QSizeF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QInputMethodEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from app import theme

FEWEST_LINES, MOST_LINES = 2, 10
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class PromptEdit(QPlainTextEdit):
    """Enter sends and Shift+Enter breaks the line, but Enter that ends a composition of an input method does neither.

    Signals: send(), escape().
    """

    send = Signal()
    escape = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._composing = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabChangesFocus(True)
        self.setFont(theme.text_font())
        self.setPlaceholderText("Write a message")
        self.setAccessibleName("Message")
        self.setAccessibleDescription("Enter sends, Shift+Enter breaks the line, Escape stops the answer")
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(self._fit_height)
        self.textChanged.connect(self._fit_direction)
        self._fit_height(self.document().documentLayout().documentSize())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_height(self.document().documentLayout().documentSize())

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        breaks_line = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if event.key() in _ENTER and not breaks_line:
            if not self._composing:
                self.send.emit()
            return
        if event.key() == Qt.Key.Key_Escape:
            self.escape.emit()
            return
        super().keyPressEvent(event)

    def _fit_direction(self) -> None:
        """Text that begins right-to-left stands on the right; a plain text document aligns all its lines alike."""
        option = self.document().defaultTextOption()
        begins_right = self.document().firstBlock().textDirection() == Qt.LayoutDirection.RightToLeft
        side = Qt.AlignmentFlag.AlignRight if begins_right else Qt.AlignmentFlag.AlignLeft
        if option.alignment() != side:
            option.setAlignment(side)
            self.document().setDefaultTextOption(option)

    def _fit_height(self, size: QSizeF) -> None:
        # A plain text document gives its height in lines.
        lines = min(max(int(size.height()), FEWEST_LINES), MOST_LINES)
        self.setFixedHeight(lines * math.ceil(QFontMetricsF(self.font()).lineSpacing()) + 4)

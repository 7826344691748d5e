"""A piece of text in the transcript: as tall as its content, selectable. Only a table that cannot be as narrow as
the view makes it scroll, and only aside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from PySide6.QtCore import QEvent, QSize, QSizeF, Qt, QUrl
from PySide6.QtGui import (
    QColor,
    QDesktopServices,
    QFocusEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QTextBrowser, QTextEdit, QWidget

from app import theme
from app.transcript.markdown import LINK_SCHEMES
from app.widgets.found import found_format, ranges

BY_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)
LONGEST_WORD = 4_000
"""Characters of a word that stay on one line of the layout."""
MOST_MARKS = 500
"""Places in one message that are marked."""
_ENDLESS = re.compile(rf"(\S{{{LONGEST_WORD}}})(?=\S)")


class DocumentView(QTextBrowser):
    """Shows a QTextDocument at its full height. Subclasses fill it and override `redraw` for a new theme.

    It loads nothing from anywhere. A link opens in the browser only when it is pressed, and only http, https or mailto.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setUndoRedoEnabled(False)
        self.setOpenLinks(False)
        self.setTabChangesFocus(True)
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)
        self.document().setDefaultFont(theme.reading_font())
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDefaultTextOption(option)
        self.document().documentLayout().documentSizeChanged.connect(self._fit_height)
        self.anchorClicked.connect(open_link)
        self._worn = theme.current()
        self._needle, self._found = "", 0
        self._is_focus_shown = False
        self.document().contentsChanged.connect(self._mark_places)

    @property
    def marked_top(self) -> int | None:
        """Pixels from the top to the first place that is marked; None where none is."""
        marks = self.extraSelections() if self._found else ()
        return self.cursorRect(marks[0].cursor).top() if marks else None

    def mark(self, needle: str) -> None:
        """Mark every place of `needle` in what is shown; "" none. What is written later is marked, too."""
        self._needle = needle
        self._mark_places()

    def underlined(self) -> Sequence[tuple[int, int]]:
        """The stretches of what is shown that are underlined, as (start, end)."""
        return ()

    def redraw(self) -> None:
        """Fill the document again in the colours of the present theme."""

    def loadResource(self, kind: int, name: QUrl | str) -> None:
        """Nothing is ever loaded: no picture, no style, from no place."""

    def minimumSizeHint(self) -> QSize:
        return QSize(1, 1)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """A frame says where the keyboard is; who pressed the mouse knows."""
        super().focusInEvent(event)
        self._is_focus_shown = event.reason() in BY_KEYBOARD
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._is_focus_shown = False
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._is_focus_shown:
            painter = QPainter(self.viewport())
            painter.setPen(QColor(theme.current().accent))
            painter.drawRect(self.viewport().rect().adjusted(0, 0, -1, -1))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.isVisible():
            self._wear()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._wear()

    def _wear(self) -> None:
        """Be drawn in the colours of the present theme. One that is not in sight waits until it is shown."""
        # Qt sends PaletteChange also when a widget is first shown; only another theme is worth drawing anew.
        if self._worn is not theme.current():
            self._worn = theme.current()
            self.redraw()
            self._mark_places()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_height(self.document().size())

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def _mark_places(self) -> None:
        lines = self.underlined()
        if not (self._needle or lines or self.extraSelections()):
            return
        text = self.document().toRawText() if self._needle else ""
        found = [self._marked(*place, found_format()) for place in islice(ranges(text, self._needle), MOST_MARKS)]
        self._found = len(found)
        self.setExtraSelections([*found, *(self._marked(*place, _line_format()) for place in lines)])

    def _marked(self, start: int, end: int, form: QTextCharFormat) -> QTextEdit.ExtraSelection:
        mark = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.document())
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        mark.cursor, mark.format = cursor, form  # type: ignore[attr-defined]
        return mark

    def _fit_height(self, size: QSizeF) -> None:
        height = max(1, round(size.height() + 0.49))
        policy, bar = Qt.ScrollBarPolicy.ScrollBarAlwaysOff, self.horizontalScrollBar()
        if size.width() > self.width() + 1:  # a table of so many columns that they cannot be narrower
            policy, height = Qt.ScrollBarPolicy.ScrollBarAlwaysOn, height + bar.sizeHint().height()
        if policy != self.horizontalScrollBarPolicy():
            self.setHorizontalScrollBarPolicy(policy)
        if height != self.minimumHeight():
            self.setFixedHeight(height)


def _line_format() -> QTextCharFormat:
    """A quiet line below words."""
    form = QTextCharFormat()
    form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
    form.setUnderlineColor(QColor(theme.current().accent))
    return form


def with_breaks(text: str) -> str:
    """The text with a line break in every word of more than LONGEST_WORD characters, because laying out a word takes
    time by the square of its length. Copying a message gives the text without these breaks."""
    return _ENDLESS.sub(r"\1\n", text)


def open_link(url: QUrl) -> None:
    """Open a pressed link in the browser, when it is one a conversation may hold."""
    if url.toString().lower().startswith(LINK_SCHEMES):
        QDesktopServices.openUrl(url)

"""A question's text: plain, with its line breaks, in a bubble as wide as it needs to be."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QTextBlockFormat, QTextCursor
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app import theme
from app.language import tr
from app.transcript.block_writer import LINE_DISTANCE
from app.transcript.document_view import DocumentView, with_breaks

PADDING = 14
SHORT_LINES, SHORT_CHARACTERS = 24, 3_000
"""What is shown of a question that is longer than twice this, until all of it is asked for."""
WIDEST_LINE = 2_000
"""So many characters are wider than any window."""


class PlainView(DocumentView):
    """Text exactly as it was typed: nothing in it is markup."""

    def set_text(self, text: str) -> None:
        """Show this text."""
        self.setPlainText(with_breaks(text))
        whole = QTextCursor(self.document())
        whole.select(QTextCursor.SelectionType.Document)
        form = QTextBlockFormat()
        form.setLineHeight(LINE_DISTANCE, QTextBlockFormat.LineHeightTypes.LineDistanceHeight.value)
        whole.setBlockFormat(form)

    def natural_width(self) -> int:
        """How wide it would be without wrapping, in pixels."""
        metrics = QFontMetrics(theme.reading_font())
        lines = self.toPlainText().split("\n")
        return max(metrics.horizontalAdvance(line[:WIDEST_LINE].expandtabs(10)) for line in lines) + 2


class QuestionView(QWidget):
    """The bubble. A very long text is cut short, with a button that shows all of it. Signals: grown() when it does."""

    grown = Signal()

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = text
        self.view = PlainView(self)
        self.view.setAccessibleName(tr("Question"))
        self.show_all = QPushButton(how_much(text), self)
        self.show_all.setObjectName("link")
        self.show_all.clicked.connect(self.show_whole)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        column = QVBoxLayout(self)
        column.setContentsMargins(PADDING, 9, PADDING, 6)
        column.addWidget(self.view)
        column.addWidget(self.show_all, 0, Qt.AlignmentFlag.AlignLeft)
        short = shortened(text)
        self.show_all.setVisible(short != text)
        self._show(short)

    def _show(self, text: str) -> None:
        self.view.set_text(text)
        self._width = self.view.natural_width()
        self.updateGeometry()

    def show_whole(self) -> None:
        """Show what was left out of a long text."""
        if self.show_all.isHidden():
            return
        self.show_all.hide()
        self._show(self.text)
        self.grown.emit()

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(self._width + 2 * PADDING, hint.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.current().bubble))
        painter.drawRoundedRect(QRectF(self.rect()), 10, 10)


def how_much(text: str) -> str:
    """What the button says that shows all of a long text."""
    lines = text.count("\n") + 1
    return (
        tr("Show all {lines:,} lines", lines=lines)
        if lines > SHORT_LINES
        else tr("Show all {count:,} characters", count=len(text))
    )


def shortened(text: str) -> str:
    """The beginning of a very long text, and any other text as it is."""
    head = "\n".join(text.split("\n", SHORT_LINES)[:SHORT_LINES])
    if text.count("\n") < 2 * SHORT_LINES:
        head = text
    return head[:SHORT_CHARACTERS] if len(head) > 2 * SHORT_CHARACTERS else head

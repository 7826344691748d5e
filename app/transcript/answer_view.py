"""An answer's text: Markdown that is drawn as it is written, with a Copy button on every code block."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QElapsedTimer, QEvent, QMimeData, QRectF, QSizeF, Qt, QTimer
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent, QResizeEvent, QTextBlock, QTextCursor
from PySide6.QtWidgets import QToolButton, QWidget

from app import theme
from app.language import tr
from app.transcript.block_writer import (
    CODE_HEADER,
    CODE_PADDING,
    CODE_PROPERTY,
    INDENT,
    LANGUAGE_PROPERTY,
    QUOTE_INDENT,
    QUOTE_PROPERTY,
    BlockWriter,
    Tone,
)
from app.transcript.document_view import DocumentView
from app.transcript.formula import FORMULA_OBJECT, FormulaPainter, draw, with_sources
from app.transcript.markdown import Block, MarkdownStream
from app.transcript.selection import selected_text
from app.transcript.written_ahead import Stretch, drawn_stretches
from app.widgets.icons import icon
from app.widgets.work import Work

MOST_BUTTONS = 200
"""Code blocks of one answer that get a Copy button; no sensible answer has more."""
MARGIN = CODE_HEADER + CODE_PADDING
"""Pixels a block is painted beyond its own text."""
COST_SHARE = 4
"""After a redraw that took t milliseconds the next one waits COST_SHARE * t, so that writing takes a fifth at most."""
CHEAP_MS = 8
"""A redraw up to this long is not followed by any wait."""
LONGEST_PIECE = 20_000
MOST_CELLS = 400
"""Characters, and cells of tables (a line may be one), that are drawn at once."""


class AnswerView(DocumentView):
    """Takes text in pieces and redraws only the blocks that can still change.

    `text` is what was given, letter by letter. Pieces that arrive faster than they can be drawn are drawn together.
    `tone` is the colour of the text.
    """

    def __init__(self, parent: QWidget | None = None, tone: Tone = "text") -> None:
        super().__init__(parent)
        self.text = ""
        self._ahead: tuple[Stretch, ...] = ()
        self._tone: Tone = tone
        self.setAccessibleName(tr("Answer"))
        self.document().setIndentWidth(INDENT)
        self._buttons: list[QToolButton] = []
        self._pending = ""
        self._stream = MarkdownStream()
        self._tail: tuple[Block, ...] = ()
        self._drawing: Work | None = None
        self._formulas = FormulaPainter(self)
        self.document().documentLayout().registerHandler(FORMULA_OBJECT, self._formulas)
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.timeout.connect(self.flush)
        self._begin()
        self.document().documentLayout().documentSizeChanged.connect(self._place_buttons)

    def append(self, text: str) -> None:
        """Show more of the answer: at once, or after the wait that follows a redraw which took long."""
        self.text += text
        self._pending += text
        if not self._wait.isActive():
            self.flush()

    def set_text(self, text: str) -> None:
        """Show this text in place of what is there."""
        self.text = text
        self.redraw()

    def underline(self, stretches: tuple[Stretch, ...]) -> None:
        """Underline these stretches of the text, as (start, end) in characters; none with ()."""
        if stretches != self._ahead:
            self._ahead = stretches
            self._mark_places()

    def underlined(self) -> Sequence[Stretch]:
        return drawn_stretches(self.text, self.document().toRawText(), self._ahead) if self._ahead else ()

    def flush(self) -> None:
        """Draw what waits, or as much of it as can be drawn in a moment; a timer draws the rest."""
        self._wait.stop()
        if not self._pending:
            return
        clock = QElapsedTimer()
        clock.start()
        end = piece_end(self._pending, self._stream.open_length)
        update = self._stream.append(self._pending[:end])
        self._pending = self._pending[end:]
        if update.closed or not self._grow_tail(update.tail):
            self._rewrite_tail(update.closed, update.tail)
        if self._pending:
            self._wait.start(0)
        elif clock.elapsed() > CHEAP_MS:
            self._wait.start(COST_SHARE * clock.elapsed())

    def settle(self) -> None:
        """No more text comes: draw what waits. A timer draws the rest of a very long text, piece by piece."""
        self.flush()
        if not self._pending:
            self._wait.stop()

    def stop(self) -> None:
        """Draw no more."""
        self._wait.stop()
        self._pending = ""
        if self._drawing:
            self._drawing.stop()

    def redraw(self) -> None:
        self._begin()
        self._pending = self.text
        self.settle()

    def createMimeDataFromSelection(self) -> QMimeData:
        """All of it as the model wrote it, a part of it with the marks of lists, tables, quotes and code."""
        chosen, copied = self.textCursor(), QMimeData()
        is_all = chosen.selectionStart() == 0 and chosen.selectionEnd() >= self.document().characterCount() - 1
        copied.setText(self.text if is_all else with_sources(selected_text(chosen), chosen))
        return copied

    def _begin(self) -> None:
        self._pending = ""
        self._stream, self._tail = MarkdownStream(), ()
        self.document().clear()
        self._writer = BlockWriter(QTextCursor(self.document()), self._tone)
        self._mark = self._writer.mark()

    def _grow_tail(self, tail: tuple[Block, ...]) -> bool:
        """Draw no more than the words that came, which is what most pieces bring. False where they changed more."""
        chosen = self.textCursor()
        anchor, position = chosen.anchor(), chosen.position()
        is_grown = self._writer.write_more(self._tail, tail)
        if is_grown:
            self._tail = tail
            self._select_again(anchor, position)
        return is_grown

    def _rewrite_tail(self, closed: tuple[Block, ...], tail: tuple[Block, ...]) -> None:
        chosen = self.textCursor()
        anchor, position = chosen.anchor(), chosen.position()
        edit = QTextCursor(self.document())
        edit.beginEditBlock()
        self._writer.rewind(self._mark)
        for block in closed:
            self._writer.write(block)
        if closed:
            self._mark = self._writer.mark()
        for block in tail:
            self._writer.write(block)
        edit.endEditBlock()
        self._tail = tail
        self._select_again(anchor, position)
        self._place_buttons()
        self._draw_formulas()

    def _draw_formulas(self) -> None:
        """Have the formulas drawn that nobody has drawn yet, and then exchange their TeX for the drawings."""
        wanted = set(self._writer.undrawn.values())
        if wanted and self._drawing is None:
            self._drawing = Work(lambda say: draw(wanted), self)
            self._drawing.done.connect(self._show_formulas)
            self._drawing.start()

    def _show_formulas(self) -> None:
        self._drawing = None
        if all(place >= self._mark for place in self._writer.undrawn):
            self._rewrite_tail((), self._tail)
        else:
            self.redraw()

    def _select_again(self, anchor: int, position: int) -> None:
        if anchor == position:
            return
        last = self.document().characterCount() - 1
        chosen = self.textCursor()
        chosen.setPosition(min(anchor, last))
        chosen.setPosition(min(position, last), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(chosen)

    def _place_buttons(self) -> None:
        codes = self._writer.codes[:MOST_BUTTONS]
        while len(self._buttons) < len(codes):
            self._buttons.append(self._new_button(len(self._buttons)))
        for number, button in enumerate(self._buttons):
            button.setVisible(number < len(codes))
            if number < len(codes):
                box = self._code_box(self.document().findBlock(codes[number].position))
                button.move(int(box.right()) - button.width() - 4, int(box.top()) + 4)

    def _new_button(self, number: int) -> QToolButton:
        button = QToolButton(self.viewport())
        button.setObjectName("quiet")
        button.setText(tr("Copy"))
        button.setIcon(icon("copy"))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setAccessibleName(tr("Copy this code"))
        button.setCursor(Qt.CursorShape.ArrowCursor)
        button.clicked.connect(lambda: self._copy_code(number))
        button.ensurePolished()
        button.setFixedSize(button.sizeHint().width(), 24)
        QWidget.setTabOrder(self._buttons[-1] if self._buttons else self, button)
        return button

    def _copy_code(self, number: int) -> None:
        QGuiApplication.clipboard().setText(self._writer.codes[number].text)
        self._buttons[number].setText(tr("Copied"))

    def _fit_height(self, size: QSizeF) -> None:
        """Qt counts the height up to the last line of text; the box around a code block goes on below it."""
        is_code = bool(self.document().lastBlock().blockFormat().property(CODE_PROPERTY))
        super()._fit_height(QSizeF(size.width(), size.height() + (CODE_PADDING if is_code else 0)))

    def _code_box(self, block: QTextBlock) -> QRectF:
        text = self.document().documentLayout().blockBoundingRect(block)
        left = block.blockFormat().leftMargin() - CODE_PADDING + INDENT * block.blockFormat().indent()
        width = self.document().textWidth() - left
        return QRectF(left, text.top() - CODE_HEADER, width, text.height() + CODE_HEADER + CODE_PADDING)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_buttons()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        for button in self._buttons:
            button.setText(tr("Copy"))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._writer.has_ground:
            self._paint_grounds(event)
        super().paintEvent(event)

    def _paint_grounds(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = event.rect().adjusted(0, -MARGIN, 0, MARGIN)
        block = self.cursorForPosition(area.topLeft()).block()
        while block.isValid() and self.document().documentLayout().blockBoundingRect(block).top() <= area.bottom():
            self._paint_behind(painter, block, event.rect())
            block = block.next()
        painter.end()

    def _paint_behind(self, painter: QPainter, block: QTextBlock, area) -> None:
        form = block.blockFormat()
        quotes = int(form.property(QUOTE_PROPERTY) or 0)
        is_code = bool(form.property(CODE_PROPERTY))
        if not quotes and not is_code:
            return
        box = self._code_box(block) if is_code else self._text_box(block)
        if not box.toAlignedRect().intersects(area):
            return
        for number in range(quotes):
            bar = QRectF(QUOTE_INDENT * number, box.top(), 3, box.height())
            painter.fillRect(bar, QColor(theme.current().edge))
        if is_code:
            self._paint_code_box(painter, box, str(form.property(LANGUAGE_PROPERTY) or ""))

    def _text_box(self, block: QTextBlock) -> QRectF:
        """The block with the gap above it, when the block before stands in the same quote."""
        box = self.document().documentLayout().blockBoundingRect(block)
        before = block.previous()
        if before.isValid() and before.blockFormat().property(QUOTE_PROPERTY):
            box.setTop(self.document().documentLayout().blockBoundingRect(before).bottom())
        return box

    def _paint_code_box(self, painter: QPainter, box: QRectF, language: str) -> None:
        colours = theme.current()
        painter.setPen(QColor(colours.line))
        painter.setBrush(QColor(colours.code))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setPen(QColor(colours.soft))
        painter.setFont(theme.text_font(theme.SMALL))
        label = QRectF(box.left() + CODE_PADDING, box.top() + 4, box.width() / 2, 24)
        painter.drawText(label, Qt.AlignmentFlag.AlignVCenter, language)


def piece_end(text: str, open_length: int) -> int:
    """How many characters of a text to draw at once. Tables take long to lay out, so that a piece holds few cells. But
    it is never shorter than the `open_length` characters that are drawn again with it: otherwise a block that stays
    open to the end would be drawn too often."""
    end = LONGEST_PIECE
    while text.count("|", 0, end) + text.count("\n", 0, end) > MOST_CELLS and end > 1:
        end //= 2
    return max(end, open_length)

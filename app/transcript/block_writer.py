"""Writes Markdown blocks into a QTextDocument: formats and distances, nothing is parsed and no HTML is involved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextListFormat,
    QTextTableFormat,
)

from app import theme
from app.transcript.document_view import with_breaks
from app.transcript.formula import OBJECT, Drawing, draw_at_once, drawing, formula_format
from app.transcript.highlight import coloured
from app.transcript.markdown import Align, Block, Run
from app.widgets.plain import tool_tip

INDENT = 24
"""Pixels a list stands to the right of what is around it."""
QUOTE_INDENT = 16
"""Pixels a quote stands to the right, with its bar at the left end of them."""
CODE_PADDING = 12
CODE_HEADER = 32
"""Pixels above the code inside its box, for the language and the Copy button."""
LINE_DISTANCE = 5
"""Pixels added between two lines of text."""
MOST_AT_ONCE = 5
"""Formulas that are drawn before the window goes on; one takes some milliseconds."""
LINE_BREAK = "\u2028"
HEADINGS = {1: 20, 2: 17, 3: 15}
"""Pixels of the type of headings, by level; deeper ones are as large as text."""

QUOTE_PROPERTY = QTextFormat.Property.UserProperty + 1
CODE_PROPERTY = QTextFormat.Property.UserProperty + 2
LANGUAGE_PROPERTY = QTextFormat.Property.UserProperty + 3
"""Block properties the view paints by: how many quotes are around a block, whether it is code, and in which language.
A property that would be "" is not set: it would come back as another type."""

_ALIGN = {
    "start": Qt.AlignmentFlag.AlignLeft,
    "center": Qt.AlignmentFlag.AlignHCenter,
    "end": Qt.AlignmentFlag.AlignRight,
}

_BOXES = {"☐": QTextBlockFormat.MarkerType.Unchecked, "☑": QTextBlockFormat.MarkerType.Checked}

Tone = Literal["text", "soft"]


@dataclass(frozen=True, slots=True)
class WrittenCode:
    """A code block in the document: where its text starts, and the code for its Copy button."""

    position: int
    text: str


class BlockWriter:
    """Appends blocks at the end of a document and can go back to where a block began. `tone` is the colour of text.

    Attributes: codes, the code blocks that are written; undrawn, the formulas that stand there as TeX because nobody
    has drawn them yet, by the place where each begins: TeX, and whether it stands by itself; has_ground, whether any
    block has something painted behind it: it is code, or stands in a quote.
    """

    def __init__(self, cursor: QTextCursor, tone: Tone = "text") -> None:
        self._cursor = cursor
        self._colour = str(getattr(theme.current(), tone))
        self._fresh = True
        self._after_list = False
        self.has_ground = False
        self._drawn_at_once = 0  # formulas, since the tail was written
        self.codes: list[WrittenCode] = []
        self.undrawn: dict[int, tuple[str, bool]] = {}

    def mark(self) -> int:
        """Where the next block will begin. `rewind` takes this to remove everything from there on."""
        if not self._fresh:
            self._cursor.insertBlock(QTextBlockFormat(), QTextCharFormat())
            self._fresh = True
        return self._cursor.position()

    def rewind(self, mark: int) -> None:
        """Remove all blocks written since `mark`."""
        self._cursor.setPosition(mark)
        self._cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        self._cursor.removeSelectedText()
        if self._cursor.currentList() is not None:
            self._cursor.currentList().remove(self._cursor.block())
        self._fresh = True
        self._drawn_at_once = 0
        self.codes = [code for code in self.codes if code.position < mark]
        self.undrawn = {place: formula for place, formula in self.undrawn.items() if place < mark}

    def write(self, block: Block) -> None:
        """Append one block."""
        self.mark()
        self._fresh = False
        self.has_ground |= block.kind == "code" or block.quote > 0
        form = self._block_format(block)
        if self._cursor.position() == 0:
            self._leave_room_above(CODE_HEADER if block.kind == "code" else 0)
        self._cursor.setBlockFormat(form)
        self._cursor.setBlockCharFormat(_char_format(Run(""), self._colour))
        if block.marker:
            self._cursor.createList(_list_format(block))
        match block.kind:
            case "code":
                self._write_code(block)
            case "table":
                self._write_table(block)
            case "rule":
                pass
            case _:
                self._write_runs(block.runs, bold=block.kind == "heading", size=HEADINGS.get(block.level, theme.BODY))
        self._after_list = block.depth > 0

    def _leave_room_above(self, height: int) -> None:
        """Qt ignores the top margin of the first block, so that the frame around all blocks keeps this room."""
        root = self._cursor.document().rootFrame()
        form = root.frameFormat()
        if form.topMargin() != height:
            form.setTopMargin(height)
            root.setFrameFormat(form)

    def _block_format(self, block: Block) -> QTextBlockFormat:
        form = QTextBlockFormat()
        first = self._cursor.position() == 0
        form.setTopMargin(0 if first else self._gap_above(block))
        form.setLineHeight(LINE_DISTANCE, QTextBlockFormat.LineHeightTypes.LineDistanceHeight.value)
        form.setLeftMargin(QUOTE_INDENT * block.quote)
        if not block.marker:
            form.setIndent(block.depth)
        if block.marker in _BOXES:
            form.setMarker(_BOXES[block.marker])
        if len(block.runs) == 1 and block.runs[0].display:
            form.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        if block.quote:
            form.setProperty(QUOTE_PROPERTY, block.quote)
        if block.kind == "code":
            form.setProperty(CODE_PROPERTY, True)
            if block.language:
                form.setProperty(LANGUAGE_PROPERTY, block.language)
            form.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
            form.setTopMargin(form.topMargin() + CODE_HEADER)
            form.setBottomMargin(CODE_PADDING + 8)
            form.setLeftMargin(form.leftMargin() + CODE_PADDING)
            form.setRightMargin(CODE_PADDING)
            form.setLineHeight(4, QTextBlockFormat.LineHeightTypes.LineDistanceHeight.value)
        if block.kind == "rule":
            form.setProperty(
                QTextFormat.Property.BlockTrailingHorizontalRulerWidth,
                QTextLength(QTextLength.Type.PercentageLength, 100),
            )
            form.setBackground(QBrush(QColor(theme.current().line)))
        return form

    def _gap_above(self, block: Block) -> int:
        if block.depth and self._after_list:
            return 4
        return 16 if block.kind == "heading" else 8

    def _write_runs(self, runs: tuple[Run, ...], bold: bool, size: int = theme.BODY) -> None:
        for run in runs:
            if run.formula and self._write_formula(run):
                continue
            form = _char_format(run, self._colour)
            if bold:
                form.setFontWeight(QFont.Weight.DemiBold)
            if size != theme.BODY:
                form.setProperty(QTextFormat.Property.FontPixelSize, theme.reading(size))
            self._cursor.insertText(_shown(run.text), form)

    def write_more(self, old: Sequence[Block], new: Sequence[Block]) -> bool:
        """Write only what a piece of text added to the end of these blocks, which were written last. False where it
        changed more than that: then nothing is written."""
        added = _added(old, new)
        if added:
            self._cursor.insertText(added, self._cursor.charFormat())
        return added is not None

    def _write_formula(self, run: Run) -> bool:
        """Write the drawing of a formula. False where there is none, now or ever: it is text then."""
        try:
            is_drawn = self._drawing(run) is not None
        except KeyError:
            self.undrawn[self._cursor.position()] = (run.formula, run.display)
            return False
        if is_drawn:
            form = formula_format(run.formula, run.display, run.text, self._colour)
            self._cursor.insertText(OBJECT, form)
        return is_drawn

    def _drawing(self, run: Run) -> Drawing | None:
        """The drawing of a formula; a few that nobody has drawn yet are drawn now. Raises KeyError for the others."""
        try:
            return drawing(run.formula, run.display)
        except KeyError:
            self._drawn_at_once += 1
            if self._drawn_at_once > MOST_AT_ONCE or not draw_at_once(run.formula, run.display):
                raise
            return drawing(run.formula, run.display)

    def _write_code(self, block: Block) -> None:
        self.codes.append(WrittenCode(self._cursor.position(), block.text))
        for text, form in coloured(block.text, block.language, self._colour):
            self._cursor.insertText(with_breaks(text).replace("\n", LINE_BREAK), form)

    def _write_table(self, block: Block) -> None:
        columns = max(len(row) for row in block.rows)
        table = self._cursor.insertTable(len(block.rows), columns, _table_format(block))
        for row_number, row in enumerate(block.rows):
            for column, runs in enumerate(row):
                align = block.aligns[column] if column < len(block.aligns) else "start"
                self._cursor = table.cellAt(row_number, column).firstCursorPosition()
                self._write_cell(runs, align, is_head=row_number == 0 and not block.continued)
        self._cursor.movePosition(QTextCursor.MoveOperation.End)
        self._fresh = True  # behind a table there is an empty block

    def _write_cell(self, runs: tuple[Run, ...], align: Align, is_head: bool) -> None:
        form = QTextBlockFormat()
        form.setAlignment(_ALIGN[align])
        self._cursor.setBlockFormat(form)
        self._write_runs(runs, bold=is_head)


def _shown(text: str) -> str:
    return with_breaks(text).replace("\n", LINE_BREAK)


def _added(old: Sequence[Block], new: Sequence[Block]) -> str | None:
    """What stands behind the text of the old blocks in the new ones; None where they differ in anything else."""
    if not old or len(old) != len(new) or tuple(old[:-1]) != tuple(new[:-1]) or not (old[-1].runs and new[-1].runs):
        return None
    (*before, last), (*after, grown) = old[-1].runs, new[-1].runs
    is_alike = before == after and replace(last, text=grown.text) == grown and not grown.formula
    said, says = _shown(last.text), _shown(grown.text)
    if not is_alike or replace(old[-1], runs=new[-1].runs) != new[-1] or not (said and says.startswith(said)):
        return None
    return says[len(said) :]


def _char_format(run: Run, colour: str) -> QTextCharFormat:
    colours = theme.current()
    form = QTextCharFormat()
    form.setForeground(QColor(colour))
    is_code = run.code or run.formula
    form.setFont(theme.code_font(theme.reading(theme.SMALL)) if is_code else theme.reading_font(bold=run.bold))
    form.setFontItalic(run.italic)
    form.setFontStrikeOut(run.strike)
    if run.raised:
        form.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignSuperScript)
    if run.code:
        form.setBackground(QColor(colours.bubble))
    if run.href:
        form.setAnchor(True)
        form.setAnchorHref(run.href)
        form.setForeground(QColor(colours.accent))
        form.setFontUnderline(True)
        form.setToolTip(tool_tip(run.href))
    return form


def _list_format(block: Block) -> QTextListFormat:
    form = QTextListFormat()
    form.setIndent(block.depth)
    if block.marker == "•" or block.marker in _BOXES:
        circle, disc = QTextListFormat.Style.ListCircle, QTextListFormat.Style.ListDisc
        form.setStyle(disc if block.depth % 2 else circle)
    else:
        form.setStyle(QTextListFormat.Style.ListDecimal)
        form.setStart(int(block.marker[:-1]))
        form.setNumberSuffix(block.marker[-1])
    return form


def _table_format(block: Block) -> QTextTableFormat:
    form = QTextTableFormat()
    form.setTopMargin(8)
    form.setBottomMargin(8)
    form.setLeftMargin(QUOTE_INDENT * block.quote + INDENT * block.depth)
    form.setCellPadding(6)
    form.setCellSpacing(0)
    form.setBorder(1)
    form.setBorderCollapse(True)
    form.setBorderBrush(QBrush(QColor(theme.current().line)))
    form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    if not block.continued:
        form.setHeaderRowCount(1)
    if block.widths:
        _make_part(form, block)
    return form


def _make_part(form: QTextTableFormat, block: Block) -> None:
    """Let the parts of a long table stand under each other as one."""
    percentage, whole = QTextLength.Type.PercentageLength, sum(block.widths)
    form.setWidth(QTextLength(percentage, 100))
    form.setColumnWidthConstraints([QTextLength(percentage, 100 * width / whole) for width in block.widths])
    form.setBottomMargin(0)
    if block.continued:
        form.setTopMargin(-1)

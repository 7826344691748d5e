"""A selected part of an answer as text: list markers, cells of tables and the marks of quotes and code stay, as
Markdown has them, so that what is pasted elsewhere reads like what was seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from PySide6.QtGui import QTextBlock, QTextBlockFormat, QTextCursor, QTextListFormat, QTextTable

from app.transcript.block_writer import CODE_PROPERTY, LANGUAGE_PROPERTY, LINE_BREAK, QUOTE_PROPERTY

INDENT = "    "
"""For each list that another stands in; as far as a number of two digits needs."""
_BULLETS = (QTextListFormat.Style.ListDisc, QTextListFormat.Style.ListCircle, QTextListFormat.Style.ListSquare)
_BOX_OF = {QTextBlockFormat.MarkerType.Unchecked: "[ ] ", QTextBlockFormat.MarkerType.Checked: "[x] "}


def selected_text(cursor: QTextCursor) -> str:
    """What is selected. A single paragraph, cell or piece of code comes as it stands, without any mark."""
    if cursor.hasComplexSelection():
        return _chosen_cells(cursor)
    blocks = [block for block in _blocks(cursor) if _table_of(block) or block.length() > 1]
    if len(blocks) == 1:
        return _part(blocks[0], cursor)
    text, was_tight = "", False
    for table, group in groupby(blocks, _table_of):
        is_tight = False
        if table is not None:
            text += "\n\n" + _rows(table, list(group), cursor)
        for block in () if table is not None else group:
            is_tight = block.textList() is not None
            text += "\n" if is_tight and was_tight else "\n\n"
            text += _with_marks(block, _part(block, cursor), cursor.selectionStart() <= block.position())
            was_tight = is_tight
        was_tight = is_tight
    return text.strip("\n")


def _table_of(block: QTextBlock) -> QTextTable | None:
    return QTextCursor(block).currentTable()


def _rows(table: QTextTable, blocks: Sequence[QTextBlock], cursor: QTextCursor) -> str:
    """The cells of some blocks, row by row."""
    rows: dict[int, list[str]] = {}
    for block in blocks:
        rows.setdefault(table.cellAt(block.position()).row(), []).append(_part(block, cursor))
    return _as_table(table, rows)


def _chosen_cells(cursor: QTextCursor) -> str:
    """The cells of a table that are selected as a rectangle."""
    table = cursor.currentTable()
    box: Any = cursor.selectedTableCells()  # type: ignore[call-arg, func-returns-value]
    first_row, row_count, first, count = box
    rows = {
        row: [table.cellAt(row, column).firstCursorPosition().block().text() for column in range(first, first + count)]
        for row in range(first_row, first_row + row_count)
    }
    return _as_table(table, rows)


def _as_table(table: QTextTable, rows: Mapping[int, Sequence[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |".replace(LINE_BREAK, " ").replace("\n", " ") for cells in rows.values()]
    if 0 in rows and len(rows) > 1 and table.format().headerRowCount():
        lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines)


def _blocks(cursor: QTextCursor) -> Iterator[QTextBlock]:
    block = cursor.document().findBlock(cursor.selectionStart())
    while block.isValid() and block.position() <= cursor.selectionEnd():
        if block.position() < cursor.selectionEnd() or block.length() == 1:
            yield block
        block = block.next()


def _part(block: QTextBlock, cursor: QTextCursor) -> str:
    """What is selected of one block."""
    part = QTextCursor(block)
    part.setPosition(max(block.position(), cursor.selectionStart()))
    end = min(block.position() + block.length() - 1, cursor.selectionEnd())
    part.setPosition(max(part.position(), end), QTextCursor.MoveMode.KeepAnchor)
    return part.selectedText().replace(LINE_BREAK, "\n")


def _with_marks(block: QTextBlock, text: str, is_from_start: bool) -> str:
    """The text of a block behind the marks of what it stands in; of an item that is selected from its middle, none."""
    form, listed = block.blockFormat(), block.textList()
    marker, depth = "", form.indent()
    if listed is not None:
        marker, depth = _marker(block) if is_from_start else "", listed.format().indent() - 1
    if form.property(CODE_PROPERTY):
        text = f"```{form.property(LANGUAGE_PROPERTY) or ''}\n{text}\n```"
    outer, lines = INDENT * depth, text.split("\n")
    first, inner = outer + marker + lines[0], outer + " " * len(marker)
    quote = "> " * int(form.property(QUOTE_PROPERTY) or 0)
    return "\n".join(quote + line for line in [first, *(inner + line for line in lines[1:])])


def _marker(block: QTextBlock) -> str:
    listed = block.textList().format()
    if listed.style() not in _BULLETS:
        return f"{listed.start()}{listed.numberSuffix()} "
    return f"- {_BOX_OF.get(block.blockFormat().marker(), '')}"

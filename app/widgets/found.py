"""How what is searched for is marked, wherever it stands: in the list of conversations and in messages."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtGui import QColor, QTextCharFormat

from app import theme
from app.matching import spans


def found_format() -> QTextCharFormat:
    """The look of what was found, in the colours of the present theme."""
    form = QTextCharFormat()
    form.setBackground(QColor(theme.current().found))
    form.setForeground(QColor(theme.current().text))
    return form


def ranges(text: str, needle: str) -> Iterator[tuple[int, int]]:
    """Every place of `needle` in `text`, as Qt counts: in UTF-16 units, which are two for some characters."""
    read = units = 0
    for start, end in spans(text, needle):
        units, read = units + _units(text[read:start]), start
        yield units, units + _units(text[start:end])


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2

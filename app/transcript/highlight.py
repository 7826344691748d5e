"""Code in colour: pygments' tokens as QTextCharFormats of the present theme."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound
from PySide6.QtGui import QColor, QTextCharFormat

from app import theme

HIGHLIGHT_LIMIT = 20_000
"""Characters up to which code is coloured; longer code is shown in one colour."""

_COLOURS = (
    (Comment, "code_comment"),
    (String, "code_string"),
    (Number, "code_number"),
    (Keyword, "code_keyword"),
    (Operator.Word, "code_keyword"),
    (Name.Function, "code_name"),
    (Name.Class, "code_name"),
    (Name.Tag, "code_name"),
    (Name.Builtin, "code_name"),
    (Name.Decorator, "code_name"),
)


def coloured(code: str, language: str, colour: str) -> Iterator[tuple[str, QTextCharFormat]]:
    """The code in stretches of one format, plain ones in `colour`. All stretches joined are the code itself."""
    plain = _format(colour)
    lexer = _lexer(language)
    if lexer is None or len(code) > HIGHLIGHT_LIMIT:
        yield code, plain
        return
    for kind, text in lexer.get_tokens(code):
        yield text, _format_of(kind) or plain


def _format_of(kind: _TokenType) -> QTextCharFormat | None:
    for group, name in _COLOURS:
        if kind in group:
            return _format(getattr(theme.current(), name))
    return None


def _format(colour: str) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setFont(theme.code_font(theme.reading(theme.SMALL)))
    made.setForeground(QColor(colour))
    return made


@lru_cache(maxsize=32)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False) if language else None
    except ClassNotFound:
        return None

"""Formulas in TeX as drawings: ziamath makes them, a QTextDocument holds each as one character.

What one takes is some milliseconds, and the first a fifth of a second for the library and its font. Once that is
loaded, a view draws a few at once; the first, and many of them, it has drawn on a thread, and shows the TeX until then.
A formula that cannot be drawn stays TeX.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from xml.etree import ElementTree

from PySide6.QtCore import QByteArray, QRect, QRectF, QSizeF
from PySide6.QtGui import (
    QFontMetrics,
    QPainter,
    QPyTextObject,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtSvg import QSvgRenderer

from app import theme

FORMULA_OBJECT = QTextFormat.ObjectTypes.UserObject + 1
TEX_PROPERTY = QTextFormat.Property.UserProperty + 11
DISPLAY_PROPERTY = QTextFormat.Property.UserProperty + 12
SOURCE_PROPERTY = QTextFormat.Property.UserProperty + 13
COLOUR_PROPERTY = QTextFormat.Property.UserProperty + 14
"""Of the character that stands for a formula: its TeX, whether it stands by itself, the text it was written as with the
marks around it, and its colour."""
OBJECT = "\ufffc"
"""The character itself."""
INK = "#010203"
"""The colour drawings are made in; it is exchanged for that of the text when they are shown."""
TYPE_SIZE = 1.15
"""How large formulas are beside text. The letters of their font are smaller than those of most others."""
MOST_DRAWINGS = 2_000
"""Drawings that are kept; one takes about 10 kB."""

_UNKNOWN_COMMAND = re.compile(r"\\[A-Za-z]+")
_lock = threading.Lock()
_drawn: dict[tuple[str, bool], Drawing | None] = {}


@dataclass(frozen=True, slots=True)
class Drawing:
    """A formula as SVG in INK, and its size in pixels, above and below the line the text around it stands on."""

    svg: str
    width: float
    ascent: float
    descent: float


def drawing(tex: str, display: bool) -> Drawing | None:
    """The drawing of a formula that was drawn before; None for one that cannot be drawn. Raises KeyError for others."""
    return _drawn[tex, display]


def draw(formulas: Collection[tuple[str, bool]]) -> None:
    """Draw these formulas, each TeX and whether it stands by itself, and keep the drawings. May run on any thread."""
    with _lock:
        for tex, display in formulas:
            _drawn[tex, display] = _draw(tex, display)
        for oldest in list(_drawn)[: max(0, len(_drawn) - MOST_DRAWINGS)]:
            del _drawn[oldest]


def draw_at_once(tex: str, display: bool) -> bool:
    """Draw one formula and keep the drawing, where that takes some milliseconds only: the library is loaded, and no
    thread draws. Whether that was done."""
    if "ziamath" not in sys.modules or not _lock.acquire(blocking=False):
        return False
    try:
        _drawn[tex, display] = _draw(tex, display)
    finally:
        _lock.release()
    return True


def _draw(tex: str, display: bool) -> Drawing | None:
    """One formula. Whatever the libraries raise (KeyError, AssertionError, StopIteration, …) says that it is none; a
    command they do not know they write out as it stands, which is no drawing of it either."""
    import ziamath
    from ziamath.tex import tex2mml

    ziamath.config.svg2 = False  # Qt draws paths, and not the references of SVG 2
    try:
        tree = ElementTree.fromstring(tex2mml(tex, inline=not display))
        if any(_UNKNOWN_COMMAND.search(each.text or "") for each in tree.iter()):
            return None
        tree.set("mathcolor", INK)
        made = ziamath.Math(ElementTree.tostring(tree, encoding="unicode"), size=theme.BODY * TYPE_SIZE)
        svg = made.svgxml()
        _, top, width, height = map(float, svg.attrib["viewBox"].split())
        return Drawing(ElementTree.tostring(svg, encoding="unicode"), width, -top, max(0.0, top + height))
    except (Exception, RecursionError):
        return None


def formula_format(tex: str, display: bool, source: str, colour: str) -> QTextCharFormat:
    """The format of the character that stands for a formula which has been drawn."""
    form = QTextCharFormat()
    form.setObjectType(FORMULA_OBJECT)
    form.setFont(theme.reading_font())
    form.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
    form.setProperty(TEX_PROPERTY, tex)
    form.setProperty(DISPLAY_PROPERTY, display)
    form.setProperty(SOURCE_PROPERTY, source)
    form.setProperty(COLOUR_PROPERTY, colour)
    return form


def with_sources(text: str, selection: QTextCursor) -> str:
    """A copied text with what each formula in the selection was written as, in place of the character for it."""
    start, end = selection.selectionStart(), selection.selectionEnd()
    characters = selection.document().toRawText()[start:end]
    places = [start + number for number, each in enumerate(characters) if each == OBJECT]
    walker = QTextCursor(selection.document())
    for place in places:
        walker.setPosition(place + 1)
        text = text.replace(OBJECT, str(walker.charFormat().property(SOURCE_PROPERTY) or ""), 1)
    return text


class FormulaPainter(QPyTextObject):
    """Tells a document how large its formulas are, and paints them. One wider than the text is made smaller.

    Qt centres such a character on a quarter of the height of an "x" above the line, so that it is given room below or
    above until its own line lies on that of the text.
    """

    def intrinsicSize(self, document: QTextDocument, place: int, form: QTextFormat) -> QSizeF:
        found = _of(form)
        scale = _scale(document, found)
        middle = QFontMetrics(theme.reading_font()).xHeight() / 4
        half = max(found.ascent * scale - middle, found.descent * scale + middle)
        return QSizeF(found.width * scale, 2 * half)

    def drawObject(
        self, painter: QPainter, rect: QRectF | QRect, document: QTextDocument, place: int, form: QTextFormat
    ) -> None:
        rect = QRectF(rect)
        found = _of(form)
        scale = rect.width() / found.width
        middle = QFontMetrics(theme.reading_font()).xHeight() / 4
        line = rect.center().y() + middle
        height = (found.ascent + found.descent) * scale
        target = QRectF(rect.left(), line - found.ascent * scale, rect.width(), height)
        _renderer(found.svg, str(form.property(COLOUR_PROPERTY))).render(painter, target)


def _of(form: QTextFormat) -> Drawing:
    key = str(form.property(TEX_PROPERTY)), bool(form.property(DISPLAY_PROPERTY))
    if _drawn.get(key) is None:
        draw([key])  # so many others were drawn since then that it was dropped
    found = _drawn[key]
    assert found is not None, "a formula that could be drawn once can be drawn again"
    return found


def _scale(document: QTextDocument, found: Drawing) -> float:
    room = document.textWidth()
    wanted = theme.reading(100) / 100
    return min(wanted, room / found.width) if room > 0 else wanted


@lru_cache(maxsize=200)
def _renderer(svg: str, colour: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(svg.replace(INK, colour).encode()))

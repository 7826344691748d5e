"""Labels and tool tips that show text as it is. Qt takes what looks like HTML for HTML: `<b>` in a title would
be a command, and `<img>` would show a file of this computer."""

from __future__ import annotations

from html import escape

from PySide6.QtGui import QFontMetrics, Qt
from PySide6.QtWidgets import QLabel, QWidget

from app import theme

LINK_PADDING = 5
"""Pixels between the text of a link button and its edge, of padding and border in resources/style.qss."""


class Label(QLabel):
    """A label whose text is shown letter by letter."""

    def __init__(self, text: str | QWidget | None = None, parent: QWidget | None = None) -> None:
        super().__init__(text if isinstance(text, QWidget) else parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text if isinstance(text, str) else "")


class SoftLabel(Label):
    """A label in small type and a soft colour, for what is said beside something else."""

    def __init__(self, text: str | QWidget | None = None, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setObjectName("soft")
        self.setFont(theme.text_font(theme.SMALL))


def tool_tip(text: str) -> str:
    """What to give to Qt so that a tool tip shows this text."""
    return f'<p style="white-space: pre-wrap">{escape(text)}</p>' if Qt.mightBeRichText(text) else text


def elided(metrics: QFontMetrics, text: str, tail: str, room: int) -> str:
    """`text`, cut in its middle where both do not fit into `room` pixels, and the whole `tail`."""
    space = max(0, room - metrics.horizontalAdvance(tail))
    return metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, space).replace("……", "…") + tail

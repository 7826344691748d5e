"""The one warm box: why a prompt was read again."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from app import theme
from engine import Divergence

QUOTE_LENGTH = 28
"""Characters of the old and of the new text that are shown."""

_CURES = {
    "edited": "Put what changes into the newest message.",
    "date": "A conversation keeps the date it began with; begin a new one for today's.",
    "reasoning removed": "The chat template of this model drops earlier reasoning.",
    "tools": "Keep the tools and their order the same from turn to turn.",
    "trimmed": "The oldest turns were left out to make room in the context.",
    "evicted": "A larger cache budget (in Preferences) keeps more.",
    "other model": "Each model keeps its own cache.",
    "cache off": "The cache is switched off for this conversation.",
}


class DivergenceBox(QWidget):
    """Says where a prompt left what was cached, what changed there, and how many tokens were read again."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title, self._body = QLabel(self), QLabel(self)
        for label, bold in ((self._title, True), (self._body, False)):
            label.setFont(theme.text_font(theme.SMALL, bold))
            label.setWordWrap(True)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 8, 14, 8)
        column.setSpacing(2)
        column.addWidget(self._title)
        column.addWidget(self._body)
        self.hide()

    @property
    def text(self) -> str:
        """Everything the box says."""
        return f"{self._title.text()} {self._body.text()}"

    def show_divergence(self, divergence: Divergence | None, has_system_prompt: bool) -> None:
        """Explain this divergence; hide the box where nothing had to be read again."""
        if divergence is None or divergence.recomputed_tokens <= 0:
            self.hide()
            return
        self._title.setText(title(divergence, has_system_prompt))
        self._body.setText(body(divergence))
        self.setAccessibleName(self.text)
        self.show()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(theme.current().computed))
        painter.setBrush(QColor(theme.current().warn))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)


def title(divergence: Divergence, has_system_prompt: bool) -> str:
    """Where, and what became what."""
    where = f"at token {divergence.position:,}, {_place(divergence.message_index, has_system_prompt)}"
    old, new = _quote(divergence.old_text), _quote(divergence.new_text)
    if divergence.cause == "evicted":
        return f"The cache had no room left for what comes from token {divergence.position:,} on."
    if old and new:
        return f"Changed {where}: “{old}” became “{new}”."
    if new or old:
        return f"Changed {where}: “{new}” is new." if new else f"Changed {where}: “{old}” is gone."
    return f"Changed {where}."


def body(divergence: Divergence) -> str:
    """What it cost, and what helps."""
    count = divergence.recomputed_tokens
    cost = "The token after it" if count == 1 else f"The {count:,} tokens after it"
    if divergence.cause == "evicted":
        cost = "One token" if count == 1 else f"{count:,} tokens"
    cure = _CURES.get(divergence.cause, "")
    return f"{cost} had to be read again. {cure}".strip()


def _place(message_index: int, has_system_prompt: bool) -> str:
    if message_index < 0:
        return "between two messages"
    if has_system_prompt and message_index == 0:
        return "in the system prompt"
    turn, is_answer = divmod(message_index - has_system_prompt, 2)
    return f"in {'answer' if is_answer else 'question'} {turn + 1}"


def _quote(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= QUOTE_LENGTH else line[:QUOTE_LENGTH].rstrip() + "…"

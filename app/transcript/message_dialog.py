"""One message as it is stored: its text letter by letter, and what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtGui import QFontDatabase, QIcon
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QPlainTextEdit, QVBoxLayout, QWidget

from app.history.records import StoredMessage
from app.widgets.plain import Label, SoftLabel
from app.widgets.room import fit
from app.words import ENDINGS, seconds, tokens

ROLES = {"user": "Question", "assistant": "Answer", "tool": "Result of a tool"}
SIZE = (640, 560)


class MessageDialog(QDialog):
    """Shows the facts, one a line, and the raw parts of a message, each under its name. Nothing can be changed."""

    def __init__(self, message: StoredMessage, version: tuple[int, int], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"{ROLES.get(message.role, 'Message')}: raw text and details")
        self.setModal(True)
        form = QFormLayout()
        form.setSpacing(6)
        self.facts = facts_of(message, *version)
        for name, value in self.facts:
            shown = Label(value, self)
            shown.setWordWrap(True)
            form.addRow(SoftLabel(name, self), shown)
        self.fields = {name: self._field(name, text) for name, text in raw_parts(message)}
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        for button in buttons.buttons():
            button.setIcon(QIcon())
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(8)
        column.addLayout(form)
        for name, field in self.fields.items():
            column.addWidget(SoftLabel(name, self))
            column.addWidget(field, 1)
        column.addWidget(buttons)
        self.resize(*SIZE)
        fit(self, self.size())

    def _field(self, name: str, text: str) -> QPlainTextEdit:
        field = QPlainTextEdit(self)
        field.setObjectName("field")
        field.setReadOnly(True)
        field.setPlainText(text)
        field.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        field.setAccessibleName(name)
        field.setTabChangesFocus(True)
        field.setMinimumHeight(48)
        return field


def raw_parts(message: StoredMessage) -> Sequence[tuple[str, str]]:
    """The texts of a message by their names, as they were written or sent."""
    calls = "\n".join(f"{call.name} {call.arguments}" for call in message.tool_calls)
    parts = (("Thought", message.thought), ("Text", message.content), ("As it was sent", message.sent))
    shown = [(name, text) for name, text in (*parts, ("Asked for", calls)) if text]
    return shown or [("Text", "")]


def facts_of(message: StoredMessage, version: int, versions: int) -> list[tuple[str, str]]:
    """What is known of a message, as name and value. What was never measured is left out."""
    found = [("Written", f"{datetime.fromtimestamp(message.created):%Y-%m-%d %H:%M:%S}")] if message.created else []
    if versions > 1:
        found.append(("Version", f"{version} of {versions}"))
    if ending := ENDINGS.get(message.finish_reason):
        found.append(("Ended", ending))
    if message.token_ids:
        found.append(("Length", f"{tokens(len(message.token_ids))}, kept as the model wrote them"))
    elif message.role == "assistant":
        found.append(("Length", f"{len(message.content):,} characters, made tokens with the next question"))
    if stats := message.stats:
        read = f"{tokens(stats.prompt_tokens)}: {stats.reused_tokens:,} remembered, {stats.computed_tokens:,} read"
        found.append(("Its prompt", read))
        if stats.ttft_s is not None:
            found.append(("First word after", seconds(stats.ttft_s)))
        if stats.tokens_per_s:
            found.append(("Written at", f"{stats.tokens_per_s:.1f} tokens a second"))
    if message.left_out:
        found.append(("Written without", f"the first {message.left_out:,} messages"))
    return found

"""One message as it is stored: its text letter by letter, and what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtGui import QFontDatabase, QIcon
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QPlainTextEdit, QVBoxLayout, QWidget

from app.history.records import StoredMessage
from app.language import tr
from app.widgets.plain import Label, SoftLabel
from app.widgets.room import fit
from app.words import ENDINGS, is_told, seconds, tokens

ROLES = {"user": tr("Question"), "assistant": tr("Answer"), "tool": tr("Result of a tool")}
SIZE = (640, 560)


class MessageDialog(QDialog):
    """Shows the facts, one a line, and the raw parts of a message, each under its name. Nothing can be changed."""

    def __init__(self, message: StoredMessage, version: tuple[int, int], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("{roles}: raw text and details", roles=ROLES.get(message.role, tr("Message"))))
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
    parts = ((tr("Thought"), message.thought), (tr("Text"), message.content), (tr("As it was sent"), message.sent))
    shown = [(name, text) for name, text in (*parts, (tr("Asked for"), calls)) if text]
    return shown or [(tr("Text"), "")]


def facts_of(message: StoredMessage, version: int, versions: int) -> list[tuple[str, str]]:
    """What is known of a message, as name and value. What was never measured is left out."""
    found = [(tr("Written"), f"{datetime.fromtimestamp(message.created):%Y-%m-%d %H:%M:%S}")] if message.created else []
    if versions > 1:
        found.append((tr("Version"), tr("{version} of {versions}", version=version, versions=versions)))
    if ending := ENDINGS.get(message.finish_reason):
        found.append((tr("Ended"), ending))
    if message.token_ids:
        found.append(
            (tr("Length"), tr("{tokens}, kept as the model wrote them", tokens=tokens(len(message.token_ids))))
        )
    elif message.role == "assistant":
        found.append(
            (tr("Length"), tr("{count:,} characters, made tokens with the next question", count=len(message.content)))
        )
    if stats := message.stats:
        whole = tokens(stats.prompt_tokens)
        read = tr(
            "{tokens}: {reused_tokens:,} remembered, {computed_tokens:,} read",
            tokens=whole,
            reused_tokens=stats.reused_tokens,
            computed_tokens=stats.computed_tokens,
        )
        found.append((tr("Its prompt"), read if is_told(stats) else whole))
        if stats.ttft_s is not None:
            found.append((tr("First word after"), seconds(stats.ttft_s)))
        if stats.tokens_per_s:
            found.append((tr("Written at"), tr("{tokens_per_s:.1f} tokens a second", tokens_per_s=stats.tokens_per_s)))
    if message.left_out:
        found.append((tr("Written without"), tr("the first {left_out:,} messages", left_out=message.left_out)))
    return found

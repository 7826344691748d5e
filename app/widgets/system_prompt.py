"""Where the system prompt of a conversation is read and changed."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from app import theme


class SystemPromptEditor(QDialog):
    """Signals: text_changed(str) while typing, saved(str). `show_tokens` answers what text_changed asks for."""

    text_changed = Signal(str)
    saved = Signal(str)

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("System prompt")
        self.setModal(True)
        self.resize(640, 520)
        self.edit = QPlainTextEdit(text, self)
        self.edit.setObjectName("field")
        self.edit.setAccessibleName("System prompt")
        self.edit.setPlaceholderText("For instance: You are the support assistant of a parcel service.")
        self.edit.setTabChangesFocus(True)
        self.edit.textChanged.connect(self._on_text)
        self.tokens = QLabel(self)
        self.tokens.setObjectName("soft")
        self._lay_out()

    def _lay_out(self) -> None:
        title = QLabel("System prompt", self)
        title.setFont(theme.text_font(bold=True))
        note = QLabel(
            "It stands before every message of this conversation. It is read once and kept resident; after a change"
            " everything from the changed place on is read again.",
            self,
        )
        note.setObjectName("soft")
        note.setWordWrap(True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel)
        self.save_button = buttons.button(QDialogButtonBox.StandardButton.Save)
        self.save_button.setObjectName("primary")
        buttons.accepted.connect(self._save)
        buttons.rejected.connect(self.reject)
        bottom = QHBoxLayout()
        bottom.addWidget(self.tokens, 1)
        bottom.addWidget(buttons)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(8)
        column.addWidget(title)
        column.addWidget(note)
        column.addWidget(self.edit, 1)
        column.addLayout(bottom)

    @property
    def text(self) -> str:
        """What is typed."""
        return self.edit.toPlainText()

    def show_tokens(self, tokens: int) -> None:
        """How many tokens the text has."""
        self.tokens.setText("1 token" if tokens == 1 else f"{tokens:,} tokens")

    def _on_text(self) -> None:
        self.text_changed.emit(self.text)

    def _save(self) -> None:
        self.saved.emit(self.text)
        self.accept()

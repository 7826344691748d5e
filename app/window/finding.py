"""What is looked for in the conversation in view, message by message."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.chat.session import Session
from app.transcript.find_bar import FindBar
from app.window.window import Window


class Finding(QObject):
    """Opens the bar, marks what is found, and goes from one message that holds it to the next: the newest first, since
    a conversation is read from its end. Attributes: bar."""

    def __init__(self, window: Window, session: Session) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._found: list[int] = []
        self._at = 0
        self.bar = FindBar()
        window.show_bar(self.bar)
        self.bar.changed.connect(self._look)
        self.bar.stepped.connect(self._step)
        self.bar.closed.connect(self.close)
        window.commands.find_here.triggered.connect(self.open)
        session.conversation_changed.connect(self._on_conversation)

    def open(self) -> None:
        """Show the bar, ready to be written in."""
        self.bar.show()
        self.bar.field.setFocus()
        self.bar.field.selectAll()
        self._look(self.bar.field.text())

    def close(self) -> None:
        """Hide the bar, and take the marks away."""
        if self.bar.isVisible():
            self.bar.hide()
            self._window.transcript.mark("")
            self._window.composer.edit.setFocus()

    def _look(self, needle: str) -> None:
        wanted = needle.casefold()
        self._found = [m.id for m in self._session.messages if wanted and wanted in m.content.casefold()]
        self._at = len(self._found) - 1
        self._show()

    def _step(self, step: int) -> None:
        if self._found:
            self._at = (self._at + step) % len(self._found)
            self._show()

    def _show(self) -> None:
        needle = self.bar.field.text()
        self.bar.show_count(self._at + 1, len(self._found))
        if self._found:
            self._window.transcript.show_found(self._found[self._at], needle)
        else:
            self._window.transcript.mark("")

    def _on_conversation(self, conversation: object) -> None:
        """Another conversation, or another version, is in view: look in that."""
        if self.bar.isVisible():
            self._look(self.bar.field.text())

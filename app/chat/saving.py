"""Answers into the history: when they end, and every second while they are written."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat.turn import Turn
from app.history.history import History
from app.history.records import StoredMessage
from engine import DiskFullError, HeadstartError

SAVE_EVERY_MS = 1000
"""What is lost of an answer at most where the program is ended from outside."""


class Saving(QObject):
    """Stores answers. What cannot be stored now (a full disk) stays in `unsaved` and is tried again every second.

    Attributes: `unsaved` holds answers that have ended and are not stored yet, by their id; `is_failing` while nothing
    can be stored; `timer` runs while there is anything to look after.

    Signals: `error(sentence, detail)`, once until storing works again, and then `stored_again()`; `disk_full()` before
    the error where that is the reason.
    """

    error = Signal(str, str)
    stored_again = Signal()
    disk_full = Signal()

    def __init__(self, history: History, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.unsaved: dict[int, StoredMessage] = {}
        self.is_failing = False
        self._history = history
        self._turns: list[Turn] = []
        self.timer = QTimer(self)
        self.timer.setInterval(SAVE_EVERY_MS)
        self.timer.timeout.connect(self.save)

    def begin(self, turn: Turn) -> None:
        """An answer is going to be written."""
        self._turns.append(turn)
        self.timer.start()

    def keep(self, turn: Turn, message: StoredMessage) -> bool:
        """Store an answer that has ended. False where nothing was written in it, so that it was dropped."""
        self._turns.remove(turn)
        if message.is_empty and message.finish_reason in ("stopped", "failed"):
            self._try(self._history.discard, message.id, turn.leaf_if_empty)
            return False
        self.unsaved[message.id] = message
        self._store(message)
        return True

    def save(self) -> None:
        """Store what came since the last time. The timer calls this."""
        for message in [*self.unsaved.values()]:
            self._store(message)
        for turn in self._turns:
            if turn.unsaved and self._try(self._history.save_text, turn.message()):
                turn.unsaved = False
        if not self._turns and not self.unsaved:
            self.timer.stop()

    def forget(self, conversation_id: int) -> None:
        """The conversation is gone: so is what was not stored of it."""
        self._turns = [turn for turn in self._turns if turn.answer.conversation_id != conversation_id]
        kept = [message for message in self.unsaved.values() if message.conversation_id != conversation_id]
        self.unsaved = {message.id: message for message in kept}

    def close(self) -> None:
        """Try once more and stop."""
        self.save()
        self.timer.stop()

    def _store(self, message: StoredMessage) -> None:
        if self._try(self._history.finish, message):
            self.unsaved.pop(message.id, None)

    def _try(self, write: Callable[..., None], *values: object) -> bool:
        try:
            write(*values)
        except HeadstartError as error:
            if not self.is_failing:
                self.is_failing = True
                if isinstance(error, DiskFullError):
                    self.disk_full.emit()
                self.error.emit(str(error), error.detail)
            return False
        if self.is_failing:
            self.is_failing = False
            self.stored_again.emit()
        return True

"""What was deleted leaves the index of words too, step by step between the events of the window."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer

from app.history.words import WordIndex
from engine import HeadstartError


class Forgetting(QObject):
    """Goes on while anything is left to forget. What is not done at the end of the program is done as it closes, and
    what that leaves, at the next start. Attributes: `timer` runs meanwhile."""

    def __init__(self, words: WordIndex, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._steps: Iterator[None] = iter(())
        self.timer = QTimer(self)
        self.timer.timeout.connect(self._step)

    def begin(self) -> None:
        """Something was deleted."""
        self._steps = self._words.forget()
        self.timer.start(0)

    def stop(self) -> None:
        """Go on no further. Safe to call twice."""
        self.timer.stop()

    def _step(self) -> None:
        try:
            if next(self._steps, self) is self:
                self.timer.stop()
        except HeadstartError:  # the disk is full: the next deletion, or the end of the program, tries again
            self.timer.stop()

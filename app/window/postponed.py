"""Drawing that waits for the first word of an answer: while the engine reads the last few tokens, a window that draws
takes a processor from it, and the word comes as much later."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from app.chat.bridge import HELD_S


class Postponed(QObject):
    """What is drawn a moment later than it is known, in its order: when somebody asks for it, by `draw_now`, and at the
    latest when `timer` has run out."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[Callable[[], None]] = deque()
        self._is_drawing = False
        self.timer = QTimer(self)
        self.timer.setSingleShot(True)
        self.timer.setInterval(round(1000 * HELD_S))
        self.timer.timeout.connect(self.draw_now)

    def put_off(self, draw: Callable[[], None]) -> None:
        """Draw this a moment later."""
        self._waiting.append(draw)
        if not self.timer.isActive():
            self.timer.start()

    def draw_now(self) -> None:
        """Draw all that waits. What is drawn may ask for it, too."""
        if self._is_drawing:
            return
        self.timer.stop()
        self._is_drawing = True
        try:
            while self._waiting:
                self._waiting.popleft()()
        finally:
            self._is_drawing = False

"""How far a prompt is read, said where its answer will be."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QTimer
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import theme
from app.widgets.plain import SoftLabel
from app.words import reading
from engine import Prefill

APPEARS_AFTER_MS = 300
BAR_WIDTH = 240
"""When the note about reading appears, and how wide its bar is in pixels."""


class ReadingNote(SoftLabel):
    """How far a prompt is read, where its answer will be. It appears 0.3 s after a question was sent, where the answer
    has not begun by then."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._share = 0.0
        self.setFixedHeight(24)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(APPEARS_AFTER_MS)
        self._patience.timeout.connect(self.show)
        self.hide()

    def begin(self, sentence: str) -> None:
        """A question was sent; show this sentence if nothing else happens for 0.3 s."""
        self._share = 0.0
        self.setText(sentence)
        self._patience.start()

    def show_progress(self, progress: Prefill) -> None:
        """Say how far the prompt is read."""
        self._share = progress.done / progress.total if progress.total else 1.0
        self.setText(reading(progress.done, progress.total, progress.seconds_left))
        self.update()

    def end(self) -> None:
        """The answer begins, or will not come."""
        self._patience.stop()
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._share:
            return
        painter = QPainter(self)
        bar = QRectF(0, self.height() - 2, BAR_WIDTH, 2)
        painter.fillRect(bar, QColor(theme.current().line))
        bar.setWidth(BAR_WIDTH * self._share)
        painter.fillRect(bar, QColor(theme.current().computed))

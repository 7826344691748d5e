"""What the next prompt would cost, asked for once typing rests."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat.bridge import Bridge
from engine import Preview, Request

REST_MS = 150


class Previewer(QObject):
    """Asks the engine for a preview 150 ms after the last change, and passes on the newest answer only.

    Signals: `preview_changed(Preview)`.
    """

    preview_changed = Signal(object)

    def __init__(self, bridge: Bridge, build: Callable[[], Request | None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._build = build
        self._awaited = 0
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self.ask)
        bridge.preview.connect(self._on_preview)

    def schedule(self) -> None:
        """Something changed: what was asked before is stale."""
        self._awaited = 0
        self._rest.start()

    def drop(self) -> None:
        """There is nothing to preview now."""
        self._awaited = 0
        self._rest.stop()

    def ask(self) -> None:
        """Ask now. The timer calls this."""
        self._rest.stop()
        request = self._build()
        self._awaited = self._bridge.request_preview(request) if request else 0

    def _on_preview(self, preview: Preview) -> None:
        # A preview that fails needs no word: sending the same text says it.
        if preview.request_id == self._awaited:
            self._awaited = 0
            self.preview_changed.emit(preview)

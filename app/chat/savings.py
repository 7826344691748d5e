"""What the cache saved since the program was installed: a running total in the settings."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.charts.series import Savings
from app.chat.bridge import Bridge
from app.settings import Settings
from engine import Finished, HeadstartError


class SavedTotal(QObject):
    """Counts every finished turn of the engine once, in whichever conversation; see `Savings.plus` for what counts.

    Signals: changed(Savings), error(str sentence, str detail): once, where the total cannot be stored.
    """

    changed = Signal(object)
    error = Signal(str, str)

    def __init__(self, bridge: Bridge, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._failed = False
        bridge.finished.connect(self._on_finished)

    @property
    def total(self) -> Savings:
        """The sum so far."""
        kept = self._settings
        return Savings(kept.saved_seconds, kept.saved_tokens, kept.saved_is_estimate)

    def _on_finished(self, event: Finished) -> None:
        total, kept = self.total.plus(event.stats), self._settings
        if total == self.total:
            return
        kept.saved_seconds, kept.saved_tokens, kept.saved_is_estimate = total.seconds, total.tokens, total.estimated
        self.changed.emit(total)
        try:
            kept.save()
        except HeadstartError as error:
            if not self._failed:
                self.error.emit(str(error), error.detail)
            self._failed = True

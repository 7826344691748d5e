"""What the cache saved: what counts as saved, and the running total since installation, kept in the settings."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.chat.bridge import Bridge
from app.settings import Settings
from engine import Finished, HeadstartError, TurnStats


@dataclass(frozen=True, slots=True)
class Savings:
    """What the cache saved: time to first token in seconds, and tokens not read again. `estimated` where the cold time
    of any turn is an estimate. The seconds can be negative; `shown_seconds` are not."""

    seconds: float = 0.0
    tokens: int = 0
    estimated: bool = False

    @property
    def shown_seconds(self) -> float:
        """Reuse that cost more than it gave has saved nothing."""
        return max(0.0, self.seconds)

    def plus(self, stats: TurnStats) -> Savings:
        """With one finished turn more. Only a turn that reused something and whose first token came counts: without
        reuse it was the cold run itself. Its seconds count where the cold time was measured, or where most of the
        prompt was reused: elsewhere the difference would be little but the estimate's error."""
        if stats.ttft_s is None or not stats.reused_tokens:
            return self
        tokens = self.tokens + stats.reused_tokens
        if not stats.cold_measured and stats.reused_tokens < stats.computed_tokens:
            return Savings(self.seconds, tokens, self.estimated)
        seconds = self.seconds + stats.cold_ttft_s - stats.ttft_s
        return Savings(seconds, tokens, self.estimated or not stats.cold_measured)


class SavedTotal(QObject):
    """Counts every finished turn of the engine once, in whichever conversation it is, as `Savings.plus` does.

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

"""What the cache saved: what counts as saved, and the running total since installation, kept in the settings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.chat.answers import Answers
from app.chat.turn import Turn
from app.history.records import StoredMessage
from app.settings import Settings
from app.words import knows_cold
from engine import HeadstartError, TurnStats


@dataclass(frozen=True, slots=True)
class Savings:
    """What the cache saved: time to first token in seconds, and tokens not read again; those that were read ahead were
    read. `estimated` where the cold time of any turn is an estimate. The seconds can be negative; `shown_seconds` are
    not."""

    seconds: float = 0.0
    tokens: int = 0
    estimated: bool = False

    @property
    def shown_seconds(self) -> float:
        """Reuse that cost more than it gave has saved nothing."""
        return max(0.0, self.seconds)

    def plus(self, stats: TurnStats) -> Savings:
        """With one turn more. Only a turn that reused something and whose first token came counts: without reuse it was
        the cold run itself. Its seconds count where the cold time was measured, or where most of the prompt was reused
        and the estimate is worth saying: elsewhere the difference would be little but the estimate's error."""
        if stats.ttft_s is None or not stats.reused_tokens:
            return self
        tokens = self.tokens + stats.reused_tokens - stats.ahead_tokens
        is_known = knows_cold(stats) and (stats.cold_measured or stats.reused_tokens >= stats.computed_tokens)
        if not is_known:
            return Savings(self.seconds, tokens, self.estimated)
        seconds = self.seconds + stats.cold_ttft_s - stats.ttft_s
        return Savings(seconds, tokens, self.estimated or not stats.cold_measured)


def sum_of(turns: Iterable[TurnStats]) -> Savings:
    """What these turns saved together."""
    saved = Savings()
    for stats in turns:
        saved = saved.plus(stats)
    return saved


class SavedTotal(QObject):
    """Counts every turn once that has ended, in whichever conversation and however, as `Savings.plus` does.

    Signals: changed(Savings), error(str sentence, str detail): once, where the total cannot be stored.
    """

    changed = Signal(object)
    error = Signal(str, str)

    def __init__(self, answers: Answers, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._failed = False
        answers.ended.connect(self._on_ended)

    @property
    def total(self) -> Savings:
        """The sum so far."""
        kept = self._settings
        return Savings(kept.saved_seconds, kept.saved_tokens, kept.saved_is_estimate)

    def _on_ended(self, turn: Turn, message: StoredMessage, kept: bool) -> None:
        settings = self._settings
        total = self.total.plus(turn.stats) if kept and turn.stats else self.total
        if total == self.total:
            return
        settings.saved_seconds, settings.saved_tokens = total.seconds, total.tokens
        settings.saved_is_estimate = total.estimated
        self.changed.emit(total)
        try:
            settings.save()
        except HeadstartError as error:
            if not self._failed:
                self.error.emit(str(error), error.detail)
            self._failed = True
            return
        self._failed = False

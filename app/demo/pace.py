"""When the demo goes on: by itself, or turn by turn as somebody presses a button."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

SPEEDS = (("Slow", 4000), ("Normal", 1500), ("Fast", 0))
"""Names, and the milliseconds a turn is left on screen before the next one begins."""


class Pace(QObject):
    """`running` goes on turn after turn; `next_turn` lets one more through. Signals: changed() after each of them."""

    changed = Signal()

    def __init__(self, running: bool, rest_ms: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.running = running
        self.rest_ms = rest_ms
        self._passes = 0

    def start(self) -> None:
        """Go on turn after turn."""
        self.running = True
        self.changed.emit()

    def pause(self) -> None:
        """Stay after the turn that is being played."""
        self.running = False
        self.changed.emit()

    def next_turn(self) -> None:
        """Play one more turn, then stay."""
        self.running = False
        self._passes += 1
        self.changed.emit()

    def set_rest(self, rest_ms: int) -> None:
        """How long a turn stays on screen while it runs, in milliseconds."""
        self.rest_ms = rest_ms
        self.changed.emit()

    def take(self) -> bool:
        """Whether the next turn may begin now; a single turn that was asked for is used up."""
        if not self.running and self._passes:
            self._passes -= 1
            return True
        return self.running

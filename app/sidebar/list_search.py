"""The search in the list of conversations, in pieces between which the window goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from PySide6.QtCore import QObject, QTimer, Signal

from app.history.records import ConversationEntry

Found = Sequence[ConversationEntry]
GROWTH = 1.25
"""How much longer what was found must be than what is shown before all of it is shown, except at the end."""


class ListSearch(QObject):
    """Runs one search at a time. `search` gives what was found so far, piece by piece.

    Signals: found(entries) at once with the first pieces, then whenever there is clearly more, and at the end. Where
    the same text is searched for again, because a conversation changed, only at the end: what is shown does not shrink
    in between.
    """

    found = Signal(object)

    def __init__(self, search: Callable[[str], Iterator[Found]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._search = search
        self._needle = ""
        self._is_again = False
        self._pieces: Iterator[Found] = iter(())
        self._newest: Found = ()
        self._shown: Found | None = None
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._read)

    def start(self, needle: str) -> None:
        """Search for this text, in place of what was searched for before; "" finds all."""
        self._is_again = bool(needle) and needle == self._needle
        self._needle, self._pieces = needle, self._search(needle)
        self._newest, self._shown = (), None
        self._timer.start(0)
        self._read(2)  # the second says that one piece is all there is

    def stop(self) -> None:
        """Search no further."""
        self._timer.stop()
        self._pieces = iter(())

    def _read(self, count: int = 1) -> None:
        """Take the next pieces."""
        for piece in islice(self._pieces, count):
            self._newest, count = piece, count - 1
        if count:
            self._timer.stop()
            self._show()
        elif not self._is_again and self._is_worth_showing():
            self._show()

    def _is_worth_showing(self) -> bool:
        """Whether there is as much more as pays for drawing the rows anew: most of it stands below those in sight."""
        return self._shown is None or len(self._newest) >= GROWTH * len(self._shown)

    def _show(self) -> None:
        if self._newest != self._shown:
            self._shown = self._newest
            self.found.emit(self._newest)

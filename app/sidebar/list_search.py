"""The search in the list of conversations, in pieces between which the window goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from app.history.records import ConversationEntry

Found = Sequence[ConversationEntry]


class ListSearch(QObject):
    """Runs one search at a time. `search` gives what was found so far, piece by piece.

    Signals: found(entries) at once with the first piece, then whenever there is more. Where the same text is searched
    for again, because a conversation changed, only at the end: what is shown does not shrink in between.
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
        self._timer.timeout.connect(self._go_on)

    def start(self, needle: str) -> None:
        """Search for this text, in place of what was searched for before; "" finds all."""
        self._is_again = bool(needle) and needle == self._needle
        self._needle, self._pieces = needle, self._search(needle)
        self._newest, self._shown = (), None
        self._timer.start(0)
        self._go_on()
        self._go_on()  # the end, where one piece is all there is

    def stop(self) -> None:
        """Search no further."""
        self._timer.stop()
        self._pieces = iter(())

    def _go_on(self) -> None:
        piece = next(self._pieces, None)
        if piece is None:
            self._timer.stop()
            self._show(self._newest)
        else:
            self._newest = piece
            if not self._is_again:
                self._show(piece)

    def _show(self, entries: Found) -> None:
        if entries != self._shown:
            self._shown = entries
            self.found.emit(entries)

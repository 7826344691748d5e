"""For whom blocks had to go: so that it can be said that another program took the memory, where it did."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

MOST_NAMES = 256
"""Programs whose share is known one by one. All further ones have one share, so that of them less is said."""

_FURTHER = "\0"


class Evicted(NamedTuple):
    """How much had gone at one moment, in blocks: for one program, for all of them, and how often otherwise."""

    own: int = 0
    all: int = 0
    otherwise: int = 0


class Evictions:
    """Counts what was evicted. `working_for` is the program whose request is being worked on, "" for the window's."""

    def __init__(self) -> None:
        self.working_for = ""
        self._blocks: Counter[str] = Counter()
        self._otherwise = 0

    def note(self, blocks: int) -> None:
        """So many blocks made room for what is being worked on."""
        if blocks:
            self._blocks[self._name(self.working_for)] += blocks

    def note_otherwise(self) -> None:
        """Blocks may have gone for another reason: they were dropped, or the budget is a smaller one."""
        self._otherwise += 1

    def now(self, client: str) -> Evicted:
        """What has gone so far, as one program sees it."""
        return Evicted(self._blocks[self._name(client)], self._blocks.total(), self._otherwise)

    def _name(self, client: str) -> str:
        return client if client in self._blocks or len(self._blocks) < MOST_NAMES else _FURTHER


def was_another(then: Evicted, now: Evicted) -> bool:
    """Whether all that has gone between two moments made room for others."""
    return now.all > then.all and (now.own, now.otherwise) == (then.own, then.otherwise)

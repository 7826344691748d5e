"""A turn: one answer on its way, from its question to its last word. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from app.history.records import StoredMessage
from engine import Divergence, Request, TurnStats

Phase = Literal["waiting", "prefill", "writing", "stopping"]


@dataclass(eq=False)
class Turn:
    """An answer that is being written. `request_id` is 0 until the engine has the request.

    `leaf_if_empty` is the message the branch ends at again when nothing gets written. `unsaved` says that text came
    after the last save. `is_refused`: the engine would not answer this question however often it is asked.
    """

    answer: StoredMessage
    request: Request
    leaf_if_empty: int
    request_id: int = 0
    phase: Phase = "waiting"
    pieces: list[str] = field(default_factory=list)
    divergence: Divergence | None = None
    stats: TurnStats | None = None
    unsaved: bool = False
    is_refused: bool = False

    @property
    def text(self) -> str:
        """What is written so far."""
        return "".join(self.pieces)

    def add(self, text: str) -> None:
        """More was written."""
        self.pieces.append(text)
        self.unsaved = True

    def message(self) -> StoredMessage:
        """The answer as it stands now."""
        return replace(self.answer, content=self.text, stats=self.stats, divergence=self.divergence)

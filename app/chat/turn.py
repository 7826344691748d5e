"""A turn: one answer on its way, from its question to its last word. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from app.history.records import StoredMessage
from engine import Divergence, Request, TurnStats

Phase = Literal["waiting", "prefill", "writing", "stopping"]


class ProgramTurn(NamedTuple):
    """What another program asked the engine, and the figures of its answer."""

    client: str
    stats: TurnStats


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
    thought_pieces: list[str] = field(default_factory=list)
    divergence: Divergence | None = None
    stats: TurnStats | None = None
    unsaved: bool = False
    is_refused: bool = False

    def add(self, text: str, is_thought: bool) -> None:
        """More was written, of the thought or of the answer itself."""
        (self.thought_pieces if is_thought else self.pieces).append(text)
        self.unsaved = True

    def message(self) -> StoredMessage:
        """The answer as it stands now."""
        return replace(
            self.answer,
            content="".join(self.pieces),
            thought="".join(self.thought_pieces),
            stats=self.stats,
            divergence=self.divergence,
        )

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
    after the last save. `before` is the answer as it was when it was cut off, where it goes on now; what was written
    then stands at the start of `pieces`, `thought_pieces` and `ids`, the tokens so far. `is_refused`: the engine would
    not answer this question however often it is asked. `is_soon`: its first word was foreseen at once.
    """

    answer: StoredMessage
    request: Request
    leaf_if_empty: int
    request_id: int = 0
    phase: Phase = "waiting"
    pieces: list[str] = field(default_factory=list)
    thought_pieces: list[str] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    before: StoredMessage | None = None
    divergence: Divergence | None = None
    stats: TurnStats | None = None
    unsaved: bool = False
    is_refused: bool = False
    is_soon: bool = False

    @classmethod
    def going_on(cls, answer: StoredMessage, request: Request) -> Turn:
        """An answer that was cut off is written on."""
        open_ = replace(answer, finish_reason="")
        said = ([answer.content], [answer.thought], list(answer.token_ids))
        return cls(open_, request, answer.id, 0, "waiting", *said, before=answer, divergence=answer.divergence)

    def add(self, text: str, is_thought: bool, token_ids: tuple[int, ...] = ()) -> None:
        """More was written, of the thought or of the answer itself."""
        (self.thought_pieces if is_thought else self.pieces).append(text)
        self.ids += token_ids
        self.unsaved = True

    @property
    def figures(self) -> TurnStats | None:
        """The figures of the whole answer: those of its beginning, with all that was written since."""
        first = self.before.stats if self.before else None
        if first is None or self.stats is None:
            return self.stats or first
        return replace(
            first,
            written_tokens=first.written_tokens + self.stats.written_tokens,
            thought_tokens=first.thought_tokens + self.stats.thought_tokens,
            thought_s=first.thought_s + self.stats.thought_s,
            tokens_per_s=self.stats.tokens_per_s or first.tokens_per_s,
            passes=first.passes + self.stats.passes,
            guessed_tokens=first.guessed_tokens + self.stats.guessed_tokens,
            accepted_tokens=first.accepted_tokens + self.stats.accepted_tokens,
            cache_bytes=self.stats.cache_bytes,
        )

    def message(self) -> StoredMessage:
        """The answer as it stands now."""
        return replace(
            self.answer,
            content="".join(self.pieces),
            thought="".join(self.thought_pieces),
            token_ids=tuple(self.ids),
            stats=self.figures,
            divergence=self.divergence,
        )

    def ended(self, message: StoredMessage, reason: str) -> StoredMessage:
        """The final form of the answer. One that was to go on, and did not, ended as it had before, whatever kept it
        from going on."""
        before = self.before
        is_as_before = before and (message.content, message.thought) == (before.content, before.thought)
        if before and is_as_before and reason in ("stopped", "failed"):
            return before
        return replace(message, finish_reason=reason)

"""One answer on its way, and the request it answers. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from app.records import Conversation, StoredMessage
from engine import Divergence, Message, Request, TurnStats

Phase = Literal["waiting", "prefill", "writing", "stopping"]

TITLE_LENGTH = 40


@dataclass
class Turn:
    """An answer that is being written. `request_id` is 0 until the engine has the request.

    `leaf_if_empty` is the message the branch ends at again when nothing gets written. `unsaved` says that text came
    after the last save.
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

    @property
    def text(self) -> str:
        """What is written so far."""
        return "".join(self.pieces)

    def message(self) -> StoredMessage:
        """The answer as it stands now."""
        return replace(self.answer, content=self.text, stats=self.stats, divergence=self.divergence)


def build_request(conversation: Conversation, messages: Sequence[StoredMessage], use_cache: bool) -> Request:
    """The whole conversation as the engine wants it; an empty system prompt is left out."""
    system = (Message("system", conversation.system_prompt),) if conversation.system_prompt else ()
    return Request(
        messages=system + tuple(Message(stored.role, stored.content, stored.token_ids) for stored in messages),
        sampling=conversation.sampling,
        conversation=conversation.title or str(conversation.id),
        use_cache=use_cache,
        day=conversation.day,
    )


def make_title(question: str) -> str:
    """A title from the first question: one line, cut on a word border."""
    line = " ".join(question.split())
    if len(line) <= TITLE_LENGTH:
        return line
    head, space, _ = line[: TITLE_LENGTH + 1].rpartition(" ")
    return (head if space else line[:TITLE_LENGTH]) + "…"


def repair_text(text: str) -> str:
    """Text that can be stored and encoded: halves of a character joined, lone halves replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

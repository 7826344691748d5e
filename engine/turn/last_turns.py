"""The last turn of each conversation, of the window and of other programs: what the next one is compared with.

Both kinds lie side by side. Nothing of a program is told to the window or to another program, and nothing of one salt
under another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.prompt.divergence import Past
from engine.types import Message, Request

PAST_CONVERSATIONS, PAST_BYTES = 256, 64_000_000
"""How many conversations, and how many bytes of their prompts, are kept to explain the next turn."""


class LastTurns:
    """Remembers turns within `most_bytes` in all, and in any case the newest one. No tensors.

    Attributes: nbytes, what all of them take.
    """

    def __init__(self, most_bytes: int = PAST_BYTES) -> None:
        self.most_bytes = most_bytes
        self.nbytes = 0
        self._turns: dict[str, Past] = {}

    @property
    def all(self) -> Mapping[str, Past]:
        """The last turn by conversation, the newest at the end."""
        return self._turns

    def take_over(self, turns: Mapping[str, Past]) -> None:
        """Know those of the model before, to say that it was the model that changed."""
        self._turns = dict(turns)
        self._bound()

    def remember(self, conversation: str, past: Past) -> None:
        """This is the newest turn of its conversation, and of all."""
        self._turns.pop(conversation, None)
        self._turns[conversation] = past
        self._bound()

    def note_reusable(self, conversation: str, past: Past, reusable: int) -> None:
        """So many tokens of this turn can be reused by now, unless its conversation was forgotten meanwhile."""
        if conversation in self._turns:
            self._turns[conversation] = replace(past, reusable=reusable)

    def forget(self, conversation: str) -> None:
        """It was deleted."""
        self._turns.pop(conversation, None)
        self._bound()

    def of(self, conversation: str) -> Past | None:
        """The last turn of a conversation; of all those without a name the newest one."""
        return self._turns.get(conversation)

    def newest(self) -> Past | None:
        """The newest turn of all."""
        return next(reversed(self._turns.values()), None)

    def newest_of_each(self) -> list[str]:
        """The conversations of the window's newest turn and of the newest one of other programs, in this order."""
        found = {bool(past.client): name for name, past in self._turns.items()}
        return [found[is_client] for is_client in sorted(found)]

    def relative(self, request: Request) -> Past | None:
        """The newest turn of a conversation with the same system prompt as one that begins; None where it has no
        name. Nothing is said of what another program asked, nor of what lies under another salt."""
        system, whose = _system(request.messages), (request.client, request.salt)
        newest = reversed(self._turns.values()) if request.conversation else ()
        mine = (past for past in newest if (past.client, past.salt) == whose)
        return next((past for past in mine if _system(past.prompt.messages) == system), None)

    def _bound(self) -> None:
        """Keep within the bounds. Turns of other programs go first: the window's conversations come back after days."""
        sizes = {name: past.prompt.nbytes for name, past in self._turns.items()}
        while len(sizes) > 1 and (len(sizes) > PAST_CONVERSATIONS or sum(sizes.values()) > self.most_bytes):
            older = list(sizes)[:-1]
            gone = next((name for name in older if self._turns[name].client), older[0])
            del self._turns[gone], sizes[gone]
        self.nbytes = sum(sizes.values())


def _system(messages: Sequence[Message]) -> str:
    """The system prompt that a conversation begins with."""
    return messages[0].content if messages[0].role == "system" else ""

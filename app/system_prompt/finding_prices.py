"""What the changing places of a system prompt cost: how many tokens stand behind each, as the engine counts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine import Message, Preview, Request, TokenSpan

MOST_PLACES = 12


@dataclass(frozen=True, slots=True)
class Prices:
    """Tokens of the system prompt. For each place: how many tokens of the conversation stand behind it, which are read
    again when it changes, and how many seconds that takes."""

    system_tokens: int
    behind: tuple[int, ...]
    seconds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PriceQuestion:
    """What to ask about: the conversation's next request, whose last message is the empty new question, and the text of
    the system prompt up to each place."""

    whole: Request
    before: tuple[str, ...]

    def requests(self) -> list[Request]:
        """The prompts whose previews tell the prices."""
        return [self.whole, *(_prefix(self.whole, text) for text in self.before[:MOST_PLACES])]

    def prices(self, whole: Preview, *parts: Preview) -> Prices:
        """The prices, from the previews of `requests`. The seconds are a difference of two cold estimates: the whole
        prompt's, and that of what stands before the place."""
        said = [span for span in whole.spans if span.message_index < len(self.whole.messages) - 1]
        return Prices(
            system_tokens=whole.system_tokens,
            behind=tuple(_tokens_behind(said, part.system_tokens) for part in parts),
            seconds=tuple(max(0.0, whole.seconds - part.seconds) for part in parts),
        )


def _tokens_behind(said: Sequence[TokenSpan], position: int) -> int:
    """Tokens of messages from a position on; the template's own between them are not counted, as in a Divergence."""
    return sum(max(0, span.end - max(span.start, position)) for span in said)


def _prefix(whole: Request, text: str) -> Request:
    """The request that ends where a place in the system prompt begins."""
    return Request((Message("system", text), Message("user", "")), use_cache=False, day=whole.day)

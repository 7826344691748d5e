"""Tokens that begin or end a message, and how to encode a text that only spells them out.

What somebody wrote must never end a message or begin another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from engine.prompt.comparing import common_end

_JOINER = "\u2060"
_PRIVATE = 0xF0000
"""From here on characters have no meaning of their own."""

_SHORTEST = 3
"""Characters of the shortest token that counts: some tokenizers have added tokens for runs of blanks."""


class ControlTokens:
    """The tokens that structure a chat: those that its tokenizer calls special, and added ones of its template.

    Not every tokenizer calls the tokens around messages special, so every added token that the template writes
    `between` two messages counts, too.
    """

    def __init__(self, tokenizer: Any, between: Sequence[str]) -> None:
        self._backend = tokenizer.backend_tokenizer
        added = tokenizer.added_tokens_decoder.items()
        found = {index: str(token) for index, token in added if token.special or _is_written(str(token), between)}
        self.names = list(found.values())
        self.ids = frozenset(found)
        longest_first = sorted(self.names, key=len, reverse=True)
        self._any = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
        broken = (re.escape(f"{name[0]}{_JOINER}{name[1:]}") for name in longest_first)
        self._broken = re.compile("|".join(broken) or r"(?!)")

    def own_words(self, text: str, usual: str) -> str:
        """What a text says before the end that it has in common with the `usual` one; without these tokens, which count
        as one character each."""
        numbers = {name: chr(_PRIVATE + number) for number, name in enumerate(self.names)}
        short, other = (self._any.sub(lambda found: numbers[found[0]], one) for one in (text, usual))
        own = short[: len(short) - common_end(short, other)]
        return "".join(char for char in own if ord(char) < _PRIVATE).strip()

    def are_in(self, text: str) -> bool:
        """Whether a text spells out one of them."""
        return any(name in text for name in self.names)

    def broken_up(self, text: str) -> str:
        """The text with an invisible joiner inside each of them, so that the tokenizer does not find them."""
        for name in self.names:
            text = text.replace(name, f"{name[0]}{_JOINER}{name[1:]}")
        return text

    def parts(self, text: str) -> Iterator[tuple[str, bool]]:
        """A text that holds what `broken_up` gave back, in pieces without the joiners; True with those that spell out a
        token."""
        at = 0
        for found in self._broken.finditer(text):
            if found.start() > at:
                yield text[at : found.start()], False
            yield found[0].replace(_JOINER, "", 1), True
            at = found.end()
        if at < len(text) or not at:
            yield text[at:], False

    def as_characters(self, text: str) -> list[int]:
        """The ids of a text that is encoded without looking for special tokens in it."""
        parts = self._backend
        if parts.normalizer is not None:
            text = parts.normalizer.normalize_str(text)
        words = (
            [text] if parts.pre_tokenizer is None else [word for word, _ in parts.pre_tokenizer.pre_tokenize_str(text)]
        )
        return [token.id for word in words for token in parts.model.tokenize(word)]


def _is_written(name: str, between: Sequence[str]) -> bool:
    return is_structural(name) and any(name in text for text in between)


def is_structural(name: str) -> bool:
    """Whether an added token may structure a chat. Shorter ones, blanks and plain words are text, even where a template
    writes them between messages."""
    return len(name) >= _SHORTEST and not name.strip().isalnum() and not name.isspace()

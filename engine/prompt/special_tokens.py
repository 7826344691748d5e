"""Tokens that end or begin a message, and text in which they are nothing but characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_JOINER = "\u2060"
_SHORTEST = 3
"""Shorter tokens and plain words are text, also where a template writes them between messages."""


class ControlTokens:
    """The special tokens of a tokenizer, and those of its other added tokens that a template writes `between` messages:
    not every tokenizer calls them special. What somebody wrote must never end a message or begin another.
    """

    def __init__(self, tokenizer: Any, between: Sequence[str]) -> None:
        self._backend = tokenizer.backend_tokenizer
        added = tokenizer.added_tokens_decoder.items()
        found = {index: str(token) for index, token in added if token.special or _is_written(str(token), between)}
        self.names = list(found.values())
        self.ids = frozenset(found)

    def are_in(self, text: str) -> bool:
        """Whether a text spells one of them out."""
        return any(name in text for name in self.names)

    def broken_up(self, text: str) -> str:
        """A text in which an invisible joiner breaks each of them up."""
        for name in self.names:
            text = text.replace(name, f"{name[0]}{_JOINER}{name[1:]}")
        return text

    def as_characters(self, text: str) -> list[int]:
        """The ids of a text in which nothing is looked for but what its characters make."""
        parts = self._backend
        if parts.normalizer is not None:
            text = parts.normalizer.normalize_str(text)
        words = (
            [text] if parts.pre_tokenizer is None else [word for word, _ in parts.pre_tokenizer.pre_tokenize_str(text)]
        )
        return [token.id for word in words for token in parts.model.tokenize(word)]


def _is_written(name: str, between: Sequence[str]) -> bool:
    return len(name) >= _SHORTEST and not name.strip().isalnum() and any(name in text for text in between)

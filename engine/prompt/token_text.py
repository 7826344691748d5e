"""The text of token ids, with half characters told from replacement characters that a model wrote itself.

A token may hold a part of a character's bytes. Decoders write U+FFFD for bytes that make no character; a model can also
write U+FFFD as a character of its own. Only the names of the tokens tell the two apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

HALF = "\N{REPLACEMENT CHARACTER}"
"""What stands in a marked text for bytes that make no character."""

WRITTEN = "\ufde1"
"""What stands in a marked text for a U+FFFD that the model wrote: no character at all, so no model writes this one."""

CONTROL, CONTROL_END = "\ufde3", "\ufde4"
"""Around the name of a special token where it is to be seen in a text: no characters at all, so that a text that merely
spells the name out is told from the token."""

_NAMED = re.compile(f"{CONTROL}[^{CONTROL_END}]*{CONTROL_END}")

_BORDER = "\ufde2"
"""Between the names of two tokens while they are looked through as one text."""

_BYTES_AS_LETTERS = (re.compile(f"ï({_BORDER}*)¿({_BORDER}*)½"), r"ï\1·\2¡")
"""The bytes of U+FFFD and those of WRITTEN where tokens spell bytes as letters, as in GPT-2 and Llama-3."""

_BYTES_AS_TOKENS = (
    re.compile(f"<0xEF>({_BORDER}+)<0xBF>({_BORDER}+)<0xBD>"),
    r"<0xEF>\1<0xB7>\2<0xA1>",
)
"""The same where a byte is a token of its own, as in Llama-2 and Gemma."""

_LITERAL = (re.compile(HALF), WRITTEN)


class TokenText:
    """Decodes the ids of one tokenizer (a transformers fast tokenizer), leaving special tokens out."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._backend = tokenizer.backend_tokenizer
        added = self._backend.get_added_tokens_decoder()
        self._special_ids = {index for index, token in added.items() if token.special}
        self.special_names = {index: added[index].content for index in self._special_ids}
        self._spellings = self._known_spellings()

    def plain(self, ids: Sequence[int]) -> str:
        """The text as the tokenizer decodes it: U+FFFD stands for half characters and for those that were written."""
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text

    def marked(self, ids: Sequence[int]) -> str:
        """The text with HALF for half characters and WRITTEN for every U+FFFD that was written."""
        text = self.plain(ids)
        if HALF not in text or self._backend.decoder is None:
            return text
        names = (self._backend.id_to_token(index) for index in ids if index not in self._special_ids)
        spelled = _BORDER.join(name for name in names if name is not None)
        for pattern, replacement in self._spellings:
            spelled = pattern.sub(replacement, spelled)
        decoded: str = self._backend.decoder.decode(spelled.split(_BORDER))
        return decoded

    def spelled(self, ids: Sequence[int]) -> str:
        """The text as `plain` gives it, with the names of special tokens as `as_control` writes them."""
        return self._around_special(ids, self.plain, as_control)

    def with_special(self, ids: Sequence[int]) -> str:
        """The text as `marked` gives it, with the names of special tokens where they stand."""
        return self._around_special(ids, self.marked, str)

    def _around_special(
        self, ids: Sequence[int], decode: Callable[[Sequence[int]], str], named: Callable[[str], str]
    ) -> str:
        parts: list[str] = []
        for is_special, grouped in groupby(ids, self.special_names.__contains__):
            run = list(grouped)
            parts += [named(self.special_names[index]) for index in run] if is_special else [decode(run)]
        return "".join(parts)

    def _known_spellings(self) -> list[tuple[re.Pattern[str], str]]:
        """The ways in which this tokenizer's tokens can spell U+FFFD."""
        decoder = self._backend.decoder
        if decoder is None:
            return []
        has_letters = decoder.decode(["ï¿½"]) == HALF
        has_tokens = decoder.decode(["<0xEF>", "<0xBF>", "<0xBD>"]) == HALF
        return [_LITERAL, *[_BYTES_AS_LETTERS] * has_letters, *[_BYTES_AS_TOKENS] * has_tokens]


def readable(marked: str) -> str:
    """A marked text as it is shown: without half characters, and with every U+FFFD that the model wrote."""
    return marked.replace(HALF, "").replace(WRITTEN, HALF)


def as_control(name: str) -> str:
    """The name of a special token as it stands in a text where it is to be seen."""
    return f"{CONTROL}{name}{CONTROL_END}"


def without_control(text: str) -> str:
    """A text without the special tokens in it."""
    return _NAMED.sub("", text)


def names_as_text(text: str) -> str:
    """A text with the names of its special tokens as they are spelled."""
    return text.replace(CONTROL, "").replace(CONTROL_END, "")

"""Where a text may be cut so that its parts, encoded one by one, have the tokens of the whole.

A tokenizer looks for its added tokens before anything else, and encodes what lies between two of them on its own
(Hugging Face `tokenizers`, `AddedVocabulary`). So a prompt can be cut in front of such a token: a long system prompt is
then encoded once, and found again by its text whatever follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from engine.prompt.comparing import common_length


class Segments:
    """Cuts texts for one tokenizer (a transformers fast tokenizer)."""

    def __init__(self, tokenizer: Any) -> None:
        raw = [token for token in tokenizer.added_tokens_decoder.values() if not token.normalized and token.content]
        is_safe = not any(token.single_word for token in raw)  # such a token counts or not by what is beside it
        self._firm = {token.content for token in raw if _is_firm(token)} if is_safe else set()
        self._any = re.compile(_any_of([token.content for token in raw]) if self._firm else r"(?!)")

    def of(self, text: str) -> Iterator[str]:
        """The parts of a text in order; each but the first begins with an added token."""
        at = 0
        for found in self._any.finditer(text):
            if found.start() > at and found[0] in self._firm:
                yield text[at : found.start()]
                at = found.start()
        yield text[at:]


def _is_firm(token: Any) -> bool:
    """Whether a token takes no blanks beside it, nor can be taken for a blank by its neighbour."""
    return not (token.lstrip or token.rstrip or token.content[0].isspace() or token.content[-1].isspace())


def _any_of(texts: Iterable[str]) -> str:
    """A pattern for the longest of some texts, as a tree of their beginnings: a tokenizer may have a thousand."""
    branches: dict[str, list[str]] = {}
    for text in texts:
        branches.setdefault(text[:1], []).append(text)
    may_end = branches.pop("", None) is not None
    if not branches:
        return ""
    parts = []
    for several in branches.values():
        start = several[0][: min(common_length(several[0], text) for text in several)]
        parts.append(re.escape(start) + _any_of(text[len(start) :] for text in several))
    return f"(?:{'|'.join(parts)}){'?' if may_end else ''}"

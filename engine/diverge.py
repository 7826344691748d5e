"""Where a prompt left what was computed before, and why: a comparison of two prompts of one conversation."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.events import Divergence
from engine.template import Prompt
from engine.types import BLOCK_TOKENS, Cause, TokenSpan

CONTEXT_TOKENS = 6
"""Tokens of text shown on each side of the first difference."""

_DATE = re.compile(
    r"\d{1,4}[-./:]\d{1,2}|\b(19|20)\d\d\b|\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Past:
    """The last turn of a conversation: its prompt and the ids that were computed for it, answer included."""

    prompt: Prompt
    ids: tuple[int, ...]
    namespace: str


def explain(
    past: Past | None, prompt: Prompt, reused: int, namespace: str, decode: Callable[[Sequence[int]], str]
) -> Divergence | None:
    """Why tokens that had been computed before must be computed again; None where none must, or nothing is known."""
    if past is None:
        return None
    parted = common_length(past.ids, prompt.ids)
    if past.namespace != namespace:
        return _divergence(past, prompt, 0, "other model", parted, decode)
    if parted - reused > BLOCK_TOKENS:
        return _divergence(past, prompt, reused, "evicted", parted - reused, decode)
    again = _read_again(past.prompt, prompt, parted)
    return _divergence(past, prompt, parted, _cause(past, prompt, parted, decode), again, decode) if again else None


def common_length(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens at the start of both agree."""
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))


def _divergence(
    past: Past, prompt: Prompt, position: int, cause: Cause, again: int, decode: Callable[[Sequence[int]], str]
) -> Divergence:
    start, end = max(0, position - CONTEXT_TOKENS // 2), position + CONTEXT_TOKENS
    moved = cause in ("evicted", "other model")
    return Divergence(
        position=position,
        message_index=_message_at(prompt.spans, position),
        cause=cause,
        old_text="" if moved else decode(past.ids[start:end]),
        new_text="" if moved else decode(prompt.ids[start:end]),
        recomputed_tokens=again,
    )


def _read_again(old: Prompt, new: Prompt, parted: int) -> int:
    """Tokens behind the parting point that stood in the old prompt too: whole messages, and the rest of the one that
    the point lies in."""
    before = {(m.role, m.content) for m in old.messages}
    again = 0
    for span in new.spans:
        message = new.messages[span.message_index]
        if span.start >= parted and (message.role, message.content) in before:
            again += span.end - span.start
        elif span.start < parted < span.end:
            again += _common_end(_tokens_at(old, span.message_index), new.ids[parted : span.end])
    return again


def _tokens_at(prompt: Prompt, message: int) -> tuple[int, ...]:
    return next((prompt.ids[s.start : s.end] for s in prompt.spans if s.message_index == message), ())


def _common_end(one: Sequence[int], other: Sequence[int]) -> int:
    return common_length(one[::-1], other[::-1])


def _message_at(spans: Sequence[TokenSpan], position: int) -> int:
    return next((span.message_index for span in spans if span.start <= position < span.end), -1)


def _cause(past: Past, prompt: Prompt, parted: int, decode: Callable[[Sequence[int]], str]) -> Cause:
    old, new = past.prompt.messages, prompt.messages
    index = _message_at(prompt.spans, parted)
    if index >= 0 and new[index].role == "system":
        sides = [decode(ids[max(0, parted - 2) : parted + 4]) for ids in (past.ids, prompt.ids)]
        return "date" if all(_DATE.search(side) for side in sides) else "edited"
    if new[: len(old)] != old:
        return "trimmed" if len(new) < len(old) and new[-1] not in old else "edited"
    return "reasoning removed" if any("</think>" in message.content for message in new) else "date"

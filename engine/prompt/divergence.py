"""Why tokens that had been computed are computed again: two prompts of one conversation are compared."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.events import Divergence
from engine.prompt.template import Prompt
from engine.types import BLOCK_TOKENS, Cause, Message, TokenSpan

CONTEXT_TOKENS = 6
"""Tokens from the first difference on whose text is shown; half as many before it."""

SEEN_TOKENS = 24
"""Tokens on each side of the first difference in which a date is looked for."""

_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    r"((mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?"
    rf"(\d{{1,2}}\.?\s+{_MONTH}(\s+\d{{4}})?|{_MONTH}\s+\d{{1,2}}(,?\s+\d{{4}})?"
    r"|\d{1,4}[-/]\d{1,2}([-/]\d{1,4})?|\d{1,2}\.\d{1,2}\.(\d{2,4})?|\d{1,2}:\d{2}(:\d{2})?|(19|20)\d\d)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Past:
    """The last turn of a conversation: `prompt` with its answer as the last message, and the cache's namespace then.

    The first `reusable` tokens could be reused when the turn ended: all but the last one, or in exact mode those that
    fill whole steps of the grid. `length` is the number of tokens that the turn ended with.
    """

    prompt: Prompt
    namespace: str
    reusable: int
    length: int = 0

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of prompt and answer."""
        return self.prompt.ids


def with_answer(prompt: Prompt, answer: Message) -> Prompt:
    """A prompt together with the answer to it, as one prompt."""
    ids = answer.token_ids
    span = TokenSpan(len(prompt.messages), "assistant", len(prompt.ids), len(prompt.ids) + len(ids))
    messages = (*prompt.messages, answer)
    return Prompt(prompt.ids + ids, (*prompt.spans, span), messages, prompt.tools)


def explain(
    past: Past | None,
    prompt: Prompt,
    reused: int,
    namespace: str,
    decode: Callable[[Sequence[int]], str],
    unit: int = BLOCK_TOKENS,
    has_same_positions: bool = True,
) -> Divergence | None:
    """Why tokens that had been computed before must be computed again; None where none must.

    Where no earlier turn of the conversation is known (`past` is None), what was not reused is new. Reuse goes in steps
    of `unit` tokens, so a loss of up to one step needs no explanation. `has_same_positions` is False where the model
    computes this prompt in another regime (`ReuseClass`) than the turn before.
    """
    if past is None:
        return Divergence(reused, _message_at(prompt.spans, reused), "new", "", "", 0)
    if past.namespace != namespace:  # this one may know some of it, too: from an earlier visit
        again = _read_again(past.prompt, prompt, 0, reused)
        is_lost = again > (unit if reused else 0)
        return _divergence(past, prompt, reused, "other model", again, decode) if is_lost else None
    parted = common_length(past.ids, prompt.ids)
    if not has_same_positions and parted - reused > unit:
        return _divergence(past, prompt, reused, "positions", parted - reused, decode)
    if min(parted, past.reusable) - reused > unit:
        return _divergence(past, prompt, reused, "evicted", parted - reused, decode)
    if parted == len(past.ids):
        return None
    again = _read_again(past.prompt, prompt, parted, reused)
    return _divergence(past, prompt, parted, _cause(past, prompt, parted, decode), again, decode) if again else None


def without_cache(prompt: Prompt, known: int) -> Divergence:
    """Why nothing is reused of a prompt whose first `known` tokens are in the cache: the request asked for that."""
    return Divergence(0, _message_at(prompt.spans, 0), "cache off", "", "", known)


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
    moved = cause in ("evicted", "positions", "other model")
    return Divergence(
        position=position,
        message_index=-1 if cause == "tools" else _message_at(prompt.spans, position),
        cause=cause,
        old_text="" if moved else decode(past.ids[start:end]),
        new_text="" if moved else decode(prompt.ids[start:end]),
        recomputed_tokens=again,
    )


def _read_again(old: Prompt, new: Prompt, parted: int, reused: int) -> int:
    """How many tokens must be computed although they stood in the old prompt, too. The prompts part at token `parted`.

    Counted are messages behind that point that are in both prompts, and in the message around the point the end that
    both have in common, each as far as it is not among the first `reused` tokens.
    """
    before = Counter(_said(old.messages[span.message_index]) for span in old.spans if span.end > parted)
    again = 0
    for span in new.spans:
        said = _said(new.messages[span.message_index])
        known = 0
        if span.start >= parted and before[said] > 0:
            before[said] -= 1
            known = span.end - span.start
        elif span.start <= parted < span.end:
            known = _common_end(_tokens_at(old, span.message_index), new.ids[parted : span.end])
        again += max(0, min(known, span.end - reused))
    return again


def _said(message: Message) -> tuple[str, str]:
    """What a user sees of a message: two that agree in it are the same to them."""
    return message.role, message.content


def _tokens_at(prompt: Prompt, message: int) -> tuple[int, ...]:
    """The tokens of a message, by its number."""
    return next((prompt.ids[s.start : s.end] for s in prompt.spans if s.message_index == message), ())


def _common_end(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens at the end of both agree."""
    return common_length(one[::-1], other[::-1])


def _message_at(spans: Sequence[TokenSpan], position: int) -> int:
    """The number of the message that a token belongs to; -1 for the template's own text."""
    return next((span.message_index for span in spans if span.start <= position < span.end), -1)


def _cause(past: Past, prompt: Prompt, parted: int, decode: Callable[[Sequence[int]], str]) -> Cause:
    """What changed where two prompts part."""
    old, new = [_said(m) for m in past.prompt.messages], [_said(m) for m in prompt.messages]
    index = _message_at(prompt.spans, parted)
    if past.prompt.tools != prompt.tools and (index < 0 or new[: index + 1] == old[: index + 1]):
        return "tools"
    is_in_chat = index >= 0 and new[index][0] != "system"
    if not is_in_chat and all(_is_date(ids, parted, decode) for ids in (past.ids, prompt.ids)):
        return "date"
    if new[: len(old)] != old:
        return "trimmed" if _is_trimmed(old, new) else "edited"
    return "reasoning removed" if any("</think>" in message.content for message in prompt.messages) else "edited"


def _is_date(ids: Sequence[int], at: int, decode: Callable[[Sequence[int]], str]) -> bool:
    """Whether token number `at` lies in a date or time of day, or right behind one (it may begin with a blank)."""
    before, after = decode(ids[max(0, at - SEEN_TOKENS) : at]), decode(ids[at : at + SEEN_TOKENS])
    return any(found.start() - 1 <= len(before) <= found.end() for found in _DATE.finditer(before + after))


def _is_trimmed(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> bool:
    """Whether the oldest messages behind the system prompt were left out, and all others are still there."""
    old, new = ([said for said in messages if said[0] != "system"] for messages in (old, new))
    return any(new[: len(old) - gone] == old[gone:] for gone in range(1, len(old)))

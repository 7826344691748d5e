"""Why tokens that had been computed are computed again: two prompts of one conversation are compared."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from engine.events import Divergence
from engine.prompt.comparing import common_end, common_length
from engine.prompt.template import Prompt
from engine.prompt.thoughts import parted
from engine.types import BLOCK_TOKENS, Cause, Cure, Message, TemplateSettings, TokenSpan, ToolCall

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


Rebuild = Callable[[TemplateSettings], Prompt]

_BY_FORM: tuple[Cause, ...] = ("reasoning removed", "empty thought", "answer frame")
"""Causes that lie in how a template writes earlier answers."""


@dataclass(frozen=True, slots=True)
class Past:
    """The last turn of a conversation: `prompt` with its answer as the last message, and the cache's namespace then.

    The first `reusable` tokens could be reused when the turn ended, or after what it wrote was read once more. `length`
    is the number of tokens that the turn ended with. `client` and `salt` are those of its request. `evicted` is what
    the cache had evicted by then.
    """

    prompt: Prompt
    namespace: str
    reusable: int
    length: int = 0
    client: str = ""
    salt: str = ""
    evicted: object = None

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of prompt and answer."""
        return self.prompt.ids


def with_answer(prompt: Prompt, answer: Message) -> Prompt:
    """A prompt together with the answer to it, as one prompt."""
    number, ids = len(prompt.messages), prompt.ids + answer.token_ids
    return replace(
        prompt,
        ids=ids,
        spans=(*prompt.spans, TokenSpan(number, "assistant", len(prompt.ids), len(ids))),
        messages=(*prompt.messages, answer),
        thoughts=prompt.thoughts | ({number} if parted(answer).thought else set()),
    )


def explain(
    past: Past | None,
    prompt: Prompt,
    reused: int,
    namespace: str,
    decode: Callable[[Sequence[int]], str],
    has_same_positions: bool = True,
    *,
    relative: Past | None = None,
    rebuild: Rebuild | None = None,
) -> Divergence | None:
    """Why tokens that had been computed before must be computed again; None where none must.

    Where no earlier turn of the conversation is known (`past` is None), what was not reused is new; unless `relative`,
    the newest turn of another conversation with the same system prompt, shows why not even that was reused. Reuse goes
    in blocks, so a loss of up to one block needs no explanation. `has_same_positions` is False where the
    model computes this prompt in another regime (`ReuseClass`) than the turn before. `rebuild` makes the prompt of the
    same messages with another `Prompt.settings`; with it a cure has its price.
    """
    if past is None:
        told = _new_chat(relative, prompt, reused, namespace, decode) if relative else None
        return told or Divergence(reused, _message_at(prompt.spans, reused), "new", "", "", 0)
    if past.namespace != namespace:  # this one may know some of it, too: from an earlier visit
        again = _read_again(past.prompt, prompt, 0, reused)
        is_lost = again > (BLOCK_TOKENS if reused else 0)
        return _divergence(past, prompt, reused, "other model", again, decode) if is_lost else None
    parted = common_length(past.ids, prompt.ids)
    if not has_same_positions and parted - reused > BLOCK_TOKENS:
        return _divergence(past, prompt, reused, "positions", parted - reused, decode)
    if min(parted, past.reusable) - reused > BLOCK_TOKENS:
        return _divergence(past, prompt, reused, "evicted", parted - reused, decode)
    if parted == len(past.ids):
        return None
    again = _read_again(past.prompt, prompt, parted, reused)
    if not again:
        return None
    cause = _cause(past.prompt, prompt, parted, decode, rebuild)
    return _with_cure(_divergence(past, prompt, parted, cause, again, decode), prompt, rebuild)


def without_cache(prompt: Prompt, known: int) -> Divergence:
    """Why nothing is reused of a prompt whose first `known` tokens are in the cache: the request asked for that."""
    return Divergence(0, _message_at(prompt.spans, 0), "cache off", "", "", known)


def _new_chat(
    relative: Past,
    prompt: Prompt,
    reused: int,
    namespace: str,
    decode: Callable[[Sequence[int]], str],
) -> Divergence | None:
    """Why a new chat does not reuse what it begins with, though another chat began with the same system prompt; None
    where it does, or where that has no cause that we know."""
    old = relative.prompt
    parted = common_length(relative.ids, prompt.ids)
    ends = old.system_tokens, prompt.system_tokens
    if relative.namespace != namespace or parted >= min(ends):
        return None
    known = common_end(old.ids[parted : ends[0]], prompt.ids[parted : ends[1]])
    again = min(known, ends[1] - max(parted, reused))
    cause: Cause | None = None
    if old.tools != prompt.tools:
        cause = "tools"
    elif old.settings != prompt.settings:
        cause = "settings"
    elif all(_is_date(ids, parted, decode) for ids in (old.ids, prompt.ids)):
        cause = "date"
    return _divergence(relative, prompt, parted, cause, again, decode) if cause and again > BLOCK_TOKENS else None


def _divergence(
    past: Past, prompt: Prompt, position: int, cause: Cause, again: int, decode: Callable[[Sequence[int]], str]
) -> Divergence:
    start, end = max(0, position - CONTEXT_TOKENS // 2), position + CONTEXT_TOKENS
    moved = cause in ("evicted", "other client", "positions", "other model")
    index = _message_at(prompt.spans, position)
    if cause in _BY_FORM:
        index = _place(past.prompt, position)
    return Divergence(
        position=position,
        message_index=-1 if cause in ("tools", "settings") else index,
        cause=cause,
        old_text="" if moved else decode(past.ids[start:end]),
        new_text="" if moved else decode(prompt.ids[start:end]),
        recomputed_tokens=again,
    )


def _with_cure(told: Divergence, prompt: Prompt, rebuild: Rebuild | None) -> Divergence:
    """What is told, with what the user may choose so that it does not happen again, and what that costs."""
    cure: Cure | None = None
    cured = prompt.settings
    if told.cause in _BY_FORM and not cured.keep_thoughts:
        cure, cured = "keep thoughts", replace(cured, keep_thoughts=True)
    elif told.cause == "system moved" and cured.system_place != "question":
        cure, cured = "system in question", replace(cured, system_place="question")
    if cure is None or rebuild is None:
        return replace(told, cure=cure)
    other = rebuild(cured)
    is_other = other.ids != prompt.ids
    return replace(told, cure=cure, cure_tokens=max(0, len(other.ids) - len(prompt.ids))) if is_other else told


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
            known = common_end(_tokens_at(old, span.message_index), new.ids[parted : span.end])
        again += max(0, min(known, span.end - reused))
    return again


Said = tuple[str, str, tuple[ToolCall, ...]]


def _said(message: Message) -> Said:
    """What a user sees of a message: two that agree in it are the same to them."""
    return message.role, message.content, message.tool_calls


def _tokens_at(prompt: Prompt, message: int) -> tuple[int, ...]:
    """The tokens of a message, by its number."""
    return next((prompt.ids[s.start : s.end] for s in prompt.spans if s.message_index == message), ())


def _message_at(spans: Sequence[TokenSpan], position: int) -> int:
    """The number of the message that a token belongs to; -1 for the template's own text."""
    return next((span.message_index for span in spans if span.start <= position < span.end), -1)


def _place(prompt: Prompt, position: int) -> int:
    """The number of the message that a token belongs to, or that it leads to; that of the next one behind the last."""
    behind = [span for span in prompt.spans if span.end > position]
    return min(behind, key=lambda span: span.start).message_index if behind else len(prompt.messages)


def _cause(
    old: Prompt, new: Prompt, parted: int, decode: Callable[[Sequence[int]], str], rebuild: Rebuild | None
) -> Cause:
    """What changed where two prompts part: what the user changed, where it lies there, else what the template does."""
    said_old, said_new = [_said(m) for m in old.messages], [_said(m) for m in new.messages]
    both = zip(said_old, said_new, strict=False)
    changed = next((number for number, (one, other) in enumerate(both) if one != other), None)
    places = _place(old, parted), _place(new, parted)
    index = _message_at(new.spans, parted)
    is_date = all(_is_date(ids, parted, decode) for ids in (old.ids, new.ids))
    if old.tools != new.tools and (changed is None or max(places) < changed):
        return "tools"
    if changed is not None and (max(places) >= changed or index == changed):
        is_in_chat = index >= 0 and said_new[index][0] != "system"
        if not is_in_chat and is_date:
            return "date"
        return "trimmed" if _is_trimmed(said_old, said_new) else "edited"
    if _has_moved(old, new):
        return "system moved"
    if old.settings != new.settings and _is_setting(old, new, parted, rebuild):
        return "settings"
    return _cause_by_form(old, new, places, is_date, parted, decode)


def _is_setting(old: Prompt, new: Prompt, parted: int, rebuild: Rebuild | None) -> bool:
    """Whether two prompts part because of their settings: with the old ones they would agree for longer."""
    return rebuild is None or common_length(old.ids, rebuild(old.settings).ids) > parted


def _cause_by_form(
    old: Prompt,
    new: Prompt,
    places: tuple[int, int],
    is_date: bool,
    parted: int,
    decode: Callable[[Sequence[int]], str],
) -> Cause:
    """What a template does where nothing of what the user chose differs."""
    place = places[0]
    dropped = old.thoughts - new.thoughts
    if place in dropped:
        return "reasoning removed"
    if old.tools_at != new.tools_at and max(old.tools_at, new.tools_at) >= parted:
        return "tools"
    is_answer = place < len(old.messages) and old.messages[place].role == "assistant"
    if is_date and not is_answer:
        return "date"
    if is_answer and place == places[1]:
        (one, start), (two, begin) = (_frame(prompt, place) for prompt in (old, new))
        if len(two) > len(one) and two[: len(one)] == one and start <= parted <= begin:
            inserted = decode(two[len(one) :])
            return "empty thought" if not inserted.strip() or "think" in inserted.lower() else "answer frame"
        if parted >= start:  # in what the model wrote: an empty thought
            return "reasoning removed"
    return "answer frame" if is_answer or not dropped else "reasoning removed"


def _frame(prompt: Prompt, number: int) -> tuple[tuple[int, ...], int]:
    """What a template writes before a message, from the end of the one before on, and where the message begins."""
    start = next((span.start for span in prompt.spans if span.message_index == number), len(prompt.ids))
    end = max((span.end for span in prompt.spans if span.end <= start), default=0)
    return prompt.ids[end:start], start


def _has_moved(old: Prompt, new: Prompt) -> bool:
    """Whether a system prompt that is in both stands in front of another message now."""

    def behind(prompt: Prompt) -> dict[int, int]:
        """The message that follows each system prompt."""
        order = [span.message_index for span in sorted(prompt.spans, key=lambda span: span.start)]
        return {one: other for one, other in pairwise(order) if prompt.messages[one].role == "system"}

    one, other = behind(old), behind(new)
    return any(one[number] != other[number] for number in one.keys() & other.keys())


def _is_date(ids: Sequence[int], at: int, decode: Callable[[Sequence[int]], str]) -> bool:
    """Whether token number `at` lies in a date or time of day, or right behind one (it may begin with a blank)."""
    before, after = decode(ids[max(0, at - SEEN_TOKENS) : at]), decode(ids[at : at + SEEN_TOKENS])
    return any(found.start() - 1 <= len(before) <= found.end() for found in _DATE.finditer(before + after))


def _is_trimmed(old: Sequence[Said], new: Sequence[Said]) -> bool:
    """Whether the oldest messages behind the system prompt were left out, and all others are still there."""
    old, new = ([said for said in messages if said[0] != "system"] for messages in (old, new))
    return any(new[: len(old) - gone] == old[gone:] for gone in range(1, len(old)))

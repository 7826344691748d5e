"""What a model wrote for an answer, and where in it the thought and the answer itself lie.

The ids of an answer hold all of its parts with the marks between them. Where a chat template writes an answer again,
and leaves the thought out, the ids behind the thought stand for it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.prompt.thoughts import WORDS

Span = tuple[int, int]
_CLOSING = re.compile(r"(?:\s*(?:<[^<>\s]+>|\[[^\[\]\s]+\])\s*)?")
"""The mark behind a thought."""

_ENDS = 16
"""Characters by which the first and the last of several thoughts of one answer are found."""


@dataclass(frozen=True, slots=True)
class Written:
    """One answer as its ids read: `text` with its special tokens, and which characters of it are the thought and the
    content (without blanks around them). Both are empty stretches where there is none. `calls_end` is behind the name
    of the last tool call, 0 without one."""

    ids: tuple[int, ...]
    text: str
    thought: Span
    content: Span
    calls_end: int = 0


def locate(
    ids: tuple[int, ...], text: str, thought: str, content: str, calls: Sequence[str], template: str
) -> Written | None:
    """Find the parts of an answer in the text of its ids: thought, content, names of tool calls. None where the ids say
    something else, such as those of another model's tokenizer. Between the parts only marks may stand: words that the
    template knows."""
    thought_place = (0, 0)
    at = 0
    if core := thought.strip():
        begin = text.find(core)
        end = begin + len(core)
        if begin < 0:  # several thoughts, with marks between them
            begin, end = text.find(core[:_ENDS]), text.rfind(core[-_ENDS:]) + len(core[-_ENDS:])
        if not 0 <= begin < end:
            return None
        thought_place = (begin, end)
        at = end
    core = content.strip()
    if (start := text.find(core, at)) < 0:
        return None
    if not core and thought_place[1]:
        at = start = _CLOSING.match(text, at).end()  # type: ignore[union-attr]
    place = (start, start + len(core)) if core else (at, at)
    at = place[1]
    for name in calls:
        if (at := text.find(name, at)) < 0:
            return None
        at += len(name)
    rest = [text[: thought_place[0]], text[thought_place[1] : place[0]], "" if calls else text[place[1] :]]
    if any(word not in WORDS and word not in template for part in rest for word in re.findall(r"[^\W_]+", part)):
        return None
    return Written(ids, text, thought_place, place, at if calls else 0)


def token_at(ids: Sequence[int], text: str, at: int, read: Callable[[tuple[int, ...]], str]) -> int | None:
    """The number of the token that begins at character `at` of the text of `ids`, as `read` reads it; blanks around
    that place may belong to either side. None where no token begins there."""
    count = bisect_left(range(len(ids)), at, key=lambda number: len(read(tuple(ids[:number]))))
    while count < len(ids) and len(read(tuple(ids[:count]))) < at:
        count += 1
    for number in (count, count - 1):
        if number >= 0 and "".join(read(tuple(ids[:number])).split()) == "".join(text[:at].split()):
            return number
    return None

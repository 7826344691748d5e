"""Where in a rendered prompt the ids of an answer stand for its text.

A template writes something before an answer and behind it. What of it the model wrote itself, because it was asked for
the answer at that very place, must not stand there twice: the ids take the place of everything from where the template
had asked to where the answer ended. Where the template writes something else there now, such as no thought, the ids
behind that stand for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.prompt.comparing import common_end, common_length
from engine.prompt.written import Written
from engine.types import Message

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Splice:
    """`ids` take the place of the characters `start` to `end` of the rendered text, behind `before`, a text of the
    template's own. `has_thought`: they hold the thought of the answer."""

    start: int
    end: int
    ids: tuple[int, ...]
    before: str = ""
    has_thought: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer in a rendered text: its message, what the model wrote, the place between its neighbours' texts
    (`start`, `end`), and the places of its `content` and `thought`, None where they were not found.

    `asked` is the text with which the template asked for it, from the end of the message before on; "" where that is
    not known.
    """

    message: Message
    own: Written
    start: int
    end: int
    content: Span | None
    thought: Span | None
    asked: str


def splice(
    text: str,
    answer: Answer,
    ends: Sequence[str],
    token_at: Callable[[tuple[int, ...], int], int | None],
    *,
    keep: bool,
) -> Splice | None:
    """How the ids stand in the text; None where they cannot, and the text is encoded.

    `ends` are the special tokens; `token_at` says which token of ids begins at a character of their text. `keep`: the
    ids stand whole behind what asked for them, whatever the template writes now.
    """
    if answer.message.content.strip():
        place = _content_place(text, answer)
        if place is None:
            return None
        start, end = place
    else:
        start = end = _first_name(text, answer)
        if start < 0:
            return None
    own = answer.own
    if (stopped := _stop(text, answer, end, ends)) is None:
        return None
    stop, used = stopped
    if keep and answer.asked and used == len(own.text):
        return Splice(answer.start, stop, own.ids, answer.asked, has_thought=own.thought[1] > 0)
    if (begun := _begin(text, answer, start)) is None:
        return None
    first, begins = begun
    is_unread = own.text[slice(*own.content)].strip() != answer.message.content.strip()
    has_header = begins == 0 and is_unread and any(name in own.text[slice(*own.content)] for name in ends)
    if has_header and text[answer.start + common_length(text[answer.start : start], answer.asked) : start].strip():
        return None  # what it wrote may hold what the template writes here, too
    one = token_at(own.ids, begins) if begins else 0
    two = token_at(own.ids, used) if used < len(own.text) else len(own.ids)
    if one is None or two is None or one >= two:
        return None
    return Splice(first, stop, own.ids[one:two], has_thought=own.thought[1] > 0 and begins == 0)


def _content_place(text: str, answer: Answer) -> Span | None:
    """Where the content stands, without the blanks before it; None where the template made something else of it."""
    core = answer.message.content.strip()
    start, end = answer.content or (answer.start, answer.end)
    if answer.content and text[start:end].strip() != core:
        return None
    at = text.find(core, start, end)
    if at < 0:
        return None
    after = answer.message.content[len(answer.message.content.rstrip()) :]
    behind = at + len(core)
    return at, answer.content[1] if answer.content else behind + common_length(text[behind:end], after)


def _first_name(text: str, answer: Answer) -> int:
    """Where the name of the first tool call stands, behind what asked for the answer; -1 without one."""
    calls = answer.message.tool_calls
    asked = answer.start + common_length(text[answer.start : answer.end], answer.asked)
    after = answer.thought[1] if answer.thought else asked
    return text.find(calls[0].name, after, answer.end) if calls else -1


def _begin(text: str, answer: Answer, start: int) -> Span | None:
    """From where on in the text, and in what the model wrote, the ids stand for the text; the content, or the first
    tool call, stands at `start`. None where a tool call does not begin as the model wrote it."""
    own = answer.own
    has_content = bool(answer.message.content.strip())
    to = own.content[0] if has_content else own.text.find(answer.message.tool_calls[0].name, own.content[1])
    asked = answer.start + common_length(text[answer.start : start], answer.asked)
    parts = [(text[asked:start], own.text[:to])]
    if own.thought[1] and answer.thought and asked <= answer.thought[0] <= answer.thought[1] <= start:
        (one, two), (mine, mine_end) = answer.thought, own.thought
        parts = [(text[asked:one], own.text[:mine]), (text[two:start], own.text[mine_end:to])]
    if (asked > answer.start or not answer.asked) and all(_words(one) == _words(two) for one, two in parts):
        return asked, 0
    behind = own.text[own.thought[1] : to]
    same = common_end(text[asked:start], behind)
    while same and behind[len(behind) - same].isspace():
        same -= 1
    if has_content:
        same = same if same == len(behind) else 0
    elif not same:
        return None
    return start - same, to - same


def _stop(text: str, answer: Answer, end: int, ends: Sequence[str]) -> Span | None:
    """To where in the text, and in what the model wrote, the ids stand for the text: the content ends at `end`. None
    where the end of tool calls was not found."""
    own, calls = answer.own, answer.message.tool_calls
    rest = own.text[own.content[1] :]
    if not calls:
        blanks = len(text[end : answer.end]) - len(text[end : answer.end].lstrip())
        if not rest.strip():
            return end, len(own.text)
        if text.startswith(rest.strip(), end + blanks):
            return end + blanks + len(rest.strip()), len(own.text)
        return end, own.content[1]
    at = end
    for call in calls:
        at = text.find(call.name, at, answer.end)
        if at < 0:
            return end, own.content[1]
        at += len(call.name)
    rest = own.text[own.calls_end :].rstrip()
    if text.startswith(rest, at):
        return at + len(rest), len(own.text)
    for _ in range(_count(rest, ends)):
        at = _next(text, at, answer.end, ends)[1]
    stop = _next(text, at, answer.end, ends)[0]
    return (stop, len(own.text)) if stop < answer.end else None


def _count(text: str, ends: Sequence[str]) -> int:
    count, at = 0, 0
    while (found := _next(text, at, len(text), ends))[0] < len(text):
        count, at = count + 1, found[1]
    return count


def _next(text: str, at: int, end: int, names: Sequence[str]) -> Span:
    """The next of these names in a stretch of text; its end where there is none."""
    found = [(place, -len(name)) for name in names if (place := text.find(name, at, end)) >= 0]
    if not found:
        return end, end
    place, length = min(found)
    return place, place - length


def _words(text: str) -> str:
    return "".join(text.split())

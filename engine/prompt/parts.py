"""Reads a growing answer into its parts: thought, text and tool calls, without the marks around them.

Text comes in pieces as the model writes it, and goes out as soon as it is certain to which part it belongs. What may
become a mark is held back, and so is a tool call until it is whole. The work for a piece hangs on its own length.

A mark counts where it can stand. A special token can stand anywhere. A mark that is ordinary text begins a thought only
at the start of an answer, and a tool call only where tools were offered and outside of code. What turns out to be no
call is text, as the model wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from engine.prompt.marks import HARMONY_PARTS, AnswerFormat, Marks
from engine.prompt.token_text import CONTROL, as_control, names_as_text, without_control
from engine.prompt.tool_call_text import call_of, could_be_call, read_calls
from engine.types import InvalidRequestError, Tool, ToolCall

LONGEST_HEADER = 200
"""Characters in which a header ends. What goes on longer is none."""

MOST_BLANKS = 200
"""Blanks that are held back because the end of a part may follow."""

_HEAD = 64
"""Characters at the start of a call that tell what cannot be one."""

_PARAGRAPH = "\n\n"
"""Between two thoughts, or two texts, of one answer."""

_RECIPIENT = re.compile(r"to=(?:functions\.)?([\w.-]+)")
_TEXT = Marks("answer", "")


class Part(NamedTuple):
    """A stretch of an answer that can be shown. `is_thought`: it belongs to the thought, not to the answer's text."""

    text: str
    is_thought: bool = False


class _Place(NamedTuple):
    """Where in an answer the reader is. `is_fresh`: nothing of this part was shown yet. `blanks` came last, and are
    left out where the part ends. `is_untouched`: no mark was met yet, so that blanks at the start are the answer's."""

    marks: Marks
    is_fresh: bool = True
    blanks: str = ""
    is_untouched: bool = False


class AnswerReader:
    """Reads one answer of a model that writes in the format `form`. `calls` are the tools that it calls, so far.

    `prompt_end` is how the prompt ends, with special tokens as `as_control` writes them: some templates open the
    thought themselves. `tools` are those that were offered; `has_tools` says that calls are to be expected.
    """

    def __init__(
        self, form: AnswerFormat, prompt_end: str = "", tools: Sequence[Tool] = (), *, has_tools: bool = False
    ) -> None:
        self.calls: list[ToolCall] = []
        self._tools = tools
        self._marks = _offered(form.marks, tools, has_tools or bool(tools))
        self._can_part = any(marks.kind != "thought" or marks.is_control for marks in self._marks)
        self._place = _Place(_TEXT, is_untouched=True)
        self._before = self._place  # the call that is read now
        self._body: list[str] = []  # of a call or header, so far
        self._head = ""  # of a call, while its first characters may tell that it is none
        self._is_doubtful = False
        self._recipient = ""  # the tool that a header named
        self._unread = ""
        self._given = ""  # of a mark that the prompt began, and that is no text if it comes to nothing
        self._may_think = True
        self._has_shown = {False: False, True: False}
        self._code = _Code()
        self._begin(prompt_end.rstrip())

    @property
    def is_thought(self) -> bool:
        """Whether it is within a thought now."""
        return self._place.marks.kind == "thought"

    @property
    def is_call(self) -> bool:
        """Whether it is within a tool call now."""
        return self._place.marks.kind == "call"

    def is_end(self, piece: str) -> bool:
        """Whether this special token, as `as_control` writes it, ends the answer where it stands."""
        return self._place.marks.is_last and piece == self._place.marks.closes

    def may_go_on(self, text: str) -> bool:
        """Whether a tool call may stand behind the end token with which what is not read yet begins, after this text:
        as far as it is there, it opens one."""
        said = self._unread + text
        opens = [marks.opens for marks in self._openings() if marks.is_behind_end]
        return any(said.startswith(one) or one.startswith(said) for one in opens)

    def add(self, piece: str) -> list[Part]:
        """What can be shown after one more piece of what the model wrote."""
        self._unread += piece
        return list(self._read())

    def finish(self) -> list[Part]:
        """What was held back, at the end of the answer. A call that is whole but for its closing mark counts."""
        held = self._held()
        if held and self._unread[-held:].startswith(CONTROL):  # it was to be a mark
            self._unread = self._unread[:-held]
        parts = [*self._read(is_last=True)]
        if self._place.marks.kind == "call":
            parts += self._end_call("")
        elif self._place.marks.kind == "header" and not self._place.marks.opens:  # the prompt opened it
            header = "".join(self._body)
            self._place = _Place(_TEXT)
            parts += [] if CONTROL in header else self._show(header)
        if self._place.marks.kind == "answer" and self._place.blanks:
            parts.append(Part(self._place.blanks))
            self._place = self._place._replace(blanks="")
        return parts

    def _begin(self, prompt_end: str) -> None:
        """Begin in the part that the prompt opened."""
        for marks in self._marks:
            if marks.kind != "call" and prompt_end.endswith(marks.opens.rstrip()):
                self._open(replace(marks, opens=""))
            elif marks.kind == "thought" and prompt_end.endswith(marks.closes):
                self._may_think = False
        if prompt_end.endswith(">>>") and any(marks.opens.startswith(">>>") for marks in self._marks):
            self._unread = self._given = ">>>"

    def _read(self, *, is_last: bool = False) -> Iterator[Part]:
        """Read on as far as it is certain what is what."""
        while True:
            mark, marks, start = self._next_mark()
            end = start if marks else len(self._unread) - (0 if is_last else self._held())
            text, self._unread = self._unread[:end], self._unread[end:]
            yield from self._take(text)
            if self._is_none():
                yield from self._take_back()
            elif marks is None:
                return
            else:
                self._unread = self._unread[len(mark) :]
                yield from self._meet(mark, marks)

    def _next_mark(self) -> tuple[str, Marks | None, int]:
        """The first mark in what is not read yet: itself, what it belongs to, and where it begins."""
        here = self._place.marks
        marks: Marks | None
        found = [(self._unread.find(marks.opens), marks.opens, marks) for marks in self._openings()]
        if here.closes:
            found.append((self._unread.find(here.closes), here.closes, here))
        start, mark, marks = min((one for one in found if one[0] >= 0), key=lambda one: one[0], default=(0, "", None))
        return mark, marks, start

    def _openings(self) -> Iterator[Marks]:
        """What may open another part where the reader is. Nothing is looked for in headers and calls."""
        kind = self._place.marks.kind
        if kind == "thought":
            yield from (marks for marks in self._marks if marks.is_control and marks.kind != "thought")
        elif kind == "answer":
            for marks in self._marks:
                if marks.is_control or self._place.is_fresh or not (marks.is_first or marks.kind == "thought"):
                    yield marks

    def _held(self) -> int:
        """Characters at the end of what is not read yet that may become a mark."""
        marks = [*(marks.opens for marks in self._openings()), self._place.marks.closes]
        return max(begun(self._unread, mark) for mark in marks)

    def _meet(self, mark: str, marks: Marks) -> Iterator[Part]:
        """Go on behind a mark."""
        here = self._place.marks
        if marks is here and mark == here.closes:
            yield from self._close(mark)
        elif here.kind == "thought" or self._can_stand(marks):
            self._open(marks)
        else:
            yield from self._show(mark)

    def _can_stand(self, marks: Marks) -> bool:
        """Whether what opens a part means that, in a text, where the reader is."""
        if marks.is_control:
            return True
        if marks.kind == "thought":
            return self._may_think and self._place.is_fresh
        return self._place.is_fresh if marks.is_first else marks.kind != "call" or not self._code.is_inside

    def _open(self, marks: Marks) -> None:
        self._before, self._place = self._place, _Place(marks)
        self._body, self._recipient, self._given = [], "", ""
        self._head = marks.begins if marks.kind == "call" and not marks.is_control else ""
        self._is_doubtful = marks.kind == "call" and not marks.is_control
        self._may_think = self._may_think and marks.kind != "thought"

    def _close(self, mark: str) -> Iterator[Part]:
        if self._place.marks.kind == "call":
            yield from self._end_call(mark)
        elif self._place.marks.kind == "header":
            self._follow("".join(self._body))
        else:
            self._place = _Place(_TEXT)

    def _follow(self, header: str) -> None:
        """Go on with the part that a header announced."""
        is_control = self._place.marks.is_control
        recipient = _RECIPIENT.search(header)
        kind = "call" if recipient else "thought" if "analysis" in header else "answer"
        marks = HARMONY_PARTS["preamble" if kind == "answer" and "commentary" in header else kind]
        self._open(replace(marks, closes=as_control(marks.closes)) if is_control else marks)
        self._before = _Place(_TEXT)
        self._is_doubtful = False
        self._recipient = recipient[1] if recipient else ""

    def _end_call(self, mark: str) -> Iterator[Part]:
        """A call is whole. What is no call is text."""
        marks = self._place.marks
        written = "".join(self._body)
        if calls := self._called(names_as_text(written)):
            self.calls += calls
            self._place = _Place(_TEXT)
        else:
            self._place = self._before
            yield from self._show(without_control(marks.opens + written + mark))

    def _called(self, text: str) -> tuple[ToolCall, ...]:
        marks = self._place.marks
        if self._recipient:
            try:
                return (call_of(self._recipient, text),)
            except (ValueError, RecursionError, InvalidRequestError):
                return ()
        whole = marks.begins + text + (marks.closes if marks.begins.startswith("<") else "")
        calls = read_calls(whole, self._tools, is_keyed="tools_prefix" in marks.opens)
        known = {tool.name for tool in self._tools}
        return calls if marks.opens != "{" or all(call.name in known for call in calls) else ()

    def _is_none(self) -> bool:
        """Whether the call or header that is read turns out to be none."""
        if self._place.marks.kind == "header":
            return sum(map(len, self._body)) > LONGEST_HEADER
        if not self._is_doubtful:
            return False
        could_be = could_be_call(self._head)
        self._is_doubtful = could_be is None and len(self._head) < _HEAD
        return could_be is False

    def _take_back(self) -> Iterator[Part]:
        """What was read as a call or header is text, in which there may be other marks."""
        opens, body = self._place.marks.opens, "".join(self._body)
        self._place = self._before
        self._unread = body + self._unread
        yield from self._show(without_control(opens))

    def _take(self, text: str) -> Iterator[Part]:
        """A stretch without marks that belongs to the part where the reader is."""
        if self._place.marks.kind in ("header", "call"):
            self._body += [text] * bool(text)
            if self._is_doubtful:
                self._head = (self._head + text)[:_HEAD]
        else:
            yield from self._show(without_control(text))

    def _show(self, text: str) -> Iterator[Part]:
        """Hand out a text, but for blanks at its end that may turn out to stand at the end of its part."""
        marks, is_fresh, blanks, is_untouched = self._place
        is_thought = self.is_thought
        text, self._given = text[len(self._given) :], self._given[len(text) :]
        if not is_thought:
            self._code.add(text)
        text = blanks + text
        if is_fresh and not is_untouched:
            text = text.lstrip()
        shown = text.rstrip() if is_fresh or is_thought or self._can_part else text
        blanks = text[len(shown) :]
        if len(blanks) > MOST_BLANKS:
            shown, blanks = text, ""
        self._place = _Place(marks, is_fresh and not shown, blanks, is_untouched)
        if shown:
            is_next = is_fresh and self._has_shown[is_thought]
            self._has_shown[is_thought] = True
            yield Part(_PARAGRAPH * is_next + shown, is_thought)


def begun(text: str, mark: str) -> int:
    """Characters at the end of a text with which `mark` begins, and may yet be completed."""
    return next((n for n in range(min(len(text), len(mark) - 1), 0, -1) if text.endswith(mark[:n])), 0)


class _Code:
    """Whether a growing Markdown text is inside of code: between fences, or behind an odd backtick of its line."""

    def __init__(self) -> None:
        self._is_fenced = False
        self._line = ""  # how the last line begins
        self._ticks = 0  # in it

    @property
    def is_inside(self) -> bool:
        """Whether what comes next is code."""
        return self._is_fenced or self._ticks % 2 == 1 or _is_fence(self._line)

    def add(self, text: str) -> None:
        """More of the text."""
        first, *others = text.split("\n")
        self._go_on(first)
        for line in others:
            self._is_fenced ^= _is_fence(self._line)
            self._line, self._ticks = "", 0
            self._go_on(line)

    def _go_on(self, text: str) -> None:
        self._ticks += text.count("`")
        self._line = (self._line + text[:_HEAD]).lstrip()[:3]


def _is_fence(line: str) -> bool:
    return line in ("```", "~~~")


def _offered(known: Sequence[Marks], tools: Sequence[Tool], has_tools: bool) -> tuple[Marks, ...]:
    """The marks that are to be expected. Those of tool calls that are ordinary text mean nothing without tools."""
    marks: list[Marks] = []
    for one in known:
        if one.per_tool:
            names = [f"{one.opens}{tool.name}\n" for tool in tools]
            marks += [replace(one, opens=name, begins=name) for name in names]
        elif one.kind != "call" or has_tools or (one.is_control and not one.is_behind_end):
            marks.append(one)
    return tuple(marks)

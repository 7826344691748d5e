"""The texts of one prompt in frames, and the rendered prompt cut at them.

A template may treat a framed text otherwise. Then it is left bare: without a frame, and with the special tokens broken
up that it spells out, so that they are told from the template's own.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from engine.prompt.alignment import Frames, Stretch, align
from engine.prompt.sent import Sent
from engine.prompt.special_tokens import ControlTokens
from engine.prompt.written import Written

MOST_TRIES = 12
"""How often a prompt is rendered with frames at most, where the template treats framed texts otherwise."""

log = logging.getLogger("headstart")


@dataclass(frozen=True)
class Rendered:
    """A rendered prompt: its text, cut into stretches, made of these messages. `written` holds what the model wrote of
    them, `left_out` the numbers of frames that the template did not write."""

    stretches: tuple[Stretch, ...]
    chat: tuple[Sent, ...]
    written: Mapping[int, Written]
    left_out: frozenset[int]

    @cached_property
    def text(self) -> str:
        """All of it."""
        return "".join(stretch.text for stretch in self.stretches)

    @cached_property
    def places(self) -> dict[int, tuple[int, int]]:
        """Where each framed text lies, by the number of its frame; the first place, where there are several."""
        found: dict[int, tuple[int, int]] = {}
        at = 0
        for stretch in self.stretches:
            if stretch.number >= 0:
                found.setdefault(stretch.number, (at, at + len(stretch.text)))
            at += len(stretch.text)
        return found

    @cached_property
    def starts(self) -> list[int]:
        """Where framed texts begin."""
        return sorted(start for start, _ in self.places.values())

    @cached_property
    def ends(self) -> list[int]:
        """Where framed texts end."""
        return sorted(end for _, end in self.places.values())

    def of(self, sent: Sent) -> list[tuple[int, int]]:
        """The places of a message's texts."""
        return [self.places[number] for number in _numbers(sent) if number in self.places]


class Framing:
    """Which texts of a prompt get a frame: those of messages and thoughts, and the names of `tools`."""

    def __init__(
        self,
        chat: Sequence[Sent],
        tools: Sequence[Mapping[str, Any]],
        written: Mapping[int, Written],
        control: ControlTokens,
    ) -> None:
        self._chat, self._tools, self._written, self._control = tuple(chat), tools, written, control
        self._first_tool = first_tool(chat)
        self._wanted = _wanted(chat, tools)
        self._frames = Frames([*self._wanted.values(), *(own.text for own in written.values())])
        self._names = {number for number in self._wanted if number >= self._first_tool}
        self._bare: set[int] = set()
        self._tries = 0

    @property
    def has_bare_names(self) -> bool:
        """Whether the names of tools were left bare, and nothing else."""
        return bool(self._names) and self._bare == self._names

    def leave_names(self) -> None:
        """Leave the names of tools bare."""
        self._bare |= self._names

    def plain(self, text: str, number: int) -> str:
        """The text as it stands in the prompt."""
        return self._control.broken_up(text) if number in self._bare else text

    def framed(self, text: str, number: int) -> str:
        """The text in the frame of this number, where it gets one."""
        is_framed = number in self._wanted and number not in self._bare
        return self._frames.around(text, number) if is_framed else self.plain(text, number)

    def framed_tools(self) -> list[dict[str, Any]]:
        """The tools with frames around their names."""
        described = [(number, tool["function"]) for number, tool in enumerate(self._tools, self._first_tool)]
        named = [{**inner, "name": self.framed(inner["name"], number)} for number, inner in described]
        return [{**tool, "function": inner} for tool, inner in zip(self._tools, named, strict=True)]

    def cut(self, text: str, framed: str | None) -> Rendered | None:
        """The rendered text, cut as the one with frames around its texts is, which is None where the template refuses
        them. None where they do not agree: then more texts are left bare, and both must be rendered once more."""
        if self._bare.issuperset(self._wanted):
            return self._rendered([Stretch(text)])
        stretches, odd = ([], set(self._wanted)) if framed is None else self._frames.read(framed)
        found = odd or align(text, stretches)
        if isinstance(found, list):
            return self._rendered(found)
        self._leave(odd, [] if odd else list(found))
        return None

    def _leave(self, odd: set[int], likely: Sequence[int]) -> None:
        """Leave more texts bare: those that the template broke, else the likeliest one at the place of the difference.
        The names of tools come first: it may look at them, or write them in another spelling."""
        self._tries += 1
        following = [number for number in likely if number not in self._bare][:1]
        if self._names - self._bare:
            self.leave_names()
        elif (more := odd - self._bare or set(following)) and self._tries < MOST_TRIES:
            self._bare |= more
        else:
            log.info("the chat template changes what is written: answers are encoded anew")
            self._bare |= set(self._wanted)

    def _rendered(self, stretches: Sequence[Stretch]) -> Rendered:
        there = {stretch.number for stretch in stretches}
        absent = {number for number, text in self._wanted.items() if text.strip() and number not in there}
        parts = [
            Stretch(text, stretch.number, is_plain)
            for stretch in stretches
            for text, is_plain in self._control.parts(stretch.text)
        ]
        return Rendered(tuple(parts), self._chat, self._written, frozenset(absent - self._bare))


def first_tool(chat: Sequence[Sent]) -> int:
    """The number of the frame around the first tool's name."""
    return 2 * (1 + max((index for sent in chat for index in (sent.index, *(i for i, _ in sent.texts))), default=0))


def _numbers(sent: Sent) -> list[int]:
    """The numbers of the frames of a message, in the order of its texts; that of its thought first."""
    return [2 * sent.index + 1, *(2 * index for index, _ in sent.texts if index >= 0)]


def _wanted(chat: Sequence[Sent], tools: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """The texts that get a frame, by its number. An empty content beside tool calls is told from one with words."""
    framed = [sent for sent in chat if sent.content.strip() or not sent.message.tool_calls]
    wanted = {2 * index: text for sent in framed for index, text in sent.texts if index >= 0}
    wanted |= {2 * sent.index + 1: sent.message.thought for sent in chat if sent.message.thought}
    return wanted | {number: tool["function"]["name"] for number, tool in enumerate(tools, first_tool(chat))}

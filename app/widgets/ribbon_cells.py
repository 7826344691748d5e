"""A prompt as a row of cells: which tokens each stands for, what will happen to them, and what they say. No Qt."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from app.language import tr
from app.words import ordinal_message
from engine import BLOCK_TOKENS, Preview, TokenSpan

State = Literal["pinned", "reused", "sent", "ahead", "memory", "disk", "computed", "past", "free"]
STATE_WORDS: dict[State, str] = {
    "pinned": tr("kept"),
    "reused": tr("remembered"),
    "sent": tr("as sent before"),
    "ahead": tr("read ahead"),
    "memory": tr("from main memory"),
    "disk": tr("from disk"),
    "computed": tr("to read"),
    "past": tr("more than the model reads"),
    "free": tr("free"),
}
QUOTE_LENGTH = 140
"""Characters of a cell's text that are shown."""
MOST_PLACES = 3
FREE_CELLS = 2
"""Cells that show free context at the end of a prompt, where there is any."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The tokens `start` to `end` (exclusive). `parts` says in order how many of them are in which state."""

    start: int
    end: int
    parts: tuple[tuple[State, int], ...]

    @property
    def states(self) -> tuple[State, ...]:
        """The states in it, in order."""
        return tuple(state for state, _ in self.parts)


def cells(preview: Preview, room: int) -> list[Cell]:
    """The prompt, and free context behind it, as at most `room` cells. A cell stands for one block of tokens, or for
    as few as let the whole prompt fit."""
    if room < 1 + FREE_CELLS:
        return []
    blocks = math.ceil(preview.prompt_tokens / BLOCK_TOKENS)
    unit = BLOCK_TOKENS * max(1, math.ceil(blocks / (room - FREE_CELLS)))
    end = min(room * unit, max(preview.prompt_tokens, preview.context_length))
    made, states = [], list(stretches(preview))
    for start in range(0, end, unit):
        last = min(start + unit, end)
        parts = tuple((state, min(b, last) - max(a, start)) for state, a, b in states)
        made.append(Cell(start, last, tuple((state, count) for state, count in parts if count > 0)))
    return made


def stretches(preview: Preview) -> Iterator[tuple[State, int, int]]:
    """Each state with its first token and the one behind its last, in order of position. Some may be empty."""
    prompt, context = preview.prompt_tokens, preview.context_length
    inside = min(prompt, context)
    reused = min(preview.reused_tokens, inside)
    behind = max(0, min(preview.reused_tokens - preview.disk_tokens, reused))
    near = max(0, min(preview.reused_tokens - preview.disk_tokens - preview.memory_tokens, behind))
    ahead = max(0, near - preview.ahead_tokens)
    pinned = min(preview.pinned_tokens, ahead)
    yield "pinned", 0, pinned
    yield "sent" if preview.is_elsewhere else "reused", pinned, ahead
    yield "ahead", ahead, near
    yield "memory", near, behind
    yield "disk", behind, reused
    yield "computed", reused, inside
    yield "past", inside, prompt
    yield "free", prompt, context


def describe(preview: Preview, cell: Cell, *, read_tokens: int = 0) -> tuple[str, str, str]:
    """What a cell is: its tokens and their states, the messages it lies in, its text ("" where it is not known).

    The first `read_tokens` of the prompt are reused or computed by now.
    """
    used = [(state, count) for state, count in cell.parts if state != "free"]
    if not used:
        free = preview.context_length - preview.prompt_tokens
        return tr("Free: the context has room for {free:,} more tokens", free=free), "", ""
    end = min(cell.end, preview.prompt_tokens)
    words = STATE_WORDS | ({"computed": tr("read")} if end <= read_tokens else {})
    words |= {"computed": tr("not sent before")} if preview.is_elsewhere else {}
    says = ", ".join(
        tr("{count:,} {state}", count=count, state=words[state]) if len(used) > 1 else words[state]
        for state, count in used
    )
    tokens = (
        tr("Tokens {start:,} to {end:,}", start=cell.start, end=end - 1)
        if end - cell.start > 1
        else tr("Token {start:,}", start=cell.start)
    )
    return f"{tokens}: {says}", _places(preview.spans, cell.start, end), _text(preview, cell.start, end)


def _places(spans: tuple[TokenSpan, ...], start: int, end: int) -> str:
    """The messages that the tokens lie in."""
    touched = [span for span in spans if span.start < end and span.end > start]
    if not touched:
        return tr("between two messages, written by the chat template") if spans else ""
    places = [place_of(spans, span) for span in touched]
    places = list(dict.fromkeys(places))
    if len(places) > MOST_PLACES:
        places = [*places[: MOST_PLACES - 1], tr("{count} more", count=len(places) - MOST_PLACES + 1)]
    return tr("in ") + tr(" and ").join(part for part in (", ".join(places[:-1]), places[-1]) if part)


def place_of(spans: tuple[TokenSpan, ...], span: TokenSpan) -> str:
    """Which message a span holds: "your 2nd message"."""
    before = {s.message_index for s in spans if s.role == span.role and s.message_index <= span.message_index}
    return ordinal_message(span.role, len(before))


def _text(preview: Preview, start: int, end: int) -> str:
    blocks = preview.block_texts[start // BLOCK_TOKENS : math.ceil(end / BLOCK_TOKENS)]
    line = " ".join("".join(blocks).split())
    return line if len(line) <= QUOTE_LENGTH else line[:QUOTE_LENGTH].rstrip() + "…"

"""Random conversations over the small templates: whatever a user does, prompts are right and causes true.

What is checked of each prompt stands in `tests.engine.real_templates`. In the last test the tiny model computes: what
the figures say of it is what it did.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from engine.types import Message, ToolCall
from tests.engine import kinds_of_templates as kinds
from tests.engine.real_templates import DAY, SYSTEM, TOOLS, Step, Trial

WORDS = st.text("abé \n🙂.", max_size=12)


@dataclass(frozen=True)
class Move:
    """What a user does next, with the words of question, answer and thought. `at` chooses a question, tools or a
    switch."""

    kind: str
    question: str
    answer: str
    thought: str
    at: int


MOVED = ("ask", "ask", "call", "retry", "edit", "day", "tools", "settings")
MOVES = st.builds(Move, st.sampled_from(MOVED), WORDS, WORDS, WORDS, st.integers(0, 5))


@cache
def trial(name: str) -> Trial:
    """One trial of each kind for all conversations: what it remembers must not matter."""
    return Trial(name, kinds.KINDS[name])


def play(on: Trial, has_system: bool, has_tools: bool, moves: Sequence[Move]) -> Iterator[Step]:
    """A conversation as requests, each with its answer."""
    now = Step((Message("system", SYSTEM),) if has_system else (), Message("assistant", ""), TOOLS if has_tools else ())
    choices = ("", *on.builder.thinking)
    on.reference.day, on.reference.thinking = DAY, ""
    for number, move in enumerate(moves):
        changed = "" if move.kind in ("ask", "call") else move.kind
        if number == 0 or move.kind in ("ask", "call"):
            question = Message("user", f"{move.question}Question {number}: {move.question}")
            said = (*now.messages, *([now.answer] if number else []), question)
            now = replace(now, messages=said)
        elif move.kind == "edit":
            now = edited(now, move)
        elif move.kind == "day":
            now = replace(now, day=now.day + timedelta(days=1))
        elif move.kind == "tools" and now.tools:
            now = replace(now, tools=TOOLS if now.tools != TOOLS else TOOLS[:1])
        elif move.kind == "settings":
            now = replace(now, thinking=choices[move.at % len(choices)])
        on.reference.day, on.reference.thinking = now.day, now.thinking
        text = f"Answer {number}: {move.answer}".strip() if move.at else ""
        thought = f"Thought {number} {move.thought}".strip() if move.thought else ""
        if move.kind == "call" and now.tools:
            call = ToolCall(now.tools[0].name, f'{{"number": 123456{number}}}', f"abcdef12{number}")
            answer = on.answer(now.messages, "", thought, now.tools, call)
            yield replace(now, answer=answer, changed=changed)
            result = Message("tool", f'{{"place": "warehouse {number}"}}', tool_call_id=call.id)
            now = replace(now, messages=(*now.messages, answer, result))
            text = text or "Found."
        now = replace(now, answer=on.answer(now.messages, text, thought, now.tools), changed=changed)
        yield now


def edited(now: Step, move: Move) -> Step:
    """One of the questions is another one now; what follows it stays."""
    asked = [index for index, message in enumerate(now.messages) if message.role == "user"]
    said = list(now.messages)
    said[asked[move.at % len(asked)]] = Message("user", f"Edited: {move.question}, and {move.thought}?")
    return replace(now, messages=tuple(said))


@given(st.sampled_from(list(kinds.KINDS)), st.booleans(), st.booleans(), st.lists(MOVES, min_size=2, max_size=6))
def test_whatever_is_said_prompts_are_right_and_causes_true(
    name: str, has_system: bool, has_tools: bool, moves: list[Move]
) -> None:
    on = trial(name)
    on.found.clear()
    on.hold("random", play(on, has_system, has_tools, moves))
    assert on.found == []

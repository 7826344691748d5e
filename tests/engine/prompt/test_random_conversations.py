"""Random conversations over the small templates: whatever a user does, prompts are right and causes true.

What is checked of each prompt stands in `tests.engine.real_templates`. In the last test the tiny model computes: what
the figures say of it is what it did.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.models.from_transformers import TransformersNetwork
from engine.models.loaded import LoadedModel
from engine.prompt.divergence import common_length
from engine.types import Message, ToolCall
from tests.engine import kinds_of_templates as kinds
from tests.engine.real_templates import DAY, SYSTEM, TOOLS, Step, Trial
from tests.engine.tiny_models import make_llama, make_tokenizer
from tests.engine.turns import GREEDY, Chat, Scripted, cold_answer, make_responder

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


@pytest.mark.parametrize("name", ["thought in last turn", "thought kept"])
def test_the_figures_of_a_model_that_thinks_are_what_it_computed(name: str) -> None:
    """It computes for each turn what its prompt does not share with the one before, and of what it says to read again
    nothing else: the answer behind a thought that is left out now. Its logits are those of a run without the cache."""
    tokenizer = make_tokenizer(kinds.KINDS[name])
    model = Scripted(LoadedModel(TransformersNetwork(make_llama(400)), tokenizer, "/nowhere/thinking"), [])
    chat = Chat(make_responder(model), SYSTEM, sampling=replace(GREEDY, max_tokens=100))
    past: tuple[int, ...] = ()
    said: tuple[int, ...] = ()
    for number in range(4):
        thought = tokenizer(f"<think>\nThey ask for parcel {number}.\n</think>\n\n").input_ids
        before, said = said, tuple(tokenizer(f"Parcel {number} left the warehouse with the stove.").input_ids)
        model.script = [*thought, *said, tokenizer.eos_token_id]
        model.calls.clear()
        model.logits.clear()
        finished = chat.ask(f"Where is parcel {number}?")
        assert (chat.matched is not None, finished.thought) == (True, f"They ask for parcel {number}.")
        prompt = chat.responder.last_turns.all["chat"].ids[: chat.matched.prompt_tokens]
        prefill = [call for call in model.calls if call[0] < len(prompt)]
        assert (chat.reused, sum(prefill[-1])) == (common_length(past, prompt), len(prompt))
        assert sum(length for _, length in prefill) == chat.matched.computed_tokens
        told = chat.matched.divergence if number else None
        assert (told is None) == (number == 0 or name == "thought kept")
        if told is not None:
            assert (told.cause, told.recomputed_tokens) == ("reasoning removed", len(before))
            assert prompt[told.position :][: len(before)] == before
            assert past[-len(before) :] == before
        warm = model.logits[len(prefill) - 1 :]
        model.logits.clear()
        del chat.messages[-1]
        cold = cold_answer(chat)
        assert (cold.thought, cold.text, cold.token_ids) == (finished.thought, finished.text, finished.token_ids)
        assert all(map(torch.equal, warm, model.logits[-len(warm) :]))
        chat.messages.append(Message("assistant", finished.text, finished.token_ids, finished.thought))
        list(chat.responder.settle())
        past = (*prompt, *finished.token_ids)

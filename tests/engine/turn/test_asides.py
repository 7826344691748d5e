"""A question that is asked beside a chat, such as for its title, costs that chat nothing of what it would reuse."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.events import Event, Finished, TextDelta
from engine.models.loaded import LoadedModel
from engine.types import Message
from tests.engine.turn.conftest import QUESTION, SYSTEM
from tests.engine.turns import Chat, events, finish, short_chunks


def next_turn(tiny: LoadedModel, aside: str, *, settles: bool) -> tuple[int, str]:
    """What the second turn of a chat reuses, and its answer, after an `aside`: "none", "whole" or "broken off"."""
    chat = Chat(short_chunks(tiny), SYSTEM)
    chat.ask(QUESTION)
    if aside != "none":
        asked = (*chat.messages, Message("user", "Write a title for this conversation."))
        request = replace(chat.request(), messages=asked, conversation="", pin_system=False)
        seen: list[Event] = []

        def is_cancelled() -> bool:
            return aside == "broken off" and sum(isinstance(event, TextDelta) for event in seen) > 1

        for event in events(chat.responder, request, is_cancelled=is_cancelled):
            seen.append(event)
        assert isinstance(seen[-1], Finished)
    if settles:
        list(chat.responder.settle())
    chat.messages.append(Message("user", f"{QUESTION} It is number 7."))
    matched, finished = finish(chat.responder, chat.request())
    return matched.reused_tokens, finished.text


@pytest.mark.parametrize("settles", [False, True])
@pytest.mark.parametrize("aside", ["whole", "broken off"])
def test_the_next_turn_reuses_no_less_and_says_the_same(tiny: LoadedModel, aside: str, settles: bool) -> None:
    reused, text = next_turn(tiny, aside, settles=settles)
    without, same = next_turn(tiny, "none", settles=settles)
    assert reused >= without - without % 16
    assert text == same

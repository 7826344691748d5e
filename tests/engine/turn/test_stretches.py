"""Which stretches of an answer's text were written ahead, as the turn reports them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.cache.null_cache import NullCache
from engine.prompt.parts import Part
from engine.prompt.template import Prompt
from engine.turn.metrics import TurnClock
from engine.turn.turn import Turn
from engine.types import Message, Request


def new_turn() -> Turn:
    request = Request((Message("user", "Hi"),))
    cache = NullCache.__new__(NullCache)  # nothing is looked up here
    clock = TurnClock(lambda: 0.0, 0.0)
    return Turn(1, request, Prompt((), (), request.messages), cache, clock, lambda: False, lambda: None)


TOKENS = st.lists(st.tuples(st.text("ab é", max_size=3), st.booleans(), st.booleans()), max_size=20)


@given(TOKENS)
def test_a_stretch_is_made_of_guesses_that_held(tokens: list[tuple[str, bool, bool]]) -> None:
    """Each token gives some text, of the answer or of the thought before it; that of no other token is in a stretch."""
    turn, expected, text, waiting = new_turn(), "", "", False
    for piece, is_accepted, is_thought in tokens:
        turn.ids.append(7)
        if is_accepted:
            turn.accepted.add(len(turn.ids) - 1)
        waiting = waiting or not is_accepted
        list(turn.deltas([Part(piece, is_thought)]))
        if not piece:
            continue
        if not is_thought:
            text += piece
            expected += ("." if waiting else "x") * len(piece)
        waiting = False
    shown = ["."] * len(text)
    for start, end in turn.stretches:
        assert 0 <= start < end <= len(text)
        shown[start:end] = "x" * (end - start)
    assert "".join(shown) == expected
    assert all(one[1] < other[0] for one, other in zip(turn.stretches, turn.stretches[1:], strict=False))


def test_what_does_not_belong_to_the_answer_was_not_accepted_for_it() -> None:
    turn = new_turn()
    turn.ids[:], turn.accepted = [7] * 6, {1, 4, 5}
    turn.cut(5)
    assert turn.accepted == {1, 4}

"""Which message of a conversation a message of a prompt is."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from app.chat.branch import said_together
from app.chat.places import index_in
from app.history.records import StoredMessage
from engine import Role

ROLES: Sequence[Role] = ("user", "assistant")


@given(st.lists(st.sampled_from(ROLES), max_size=12), st.integers(0, 4), st.booleans())
def test_each_message_of_a_prompt_is_found(roles: list[Role], left_out: int, had_system_prompt: bool) -> None:
    branch = [StoredMessage(number, 1, None, role, "") for number, role in enumerate(roles)]
    prompt = [None] * had_system_prompt + [group[-1].id for group in said_together(branch[left_out:])]
    found = [index_in(branch, place, had_system_prompt, left_out) for place in range(len(prompt))]
    assert found == [-1 if each is None else each for each in prompt]

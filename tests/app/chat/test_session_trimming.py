"""What the model no longer sees of a long chat stays unseen, whatever is edited, undone, retried or shown again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.chat.branch import said_together
from app.history.records import StoredMessage
from engine import Finished, ModelSpec, TextDelta
from tests.app.conftest import Desk

STEPS = ("ask", "ask and stop", "edit", "retry", "other version", "leave out", "reopen")


def questions(desk: Desk) -> list[StoredMessage]:
    return [message for message in desk.session.messages if message.role == "user"]


def act(desk: Desk, step: str, choice: int) -> int | None:
    """One thing a user does. Returns the message up to which everything was just left out, where it was."""
    session, asked = desk.session, questions(desk)
    if not asked:
        step = "ask"
    if step == "ask":
        session.send(f"q{len(desk.engine.requests)}")
    elif step == "ask and stop":
        session.send(f"q{len(desk.engine.requests)}")
        session.stop()
    elif step == "edit":
        session.edit(asked[choice % len(asked)].id, f"q{len(desk.engine.requests)}")
    elif step == "retry":
        session.retry()
    elif step == "other version":
        versions = session.versions(session.messages[choice % len(session.messages)].id)
        session.choose_sibling(versions[choice % len(versions)])
    elif step == "leave out":
        return leave_out(desk, choice)
    else:
        number = session.conversation.id
        session.new_conversation()
        session.open(number)
    desk.play()
    return None


def leave_out(desk: Desk, choice: int) -> int | None:
    first = index_of(desk, desk.session.first_seen_id)
    seen = said_together(desk.session.messages[first:])
    places = [group[0] for group in seen[1:] if group[0].role == "user"]
    if not places:
        return None
    chosen = places[choice % len(places)]
    desk.session.leave_out_before(chosen.id)
    return chosen.parent_id


def index_of(desk: Desk, message_id: int | None) -> int:
    return next((place for place, each in enumerate(desk.session.messages) if each.id == message_id), 0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 20)), max_size=14))
def test_every_branch_that_holds_what_was_left_out_leaves_it_out(
    make_desk: Callable[..., Desk], steps: list[tuple[str, int]]
) -> None:
    desk = make_desk()
    session, left_out = desk.session, set[int]()
    for step in [("ask", 0), ("ask", 0), ("leave out", 0), *steps]:
        if (last := act(desk, *step)) is not None:
            left_out.add(last)
        branch = session.messages
        expected = max((place + 1 for place, message in enumerate(branch) if message.id in left_out), default=0)
        assert index_of(desk, session.first_seen_id) == expected or expected == len(branch)
        found = session.would_send("next", None)
        assert found is not None
        seen = said_together([*branch, found[0].messages[-1]][expected:])
        assert found[1].messages[0].content == "\n\n".join(each.content for each in seen[0])
    desk.close()


def test_the_first_question_seen_can_be_rewritten_and_brought_back(desk: Desk) -> None:
    for text in ("one", "two", "three"):
        desk.session.send(text)
        desk.play()
    third = questions(desk)[2]
    desk.session.leave_out_before(third.id)
    desk.session.edit(third.id, "three, better")
    desk.play()
    assert [message.content for message in desk.engine.requests[-1].messages] == ["three, better"]
    desk.session.choose_sibling(third.id)
    desk.session.retry()
    assert [message.content for message in desk.engine.requests[-1].messages] == ["three"]


@pytest.mark.parametrize("act", ["send", "edit", "retry"])
def test_the_engine_has_a_question_before_the_window_draws_it(make_desk: Callable[..., Desk], act: str) -> None:
    desk = make_desk()
    desk.session.send("one")
    desk.play()
    before, drawn = len(desk.engine.requests), []
    for signal in (desk.session.conversation_changed, desk.session.message_added):
        signal.connect(lambda *_: drawn.append(len(desk.engine.requests)))
    question = questions(desk)[0].id
    {
        "send": lambda: desk.session.send("two"),
        "edit": lambda: desk.session.edit(question, "other"),
        "retry": desk.session.retry,
    }[act]()
    assert drawn
    assert set(drawn) == {before + 1}
    assert desk.engine.requests[-1].asked_at is not None
    desk.until(TextDelta)
    desk.until(Finished)


def test_the_wait_for_a_model_is_no_part_of_a_turns_time(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk(loaded=False)
    desk.session.answers.load(ModelSpec())
    desk.session.send("one")
    desk.play()
    assert desk.engine.requests[0].asked_at is None

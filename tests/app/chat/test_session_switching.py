"""Switching and deleting conversations while answers are written: the right text in the right chat, or stopped."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import Failed, Finished, TextDelta
from tests.app.conftest import Desk
from tests.app.fake_engine import FakeEngine, Script, words

FIRST = Script(tokens=words("the first answer has six words"))
SECOND = Script(tokens=words("and this is the second one"))


def contents(desk: Desk) -> list[str]:
    return [message.content for message in desk.session.messages]


def start(make_desk: Callable[..., Desk]) -> tuple[Desk, int]:
    """A desk on which the first answer has been begun, and its conversation."""
    desk = make_desk(FakeEngine(FIRST, SECOND, manual=True))
    desk.session.send("First?")
    desk.until(TextDelta)
    return desk, desk.session.conversation.id


def test_an_answer_goes_on_behind_another_conversation(make_desk: Callable[..., Desk]) -> None:
    desk, first = start(make_desk)
    desk.session.new_conversation()
    assert (contents(desk), desk.session.state) == ([], "idle")
    desk.said.clear()
    desk.play()
    assert {name for name, _ in desk.said} <= {"cache_view", "conversations_changed"}
    assert contents(desk) == []
    desk.session.open(first)
    assert contents(desk) == ["First?", "the first answer has six words"]
    assert desk.session.messages[-1].finish_reason == "end"


def test_coming_back_shows_what_was_written_meanwhile_and_what_follows(make_desk: Callable[..., Desk]) -> None:
    desk, first = start(make_desk)
    desk.session.new_conversation()
    desk.until(TextDelta)
    desk.until(TextDelta)
    desk.session.open(first)
    assert (contents(desk)[-1], desk.session.state) == ("the first answer", "writing")
    desk.said.clear()
    desk.until(TextDelta)
    assert desk.heard("text_added") == [(desk.session.messages[-1].id, " has")]


def test_two_conversations_are_answered_one_after_the_other(make_desk: Callable[..., Desk]) -> None:
    desk, first = start(make_desk)
    desk.session.new_conversation()
    desk.session.send("Second?")
    second = desk.session.conversation.id
    assert desk.session.state == "waiting"
    desk.until(Finished)
    assert contents(desk) == ["Second?", ""]
    desk.play()
    assert contents(desk) == ["Second?", "and this is the second one"]
    desk.session.open(first)
    assert contents(desk) == ["First?", "the first answer has six words"]
    assert [c.id for c in desk.session.conversations()] == [second, first]


def test_stop_stops_the_answer_in_view_only(make_desk: Callable[..., Desk]) -> None:
    desk, first = start(make_desk)
    desk.session.new_conversation()
    desk.session.stop()
    desk.session.send("Second?")
    desk.session.stop()
    desk.play()
    assert contents(desk) == ["Second?"]
    desk.session.open(first)
    assert contents(desk)[-1] == "the first answer has six words"


def test_deleting_the_conversation_in_view_stops_its_answer(make_desk: Callable[..., Desk]) -> None:
    desk, first = start(make_desk)
    desk.session.delete(first)
    assert len(desk.engine.cancelled) == 1
    assert (contents(desk), desk.session.conversation.id, desk.session.state) == ([], 0, "idle")
    desk.said.clear()
    desk.play()
    assert {name for name, _ in desk.said} <= {"cache_view"}
    assert desk.session.conversations() == []


def test_nothing_more_is_heard_of_a_deleted_answer(make_desk: Callable[..., Desk]) -> None:
    desk, first = start(make_desk)
    desk.session.delete(first)
    desk.said.clear()
    desk.engine.inject(Failed(desk.engine.cancelled[0], "It failed."))
    desk.drain()
    assert {name for name, _ in desk.said} <= {"cache_view"}


def test_nothing_is_kept_for_a_deleted_conversation(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk()
    desk.session.send("Hi")
    desk.play()
    number = desk.session.conversation.id
    desk.session.delete(number)
    desk.play()
    assert desk.engine.calls == [f"forget #{number}"]


def test_what_a_deleted_answer_still_kept_at_its_end_is_let_go_too(make_desk: Callable[..., Desk]) -> None:
    desk, first = start(make_desk)
    desk.session.delete(first)
    assert desk.engine.calls == [f"forget #{first}"]
    desk.play()
    assert desk.engine.calls == [f"forget #{first}"] * 2


def test_deleting_a_conversation_behind_stops_its_answer(make_desk: Callable[..., Desk]) -> None:
    desk, first = start(make_desk)
    desk.session.new_conversation()
    desk.session.send("Second?")
    desk.session.delete(first)
    desk.play()
    assert contents(desk) == ["Second?", "and this is the second one"]
    assert [c.title for c in desk.session.conversations()] == ["Second?"]


def test_deleting_another_conversation_leaves_the_answer_alone(make_desk: Callable[..., Desk]) -> None:
    desk, first = start(make_desk)
    desk.session.new_conversation()
    desk.session.send("Second?")
    second = desk.session.conversation.id
    desk.session.open(first)
    desk.session.delete(second)
    desk.play()
    assert contents(desk) == ["First?", "the first answer has six words"]
    assert [c.id for c in desk.session.conversations()] == [first]


def test_a_failure_behind_is_told_and_lands_in_its_own_conversation(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk(FakeEngine(Script(fail_after=2), manual=True))
    desk.session.send("First?")
    first = desk.session.conversation.id
    desk.session.new_conversation()
    desk.said.clear()
    desk.play()
    assert [name for name, _ in desk.said if name != "cache_view"] == ["error"]
    desk.session.open(first)
    assert contents(desk) == ["First?", "Hello from"]


def test_an_answer_behind_that_stays_empty_leaves_only_the_question(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk(FakeEngine(Script(fail_after=0), manual=True))
    desk.session.send("First?")
    first = desk.session.conversation.id
    desk.session.new_conversation()
    desk.play()
    desk.session.open(first)
    assert contents(desk) == ["First?"]


def test_opening_a_conversation_that_is_gone_says_so_and_changes_nothing(make_desk: Callable[..., Desk]) -> None:
    desk, first = start(make_desk)
    desk.session.open(first + 1)
    assert len(desk.heard("error")) == 1
    assert desk.session.conversation.id == first


def test_rename_keeps_the_view(make_desk: Callable[..., Desk]) -> None:
    desk, first = start(make_desk)
    desk.said.clear()
    desk.session.rename(first, "Better")
    assert [name for name, _ in desk.said] == ["conversations_changed"]
    assert desk.session.conversation.title == "Better"
    assert [c.title for c in desk.session.conversations("better")] == ["Better"]


STEPS = st.lists(
    st.sampled_from(["new", "send", "stop", "retry", "advance", "drain", "open 0", "open 1", "delete 0", "delete 1"]),
    max_size=40,
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_no_text_ever_lands_in_another_chat(make_desk: Callable[..., Desk], steps: list[str]) -> None:
    """Each answer is a start of the one scripted for the request that holds its own question."""
    scripts = [Script(tokens=words(f"answer number {number} goes on for a while")) for number in range(40)]
    desk = make_desk(FakeEngine(*scripts, manual=True))
    for number, step in enumerate(steps):
        take(desk, step, number)
    desk.play()
    for conversation in desk.history.conversations():
        desk.session.open(conversation.id)
        assert desk.session.messages == desk.history.messages(conversation.id)
        for message in desk.session.messages:
            check(desk, message.parent_id, message.content, message.role)
    desk.close()
    desk.history.path.unlink()


def take(desk: Desk, step: str, number: int) -> None:
    name, _, index = step.partition(" ")
    ids = [conversation.id for conversation in desk.history.conversations()]
    if name == "send":
        desk.session.send(f"question {number}")
    elif name == "advance":
        desk.engine.advance(3)
    elif name == "drain":
        desk.drain()
    elif not index:
        {"new": desk.session.new_conversation, "stop": desk.session.stop, "retry": desk.session.retry}[name]()
    elif int(index) < len(ids):
        (desk.session.open if name == "open" else desk.session.delete)(ids[int(index)])


def check(desk: Desk, parent_id: int | None, content: str, role: str) -> None:
    if role != "assistant" or parent_id is None:
        return
    question = desk.history.message(parent_id).content
    asked = [n for n, request in enumerate(desk.engine.requests) if request.messages[-1].content == question]
    full = [f"answer number {number} goes on for a while" for number in asked]
    assert any(answer.startswith(content) for answer in full)

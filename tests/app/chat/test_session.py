"""One chat: send, stream, stop, fail, retry, edit, branch."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.settings import Settings
from engine import DiskFullError, Finished, Matched, Message, Prefill, Sampling, TextDelta, TurnStats
from tests.app.conftest import DAY, Desk
from tests.app.fake_engine import FIRST_ID, FakeEngine, Script, many_tokens

ANSWER = "Hello from a fake."


def contents(desk: Desk) -> list[str]:
    return [message.content for message in desk.session.messages]


def ask(desk: Desk, text: str) -> None:
    assert desk.session.send(text)
    desk.play()


def test_question_and_empty_answer_are_there_before_the_engine_says_a_word(desk: Desk) -> None:
    assert desk.session.send("What is a block?")
    question, answer = desk.heard("message_added")
    assert (question.role, question.content) == ("user", "What is a block?")
    assert (answer.role, answer.content, answer.parent_id) == ("assistant", "", question.id)
    assert desk.session.messages == (question, answer)
    assert desk.session.state == "waiting"


def test_request_holds_what_the_conversation_says(desk: Desk) -> None:
    desk.session.set_system_prompt("Be brief.")
    desk.session.set_sampling(Sampling(temperature=0))
    desk.session.use_cache = False
    ask(desk, "Hi")
    (request,) = desk.engine.requests
    assert request.messages == (Message("system", "Be brief."), Message("user", "Hi"))
    assert (request.sampling, request.use_cache, request.day) == (Sampling(temperature=0), False, DAY)
    assert request.conversation == f"#{desk.session.conversation.id}"


def test_no_system_message_without_a_system_prompt(desk: Desk) -> None:
    ask(desk, "Hi")
    assert desk.engine.requests[0].messages == (Message("user", "Hi"),)


def test_a_turn_goes_through_its_states_once(desk: Desk) -> None:
    desk.session.send("Hi")
    for kind in (Matched, Prefill, TextDelta, TextDelta, Finished):
        desk.until(kind)
    assert desk.heard("state_changed") == ["waiting", "prefill", "writing", "idle"]
    assert len(desk.heard("matched")) == 1
    assert len(desk.heard("message_finished")) == 1


def test_text_arrives_in_order_and_the_final_form_has_ids_and_figures(desk: Desk) -> None:
    desk.session.send("Hi")
    for _ in range(5):
        desk.until(TextDelta)
    answer_id = desk.session.messages[-1].id
    assert desk.heard("text_added") == [(answer_id, text) for text in ("Hello", " from", " a", " fake", ".")]
    assert contents(desk) == ["Hi", ANSWER]
    desk.play()
    (final,) = desk.heard("message_finished")
    assert (final.id, final.content, final.finish_reason) == (answer_id, ANSWER, "end")
    assert final.token_ids == tuple(range(FIRST_ID, FIRST_ID + 5))
    assert final.stats.written_tokens == 5
    assert desk.history.messages(desk.session.conversation.id) == desk.session.messages


def test_figures_come_while_it_is_written(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk(FakeEngine(Script(tokens=many_tokens(30)), manual=True))
    desk.session.send("Hi")
    event = desk.until(TurnStats)
    assert desk.heard("stats_changed") == [(desk.session.messages[-1].id, event)]


def test_the_next_prompt_splices_the_ids(desk: Desk) -> None:
    ask(desk, "Hi")
    ask(desk, "And?")
    ids = tuple(range(FIRST_ID, FIRST_ID + 5))
    assert desk.engine.requests[1].messages == (
        Message("user", "Hi"),
        Message("assistant", ANSWER, ids),
        Message("user", "And?"),
    )


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_blank_text_is_not_sent(desk: Desk, text: str) -> None:
    assert not desk.session.send(text)
    assert desk.said == []
    assert desk.history.conversations() == []


def test_text_is_sent_as_it_was_typed_but_for_half_characters(desk: Desk) -> None:
    ask(desk, "  a\r\n\tb \ud83d\ude00 \ud83d ")
    assert desk.engine.requests[0].messages[0].content == "  a\r\n\tb 😀 \ufffd "


def test_a_second_question_while_one_is_answered_is_refused(desk: Desk) -> None:
    desk.session.send("One")
    assert not desk.session.send("Two")
    assert not desk.session.retry()
    assert len(desk.heard("error")) == 2
    desk.play()
    assert contents(desk) == ["One", ANSWER]


def test_a_conversation_without_a_question_is_not_stored(desk: Desk) -> None:
    desk.session.set_system_prompt("Be brief.")
    desk.session.new_conversation()
    assert desk.history.conversations() == []


def test_title_is_the_first_question_in_one_line(desk: Desk) -> None:
    ask(desk, "How does a\nprefix cache  decide what it evicts first?")
    ask(desk, "Another one")
    assert [c.title for c in desk.session.conversations()] == ["How does a prefix cache decide what it evicts first?"]


def test_a_title_given_before_the_first_question_stays(desk: Desk) -> None:
    desk.session.rename(0, "Mine")
    ask(desk, "Hi")
    assert [c.title for c in desk.session.conversations()] == ["Mine"]


def test_stop_while_it_is_written_keeps_text_and_ids(desk: Desk) -> None:
    desk.session.send("Hi")
    desk.until(TextDelta)
    desk.session.stop()
    assert desk.session.state == "stopping"
    desk.play()
    final = desk.session.messages[-1]
    assert (final.content, final.token_ids, final.finish_reason) == ("Hello", (FIRST_ID,), "stopped")
    assert desk.heard("message_finished") == [final]
    assert desk.session.state == "idle"


def test_text_that_arrives_after_stop_does_not_undo_it(desk: Desk) -> None:
    desk.session.send("Hi")
    desk.engine.advance_to(TextDelta)
    desk.session.stop()
    desk.drain()
    assert desk.session.state == "stopping"
    assert contents(desk) == ["Hi", "Hello"]


def test_stop_before_the_first_token_leaves_the_question(desk: Desk) -> None:
    desk.session.send("Hi")
    desk.until(Prefill)
    desk.session.stop()
    desk.play()
    assert contents(desk) == ["Hi"]
    assert desk.heard("error") == []
    assert desk.heard("conversation_changed")[-1].leaf_id == desk.session.messages[-1].id
    assert desk.history.messages(desk.session.conversation.id) == desk.session.messages


def test_questions_without_an_answer_between_them_are_sent_as_one(desk: Desk) -> None:
    desk.session.send("First")
    desk.until(Prefill)
    desk.session.stop()
    desk.play()
    ask(desk, "Second")
    assert contents(desk) == ["First", "Second", ANSWER]
    (asked,) = desk.engine.requests[-1].messages
    assert (asked.role, asked.content) == ("user", "First\n\nSecond")
    ask(desk, "Third")
    roles = [message.role for message in desk.engine.requests[-1].messages]
    assert roles == ["user", "assistant", "user"]


def test_stop_without_an_answer_does_nothing(desk: Desk) -> None:
    desk.session.stop()
    assert desk.said == []
    assert desk.engine.cancelled == []


@pytest.mark.parametrize("fail_after", [-1, 0])
def test_a_failure_before_the_first_token_keeps_the_question_for_a_retry(
    make_desk: Callable[..., Desk], fail_after: int
) -> None:
    desk = make_desk(FakeEngine(Script(fail_after=fail_after), Script(), manual=True))
    ask(desk, "Hi")
    assert desk.heard("error") == [(Script().sentence, Script().detail)]
    assert (contents(desk), desk.session.state) == (["Hi"], "idle")
    assert desk.session.retry()
    desk.play()
    assert contents(desk) == ["Hi", ANSWER]
    assert len(desk.session.versions(desk.session.messages[-1].id)) == 1


def test_a_question_that_is_refused_comes_back_to_be_written_again(make_desk: Callable[..., Desk]) -> None:
    """Scenario 13: too long for the model. It does not stay in the chat, where every later question would fail too."""
    refusal = Script(fail_after=-1, is_refused=True)
    desk = make_desk(FakeEngine(Script(), refusal, Script(), manual=True))
    ask(desk, "Hi")
    taken_back: list[tuple[str, object]] = []
    desk.session.question_taken_back.connect(lambda text, replaced: taken_back.append((text, replaced)))
    ask(desk, "far too long")
    assert desk.heard("error") == [(refusal.sentence, refusal.detail)]
    assert taken_back == [("far too long", None)]
    assert contents(desk) == ["Hi", ANSWER]
    ask(desk, "shorter")
    assert contents(desk) == ["Hi", ANSWER, "shorter", ANSWER]


def test_a_first_question_that_is_refused_is_asked_of_the_same_server_again(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk(FakeEngine(Script(fail_after=-1, is_refused=True), Script(), manual=True))
    desk.history.servers.choose(0, "http://elsewhere/v1")
    ask(desk, "far too long")
    assert desk.session.conversation.id == 0
    assert desk.history.servers.of(0) == "http://elsewhere/v1"
    ask(desk, "shorter")
    assert desk.history.servers.of(desk.session.conversation.id) == "http://elsewhere/v1"


def test_a_refused_question_that_cannot_be_deleted_stays_and_is_said(
    make_desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk: nothing is raised inside a slot, and the next question finds a session that is idle."""
    refusal = Script(fail_after=-1, is_refused=True)
    desk = make_desk(FakeEngine(refusal, Script(), manual=True))

    def refuse(*values: object) -> None:
        raise DiskFullError("The disk is full.", "SQLITE_FULL")

    monkeypatch.setattr(desk.history, "delete", refuse)
    ask(desk, "far too long")
    assert desk.heard("error") == [("The disk is full.", "SQLITE_FULL"), (refusal.sentence, refusal.detail)]
    assert (contents(desk), desk.session.state) == (["far too long"], "idle")


def test_a_failure_later_keeps_what_was_written(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk(FakeEngine(Script(fail_after=3), manual=True))
    ask(desk, "Hi")
    final = desk.session.messages[-1]
    assert (final.content, final.token_ids, final.finish_reason) == (
        "Hello from a",
        (FIRST_ID, FIRST_ID + 1, FIRST_ID + 2),
        "failed",
    )
    assert desk.heard("message_finished") == [final]
    assert desk.history.message(final.id) == final


def test_an_empty_answer_of_the_model_is_an_answer(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk(FakeEngine(Script(tokens=()), manual=True))
    ask(desk, "Hi")
    assert contents(desk) == ["Hi", ""]
    assert desk.session.messages[-1].finish_reason == "end"


def test_a_second_end_and_stale_text_are_dropped(desk: Desk) -> None:
    desk.session.send("Hi")
    desk.play()
    before = desk.session.messages
    finished = desk.engine.requests and desk.heard("message_finished")[0]
    request_id = finished.stats.request_id
    desk.engine.inject(TextDelta(request_id, "late"))
    desk.engine.inject(Finished(request_id, "end", "late", (1,), finished.stats))
    desk.engine.inject(TextDelta(999, "never asked for"))
    desk.drain()
    assert desk.session.messages == before
    assert len(desk.heard("message_finished")) == 1


def test_regenerating_five_times_asks_the_same_and_keeps_every_answer(make_desk: Callable[..., Desk]) -> None:
    scripts = [Script(tokens=(f"answer {number}",)) for number in range(6)]
    desk = make_desk(FakeEngine(*scripts, manual=True))
    ask(desk, "Hi")
    for _ in range(5):
        assert desk.session.retry()
        desk.play()
    assert len(set(desk.engine.requests)) == 1
    answers = desk.history.siblings(desk.session.messages[-1].id)
    assert [answer.content for answer in answers] == [f"answer {number}" for number in range(6)]
    assert {answer.parent_id for answer in answers} == {desk.session.messages[0].id}
    assert {answer.stats.reused_tokens for answer in answers[1:]} == {answers[0].stats.prompt_tokens - 1}
    desk.session.choose_sibling(answers[2].id)
    assert contents(desk) == ["Hi", "answer 2"]


def test_a_retry_redraws_the_branch_without_the_old_answer_first(desk: Desk) -> None:
    ask(desk, "Hi")
    shown: list[list[str]] = []
    desk.session.conversation_changed.connect(lambda _: shown.append(contents(desk)))
    desk.said.clear()
    desk.session.retry()
    assert shown == [["Hi"]]
    assert [name for name, _ in desk.said][:2] == ["conversation_changed", "message_added"]


@pytest.mark.parametrize("stop", [True, False])
def test_a_retry_that_writes_nothing_brings_the_old_answer_back(make_desk: Callable[..., Desk], stop: bool) -> None:
    second = Script() if stop else Script(fail_after=0)
    desk = make_desk(FakeEngine(Script(), second, manual=True))
    ask(desk, "Hi")
    before = desk.session.messages
    desk.session.retry()
    if stop:
        desk.session.stop()
    desk.play()
    assert desk.session.messages == before
    assert desk.history.messages(desk.session.conversation.id) == before


def test_retry_needs_a_question(desk: Desk) -> None:
    assert not desk.session.retry()
    assert "question" in desk.heard("error")[0][0]


def test_an_edited_question_is_a_branch_and_the_old_one_stays(desk: Desk) -> None:
    for question in ("One", "Two", "Three"):
        ask(desk, question)
    old = desk.session.messages
    assert desk.session.edit(old[2].id, "Two, but shorter")
    desk.play()
    assert contents(desk) == ["One", ANSWER, "Two, but shorter", ANSWER]
    edited = desk.session.messages[2]
    assert desk.session.versions(edited.id) == [old[2].id, edited.id]
    desk.session.choose_sibling(old[2].id)
    assert desk.session.messages == old
    desk.session.choose_sibling(edited.id)
    assert contents(desk)[2] == "Two, but shorter"


def test_the_first_question_can_be_edited(desk: Desk) -> None:
    ask(desk, "One")
    first = desk.session.messages[0]
    desk.session.edit(first.id, "Uno")
    desk.play()
    assert contents(desk) == ["Uno", ANSWER]
    assert [message.content for message in desk.history.siblings(first.id)] == ["One", "Uno"]


def test_only_a_question_in_view_can_be_edited(desk: Desk) -> None:
    ask(desk, "One")
    answer = desk.session.messages[1]
    assert not desk.session.edit(answer.id, "x")
    assert not desk.session.edit(12345, "x")
    assert len(desk.heard("error")) == 2
    assert contents(desk) == ["One", ANSWER]


def test_branches_are_not_changed_under_an_answer(desk: Desk) -> None:
    ask(desk, "One")
    ids = [message.id for message in desk.session.messages]
    desk.session.retry()
    desk.session.choose_sibling(ids[1])
    assert len(desk.heard("error")) == 1
    assert desk.session.messages[-1].id not in ids


def test_settings_are_for_new_conversations_only(make_desk: Callable[..., Desk]) -> None:
    settings = Settings(system_prompt="First", sampling=Sampling(seed=1))
    desk = make_desk(settings=settings)
    ask(desk, "Hi")
    settings.system_prompt = "Second"
    ask(desk, "Again")
    desk.session.new_conversation()
    ask(desk, "Hi")
    assert [request.messages[0].content for request in desk.engine.requests] == ["First", "First", "Second"]
    assert {request.sampling for request in desk.engine.requests} == {Sampling(seed=1)}


def test_a_thousand_tokens_are_written_with_few_signals_and_stored_once(
    make_desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = make_desk(FakeEngine(Script(tokens=many_tokens(1000)), tokens_per_poll=33))
    writes: list[str] = []
    change = desk.history.file.change
    monkeypatch.setattr(desk.history.file, "change", lambda sql, *values: writes.append(sql) or change(sql, *values))
    desk.session.send("Hi")
    writes.clear()
    while desk.bridge.busy:
        desk.drain()
    assert desk.session.messages[-1].content == "".join(many_tokens(1000))
    assert len(desk.heard("text_added")) == 31
    assert len(writes) == 1


def test_a_message_is_told_when_its_versions_are_known(desk: Desk) -> None:
    ask(desk, "One")
    first, answer = desk.session.messages
    told: list[list[int]] = []
    desk.session.message_added.connect(lambda message: told.append(desk.session.versions(message.id)))
    desk.session.retry()
    desk.play()
    again = desk.session.messages[-1].id
    desk.session.edit(first.id, "Uno")
    question, empty = desk.session.messages
    assert told == [[answer.id, again], [first.id, question.id], [empty.id]]

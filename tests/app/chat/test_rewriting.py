"""Answers that go on, answers that the user writes, messages that are deleted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.chat.rewriting import Rewriting
from app.chat.savings import SavedTotal
from app.settings import Settings
from engine import Matched, Message, Preview, TextDelta
from tests.app.conftest import Desk
from tests.app.fake_engine import FIRST_ID, FakeEngine, Script

WORDS = Script(tokens=("one", " two", " three", " four"))
LENGTH = replace(WORDS, reason="length")


@pytest.fixture
def desk(make_desk: Callable[..., Desk]) -> Desk:
    return make_desk(FakeEngine(replace(LENGTH, tokens=("one", " two")), Script(tokens=(" three", ".")), manual=True))


@pytest.fixture
def rewriting(desk: Desk) -> Rewriting:
    return Rewriting(desk.session, desk.history, desk.bridge)


def contents(desk: Desk) -> list[str]:
    return [message.content for message in desk.session.messages]


def ask(desk: Desk, *texts: str) -> None:
    for text in texts:
        assert desk.session.send(text)
        desk.play()


def test_an_answer_goes_on_with_its_own_tokens(desk: Desk, rewriting: Rewriting) -> None:
    ask(desk, "Count.")
    before = desk.session.messages[-1]
    assert rewriting.can_go_on(before)
    assert rewriting.go_on()
    assert desk.engine.requests[-1].messages == desk.engine.requests[0].messages
    assert desk.engine.requests[-1].begun == Message("assistant", "one two", (FIRST_ID, FIRST_ID + 1))
    matched = desk.until(Matched)
    assert matched.computed_tokens == 1
    assert [message.content for message in desk.heard("message_reopened")] == ["one two"]
    desk.play()
    answer = desk.session.messages[-1]
    assert (answer.id, answer.content, answer.finish_reason) == (before.id, "one two three.", "end")
    assert answer.token_ids == tuple(range(FIRST_ID, FIRST_ID + 4))
    assert desk.history.message(answer.id) == answer
    assert not rewriting.can_go_on(answer)
    assert answer.stats is not None
    assert before.stats is not None
    own = {"written_tokens": 4, "passes": before.stats.passes + 1, "cache_bytes": answer.stats.cache_bytes}
    assert answer.stats == replace(before.stats, **own)


def test_stopped_before_a_word_it_is_as_it_was(desk: Desk, rewriting: Rewriting) -> None:
    ask(desk, "Count.")
    before = desk.session.messages[-1]
    rewriting.go_on()
    desk.until(Matched)
    desk.session.stop()
    desk.play()
    assert desk.session.messages[-1] == before
    assert desk.history.message(before.id) == before


def test_refused_before_a_word_it_is_as_it_was(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk(FakeEngine(LENGTH, Script(fail_after=-1, is_refused=True), manual=True))
    rewriting = Rewriting(desk.session, desk.history, desk.bridge)
    ask(desk, "Count.")
    before = desk.session.messages[-1]
    rewriting.go_on()
    desk.play()
    assert desk.heard("error")
    assert desk.session.messages[-1] == desk.history.message(before.id) == before
    assert rewriting.can_go_on(before)


def test_nothing_goes_on_where_a_server_answers(desk: Desk, rewriting: Rewriting) -> None:
    ask(desk, "Count.")
    desk.bridge.server_of = {"#1": "http://elsewhere/v1"}.get  # type: ignore[assignment]
    assert not rewriting.can_go_on(desk.session.messages[-1])
    assert not rewriting.go_on()
    assert "A server answers here" in desk.heard("error")[-1][0]
    assert len(desk.engine.requests) == 1


def test_what_going_on_saved_is_counted_once(desk: Desk, rewriting: Rewriting) -> None:
    total = SavedTotal(desk.session.answers, Settings())
    ask(desk, "Count.")
    rewriting.go_on()
    desk.play()
    (stats,) = desk.history.figures(1)
    assert total.total.tokens == stats.reused_tokens + 10


def test_only_what_was_cut_off_goes_on(desk: Desk, rewriting: Rewriting) -> None:
    assert not rewriting.go_on()
    ask(desk, "Count.", "And then?")
    assert not rewriting.go_on()
    assert "cut off" in desk.heard("error")[-1][0]


def test_after_a_crash_it_goes_on_where_it_was_saved(make_desk: Callable[..., Desk]) -> None:
    """At most a second of it is lost: what was saved is marked, with its tokens."""
    desk = make_desk(FakeEngine(WORDS, manual=True))
    desk.session.send("Count.")
    desk.until(TextDelta)
    desk.until(TextDelta)
    desk.save()
    desk.until(TextDelta)
    desk.history.file.close()  # as at the end of a process: nothing else is stored
    again = make_desk(FakeEngine(Script(tokens=(" three", ".")), manual=True))
    again.session.open(1)
    answer = again.session.messages[-1]
    assert (answer.content, answer.finish_reason) == ("one two", "interrupted")
    assert answer.token_ids == (FIRST_ID, FIRST_ID + 1)
    assert Rewriting(again.session, again.history, again.bridge).go_on()
    again.play()
    assert contents(again) == ["Count.", "one two three."]


def test_an_answer_of_the_users_own_is_another_version(desk: Desk, rewriting: Rewriting) -> None:
    desk.session.set_system_prompt("Be brief.")
    ask(desk, "Count.", "And then?")
    question, answer, *_ = desk.session.messages
    assert rewriting.replace_answer(answer.id, "Uno")
    assert contents(desk) == ["Count.", "Uno"]
    mine = desk.session.messages[-1]
    assert (mine.finish_reason, mine.token_ids) == ("edited", ())
    assert desk.session.versions(mine.id) == [answer.id, mine.id]
    assert desk.history.sent_system_prompt(mine.id) == "Be brief."
    assert rewriting.go_on()  # from its last word on
    assert desk.engine.requests[-1].begun == Message("assistant", "Uno")
    desk.play()
    assert contents(desk) == ["Count.", "Uno three."]
    desk.session.choose_sibling(answer.id)
    assert contents(desk)[:2] == ["Count.", "one two"]
    assert question.id == desk.session.messages[0].id


def test_nothing_is_no_answer(desk: Desk, rewriting: Rewriting) -> None:
    ask(desk, "Count.")
    assert not rewriting.replace_answer(desk.session.messages[-1].id, "  ")
    assert len(contents(desk)) == 2


@pytest.mark.parametrize(("place", "left"), [(1, [0, 2, 3]), (0, [2, 3]), (2, [0, 1]), (3, [0, 1, 2])])
def test_a_message_is_deleted_and_taken_back(desk: Desk, rewriting: Rewriting, place: int, left: list[int]) -> None:
    """A question goes with its answer, an answer alone; what follows stays."""
    ask(desk, "Count.", "And then?")
    before = desk.session.messages
    rewriting.delete(before[place].id)
    assert [each.id for each in desk.session.messages] == [before[number].id for number in left]
    assert rewriting.take_back(before[place].id)
    assert desk.session.messages == before


def test_a_question_goes_with_all_its_answers(desk: Desk, rewriting: Rewriting) -> None:
    """What followed one of them is a version of what followed the other."""
    ask(desk, "Count.", "And then?")
    first = desk.session.messages[0]
    desk.session.choose_sibling(first.id)
    before = desk.history.outline(1)
    desk.session.edit(desk.session.messages[2].id, "And now?")
    desk.play()
    desk.session.choose_sibling(desk.session.messages[1].id)
    desk.session.choose_sibling(before[3].id)
    rewriting.replace_answer(before[1].id, "Uno")
    ask(desk, "E poi?")
    assert contents(desk)[:3] == ["Count.", "Uno", "E poi?"]
    whole = desk.history.outline(1)
    rewriting.delete(first.id)
    assert contents(desk)[0] == "E poi?"
    questions = [each.begins for each in desk.history.outline(1) if each.parent_id is None]
    assert questions == ["And then?", "And now?", "E poi?"]
    rewriting.take_back(first.id)
    assert desk.history.outline(1) == whole
    assert contents(desk)[:3] == ["Count.", "Uno", "E poi?"]


def test_behind_the_last_answer_its_other_version_is_in_view(desk: Desk, rewriting: Rewriting) -> None:
    ask(desk, "Count.")
    rewriting.replace_answer(desk.session.messages[-1].id, "Uno")
    rewriting.delete(desk.session.messages[-1].id)
    assert contents(desk) == ["Count.", "one two"]


def test_what_was_deleted_is_in_no_file(desk: Desk, rewriting: Rewriting, tmp_path: Path) -> None:
    """Nor is the system prompt that only this answer was written under."""
    desk.session.set_system_prompt("Speak of stilts.")
    ask(desk, "About herons")
    desk.session.rename(1, "Birds")
    desk.session.set_system_prompt("")
    ask(desk, "And then?")
    gone = desk.session.messages[0].id
    rewriting.delete(gone)
    assert "forget #1" not in desk.engine.calls
    rewriting.finish(gone)
    assert "forget #1" in desk.engine.calls
    desk.history.words.forget_all()
    files = [each.read_bytes().lower() for each in tmp_path.iterdir()]
    assert not any(word in content for word in (b"herons", b"stilts") for content in files)
    rewriting.take_back(gone)  # too late
    assert contents(desk) == ["And then?", " three."]


def test_the_last_messages_are_not_deleted_one_by_one(desk: Desk, rewriting: Rewriting) -> None:
    ask(desk, "Count.")
    rewriting.delete(desk.session.messages[0].id)
    assert len(contents(desk)) == 2
    assert "Delete the conversation" in desk.heard("error")[-1][0]


def test_it_says_before_what_it_costs(desk: Desk, rewriting: Rewriting) -> None:
    ask(desk, "Count.")
    priced: list[tuple[int, Preview]] = []
    rewriting.priced.connect(lambda number, preview: priced.append((number, preview)))
    answer = desk.session.messages[-1].id
    rewriting.consider(answer, is_going_on=True)
    rewriting.previewer.ask()
    desk.drain()
    assert [(number, preview.computed_tokens) for number, preview in priced] == [(answer, 1)]
    rewriting.consider(0)
    ask(desk, "And then?")
    rewriting.consider(desk.session.messages[1].id)
    rewriting.previewer.ask()
    desk.drain()
    assert desk.engine.previews[-1].messages[0].content == "Count.\n\nAnd then?"

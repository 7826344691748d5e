"""Without a model, while one loads, and when loading fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from engine import BY_ITSELF, Failed, Loaded, Loading, ModelSpec
from tests.app.conftest import Desk
from tests.app.fake_engine import MODEL, FakeEngine


@pytest.fixture
def bare(make_desk: Callable[..., Desk]) -> Desk:
    return make_desk(loaded=False)


def contents(desk: Desk) -> list[str]:
    return [message.content for message in desk.session.messages]


def test_without_a_model_a_question_is_refused_with_what_to_do(bare: Desk) -> None:
    assert bare.session.state == "no_model"
    assert not bare.session.send("Hi")
    ((sentence, _),) = bare.heard("error")
    assert "model" in sentence
    assert "Open one" in sentence
    assert bare.session.conversations() == []


def test_loading_is_shown_and_ends_with_the_model(bare: Desk) -> None:
    bare.session.answers.load(ModelSpec(path="/models/x"))
    assert bare.session.state == "loading"
    bare.until(Loading)
    assert bare.heard("loading_changed")[0].stage == "Reading the tokenizer"
    bare.play()
    assert bare.heard("model_changed") == [MODEL]
    assert (bare.session.model, bare.session.state) == (MODEL, "idle")
    assert bare.engine.specs == [ModelSpec(path="/models/x")]


def test_a_question_sent_while_loading_waits_in_view(bare: Desk) -> None:
    bare.session.answers.load(ModelSpec())
    assert bare.session.send("Hi")
    assert (contents(bare), bare.session.state) == (["Hi", ""], "loading")
    assert bare.engine.requests == []
    bare.play()
    assert contents(bare) == ["Hi", "Hello from a fake."]
    assert bare.heard("state_changed") == ["loading", "waiting", "prefill", "writing", "idle"]


def test_questions_of_two_conversations_wait_in_order(bare: Desk) -> None:
    bare.session.answers.load(ModelSpec())
    bare.session.send("One")
    bare.session.new_conversation()
    bare.session.send("Two")
    bare.play()
    assert [request.messages[-1].content for request in bare.engine.requests] == ["One", "Two"]


def test_a_waiting_question_can_be_stopped(bare: Desk) -> None:
    bare.session.answers.load(ModelSpec())
    bare.session.send("Hi")
    bare.session.stop()
    assert (contents(bare), bare.session.state) == ([], "loading")
    assert bare.heard("question_taken_back") == [("Hi", None)]
    assert (bare.session.conversations(), bare.session.conversation.id) == ([], 0)
    bare.play()
    assert bare.engine.requests == []
    assert bare.session.state == "idle"


def test_a_waiting_question_taken_back_leaves_what_was_there(desk: Desk) -> None:
    desk.session.send("One")
    desk.play()
    before, first = contents(desk), desk.session.messages[0].id
    desk.session.answers.load(ModelSpec())
    desk.session.send("Two")
    desk.session.stop()
    assert contents(desk) == before
    desk.session.edit(first, "Other")
    desk.session.stop()
    assert contents(desk) == before
    assert len(desk.session.versions(first)) == 1
    desk.session.retry()
    desk.session.stop()
    assert contents(desk) == before
    assert desk.heard("question_taken_back") == [("Two", None), ("Other", first)]


def test_a_waiting_question_goes_with_its_conversation(bare: Desk) -> None:
    bare.session.answers.load(ModelSpec())
    bare.session.send("Hi")
    bare.session.delete(bare.session.conversation.id)
    bare.play()
    assert bare.engine.requests == []
    assert contents(bare) == []
    assert bare.engine.calls == ["forget #1"], "it may be on disk from an earlier start"


def test_a_load_that_fails_says_why_and_keeps_the_question(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk(FakeEngine(manual=True, load_failure="This folder has no model."), loaded=False)
    desk.session.answers.load(ModelSpec())
    desk.session.send("Hi")
    desk.play()
    assert desk.heard("error") == [("This folder has no model.", "told to fail")]
    assert (contents(desk), desk.session.state, desk.session.model) == (["Hi"], "no_model", None)
    desk.engine.load_failure = ""
    desk.load()
    assert desk.session.retry()
    desk.play()
    assert contents(desk) == ["Hi", "Hello from a fake."]


def test_the_present_model_stays_when_another_one_fails(desk: Desk) -> None:
    desk.engine.load_failure = "This folder has no model."
    desk.session.answers.load(ModelSpec(path="/nothing"))
    desk.session.send("Hi")
    desk.play()
    assert len(desk.heard("error")) == 1
    assert (desk.session.model, desk.session.state) == (MODEL, "idle")
    assert contents(desk) == ["Hi", "Hello from a fake."]


def test_a_model_that_was_closed_in_vain_answers_no_more(desk: Desk) -> None:
    """There was no memory for both, and then none for the new one."""
    load = desk.session.answers.load(ModelSpec(path="/huge"))
    desk.session.send("Hi")
    desk.engine.inject(Failed(load, "There is no memory.", is_model_gone=True))
    desk.drain()
    assert desk.heard("error") == [("There is no memory.", "")]
    assert (desk.session.model, desk.session.state) == (None, "no_model")
    assert desk.heard("model_changed") == [None]
    assert contents(desk) == ["Hi"], "it waited for the model, and waits for the next one"


def test_only_the_last_of_two_loads_counts(bare: Desk) -> None:
    bare.session.answers.load(ModelSpec(path="/a"))
    bare.engine.advance(2)  # past its last step, so that it cannot be stopped any more
    bare.session.answers.load(ModelSpec(path="/b"))
    assert bare.engine.cancelled == [1]
    bare.session.send("Hi")
    bare.until(Loaded)
    assert (bare.session.state, bare.engine.requests) == ("loading", [])
    bare.engine.model = replace(MODEL, name="B")
    bare.play()
    assert [model.name for model in bare.heard("model_changed")] == [MODEL.name, "B"]
    assert contents(bare) == ["Hi", "Hello from a fake."]


def test_a_load_that_is_cancelled_leaves_the_model_that_was_there(desk: Desk) -> None:
    desk.session.answers.load(ModelSpec(path="/slow"))
    desk.until(Loading)
    desk.session.send("Hi")
    desk.session.answers.cancel_load()
    desk.play()
    assert len(desk.heard("loading_stopped")) == 1
    assert desk.heard("error") == desk.heard("model_changed") == []
    assert (desk.session.model, desk.session.state) == (MODEL, "idle")
    assert contents(desk) == ["Hi", "Hello from a fake."]


def test_the_first_load_cancelled_leaves_no_model_and_the_question(bare: Desk) -> None:
    bare.session.answers.load(ModelSpec())
    bare.session.send("Hi")
    bare.session.answers.cancel_load()
    bare.play()
    assert (bare.heard("loading_changed"), len(bare.heard("loading_stopped"))) == ([], 1)
    assert (bare.session.model, bare.session.state, contents(bare)) == (None, "no_model", ["Hi"])
    bare.session.answers.cancel_load()
    assert bare.engine.cancelled == [1], "nothing is loaded any more"
    bare.load()
    assert bare.session.state == "idle"


def test_when_the_last_of_two_loads_fails_the_first_one_answers(bare: Desk) -> None:
    bare.session.answers.load(ModelSpec(path="/a"))
    bare.engine.advance(2)  # past its last step, so that it cannot be stopped any more
    bare.session.answers.load(ModelSpec(path="/b"))
    bare.until(Loaded)
    bare.engine.load_failure = "This folder has no model."
    bare.play()
    assert len(bare.heard("error")) == 1
    assert (bare.session.model, bare.session.state) == (MODEL, "idle")


def test_a_failure_of_the_engine_itself_is_told(desk: Desk) -> None:
    desk.engine.inject(Failed(BY_ITSELF, "The idle work failed.", "trace"))
    desk.drain()
    assert desk.heard("error") == [("The idle work failed.", "trace")]
    assert desk.session.state == "idle"

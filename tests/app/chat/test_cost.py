"""What the next prompt would cost: asked when typing rests, and only the newest answer counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytestqt.qtbot import QtBot

from app.chat.cost import PREVIEW_REST_MS
from engine import Failed, Finished, Message, ModelSpec, Preview, TextDelta, TtftParts, TurnStats
from tests.app.conftest import Desk


def rest(desk: Desk) -> None:
    """Typing has rested: what the timer does, if it runs."""
    previewer = desk.session.cost.draft
    if previewer.rest.isActive():
        previewer.ask()
    desk.drain()


def asked(desk: Desk) -> list[tuple[Message, ...]]:
    return [request.messages for request in desk.engine.previews]


def test_typing_is_asked_about_once_it_rests(desk: Desk, qtbot: QtBot) -> None:
    desk.engine.previews.clear()
    with qtbot.waitSignal(desk.session.cost.draft_previewed):
        for text in ("H", "He", "Hel"):
            desk.session.cost.draft_changed(text)
    assert asked(desk) == [(Message("user", "Hel"),)]
    assert desk.session.cost.draft.rest.interval() == PREVIEW_REST_MS


def test_a_preview_is_the_request_that_would_be_sent(desk: Desk) -> None:
    desk.session.set_system_prompt("Be brief.")
    desk.session.send("Hi")
    desk.play()
    desk.session.cost.draft_changed("And?")
    rest(desk)
    desk.session.send("And?")
    assert desk.engine.previews[-1] == desk.engine.requests[-1]
    assert isinstance(desk.heard("draft_previewed")[-1], Preview)


def test_each_change_asks_again(desk: Desk) -> None:
    rest(desk)
    before = len(asked(desk))
    desk.session.cost.draft_changed("a")
    rest(desk)
    desk.session.set_system_prompt("p")
    rest(desk)
    desk.session.new_conversation()
    rest(desk)
    desk.session.use_cache = False
    rest(desk)
    assert len(asked(desk)) == before + 4
    desk.session.cost.draft_changed("a")
    desk.session.set_system_prompt("")
    rest(desk)
    assert len(asked(desk)) == before + 4


def test_an_answer_to_an_older_question_is_dropped(desk: Desk) -> None:
    rest(desk)
    desk.said.clear()
    desk.session.cost.draft_changed("old")
    desk.session.cost.draft.ask()
    desk.session.cost.draft_changed("new")
    desk.drain()
    assert desk.heard("draft_previewed") == []
    rest(desk)
    assert len(desk.heard("draft_previewed")) == 1


def test_the_engine_need_not_work_on_what_is_stale(desk: Desk) -> None:
    """Each question that was not answered is cancelled once: by a change, by another one, and by the end of the draft.
    One that was answered is left alone."""
    cost, cancelled = desk.session.cost, desk.engine.cancelled
    rest(desk)
    cancelled.clear()
    cost.draft_changed("old")
    cost.draft.ask()
    cost.draft_changed("new")
    assert len(cancelled) == 1
    cost.draft.ask()
    cost.draft.ask()
    assert len(cancelled) == 2
    cost.draft_sent()
    assert len(set(cancelled)) == 3
    cost.draft_changed("newest")
    rest(desk)
    cost.draft_changed("")
    assert len(cancelled) == 3


def test_another_conversation_makes_a_preview_stale(desk: Desk) -> None:
    desk.session.cost.draft_changed("old")
    desk.session.cost.draft.ask()
    desk.session.new_conversation()
    desk.said.clear()
    desk.drain()
    assert desk.heard("draft_previewed") == []


def test_nothing_is_asked_without_a_model_or_while_one_loads(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk(loaded=False)
    desk.session.cost.draft_changed("a")
    rest(desk)
    desk.session.answers.load(ModelSpec())
    desk.session.cost.draft_changed("b")
    rest(desk)
    assert asked(desk) == []
    desk.play()
    rest(desk)
    assert asked(desk) == [(Message("user", "b"),)]


def test_nothing_is_asked_about_a_chat_that_is_being_answered(desk: Desk) -> None:
    rest(desk)
    desk.engine.previews.clear()
    desk.session.send("Hi")
    desk.until(TextDelta)
    desk.session.cost.draft_changed("next")
    rest(desk)
    assert asked(desk) == []
    desk.play()
    rest(desk)
    assert asked(desk)[0][-1] == Message("user", "next")


def test_without_a_draft_a_question_that_waits_is_what_would_be_sent(desk: Desk) -> None:
    desk.session.send("Hi")
    desk.session.stop()
    desk.play()
    rest(desk)
    assert asked(desk)[-1] == (Message("user", "Hi"),)


def test_a_failed_preview_is_quiet(desk: Desk) -> None:
    rest(desk)
    desk.said.clear()
    desk.session.cost.draft_changed("a")
    desk.session.cost.draft.ask()
    (preview,) = desk.engine.poll()
    desk.engine.inject(Failed(preview.request_id, "too long"))
    desk.drain()
    assert desk.said == []


def test_a_word_is_foreseen_once_nearly_all_of_its_prompt_is_known_to_be_cached(desk: Desk) -> None:
    cost = desk.session.cost
    desk.session.set_system_prompt("Be brief. " * 100)
    desk.session.send("Hi")
    desk.play()
    assert not cost.is_word_soon("And?"), "nothing was counted yet"
    cost.draft_changed("And?")
    assert not cost.is_word_soon("And?")
    rest(desk)
    assert cost.is_word_soon("And?")
    assert cost.is_word_soon("And when?")
    assert not cost.is_word_soon("And when? " * 10), "too much was typed since then"
    desk.session.use_cache = False
    assert not cost.is_word_soon("And?")
    rest(desk)
    assert not cost.is_word_soon("And?"), "all of it is read again"


def test_no_word_is_foreseen_in_place_of_another_one(desk: Desk) -> None:
    desk.session.send("Hi")
    desk.play()
    question = desk.session.messages[0].id
    desk.session.cost.draft_changed("Hello", question)
    rest(desk)
    assert not desk.session.cost.is_word_soon("Hello")
    desk.session.cost.draft_changed("Hello", None)
    assert not desk.session.cost.is_word_soon("Hello"), "that was counted for another place"


def test_no_word_is_foreseen_where_the_last_one_took_long(desk: Desk) -> None:
    """With a large model few tokens take long, too, of which the estimate knows nothing."""
    cost = desk.session.cost
    cost.draft_changed("Hi")
    rest(desk)
    assert cost.is_word_soon("Hi")
    slow = TurnStats(1, 109, 100, 9, 1, 0.4, TtftParts(), 0.0, 3.0, False, 0)
    cost.note_answer(slow)
    assert not cost.is_word_soon("Hi")
    cost.note_answer(replace(slow, computed_tokens=109, ttft_s=3.0))
    cost.note_answer(replace(slow, ttft_s=0.1))
    assert cost.is_word_soon("Hi"), "of a prompt that was read from scratch it says nothing"
    cost.note_answer(slow)
    desk.session.answers.load(ModelSpec())
    desk.play()
    rest(desk)
    assert cost.is_word_soon("Hi"), "that was another model"


def test_how_long_a_server_takes_says_nothing_of_the_model_here(desk: Desk) -> None:
    cost = desk.session.cost
    desk.bridge.server_of = lambda label: "http://host:8000/v1" if label == "#1" else ""
    desk.session.send("Hi")
    turn = desk.session.answers.turns()[0]
    slow = TurnStats(turn.request_id, 9, 0, 9, 1, 3.0, TtftParts(), 0.0, 3.0, False, 0)
    desk.engine.inject(Finished(turn.request_id, "end", "Hello", (1,), slow))
    desk.drain()
    assert desk.session.messages[-1].content == "Hello"
    desk.session.new_conversation()
    cost.draft_changed("Hi")
    rest(desk)
    assert cost.is_word_soon("Hi")

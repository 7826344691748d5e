"""A chat that outgrew the context: its oldest turns are left out on request, kept in the window, and named as cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import pytest

from app.composer.trimming import OFFER
from app.settings import Settings
from app.transcript.message import Question
from engine import Divergence, ModelInfo
from tests.app.fake_engine import MODEL, Script, words
from tests.app.window.conftest import Screen, settle

SMALL: ModelInfo = replace(MODEL, context_length=400)
LONG = "word " * 64  # 80 tokens of the fake engine, and four around it
REFUSED = Script(fail_after=-1, is_refused=True, sentence="It is too long.")


def fill(make_screen: Callable[..., Screen], settings: Settings | None = None, **last: object) -> Screen:
    """A chat of four turns, and a fifth question that is refused."""
    after = Script(words("Yes."), **last)  # type: ignore[arg-type]
    screen = make_screen(*[Script(words("Yes."))] * 4, REFUSED, after, model=SMALL, settings=settings)
    screen.session.set_system_prompt("Be brief.")
    for number in range(4):
        screen.ask(f"{number} {LONG}")
        screen.play()
    screen.ask(f"4 {LONG}")
    screen.play()
    return screen


def sent(screen: Screen) -> list[str]:
    """The first letter of everything that was asked last."""
    return [message.content[:1] for message in screen.engine.requests[-1].messages]


def first_seen(screen: Screen) -> list[str]:
    messages = screen.transcript.messages
    return [each.text[:1] for each in messages if isinstance(each, Question) and each.divider.isVisible()]


def test_the_oldest_turns_are_offered_and_left_out_in_whole_turns_down_to_half(
    make_screen: Callable[..., Screen],
) -> None:
    screen = fill(make_screen)
    notice = screen.window.notice
    assert screen.composer.text.startswith("4 word")
    asked = screen.engine.previews[-1]
    assert "and the model reads 400. The 3 oldest turns (" in notice.text
    assert notice.offer.text() == OFFER
    notice.offer.click()
    screen.play()
    assert sent(screen) == ["B", "3", "Y", "4"]
    assert (screen.composer.text, notice.text) == ("", "")
    assert len(asked.messages) == 10
    assert [text[:1] for text in screen.texts()] == ["0", "Y", "1", "Y", "2", "Y", "3", "Y", "4", "Y"]
    assert first_seen(screen) == ["3"]


def test_a_turn_whose_answer_would_be_cut_short_gets_the_offer_too(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(*[Script(words("Yes."))] * 3, REFUSED, Script(words("Yes.")), model=SMALL)
    for number in range(3):
        screen.ask(f"{number} {LONG}")
        screen.play()
    screen.ask(f"3 {'word ' * 40}")
    assert screen.engine.requests[-1].keep_room
    screen.play()
    assert "and the model reads 400, which leaves 79 for the answer. The 2 oldest turns (" in screen.window.notice.text
    screen.window.notice.offer.click()
    screen.play()
    assert sent(screen) == ["2", "Y", "3"]


def test_room_is_kept_only_while_there_is_a_turn_to_leave_out(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(words("Yes.")))
    for number in range(3):
        screen.ask(f"{number}")
        screen.play()
    screen.session.retry()
    screen.play()
    assert [request.keep_room for request in screen.engine.requests] == [False, True, True, False]
    screen.application.settings.too_long = "refuse"
    screen.ask("3")
    assert not screen.engine.requests[-1].keep_room


def test_the_next_turn_begins_as_the_one_before_and_a_restart_changes_nothing(
    make_screen: Callable[..., Screen],
) -> None:
    screen = fill(make_screen)
    screen.window.notice.offer.click()
    screen.play()
    number = screen.session.conversation.id
    screen.ask("5")
    screen.play()
    assert sent(screen) == ["B", "3", "Y", "4", "Y", "5"]
    screen.window.close()
    again = make_screen(model=SMALL)
    again.session.open(number)
    settle()
    assert first_seen(again) == ["3"]
    again.ask("6")
    again.play()
    assert sent(again) == ["B", "3", "Y", "4", "Y", "5", "Y", "6"]


def test_the_cause_is_named_at_the_place_it_has_in_the_whole_chat(make_screen: Callable[..., Screen]) -> None:
    divergence = Divergence(9, 1, "trimmed", "0 word", "3 word", 200)
    screen = fill(make_screen, divergence=divergence)
    screen.window.notice.offer.click()
    screen.play()
    said = screen.answer().box.text_shown
    assert "in your 4th message" in said
    assert "the oldest messages were left out to make room in the context" in said


def test_a_proof_of_an_older_answer_asks_what_was_asked_then(make_screen: Callable[..., Screen]) -> None:
    screen = fill(make_screen)
    screen.window.notice.offer.click()
    screen.play()
    screen.application.proving.prove(screen.session.messages[3].id)
    assert sent(screen) == ["B", "0", "Y", "1"]
    screen.play()
    dialog = screen.application.proving.dialog
    assert dialog is not None
    dialog.reject()


def test_it_can_be_done_at_once_and_it_can_be_refused(make_screen: Callable[..., Screen]) -> None:
    screen = fill(make_screen, Settings(theme="light", too_long="trim"))
    assert sent(screen) == ["B", "3", "Y", "4"]
    assert screen.window.notice.text.startswith("The chat had grown too long, so its 3 oldest turns (")
    screen.window.close()
    refused = fill(make_screen, Settings(theme="light", too_long="refuse"))
    assert (refused.window.notice.text, refused.window.notice.offer.isVisible()) == ("It is too long.", False)


@pytest.mark.parametrize("turns", [0, 1])
def test_a_question_that_is_too_long_by_itself_is_only_refused(make_screen: Callable[..., Screen], turns: int) -> None:
    screen = make_screen(*[Script()] * turns, REFUSED, model=SMALL)
    for _ in range(turns):
        screen.ask("Hi")
        screen.play()
    screen.ask("word " * 400)
    screen.play()
    assert screen.window.notice.text == "It is too long."
    assert not screen.window.notice.offer.isVisible()


@pytest.mark.parametrize("how", ["ask", "trim"])
def test_where_only_the_newest_question_fits_all_that_stands_before_it_is_left_out(
    make_screen: Callable[..., Screen], how: Literal["ask", "trim"]
) -> None:
    settings = Settings(theme="light", too_long=how)
    answers = [Script(words("Yes.")), REFUSED, *[Script(words("Yes."))] * 2]
    screen = make_screen(*answers, model=SMALL, settings=settings)
    screen.session.set_system_prompt("Be brief.")
    screen.ask(f"0 {LONG}")
    screen.play()
    screen.ask(f"1 {'word ' * 280}")
    screen.play()
    said = screen.window.notice.text
    if how == "ask":
        assert "and the model reads 400. The oldest turn (" in said
        screen.window.notice.offer.click()
        screen.play()
    else:
        assert said.startswith("The chat had grown too long, so its oldest turn (")
    assert sent(screen) == ["B", "1"]
    assert (screen.composer.text, first_seen(screen)) == ("", ["1"])
    number = screen.session.conversation.id
    screen.session.new_conversation()
    screen.session.open(number)
    settle()
    assert first_seen(screen) == ["1"]
    screen.ask("2")
    assert sent(screen) == ["B", "1", "Y", "2"]
    screen.play()


def test_a_question_rewritten_earlier_in_the_chat_can_stand_alone_too(make_screen: Callable[..., Screen]) -> None:
    answers = [*[Script(words("Yes."))] * 4, REFUSED, Script(words("Yes."))]
    screen = make_screen(*answers, model=SMALL, settings=Settings(theme="light", too_long="trim"))
    for number in range(4):
        screen.ask(f"{number}")
        screen.play()
    third, fourth = (screen.session.messages[place].id for place in (4, 6))
    screen.session.leave_out_before(fourth)
    screen.composer.start_editing(third, "")
    screen.ask(f"5 {'word ' * 312}")
    screen.play()
    assert sent(screen) == ["5"]
    assert [text[:1] for text in screen.texts()] == ["0", "Y", "1", "Y", "5", "Y"]
    assert first_seen(screen) == ["5"]


def test_an_offer_is_for_its_own_chat(make_screen: Callable[..., Screen]) -> None:
    screen = fill(make_screen)
    screen.window.commands.new.trigger()
    assert screen.window.notice.text == ""
    before = len(screen.engine.requests)
    screen.window.notice.offer.click()
    settle()
    assert len(screen.engine.requests) == before

"""What a user chooses of how prompts are made, and how new conversations are sampled: chosen, priced, kept, undone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox

from app.composer.sampling import SamplingPopover
from app.settings import Settings
from engine import NOTHING_CHOSEN, Divergence, Sampling, TemplateSettings
from tests.app.fake_engine import MODEL, Script
from tests.app.window.conftest import Screen, settle

THINKER = replace(MODEL, thinking=("on", "off"))
ADVICE = Sampling(temperature=0.6, top_p=0.95, top_k=20, max_tokens=4096)
ADVISED = replace(MODEL, advice=ADVICE)
MISS: dict[str, Any] = {"old_text": "", "new_text": "", "recomputed_tokens": 2600}
THOUGHTS_LEFT_OUT = Divergence(120, 2, "reasoning removed", **MISS, cure="keep thoughts", cure_tokens=140)
SYSTEM_MOVED = Divergence(4, 1, "system moved", **MISS, cure="system in question")
NO_SYSTEM = "This model knows no system prompt: it stands in front of the first question."


def open_popover(screen: Screen) -> SamplingPopover:
    QTest.mouseClick(screen.composer.sampling, Qt.MouseButton.LeftButton)
    screen.session.cost.template.ask()
    screen.play()
    popover: SamplingPopover = screen.application.dialogs.popover
    assert popover.isVisible()
    return popover


def choose(box: QComboBox, label: str) -> None:
    """Choose an entry with the keyboard, as by typing what it begins with."""
    box.setFocus()
    QTest.keyClicks(box, label)
    assert box.currentText() == label
    settle()


def shown(popover: SamplingPopover) -> list[bool]:
    form = popover.template
    return [field.isVisible() for field in (form.thinking, form.keep_thoughts, form.system_place)]


def test_thinking_is_chosen_per_conversation_and_kept_with_it(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(model=THINKER)
    screen.ask("Why?")
    screen.play()
    popover = open_popover(screen)
    assert popover.template.prices["thinking"].text() == "Changes the prompt: about 14 tokens are read again."
    choose(popover.template.thinking, "Off")
    assert screen.composer.sampling.text() == "Temperature 0.2 · top-p 0.9 · thinking off"
    popover.close()
    screen.ask("And why that?")
    assert [request.template.thinking for request in screen.engine.requests] == ["", "off"]
    screen.play()
    screen.window.commands.new.trigger()
    assert screen.composer.sampling.text() == "Temperature 0.2 · top-p 0.9"
    screen.window.sidebar.list.opened.emit(1)
    settle()
    popover = open_popover(screen)
    assert popover.template.thinking.currentText() == "Off"
    popover.reset_button.click()
    assert screen.session.conversation.template == NOTHING_CHOSEN
    assert screen.application.history.conversation(1).template == NOTHING_CHOSEN
    popover.close()


def test_a_model_without_such_choices_is_asked_for_none(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(model=THINKER)
    screen.session.set_template(TemplateSettings(thinking="off"))
    screen.ask("Why?")
    screen.play()
    screen.window.close()
    other = make_screen()
    other.window.sidebar.list.opened.emit(1)
    settle()
    assert other.composer.sampling.text() == "Temperature 0.2 · top-p 0.9"
    other.ask("And now?")
    assert other.engine.requests[-1].template.thinking == ""
    assert other.session.conversation.template.thinking == "off"
    other.play()


@pytest.mark.parametrize(
    ("model", "prompt", "visible"),
    [
        (MODEL, "", [False, False, False]),
        (MODEL, "Be brief.", [False, False, True]),
        (THINKER, "", [True, True, False]),
        (THINKER, "Be brief.", [True, True, True]),
    ],
)
def test_only_what_makes_a_difference_is_offered(
    make_screen: Callable[..., Screen], model: Any, prompt: str, visible: list[bool]
) -> None:
    screen = make_screen(model=model)
    screen.session.set_system_prompt(prompt)
    popover = open_popover(screen)
    assert shown(popover) == visible
    popover.close()
    screen.session.set_template(TemplateSettings("", keep_thoughts=True, system_place="refuse"))
    popover = open_popover(screen)
    assert shown(popover) == [visible[0], True, True]  # what was chosen can be undone
    popover.close()


def test_thoughts_are_kept_on_offer_and_the_switch_undoes_it(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(), Script(divergence=THOUGHTS_LEFT_OUT))
    for question in ("Why?", "And why that?"):
        screen.ask(question)
        screen.play()
    box = screen.answer().box
    assert box.text_shown.endswith(
        "leaves out earlier reasoning. Keep thoughts in the history: about 140 tokens more in each prompt, all of it"
        " reused."
    )
    assert list(box.buttons) == ["keep thoughts", "prove"]
    box.buttons["keep thoughts"].click()
    settle()
    assert list(screen.answer().box.buttons) == ["prove"]
    assert "Thoughts stay in the history of this conversation" in screen.window.notice.text
    screen.ask("Go on")
    assert screen.engine.requests[-1].template.keep_thoughts
    screen.play()
    popover = open_popover(screen)
    assert popover.template.keep_thoughts.isChecked()
    QTest.keyClick(popover.template.keep_thoughts, Qt.Key.Key_Space)
    popover.close()
    assert screen.application.history.conversation(1).template == NOTHING_CHOSEN
    assert list(screen.answer().box.buttons) == ["keep thoughts", "prove"]


def test_the_system_prompt_is_kept_in_the_first_question_on_offer(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(), Script(divergence=SYSTEM_MOVED), Script())
    screen.session.set_system_prompt("Be brief. " * 20)
    for question in ("Why?", "And why that?"):
        screen.ask(question)
        screen.play()
    assert "Keep the system prompt in the first question: all of it reused." in screen.answer().box.text_shown
    screen.answer().box.buttons["system in question"].click()
    screen.ask("Go on")
    assert screen.engine.requests[-1].template.system_place == "question"
    screen.play()
    popover = open_popover(screen)
    assert popover.template.system_place.currentText() == "In the first question"
    choose(popover.template.system_place, "Where the model expects it")
    popover.close()
    assert screen.session.conversation.template == NOTHING_CHOSEN


def test_the_proof_of_an_answer_reads_the_prompt_as_it_was_made(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(model=THINKER)
    screen.session.set_template(TemplateSettings("off", keep_thoughts=True))
    screen.ask("Why?")
    screen.play()
    screen.session.set_template(NOTHING_CHOSEN)
    screen.window.commands.prove.trigger()
    screen.play()
    proofs = screen.engine.requests[-2:]
    assert [request.template for request in proofs] == [TemplateSettings("off", keep_thoughts=True)] * 2
    assert screen.application.proving.dialog is not None
    screen.application.proving.dialog.reject()


def test_a_notice_is_said_once_in_each_conversation(make_screen: Callable[..., Screen]) -> None:
    first = Script(notices=(NO_SYSTEM,))
    screen = make_screen(first, first, Script(notices=(NO_SYSTEM, "Another.")), first)
    said: list[str] = []
    for question in ("One?", "Two?", "Three?"):
        screen.ask(question)
        screen.play()
        said.append(screen.window.notice.text)
    assert said == [NO_SYSTEM, "", "Another."]
    screen.window.close()
    again = make_screen(first)
    again.window.sidebar.list.opened.emit(1)
    again.ask("Four?")
    again.play()
    assert again.window.notice.text == ""
    again.window.commands.new.trigger()
    again.ask("Five?")
    again.play()
    assert again.window.notice.text == NO_SYSTEM


def test_new_conversations_begin_as_the_makers_advise(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(model=ADVISED)
    assert screen.composer.sampling.text() == "Temperature 0.6 · top-p 0.95"
    popover = open_popover(screen)
    assert popover.note.text() == "As the model's makers advise, from the next answer on."
    assert not popover.advice_button.isVisible()
    popover.form.fields["temperature"].setValue(0.0)
    assert popover.note.text() == "For this conversation, from the next answer on."
    assert popover.advice_button.isVisible()
    popover.close()
    screen.ask("Why?")
    screen.play()
    assert screen.engine.requests[-1].sampling == replace(ADVICE, temperature=0.0)
    screen.window.commands.new.trigger()
    assert screen.session.conversation.sampling == ADVICE
    screen.window.sidebar.list.opened.emit(1)
    popover = open_popover(screen)
    popover.advice_button.click()
    assert screen.session.conversation.sampling == ADVICE
    popover.close()


def test_a_users_own_sampling_wins_over_advice(make_screen: Callable[..., Screen]) -> None:
    own = Sampling(temperature=0.9)
    screen = make_screen(model=ADVISED, settings=Settings(theme="light", sampling=own))
    screen.ask("Why?")
    screen.play()
    assert screen.engine.requests[-1].sampling == own
    popover = open_popover(screen)
    popover.advice_button.click()
    popover.reset_button.click()
    assert screen.session.conversation.sampling == own
    popover.close()


def test_a_question_that_waited_for_its_model_is_answered_as_its_makers_advise(
    make_screen: Callable[..., Screen],
) -> None:
    screen = make_screen(model=ADVISED, loaded=False)
    screen.ask("Why?")
    screen.play()
    assert screen.engine.requests[-1].sampling == ADVICE
    assert screen.application.history.conversation(1).sampling == ADVICE
    assert screen.composer.sampling.text() == "Temperature 0.6 · top-p 0.95"


def test_an_existing_conversation_keeps_its_sampling(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen()
    screen.ask("Why?")
    screen.play()
    screen.window.close()
    again = make_screen(model=ADVISED, loaded=False)
    again.window.sidebar.list.opened.emit(1)
    again.ask("And why that?")
    again.play()
    assert again.engine.requests[-1].sampling == again.session.conversation.sampling == Sampling()

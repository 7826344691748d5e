"""Penalties, texts that end an answer, and what new conversations begin with, set in the popover."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.composer.sampling import SamplingPopover
from engine import Sampling
from tests.app.fake_engine import MODEL
from tests.app.window.conftest import Screen, settle


def open_popover(screen: Screen) -> SamplingPopover:
    QTest.mouseClick(screen.composer.sampling, Qt.MouseButton.LeftButton)
    settle()
    popover: SamplingPopover = screen.application.dialogs.popover
    assert popover.isVisible()
    return popover


def test_penalties_and_stop_texts_go_with_the_question(screen: Screen) -> None:
    popover = open_popover(screen)
    field = popover.form.fields["presence_penalty"]
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "1.5")
    popover.stop.setFocus()
    QTest.keyClicks(popover.stop, r"END,\n\n")
    QTest.keyClick(popover.stop, Qt.Key.Key_Return)
    popover.close()
    screen.ask("Hi")
    (request,) = screen.engine.requests
    assert (request.sampling.presence_penalty, request.stop) == (1.5, ("END", "\n\n"))
    screen.play()
    conversation = screen.application.history.conversation(screen.session.conversation.id)
    assert conversation.stop == ("END", "\n\n")
    popover = open_popover(screen)
    assert popover.stop.text() == r"END,\n\n"
    QTest.mouseClick(popover.reset_button, Qt.MouseButton.LeftButton)
    assert screen.session.conversation.stop == ()
    popover.close()


def test_new_conversations_begin_like_this_one_if_asked_to(screen: Screen) -> None:
    popover = open_popover(screen)
    assert not popover.keep_button.isVisible()
    field = popover.form.fields["temperature"]
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "0.7")
    QTest.keyClick(field, Qt.Key.Key_Tab)
    QTest.mouseClick(popover.keep_button, Qt.MouseButton.LeftButton)
    popover.close()
    screen.ask("Hi")
    screen.play()
    screen.window.commands.new.trigger()
    assert screen.session.conversation.sampling.temperature == 0.7


def test_the_makers_advice_is_taken_over_and_shown_as_such(make_screen: Callable[..., Screen]) -> None:
    advice = Sampling(temperature=0.6, top_p=0.95, top_k=20)
    screen = make_screen(model=replace(MODEL, advice=advice))
    assert screen.session.conversation.sampling == advice
    popover = open_popover(screen)
    assert popover.note.text() == "As the model's makers advise, from the next answer on."
    popover.close()

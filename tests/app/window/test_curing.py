"""The cure beside the explanation, in the window."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from PySide6.QtWidgets import QLabel

from app.placeholders import Cure, values_at
from engine import Divergence
from tests.app.fake_engine import Script
from tests.app.window.conftest import Screen, settle

RULES = "You are a support bot. Be brief and friendly. " * 20
PARTED = Script(divergence=Divergence(5, 0, "date", "is 14:03:22.", "is 14:03:24.", 2600))


@pytest.fixture
def clock_screen(make_screen: Callable[..., Screen], monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Two answered questions, two seconds apart, under a system prompt with a clock: the second is explained."""
    screen = make_screen(Script(), PARTED, Script(), PARTED)
    now = [datetime(2026, 11, 29, 14, 3, 20)]

    def values() -> dict[str, str]:
        return values_at(now[0], "id")

    monkeypatch.setattr(screen.session, "_values", values)
    screen.session.set_system_prompt(f"It is {{{{time}}}}. {RULES}")
    for question in ("One?", "Two?"):
        now[0] += timedelta(seconds=2)
        screen.ask(question)
        screen.play()
    now[0] += timedelta(seconds=2)
    return screen


def system(screen: Screen) -> str:
    return screen.engine.requests[-1].messages[0].content


def press(screen: Screen, key: str) -> None:
    screen.answer().box.buttons[key].click()
    settle()


def test_the_box_offers_both_cures_and_the_proof_and_no_other_advice(clock_screen: Screen) -> None:
    box = clock_screen.answer().box
    assert [button.text() for button in box.buttons.values()] == [
        "Freeze {{time}} for this conversation",
        "Move {{time}} to the newest message",
        "Prove it",
    ]
    assert box.text_shown.endswith("had to be read again: a date or a clock there moved on.")
    assert all(button.isVisible() for button in box.buttons.values())


def test_it_offers_them_after_another_theme(clock_screen: Screen) -> None:
    before = list(clock_screen.answer().box.buttons)
    clock_screen.application.choose_theme("dark")
    settle()
    assert list(clock_screen.answer().box.buttons) == before


def test_freezing_keeps_what_was_sent_last(clock_screen: Screen) -> None:
    sent = system(clock_screen)
    press(clock_screen, "freeze")
    assert clock_screen.session.conversation.cures == (Cure("time", "frozen", "14:03:24"),)
    assert clock_screen.window.notice.text == "{{time}} stays “14:03:24” in this conversation."
    assert list(clock_screen.answer().box.buttons) == ["prove"]
    clock_screen.ask("Three?")
    assert system(clock_screen) == sent
    clock_screen.play()


def test_moving_sends_the_time_with_the_question(clock_screen: Screen) -> None:
    press(clock_screen, "move")
    assert "goes with the newest message" in clock_screen.window.notice.text
    clock_screen.ask("Three?")
    clock_screen.play()
    assert system(clock_screen).startswith("It is [time: see the newest message].")
    assert clock_screen.engine.requests[-1].messages[-1].content == "Three?\n\n[time: 14:03:26]"
    question = clock_screen.transcript.messages[-2]
    assert question.text == "Three?"
    assert "sent with [time: 14:03:26]" in [label.text() for label in question.findChildren(QLabel)]


def test_an_older_box_offers_the_proof_only(clock_screen: Screen) -> None:
    older = clock_screen.answer()
    clock_screen.ask("Three?")
    clock_screen.play()
    assert list(older.box.buttons) == ["prove"]
    assert older.box.text_shown.endswith("it can be frozen, or moved to the newest message.")


def test_prove_it_opens_the_proof(clock_screen: Screen) -> None:
    press(clock_screen, "prove")
    dialog = clock_screen.application.proving.dialog
    assert dialog is not None
    clock_screen.play()
    dialog.reject()


def test_a_date_that_was_edited_can_be_moved(make_screen: Callable[..., Screen]) -> None:
    edited = Script(divergence=Divergence(5, 0, "date", "is 29 Nov", "is 30 Nov", 2600))
    screen = make_screen(Script(), edited)
    screen.session.set_system_prompt(f"Today is 29 Nov 2026. {RULES}")
    screen.ask("One?")
    screen.play()
    screen.session.set_system_prompt(f"Today is 30 Nov 2026. {RULES}")
    screen.ask("Two?")
    screen.play()
    assert [button.text() for button in screen.answer().box.buttons.values()] == [
        "Move “30 Nov 2026” to the newest message",
        "Prove it",
    ]
    press(screen, "move")
    assert screen.session.conversation.system_prompt == f"Today is {{{{date}}}}. {RULES}"
    assert screen.session.conversation.cures == (Cure("date", "moved"),)

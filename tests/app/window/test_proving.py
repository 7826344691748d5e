"""Proving a turn in the window: what the dialog shows is what the engine reported, and the conversation stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog

from app.history.records import StoredMessage
from app.placeholders import Cure
from app.proof.dialog import RUNS, ProofDialog
from app.proof.proof import Proof
from app.words import seconds, times_sooner
from engine import Finished, Matched, Prefill, TextDelta
from tests.app.fake_engine import MODEL, Script
from tests.app.window.conftest import Screen, settle

RULES = "You are a support bot. Be brief and friendly. " * 20


@pytest.fixture
def talk(make_screen: Callable[..., Screen]) -> Callable[..., Screen]:
    """A screen with two answered questions."""

    def make(*scripts: Script) -> Screen:
        screen = make_screen(Script(), Script(), *scripts)
        screen.session.set_system_prompt(RULES)
        for question in ("One?", "Two?"):
            screen.ask(question)
            screen.play()
        return screen

    return make


def dialog_of(screen: Screen) -> ProofDialog:
    dialog = screen.application.proving.dialog
    assert isinstance(dialog, ProofDialog)
    return dialog


def state(screen: Screen) -> tuple[tuple[StoredMessage, ...], object, list[str]]:
    """Everything a proof may not change."""
    return screen.session.messages, screen.session.conversation, screen.texts()


def test_the_dialog_shows_both_runs_as_the_engine_reported_them(talk: Callable[..., Screen]) -> None:
    screen = talk()
    before = state(screen)
    ended: list[Finished] = []
    screen.application.bridge.aside.connect(lambda event: ended.append(event) if isinstance(event, Finished) else None)
    screen.window.commands.prove.trigger()
    dialog = dialog_of(screen)
    screen.play()
    warm, cold = (run.stats for run in ended)
    assert warm.reused_tokens > 0 == cold.reused_tokens
    for half, stats, name in (("warm", warm, "Remembering, first word"), ("cold", cold, "From scratch")):
        assert stats.ttft_s is not None
        text = dialog.bars[half].text  # type: ignore[index]
        assert text.startswith(name)
        tokens = f"{stats.reused_tokens:,} remembered, {stats.computed_tokens:,} read"
        assert text.endswith(f": {seconds(stats.ttft_s)}, {tokens}")
        assert dialog.bars[half].accessibleName() == text  # type: ignore[index]
    assert warm.ttft_s is not None
    assert cold.ttft_s is not None
    assert dialog.headline.text() == f"The same answer, {times_sooner(warm.ttft_s, cold.ttft_s, measured=True)}"
    assert dialog.says.text().startswith("The same answer, word for word: 5 tokens")
    assert state(screen) == before
    dialog.button.click()
    settle()
    assert screen.application.proving.dialog is None


def test_where_more_is_cached_than_the_turn_itself_reused_the_dialog_says_so(talk: Callable[..., Screen]) -> None:
    screen = talk()
    screen.window.commands.clear_cache.trigger()
    screen.ask("Three?")
    screen.play()
    own = screen.session.messages[-1].stats
    assert own is not None
    assert own.reused_tokens == 0
    screen.window.commands.prove.trigger()
    dialog = dialog_of(screen)
    assert not dialog.own.text()
    screen.until(Matched)
    reused = own.prompt_tokens - 1
    assert dialog.own.text() == (
        f"Turn 3 itself remembered 0 tokens and waited {seconds(own.ttft_s or 0)}. "
        f"Now its prompt is remembered: this run remembers {reused:,}."
    )
    said = dialog.own.text()
    screen.play()
    assert dialog.own.text() == said, "the run without the cache says nothing of it"
    dialog.again.click()
    assert not dialog.own.text()
    screen.play()
    assert dialog.own.text() == said
    dialog.reject()


def test_an_earlier_answer_is_proved_with_the_prompt_it_was_written_under(talk: Callable[..., Screen]) -> None:
    screen = talk()
    first = screen.engine.requests[0]
    screen.session.set_system_prompt("Another one at {{time}}.", (Cure("time", "moved"),))
    screen.transcript.messages[1].tools.prove.click()
    screen.play()
    warm, cold = screen.engine.requests[-2:]
    assert warm.messages == cold.messages == first.messages
    dialog_of(screen).reject()


def test_a_question_is_proved_as_it_was_sent(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen()
    screen.session.set_system_prompt("At {{time}}.", (Cure("time", "moved"),))
    screen.ask("When?")
    screen.play()
    screen.transcript.messages[1].tools.prove.click()
    screen.play()
    assert screen.engine.requests[1].messages == screen.engine.requests[0].messages
    dialog_of(screen).reject()


def test_progress_is_said_while_it_runs(talk: Callable[..., Screen]) -> None:
    screen = talk()
    screen.window.commands.prove.trigger()
    dialog = dialog_of(screen)
    assert dialog.bars["warm"].text == "Remembering, first word: waiting for the model"
    screen.until(Matched)
    assert "remembered" in dialog.bars["warm"].text
    screen.until(Prefill)
    assert "reading" in dialog.bars["warm"].text
    assert (dialog.button.text(), dialog.again.isHidden()) == ("Stop", True)
    screen.play()
    assert (dialog.button.text(), dialog.again.isHidden()) == ("Close", False)
    assert not dialog.again.isDefault(), "there is one button to end with"
    dialog.reject()


def test_stop_and_once_more(talk: Callable[..., Screen]) -> None:
    screen = talk()
    screen.window.commands.prove.trigger()
    dialog = dialog_of(screen)
    screen.until(TextDelta)
    dialog.button.click()
    assert not dialog.button.isEnabled()
    screen.play()
    assert dialog.headline.text() == "Stopped"
    dialog.again.click()
    screen.play()
    assert dialog.headline.text().endswith("times sooner")
    dialog.reject()
    settle()
    assert screen.application.proving.findChildren(Proof) == [], "nothing is left of either run"


def test_the_end_of_a_closed_proof_is_not_shown_in_the_next_one(talk: Callable[..., Screen]) -> None:
    screen = talk()
    screen.window.commands.prove.trigger()
    screen.until(TextDelta)
    dialog_of(screen).reject()
    screen.window.commands.prove.trigger()
    dialog, proof = dialog_of(screen), screen.application.proving.proof
    screen.until(Finished)
    assert (dialog.headline.text(), screen.application.proving.proof) == (RUNS["warm"], proof)
    screen.play()
    assert dialog.headline.text().endswith("times sooner")
    dialog.reject()


def test_closing_the_dialog_stops_the_run(talk: Callable[..., Screen]) -> None:
    screen = talk()
    screen.window.commands.prove.trigger()
    screen.until(TextDelta)
    dialog_of(screen).reject()
    assert len(screen.engine.cancelled) == 1
    screen.play()
    assert screen.application.proving.dialog is None
    screen.ask("Three?")
    screen.play()
    assert len(screen.texts()) == 6


def test_a_failure_is_a_sentence_in_the_dialog(talk: Callable[..., Screen]) -> None:
    screen = talk(Script(fail_after=-1, sentence="No memory is left."))
    screen.window.commands.prove.trigger()
    screen.play()
    dialog = dialog_of(screen)
    assert (dialog.headline.text(), dialog.says.text()) == ("It could not be run", "No memory is left.")
    assert screen.window.notice.text == ""
    dialog.reject()


@pytest.mark.parametrize("is_open", [True, False])
def test_what_a_server_answers_is_not_proved(make_screen: Callable[..., Screen], is_open: bool) -> None:
    """It gives no tokens to compare; and the conversation is nothing for the model that is open."""
    address = "http://host:8000/v1"
    screen = make_screen(model=replace(MODEL, path=address) if is_open else MODEL)
    if not is_open:
        screen.application.answered_by.choose(address)
    screen.ask("One?")
    screen.play()
    screen.window.commands.prove.trigger()
    assert "A server answers this conversation" in screen.window.notice.text
    assert (screen.application.proving.dialog, len(screen.engine.requests)) == (None, 1)


def test_what_cannot_be_proved_now_says_why(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen()
    screen.window.commands.prove.trigger()
    assert "no answer to prove" in screen.window.notice.text
    screen.ask("One?")
    screen.until(TextDelta)
    screen.window.commands.prove.trigger()
    assert screen.window.notice.text.startswith("An answer is being written.")
    assert screen.application.proving.dialog is None
    screen.play()


def test_without_a_model_it_says_so(make_screen: Callable[..., Screen]) -> None:
    first = make_screen()
    first.ask("One?")
    first.play()
    first.window.close()
    second = make_screen(load_failure="It is broken.")
    second.session.open(1)
    second.window.commands.prove.trigger()
    assert second.window.notice.text.startswith("There is no model to prove it with.")


def test_only_answers_offer_it(talk: Callable[..., Screen]) -> None:
    screen = talk()
    shown = [message.tools.prove.isHidden() for message in screen.transcript.messages]
    assert shown == [True, False, True, False]
    assert isinstance(screen.window.findChild(QDialog), type(None))


def test_a_turn_that_was_read_ahead_has_a_bar_of_its_own(talk: Callable[..., Screen]) -> None:
    """As it was when it was sent; the runs find all of it in the cache by now."""
    screen = talk()
    screen.window.commands.prove.trigger()
    screen.play()
    assert dialog_of(screen).turn.isHidden(), "a turn that was not read ahead"
    dialog_of(screen).accept()
    settle()
    screen.type("Where is my parcel, and when will it be here? " * 3)
    screen.play()
    screen.press(Qt.Key.Key_Return)
    screen.play()
    stats = screen.session.messages[-1].stats
    assert stats is not None
    assert stats.ahead_tokens > 0
    screen.window.commands.prove.trigger()
    screen.play()
    turn = dialog_of(screen).turn
    assert not turn.isHidden()
    assert f"{stats.ahead_tokens:,} read ahead, {stats.computed_tokens:,} read" in turn.text
    assert turn.seconds == stats.ttft_s
    dialog_of(screen).accept()

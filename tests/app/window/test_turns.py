"""A turn in the window: sent by a key, written as it comes, stopped, retried, edited; nothing typed is lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.transcript import reading_note
from app.words import figures, result
from engine import Divergence, Matched, Prefill, TextDelta
from tests.app.conftest import timer_of
from tests.app.fake_engine import Script, many_tokens, words
from tests.app.window.conftest import Screen, settle

EMPHASIS = "Some *text*\n\n\n\nwith   spaces, a tab\there and 👍🏽 \n"


def test_enter_sends_and_the_answer_appears(screen: Screen) -> None:
    screen.ask("Hello?")
    assert screen.texts() == ["Hello?", ""]
    assert screen.composer.text == ""
    screen.play()
    assert screen.texts() == ["Hello?", "Hello from a fake."]
    assert screen.answer().view.toPlainText() == "Hello from a fake."


def test_shift_enter_breaks_the_line(screen: Screen) -> None:
    screen.type("one")
    screen.press(Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    screen.type("two")
    assert screen.composer.text == "one\ntwo"
    assert screen.engine.requests == []
    screen.press(Qt.Key.Key_Enter)
    assert screen.engine.requests[0].messages[-1].content == "one\ntwo"
    screen.play()


def test_enter_that_ends_a_composition_does_not_send(screen: Screen) -> None:
    QApplication.sendEvent(screen.composer.edit, QInputMethodEvent("にほん", []))
    screen.press(Qt.Key.Key_Return)
    assert screen.engine.requests == []
    commit = QInputMethodEvent("", [])
    commit.setCommitString("日本")
    QApplication.sendEvent(screen.composer.edit, commit)
    assert screen.composer.text == "日本"
    screen.press(Qt.Key.Key_Return)
    assert [request.messages[-1].content for request in screen.engine.requests] == ["日本"]
    screen.play()


def test_blank_text_is_not_sent(screen: Screen) -> None:
    screen.type("  \n ")
    screen.press(Qt.Key.Key_Return)
    assert screen.engine.requests == []
    assert screen.composer.text == "  \n "


def test_escape_stops_and_keeps_what_is_written(screen: Screen) -> None:
    screen.ask("Go on")
    screen.until(TextDelta)
    assert screen.composer.button.text() == "Stop"
    screen.press(Qt.Key.Key_Escape)
    screen.play()
    assert screen.engine.cancelled
    assert screen.answer().text == "Hello"
    assert screen.answer().strip.text.endswith("stopped")
    assert screen.composer.button.text() == "Send"


def test_a_question_that_waits_for_the_model_is_taken_back(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(loaded=False)
    screen.ask("Too early")
    assert screen.session.state == "loading"
    assert screen.composer.button.text() == "Stop"
    screen.type("more")
    screen.press(Qt.Key.Key_Escape)
    settle()
    assert screen.texts() == []
    assert screen.composer.text == "Too early\nmore"
    assert screen.composer.button.text() == "Send"
    screen.press(Qt.Key.Key_Return)
    screen.play()
    assert screen.texts() == ["Too early\nmore", "Hello from a fake."]


def test_an_answer_has_no_buttons_before_it_has_text(screen: Screen) -> None:
    screen.ask("Hi")
    screen.until(Matched)
    answer = screen.answer()
    room = answer.height()
    answer.tools.set_hovered(True)
    assert not answer.tools.isVisible()
    screen.until(TextDelta)
    assert answer.tools.isVisible()
    assert answer.height() >= room
    screen.play()
    assert answer.tools.isVisible()


def test_the_button_stops_too(screen: Screen) -> None:
    screen.ask("Go on")
    screen.until(TextDelta)
    QTest.mouseClick(screen.composer.button, Qt.MouseButton.LeftButton)
    assert screen.session.state == "stopping"
    assert not screen.composer.button.isEnabled()
    screen.play()
    assert screen.answer().content.finish_reason == "stopped"


def test_what_is_typed_while_an_answer_is_written_stays(screen: Screen) -> None:
    screen.ask("First")
    screen.until(TextDelta)
    screen.type("Second")
    screen.press(Qt.Key.Key_Return)
    screen.play()
    assert screen.composer.text == "Second"
    assert len(screen.engine.requests) == 1


def test_the_strip_says_what_the_stats_say(screen: Screen) -> None:
    for question in ("One?", "Two?"):
        screen.ask(question)
        screen.play()
    stored = screen.session.messages[-1]
    assert stored.stats is not None
    assert stored.stats.reused_tokens > 0
    assert screen.answer().strip.text == " ".join(filter(None, result(stored.stats, "end")))
    assert screen.answer().strip.figures == figures(stored.stats)
    assert not screen.answer().strip.isHidden()


def test_copy_gives_the_emitted_text(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(tokens=words(EMPHASIS)))
    screen.ask("Copy?")
    screen.play()
    screen.window.commands.copy_answer.trigger()
    assert QGuiApplication.clipboard().text() == EMPHASIS


def test_progress_appears_where_the_answer_will_be_after_a_while(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_note, "APPEARS_AFTER_MS", 10**6)
    screen.ask("Read this")
    screen.until(Prefill)
    note = screen.answer().note
    assert note.isHidden()
    assert note.text().startswith("reading 3 of 6 tokens")
    timer_of(note).timeout.emit()
    assert not note.isHidden()
    screen.application.choose_theme("dark")
    settle()
    again = screen.answer().note
    assert not again.isHidden(), "another theme builds the messages anew"
    assert again.text() == "reading 3 of 6 tokens, about 0.01 s left"
    screen.until(TextDelta)
    assert screen.answer().note.isHidden()
    screen.play()


def test_a_divergence_is_explained_as_soon_as_it_is_known(make_screen: Callable[..., Screen]) -> None:
    divergence = Divergence(412, 0, "edited", "29 Nov", "30 Nov", 2600)
    screen = make_screen(Script(divergence=divergence))
    screen.session.set_system_prompt("Today is 30 Nov.")
    screen.ask("Which day?")
    screen.until(Matched)
    box = screen.answer().box
    assert not box.isHidden()
    assert box.text_shown.startswith(
        "One different word at token 412, in the system prompt: “29 Nov…” became “30 Nov…”."
    )
    assert "2,600 tokens" in box.text_shown
    screen.play()
    assert not screen.answer().box.isHidden()


def test_a_divergence_that_cost_nothing_is_not_shown(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(divergence=Divergence(4, 0, "new", "", "", 0)))
    screen.ask("Anything?")
    screen.play()
    assert screen.answer().box.isHidden()


def test_versions_that_cannot_be_read_are_an_error_in_words(screen: Screen) -> None:
    screen.ask("Question")
    screen.play()
    screen.transcript.wishes.sibling.emit(999, 1)
    assert screen.window.notice.isVisible()
    assert screen.texts() == ["Question", "Hello from a fake."]


def test_retry_makes_a_sibling_and_the_switcher_goes_back(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(tokens=("First",)), Script(tokens=("Second",)))
    screen.ask("Which?")
    screen.play()
    question = screen.transcript.messages[0]
    screen.window.commands.retry.trigger()
    screen.play()
    assert screen.texts() == ["Which?", "Second"]
    assert screen.transcript.messages[0] is question
    assert (screen.answer().content.version, screen.answer().content.versions) == (2, 2)
    screen.answer().tools.before.click()
    settle()
    assert screen.texts() == ["Which?", "First"]
    assert screen.answer().content.version == 1


def test_editing_a_question_starts_a_branch_and_brings_the_draft_back(screen: Screen) -> None:
    screen.ask("Old")
    screen.play()
    screen.type("a draft")
    screen.transcript.messages[0].tools.edit.click()
    assert screen.composer.text == "Old"
    screen.composer.set_text("New")
    screen.press(Qt.Key.Key_Return)
    screen.play()
    assert screen.texts() == ["New", "Hello from a fake."]
    assert screen.composer.text == "a draft"
    assert screen.transcript.messages[0].content.versions == 2


def test_the_line_under_an_answer_stays_when_messages_are_built_anew(make_screen: Callable[..., Screen]) -> None:
    """While it is written: by other colours, or another size of the text. A slow model writes its next word late."""
    screen = make_screen(Script(tokens=many_tokens(40)))
    screen.ask("Hello?")
    screen.engine.advance(20)
    screen.application.bridge.drain()
    says = screen.answer().strip.text
    assert says
    screen.application.presenter.change_look(lambda: None)
    settle()
    assert screen.answer().strip.isVisible()
    assert screen.answer().strip.text == says


def test_escape_gives_up_editing(screen: Screen) -> None:
    screen.ask("Old")
    screen.play()
    screen.type("a draft")
    screen.transcript.messages[0].tools.edit.click()
    screen.press(Qt.Key.Key_Escape)
    assert (screen.composer.text, screen.composer.editing) == ("a draft", None)


@pytest.mark.parametrize("is_elsewhere", [False, True])
@pytest.mark.parametrize("by_notice", [False, True])
def test_a_failure_is_a_sentence_and_the_question_can_be_asked_again(
    make_screen: Callable[..., Screen], by_notice: bool, is_elsewhere: bool
) -> None:
    screen = make_screen(Script(fail_after=-1, sentence="No memory is left."), Script(tokens=("Fine",)))
    screen.ask("Hello?")
    screen.play()
    assert screen.window.notice.text == "No memory is left."
    assert screen.texts() == ["Hello?"]
    QTest.mouseClick(screen.window.notice._copy, Qt.MouseButton.LeftButton)
    assert "told to fail" in QGuiApplication.clipboard().text()
    question, offer = screen.transcript.messages[0], screen.window.notice.offer
    assert question.tools.awake
    assert offer.text() == "Try again"
    if by_notice and is_elsewhere:
        screen.window.commands.new.trigger()
    (offer if by_notice else question.tools.again).click()
    screen.play()
    assert screen.texts() == ["Hello?", "Fine"]
    assert screen.window.notice.text == ""


def test_without_a_model_the_text_stays_and_the_reason_is_said(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(load_failure="The model is broken. Open another one.")
    assert screen.window.notice.text == "The model is broken. Open another one."
    assert screen.window.loading_bar.isHidden()
    screen.ask("Anyone?")
    assert screen.composer.text == "Anyone?"
    assert "model" in screen.window.notice.text


def test_preview_is_said_before_sending(screen: Screen, qtbot: QtBot) -> None:
    screen.type("How much?")
    qtbot.waitUntil(lambda: screen.composer.next_prompt.text != "")
    assert screen.composer.next_prompt.text.startswith("Next prompt  ·  0 of 6 tokens remembered · ")
    assert screen.composer.context.text().endswith(" of 8,192 tokens")


def test_without_a_model_nothing_is_said_of_the_context(screen: Screen, qtbot: QtBot) -> None:
    screen.type("How much?")
    qtbot.waitUntil(lambda: screen.composer.context.text() != "")
    screen.application.dialogs.load("/another")
    assert screen.composer.context.text() == ""
    screen.play()


@pytest.mark.parametrize("scrolled_up", [False, True])
def test_a_fast_answer_is_drawn_to_its_end(make_screen: Callable[..., Screen], qtbot: QtBot, scrolled_up: bool) -> None:
    tokens = many_tokens(2_000)
    screen = make_screen(Script(tokens=tokens), tokens_per_poll=33)
    screen.ask("Write a lot")
    screen.engine.release()
    qtbot.waitUntil(lambda: screen.answer().view.height() > 2 * screen.transcript.height())
    bar = screen.transcript.verticalScrollBar()
    if scrolled_up:
        bar.setValue(bar.maximum() // 2)
    place = bar.value()
    screen.window.resize(1100, 700)
    screen.window.resize(1280, 800)
    settle()
    qtbot.waitUntil(lambda: screen.session.state == "idle")
    settle()
    assert screen.answer().text == "".join(tokens)
    assert screen.answer().view.toPlainText().replace("\n", "\n\n") == "".join(tokens).strip()
    assert screen.transcript.following is not scrolled_up
    assert bar.value() == (place if scrolled_up else bar.maximum())

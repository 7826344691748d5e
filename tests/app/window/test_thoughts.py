"""Thoughts and tool calls in the window: folded, opened, stopped, copied, and sent with the next question."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.transcript.message import Answer, ToolResult
from app.transcript.transcript import Transcript
from engine import Message, TextDelta, ToolCall
from tests.app.fake_engine import Script, many_tokens, words
from tests.app.window.conftest import Screen, settle

THOUGHT = words("The user wants to know *why*, which I have to think about.")
CALLS = (ToolCall("get_weather", '{"city": "Paris"}', "call-1"), ToolCall("get_time"))
THINKS = Script(thought=THOUGHT, stats_every=1)
LONG = Script(thought=many_tokens(2_000))


def until_thinking(screen: Screen, pieces: int) -> None:
    for _ in range(pieces):
        screen.until(TextDelta)
    screen.engine.advance()  # the figures behind the last piece
    screen.application.bridge.drain()
    settle()


def top_of(transcript: Transcript, widget: QWidget) -> int:
    return widget.mapTo(transcript.viewport(), widget.rect().topLeft()).y()


def test_a_thought_is_one_line_that_grows_in_time_and_says_at_its_end_what_it_took(
    make_screen: Callable[..., Screen],
) -> None:
    screen = make_screen(THINKS)
    screen.ask("Why?")
    assert screen.answer().thought.isHidden()
    screen.until(TextDelta)
    said = [screen.answer().thought.line.words]
    for pieces in (2, 3):
        until_thinking(screen, pieces)
        said.append(screen.answer().thought.line.words)
    assert said == ["Thinking…", "Thinking… 0.30 s", "Thinking… 0.60 s"]
    assert screen.answer().thought.isVisible()
    assert not screen.answer().thought.is_open
    assert screen.answer().note.isHidden()
    assert screen.texts() == ["Why?", ""]
    screen.play()
    answer = screen.answer()
    assert answer.thought.line.words == "Thought for 1.2 s, 12 tokens"
    assert (answer.text, answer.thought.text) == ("Hello from a fake.", "".join(THOUGHT))
    assert answer.view.y() > answer.thought.y()


def test_it_is_opened_while_it_runs_and_copying_takes_the_answer_alone(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(THINKS)
    screen.ask("Why?")
    until_thinking(screen, 2)
    thought = screen.answer().thought
    thought.line.setFocus()
    QTest.keyClick(thought.line, Qt.Key.Key_Return)
    assert thought.view is not None
    assert thought.view.toPlainText() == "The user"
    until_thinking(screen, 3)
    thought.view.settle()
    assert thought.view.toPlainText() == "The user wants to know"
    screen.play()
    thought.view.settle()
    assert thought.is_open
    assert thought.view.toPlainText() == "".join(THOUGHT).replace("*", "")
    screen.answer().tools.copy.click()
    assert QGuiApplication.clipboard().text() == "Hello from a fake."


def test_what_was_opened_is_remembered_for_each_message(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(THINKS)
    for question in ("Why?", "And why that?"):
        screen.ask(question)
        screen.play()
    first = screen.session.conversation.id
    screen.transcript.messages[1].thought.line.click()  # type: ignore[attr-defined]
    screen.window.commands.new.trigger()
    screen.window.sidebar.list.opened.emit(first)
    settle()
    answers = [message for message in screen.transcript.messages if isinstance(message, Answer)]
    assert [answer.thought.is_open for answer in answers] == [True, False]
    assert [answer.thought.line.words for answer in answers] == ["Thought for 1.2 s, 12 tokens"] * 2


def test_a_chat_left_while_the_model_thinks_goes_on_thinking(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(THINKS)
    screen.ask("Why?")
    until_thinking(screen, 3)
    number = screen.session.conversation.id
    screen.window.commands.new.trigger()
    until_thinking(screen, 2)
    screen.window.sidebar.list.opened.emit(number)
    settle()
    assert screen.answer().thought.text == "The user wants to know"
    assert screen.answer().thought.line.words == "Thinking… 0.50 s"
    assert screen.answer().note.isHidden()
    screen.play()
    assert screen.answer().thought.line.words == "Thought for 1.2 s, 12 tokens"


def test_an_answer_stopped_in_its_thought_shows_that_open_and_is_sent_with_the_next(
    make_screen: Callable[..., Screen],
) -> None:
    screen = make_screen(THINKS)
    screen.ask("Why?")
    until_thinking(screen, 2)
    screen.session.saving.save()
    assert screen.application.history.messages(1)[-1].thought == "The user"
    screen.press(Qt.Key.Key_Escape)
    screen.play()
    answer = screen.answer()
    assert (answer.thought.is_open, answer.view.isVisible()) == (True, False)
    assert answer.thought.line.words == "Thought for 0.20 s, 2 tokens"
    assert "stopped" in answer.strip.text
    assert not answer.tools.copy.isEnabled()
    screen.ask("Go on")
    sent = screen.engine.requests[-1].messages[1]
    assert sent == Message("assistant", "", screen.session.messages[1].token_ids, "The user")
    assert len(sent.token_ids) == 2
    screen.play()
    answer.thought.line.click()
    assert not answer.thought.is_open


def test_tool_calls_are_folded_lines_with_their_arguments(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(thought=THOUGHT, tokens=(), tool_calls=CALLS))
    screen.ask("What is the weather?")
    screen.play()
    answer = screen.answer()
    assert [call.line.words for call in answer.calls] == ["Asked for get_weather", "Asked for get_time"]
    assert not answer.thought.is_open
    answer.calls[0].line.click()
    settle()
    assert answer.calls[0].view is not None
    answer.calls[0].view.settle()
    assert answer.calls[0].view.toPlainText().replace("\u2028", "\n") == '{\n  "city": "Paris"\n}'
    assert answer.calls[0].line.y() <= answer.calls[0].view.y()
    screen.ask("Well?")
    assert screen.engine.requests[-1].messages[1].tool_calls == CALLS
    screen.play()
    stops = answer.tab_stops
    assert stops.index(answer.thought.line) < stops.index(answer.calls[0].line) < stops.index(answer.calls[1].line)


def test_the_result_of_a_tool_is_folded_and_sent_with_its_id(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(tokens=(), tool_calls=CALLS[:1]), Script())
    screen.ask("What is the weather?")
    screen.play()
    number, last = screen.session.conversation.id, screen.session.messages[-1].id
    history = screen.application.history
    result = history.append(number, last, "tool", "18 degrees").id
    history.file.change("UPDATE message SET tool_call_id = 'call-1' WHERE id = ?", result)
    screen.window.commands.new.trigger()
    screen.window.sidebar.list.opened.emit(number)
    settle()
    shown = screen.transcript.messages[-1]
    assert isinstance(shown, ToolResult)
    shown.fold.line.click()
    assert shown.fold.view is not None
    assert shown.fold.view.toPlainText() == "18 degrees"
    screen.ask("Well?")
    assert screen.engine.requests[-1].messages[2] == Message("tool", "18 degrees", tool_call_id="call-1")
    screen.play()


def test_a_long_thought_opens_below_its_line_which_stays_in_place(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(LONG)
    for question in ("Why?", "And why that?"):
        screen.ask(question)
        screen.play()
    answer = screen.answer()
    before = top_of(screen.transcript, answer.thought.line)
    answer.thought.line.click()
    settle()
    assert answer.thought.height() > screen.transcript.viewport().height()
    assert top_of(screen.transcript, answer.thought.line) == before
    assert not screen.transcript.following
    answer.thought.line.click()
    settle()
    screen.ask("Again?")
    assert screen.transcript.following
    screen.play()

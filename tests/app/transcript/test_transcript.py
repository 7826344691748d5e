"""The transcript follows only from its end, builds old messages late, and keeps what is read in its place."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app.transcript import transcript as transcript_module
from app.transcript.document_view import LONGEST_WORD
from app.transcript.message import Answer, MessageContent, MessageWidget
from app.transcript.transcript import COLUMN_WIDTH, FIRST_IN_VIEW, FIRST_MESSAGES, Transcript
from engine import TtftParts, TurnStats
from tests.app.conftest import timer_of

PARAGRAPH = "Some words that fill more than one line of the transcript when it is narrow. " * 3


def contents(count: int, text: str = PARAGRAPH) -> list[MessageContent]:
    roles = ("user", "assistant")
    return [MessageContent(i, roles[i % 2], f"{i}: {text}", finish_reason="end") for i in range(count)]  # type: ignore[arg-type]


def settle() -> None:
    """Let everything that is due be built, and laid out."""
    views = [each for each in QApplication.topLevelWidgets() if isinstance(each, Transcript)]
    while any(timer_of(view).isActive() for view in views):
        QApplication.processEvents()
    for _ in range(5):
        QApplication.processEvents()


@pytest.fixture
def transcript(qtbot: QtBot) -> Transcript:
    made = Transcript()
    qtbot.addWidget(made)
    made.resize(700, 500)
    made.show()
    return made


def top_in_view(transcript: Transcript, message: MessageWidget) -> int:
    return message.mapTo(transcript.viewport(), QPoint(0, 0)).y()


def scroll_to(transcript: Transcript, value: int) -> None:
    transcript.verticalScrollBar().setValue(value)
    settle()


def jump_button(transcript: Transcript) -> QPushButton:
    (button,) = (each for each in transcript.findChildren(QPushButton) if each.text() == "Newest")
    return button


def newest(transcript: Transcript) -> Answer:
    answer = transcript.messages[-1]
    assert isinstance(answer, Answer)
    return answer


def test_it_opens_at_the_end(transcript: Transcript) -> None:
    transcript.show_messages(contents(20))
    settle()
    bar = transcript.verticalScrollBar()
    assert bar.maximum() > 0
    assert bar.value() == bar.maximum()


def test_at_the_end_it_follows(transcript: Transcript) -> None:
    transcript.show_messages(contents(20))
    settle()
    before = transcript.verticalScrollBar().maximum()
    for _ in range(30):
        newest(transcript).append("\n\nMore text.")
        settle()
    newest(transcript).view.settle()
    settle()
    bar = transcript.verticalScrollBar()
    assert bar.maximum() > before
    assert bar.value() == bar.maximum()


def test_scrolled_up_nothing_moves_the_view(transcript: Transcript) -> None:
    transcript.show_messages(contents(20))
    settle()
    scroll_to(transcript, 300)
    assert not jump_button(transcript).isHidden()
    for _ in range(30):
        newest(transcript).append("\n\nMore text.")
        settle()
        assert transcript.verticalScrollBar().value() == 300
    newest(transcript).finish(contents(20)[-1])
    settle()
    assert transcript.verticalScrollBar().value() == 300


def test_jump_to_newest_follows_again(transcript: Transcript, qtbot: QtBot) -> None:
    transcript.show_messages(contents(20))
    settle()
    scroll_to(transcript, 300)
    qtbot.mouseClick(jump_button(transcript), Qt.MouseButton.LeftButton)
    assert transcript.following
    assert jump_button(transcript).isHidden()
    newest(transcript).append("\n\nMore text." * 20)
    newest(transcript).view.settle()
    settle()
    assert transcript.verticalScrollBar().value() == transcript.verticalScrollBar().maximum()


def test_the_jump_is_no_longer_offered_once_the_end_is_in_view(transcript: Transcript) -> None:
    """Also where nobody scrolled there: what was opened was folded again."""
    question, answer = contents(2)
    transcript.show_messages([question, replace(answer, thought="One more line.\n\n" * 60)])
    settle()
    newest(transcript).thought.line.click()
    settle()
    assert not jump_button(transcript).isHidden()
    newest(transcript).thought.line.click()
    settle()
    assert transcript.verticalScrollBar().maximum() == 0
    assert jump_button(transcript).isHidden()


def test_an_answer_leaves_the_wheel_to_the_transcript(transcript: Transcript) -> None:
    transcript.show_messages(contents(20))
    settle()
    view = newest(transcript).view.viewport()
    place = QPointF(view.rect().center())
    down = QWheelEvent(
        place,
        QPointF(view.mapToGlobal(place.toPoint())),
        QPoint(0, 0),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view, down)
    # Qt hands an ignored wheel event of a real mouse on to the parent.
    assert not down.isAccepted()


def test_old_messages_are_built_when_scrolled_to_and_push_nothing_down(transcript: Transcript) -> None:
    transcript.show_messages(contents(130))
    settle()
    assert len(transcript.messages) == FIRST_MESSAGES
    first = transcript.messages[0]
    transcript.verticalScrollBar().setValue(100)
    place = top_in_view(transcript, first)
    settle()
    assert len(transcript.messages) == 2 * FIRST_MESSAGES
    assert top_in_view(transcript, first) == place
    scroll_to(transcript, 0)
    scroll_to(transcript, 0)
    assert [message.content.id for message in transcript.messages] == list(range(130))


def step(transcript: Transcript) -> int:
    """One turn of the event loop: how many messages it built."""
    before = len(transcript.built)
    QApplication.processEvents()
    return len(transcript.built) - before


def test_what_is_above_the_view_is_built_piece_by_piece(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_module, "STEP_S", 0)  # one message a step
    bar = transcript.verticalScrollBar()
    transcript.show_messages(contents(130))
    assert len(transcript.built) == FIRST_IN_VIEW
    while len(transcript.built) < FIRST_MESSAGES:
        assert step(transcript) <= 1
        assert bar.value() == bar.maximum()
    settle()
    assert len(transcript.built) == FIRST_MESSAGES
    assert [message.content.id for message in transcript.built] == list(range(80, 130))


def test_a_cheap_message_is_built_with_others(transcript: Transcript, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_module, "STEP_S", 1_000)
    transcript.show_messages(contents(130))
    steps = [step(transcript) for _ in range(3)]
    assert sum(steps) == FIRST_MESSAGES - FIRST_IN_VIEW
    assert max(steps) == sum(steps)


def test_what_is_built_above_moves_nothing_that_is_read(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_module, "STEP_S", 0)
    transcript.show_messages(contents(130))
    for _ in range(4):
        QApplication.processEvents()
    bar = transcript.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    placed = [each for each in transcript.built if each.isVisible()]  # and laid out
    message = next(each for each in placed if top_in_view(transcript, each) + each.height() > 0)
    place = top_in_view(transcript, message)
    while len(transcript.built) < FIRST_MESSAGES:
        QApplication.processEvents()
        assert top_in_view(transcript, message) == place
    settle()
    assert top_in_view(transcript, message) == place
    assert not transcript.following


def test_who_asks_for_a_message_that_is_due_gets_it(transcript: Transcript) -> None:
    transcript.show_messages(contents(130))
    assert transcript.answer(30) is None, "it waits to be scrolled to"
    assert len(transcript.built) == FIRST_IN_VIEW
    answer = transcript.answer(101)
    assert answer
    assert answer.content.id == 101
    assert transcript.built[0] is answer
    assert len(transcript.messages) == FIRST_MESSAGES
    assert not timer_of(transcript).isActive()


@pytest.mark.parametrize("wanted", [10, 100])
def test_a_jump_to_a_message_that_is_not_built(transcript: Transcript, wanted: int) -> None:
    transcript.show_messages(contents(130))
    assert transcript.show_message(wanted)
    message = transcript.message(wanted)
    assert message
    settle()
    assert top_in_view(transcript, message) == 0
    assert transcript.built[0].content.id < wanted
    assert not transcript.show_message(999)


def test_the_tab_key_leaves_no_message_out(transcript: Transcript) -> None:
    transcript.show_messages(contents(130))
    transcript.built[0].tab_stops[0].setFocus()
    QTest.keyClick(transcript.built[0].tab_stops[0], Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    assert len(transcript.built) == FIRST_MESSAGES
    assert timer_of(transcript).isActive() is False


def test_an_answer_is_written_while_others_are_built(transcript: Transcript, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_module, "STEP_S", 0)
    transcript.show_messages(contents(130))
    answer = transcript.add(MessageContent(200, "assistant", ""))
    assert isinstance(answer, Answer)
    while timer_of(transcript).isActive():
        answer.append("word ")
        QApplication.processEvents()
        assert transcript.following
    assert transcript.answer(200) is answer
    assert transcript.newest is answer
    assert [message.content.id for message in transcript.built] == [*range(80, 130), 200]
    answer.view.settle()


def test_another_conversation_drops_what_is_due(transcript: Transcript) -> None:
    transcript.show_messages(contents(130))
    transcript.show_messages([MessageContent(999, "user", "alone")])
    assert not timer_of(transcript).isActive()
    assert [message.text for message in transcript.messages] == ["alone"]
    transcript.show_messages(contents(130))
    transcript.show_messages([])
    assert not timer_of(transcript).isActive()


def test_long_messages_are_built_in_smaller_numbers(transcript: Transcript) -> None:
    transcript.show_messages(contents(40, "long " * 2_000))
    assert 2 <= len(transcript.messages) <= 6


def test_a_narrower_window_keeps_what_is_read_in_its_place(transcript: Transcript) -> None:
    transcript.show_messages(contents(40))
    settle()
    scroll_to(transcript, transcript.verticalScrollBar().maximum() // 2)
    message = next(each for each in transcript.messages if top_in_view(transcript, each) + each.height() > 0)
    place = top_in_view(transcript, message)
    transcript.resize(480, 500)
    settle()
    assert top_in_view(transcript, message) == place


def test_another_branch_keeps_the_common_messages(transcript: Transcript) -> None:
    transcript.show_messages(contents(10))
    kept = transcript.messages[:8]
    branch = [*contents(8), MessageContent(20, "user", "other"), MessageContent(21, "assistant", "way")]
    transcript.show_messages(branch)
    assert transcript.messages[:8] == kept
    assert [message.text for message in transcript.messages[8:]] == ["other", "way"]


def test_another_conversation_starts_anew(transcript: Transcript) -> None:
    transcript.show_messages(contents(10))
    settle()
    scroll_to(transcript, 0)
    transcript.show_messages([MessageContent(99, "user", "alone")])
    settle()
    assert [message.text for message in transcript.messages] == ["alone"]
    assert transcript.following


def test_lines_are_never_too_long_to_read(transcript: Transcript) -> None:
    transcript.resize(1600, 500)
    transcript.show_messages(contents(4))
    settle()
    assert transcript.messages[1].width() == COLUMN_WIDTH


def test_there_is_no_gap_under_the_newest_message(transcript: Transcript) -> None:
    shown = contents(12)
    figures = TurnStats(1, 3065, 3008, 57, 43, 0.13, TtftParts(), 52.0, 1.7, False, 0)
    transcript.show_messages([replace(content, stats=figures) for content in shown])
    settle()
    page = transcript.widget()
    bottom = newest(transcript).mapTo(page, newest(transcript).rect().bottomLeft()).y()
    assert page.height() - bottom < 16


def test_the_scroll_bar_takes_no_width_from_the_text(transcript: Transcript) -> None:
    transcript.show_messages(contents(2))
    settle()
    width = transcript.messages[0].width()
    transcript.show_messages(contents(20))
    settle()
    assert transcript.messages[0].width() == width


def test_a_question_is_shown_as_it_was_typed(transcript: Transcript) -> None:
    text = "# no heading\n\n  *no emphasis*\t<b>x</b>\n- no list"
    transcript.show_messages([MessageContent(1, "user", text)])
    bubble = transcript.messages[0].bubble  # type: ignore[attr-defined]
    assert bubble.view.toPlainText() == text


def test_a_huge_question_shows_its_beginning_until_asked(transcript: Transcript, qtbot: QtBot) -> None:
    text = "\n".join(f"line {number}" for number in range(20_000))
    transcript.show_messages([MessageContent(1, "user", text)])
    question = transcript.messages[0]
    bubble = question.bubble  # type: ignore[attr-defined]
    assert bubble.view.document().blockCount() < 50
    assert question.text == text
    assert bubble.show_all.text() == "Show all 20,000 lines"
    bubble.show_all.click()
    assert bubble.view.document().blockCount() == 20_000


def test_a_line_without_end_is_shown_in_parts_and_copied_whole(transcript: Transcript, qtbot: QtBot) -> None:
    text = "x" * 1_000_000
    answer = MessageContent(2, "assistant", text[:100_000], finish_reason="end")
    transcript.show_messages([MessageContent(1, "user", text), answer])
    bubble = transcript.messages[0].bubble  # type: ignore[attr-defined]
    assert len(bubble.view.toPlainText()) < 10_000
    assert bubble.show_all.text() == "Show all 1,000,000 characters"
    bubble.show_all.click()
    settle()
    shown = bubble.view.toPlainText()
    assert max(map(len, shown.split("\n"))) == LONGEST_WORD
    assert shown.replace("\n", "") == text
    assert [message.text for message in transcript.messages] == [text, text[:100_000]]


def test_buttons_wake_with_the_pointer_and_the_focus(transcript: Transcript) -> None:
    transcript.show_messages(contents(4))
    settle()
    first, last = transcript.messages[0], transcript.messages[-1]
    first.tools.set_hovered(False)  # an earlier test may have left the pointer where this message now is
    assert last.tools.awake
    assert not first.tools.awake
    first.tools.set_hovered(True)
    assert first.tools.awake
    first.tools.set_hovered(False)
    transcript.activateWindow()
    first.tools.copy.setFocus()
    assert first.tools.awake

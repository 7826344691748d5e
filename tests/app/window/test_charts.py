"""The charts in the window say what the engine told, in this conversation and in all, and lead back to the turns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.settings import Settings
from app.words import size
from engine import CacheView, Finished, Prefill, TurnStats
from tests.app.fake_engine import MODEL, Script, many_tokens
from tests.app.window.conftest import Screen, settle

QUESTIONS = ("Where is my parcel", "And the other one", "Thanks, and the third")


class Ear:
    """What the engine said, as the window's own bridge heard it."""

    def __init__(self, screen: Screen) -> None:
        self.turns: list[TurnStats] = []
        self.views: list[CacheView] = []
        screen.application.bridge.finished.connect(self._on_finished)
        screen.application.bridge.cache_view.connect(self.views.append)

    def _on_finished(self, event: Finished) -> None:
        self.turns.append(event.stats)


def ask_all(screen: Screen, *questions: str) -> None:
    for question in questions:
        screen.ask(question)
        screen.play()
    screen.window.charts.redraw()


def test_the_charts_show_the_turns_the_engine_reported(screen: Screen) -> None:
    ear = Ear(screen)
    ask_all(screen, *QUESTIONS)
    charts = screen.window.charts
    _, scratch, warm = charts.first_token.bars.layers
    read, reused, _ = charts.tokens.bars.layers
    assert [a if a == a else b for a, b in zip(scratch.top, warm.top, strict=True)] == [
        each.ttft_s for each in ear.turns
    ]
    assert list(read.top) == [stats.prompt_tokens for stats in ear.turns]
    assert list(reused.top) == [stats.reused_tokens for stats in ear.turns]
    newest = ear.turns[-1]
    assert charts.tokens.note == f"{newest.reused_tokens:,} remembered, {newest.computed_tokens:,} read"
    assert charts.tokens.accessibleDescription().endswith(charts.tokens.note)


def test_cache_memory_is_the_engines_and_weights_stand_apart(screen: Screen) -> None:
    ear = Ear(screen)
    ask_all(screen, *QUESTIONS)
    rows, card = screen.window.charts.cache.areas.rows, screen.window.charts.cache
    assert list(rows["pinned_bytes"]) == [view.pinned_bytes for view in ear.views]
    assert list(rows["reusable_bytes"]) == [view.reusable_bytes for view in ear.views]
    assert card.number.endswith(" of 537 MB")
    assert card.note == f"the model itself takes {size(MODEL.weights_bytes)}"


def test_savings_are_the_sum_here_and_go_on_over_conversations_and_restarts(
    make_screen: Callable[..., Screen], tmp_path: Path
) -> None:
    path = tmp_path / "settings.json"
    screen = make_screen(settings=Settings.load(path))
    ear = Ear(screen)
    ask_all(screen, *QUESTIONS[:2])
    screen.window.commands.new.trigger()
    ask_all(screen, *QUESTIONS)
    headline = screen.window.charts.headline
    here, total = sum(t.reused_tokens for t in ear.turns[2:]), sum(t.reused_tokens for t in ear.turns)
    assert 0 < here < total
    assert headline.saved == f"{here:,} tokens not read again in this conversation", "nothing else is worth saying"
    assert headline.more == f"{total:,} tokens not read again since installation"
    screen.window.close()
    again = make_screen(settings=Settings.load(path))
    again.window.charts.scope.all.click()
    again.window.charts.redraw()
    assert again.window.charts.headline.saved == f"{total:,} tokens not read again in all conversations"


def test_what_is_saved_counts_while_a_turn_runs_and_over_all_its_versions(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(stats_every=1))
    charts = screen.window.charts

    def saved() -> int:
        charts.redraw()
        return int(charts.headline.saved.split()[0].replace(",", "")) if charts.headline.saved else 0

    ask_all(screen, *QUESTIONS[:2])
    seen = [saved()]
    for _ in range(3):
        screen.window.commands.retry.trigger()
        settle()
        screen.until(TurnStats)
        seen.append(saved())
        screen.play()
        assert saved() == seen[-1], "at its end nothing falls back, and nothing counts twice"
    assert seen == sorted(set(seen)), "each version adds what it saved"
    screen.session.choose_version(screen.session.messages[-1].id, -1)
    assert saved() == seen[-1]


def test_all_shows_every_conversation_and_a_click_goes_to_the_turn(qtbot: QtBot, screen: Screen) -> None:
    ear = Ear(screen)
    ask_all(screen, *QUESTIONS)
    screen.window.commands.new.trigger()
    ask_all(screen, "Another matter")
    charts = screen.window.charts
    assert charts.tokens.bars.places() == 1
    charts.scope.all.click()
    charts.redraw()
    assert list(charts.tokens.bars.layers[0].top) == [stats.prompt_tokens for stats in ear.turns]
    assert charts.heading == "Newest answer: Another matter"
    charts.tokens.bars.hover(1)
    assert charts.tokens.name == QUESTIONS[0], "named after the conversation it is of"
    bars = charts.tokens.bars
    second = QPoint(bars.width() * 3 // 16, bars.height() // 2)
    qtbot.mouseMove(bars.viewport(), second)
    qtbot.mouseClick(bars.viewport(), Qt.MouseButton.LeftButton, pos=second)
    settle()
    assert screen.session.conversation.title == QUESTIONS[0]
    charts.scope.one.click()
    charts.redraw()
    assert charts.tokens.bars.places() == 3
    assert charts.heading == "Newest answer"


def test_all_follows_a_turn_while_it_is_written_and_after(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(stats_every=1))
    ask_all(screen, "One")
    screen.window.charts.scope.all.click()
    screen.ask("Two")
    screen.until(TurnStats)
    charts = screen.window.charts
    charts.redraw()
    assert (charts.tokens.bars.places(), charts.turns.live) == (2, True)
    screen.play()
    charts.redraw()
    assert (charts.tokens.bars.places(), charts.turns.live) == (2, False)


def test_while_the_first_prompt_is_read_the_panel_says_so(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(stats_every=1))
    charts = screen.window.charts
    charts.redraw()
    assert charts.nothing.startswith("Shown here with the first answer")
    screen.ask("One")
    screen.until(Prefill)
    charts.redraw()
    assert charts.nothing.startswith("The first prompt is being read.")
    screen.until(TurnStats)
    charts.redraw()
    assert not charts.nothing
    screen.play()
    screen.window.commands.new.trigger()
    charts.redraw()
    assert charts.nothing.startswith("Shown here with the first answer")


def test_a_click_on_a_bar_scrolls_to_that_turn(screen: Screen) -> None:
    ask_all(screen, *QUESTIONS)
    answers = [message for message in screen.session.messages if message.role == "assistant"]
    screen.window.charts.tokens.chosen.emit(0)
    settle()
    transcript = screen.transcript
    first = transcript.answer(answers[0].id)
    assert first is not None
    top = first.mapTo(transcript.widget(), QPoint(0, 0)).y()
    assert transcript.verticalScrollBar().value() == min(top, transcript.verticalScrollBar().maximum())


def test_a_turn_far_up_in_a_long_conversation_is_built_and_shown(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(Script(tokens=many_tokens(40)))
    ask_all(screen, *(f"Question {number}" for number in range(32)))
    messages = screen.session.messages
    screen.window.commands.new.trigger()
    screen.session.open(messages[0].conversation_id)
    settle()
    assert screen.transcript.answer(messages[1].id) is None, "only the newest are built"
    screen.application.chart_presenter.show_turn(messages[1].id)
    settle()
    answer = screen.transcript.answer(messages[1].id)
    assert answer is not None
    assert answer.mapTo(screen.transcript.widget(), QPoint(0, 0)).y() == screen.transcript.verticalScrollBar().value()


def test_a_turn_of_another_branch_is_gone_back_to(screen: Screen) -> None:
    ask_all(screen, "One")
    first = screen.session.messages[-1].id
    screen.window.commands.retry.trigger()
    screen.play()
    assert screen.session.messages[-1].id != first
    screen.application.chart_presenter.show_turn(first)
    settle()
    assert screen.session.messages[-1].id == first


def test_a_deleted_turn_is_a_sentence(screen: Screen) -> None:
    ask_all(screen, "One")
    screen.application.chart_presenter.show_turn(999)
    assert screen.window.notice.text == "This message is no longer there. Open the conversation again."


def test_saving_a_chart_says_where_it_is_or_why_not(screen: Screen, tmp_path: Path) -> None:
    ask_all(screen, "One")
    saver, path = screen.window.charts.saver, tmp_path / "tokens.csv"
    saver.save(path, screen.window.charts.tokens.rendered("csv"))
    assert screen.window.notice.text == f"The chart is saved as {path}."
    assert path.read_text("utf-8").count("\n") == 2
    saver.save(tmp_path / "gone" / "tokens.csv", b"")
    assert screen.window.notice.text.startswith(f"The chart cannot be saved to {tmp_path / 'gone'}: No such file")

"""The demo's bar in the window: its buttons lead the player, and its numbers are those that were measured."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QPushButton

from app.demo import player as player_module
from app.demo.player import SPEEDS, DemoClock, Player
from app.demo.report import Report, Row
from app.demo.script import read_script
from app.demo.show import DemoShow
from app.words import seconds
from engine import HeadstartError
from tests.app.fake_engine import MODEL
from tests.app.window.conftest import Screen


class Stage:
    """The demo in a window, as it is played on a screen. `told` holds what the player measured."""

    def __init__(self, screen: Screen) -> None:
        screen.engine.release()
        self.screen = screen
        self.script = read_script("one-token")
        application = screen.application
        self.player = Player(
            application.session, application.bridge, application.history, lambda line: None, DemoClock()
        )
        self.show = DemoShow(screen.window, self.player, self.script, 3)
        self.bar = self.show.bar
        self.report = Report(MODEL, {})
        self.told: list[Row] = []
        self.player.measured.connect(self.told.append)

    def play(self, turns: int) -> None:
        self.player.play(self.script, turns, self.report)

    def later(self, act: Callable[[], object]) -> None:
        """Do something while the player waits."""
        QTimer.singleShot(0, self.bar, act)


@pytest.fixture
def stage(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.setattr(player_module, "REST_MS", 0)
    made = Stage(screen)
    made.bar.speed.emit(len(SPEEDS) - 1)
    return made


def test_it_stands_above_the_conversation_and_waits_for_start(stage: Stage) -> None:
    assert stage.bar.isVisible()
    assert stage.bar.mapTo(stage.screen.window, stage.bar.rect().bottomLeft()).y() < 200
    assert (stage.bar.play_button.text(), stage.bar.says.text()) == ("Start", stage.script.about)
    assert stage.bar.times.text == "with the cache –, without –"
    stage.later(stage.bar.play_button.click)
    stage.play(2)
    assert len(stage.told) == 4


def test_the_numbers_are_those_of_the_last_turn(stage: Stage) -> None:
    seen: list[tuple[str, str]] = []
    stage.player.measured.connect(lambda row: seen.append((row.cache, stage.bar.times.text)))
    stage.later(stage.bar.play_button.click)
    stage.play(3)
    for number, row in enumerate(stage.told):
        warm = stage.told[number - number % 2].ttft_s
        if row.cache == "on":
            expected = f"with the cache {seconds(warm)}, without –"
        else:
            times = f"with the cache {seconds(warm)}, without {seconds(row.ttft_s)}"
            sooner = f"{row.ttft_s / warm:.1f} times sooner"
            expected = f"{times}, {sooner if stage.told[number - 1].reused_tokens else 'nothing to reuse yet'}"
        assert seen[number] == (row.cache, expected)
    assert stage.bar.says.text() == f"Turn 3 of 3. {stage.script.steps[2].note}"
    assert stage.bar.times.accessibleName() == stage.bar.times.text


def test_next_turn_plays_one_and_stays(stage: Stage) -> None:
    stage.later(stage.bar.next_button.click)
    rows_at_press: list[int] = []

    def start() -> None:
        rows_at_press.append(len(stage.told))
        assert stage.bar.next_button.isEnabled()
        stage.bar.play_button.click()
        assert not stage.bar.next_button.isEnabled()

    stage.player.measured.connect(lambda row: row.turn == 1 and row.cache == "off" and stage.later(start))
    stage.play(3)
    assert rows_at_press == [2]
    assert len(stage.told) == 6


def test_pause_stays_after_the_turn_that_is_played(stage: Stage) -> None:
    stage.later(stage.bar.play_button.click)
    rows_at_press: list[int] = []

    def pause(turn: int, step: object) -> None:
        if turn == 1:
            stage.bar.play_button.click()
            assert stage.bar.play_button.text() == "Start"

    def go_on() -> None:
        rows_at_press.append(len(stage.told))
        stage.bar.play_button.click()

    stage.player.begun.connect(pause)
    stage.player.measured.connect(lambda row: row.turn == 1 and row.cache == "off" and stage.later(go_on))
    stage.play(2)
    assert rows_at_press == [2]


def test_the_speed_is_how_long_a_turn_stays(stage: Stage) -> None:
    assert [stage.bar.speeds.itemText(number) for number in range(3)] == [name for name, _ in SPEEDS]
    for number, (_, rest_ms) in enumerate(SPEEDS):
        stage.bar.speeds.activated.emit(number)
        assert stage.player.pace.rest_ms == rest_ms
    assert [rest for _, rest in SPEEDS] == sorted((rest for _, rest in SPEEDS), reverse=True)


def test_nobody_writes_in_between_and_the_window_is_free_again_at_the_end(stage: Stage) -> None:
    window = stage.screen.window
    held = (window.empty, window.sidebar.list, window.commands.new)
    stage.screen.type("in between")
    assert window.composer.edit.isReadOnly()
    assert not any(part.isEnabled() for part in held)
    stage.later(stage.bar.play_button.click)
    stage.play(1)
    opened: list[bool] = []
    stage.show.end(lambda: opened.append(True))
    assert all(part.isEnabled() for part in held)
    assert not window.composer.edit.isReadOnly()
    assert stage.bar.play_button.isHidden()
    (page,) = (button for button in stage.bar.findChildren(QPushButton) if button.text() == "Show the page")
    page.click()
    assert opened == [True]


def test_closing_the_window_while_it_waits_ends_it(stage: Stage) -> None:
    stage.screen.window.closing.connect(stage.player.stop)
    stage.later(stage.screen.window.close)
    with pytest.raises(HeadstartError, match="closed before its end"):
        stage.play(2)
    stage.player.wait_until_closed()

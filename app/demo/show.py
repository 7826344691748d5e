"""The demo for a room: the bar above the conversation that starts, pauses and explains it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QPushButton

from app.demo.bar import DemoBar
from app.demo.player import SPEEDS, Pace, Player
from app.demo.report import Row
from app.demo.script import TITLES, Script, Step
from app.window.window import Window

NORMAL = 1


class DemoShow(QObject):
    """Puts a DemoBar into the window and keeps it in step with the player, which waits for Start. Attributes: bar."""

    def __init__(self, window: Window, player: Player, script: Script, turns: int) -> None:
        super().__init__(window)
        self._window = window
        self._turns = turns
        self._warm: float | None = None
        self._is_reused = False
        self._pace = player.pace
        self.bar = DemoBar(TITLES[script.name], [name for name, _ in SPEEDS], NORMAL)
        window.show_bar(self.bar)
        self._hold(True)
        self.bar.say(script.about)
        self._pace.running, self._pace.rest_ms = False, SPEEDS[NORMAL][1]
        self._connect(player, self._pace)

    def _connect(self, player: Player, pace: Pace) -> None:
        self.bar.start.connect(pace.start)
        self.bar.pause.connect(pace.pause)
        self.bar.next_turn.connect(pace.next_turn)
        self.bar.speed.connect(lambda index: pace.set_rest(SPEEDS[index][1]))
        pace.changed.connect(lambda: self.bar.set_running(pace.running))
        player.begun.connect(self._on_begun)
        player.measured.connect(self._on_measured)

    def end(self, open_page: Callable[[], object]) -> None:
        """All is played and written; the window stays until it is closed."""
        self.bar.end("Played to the end. The window stays open; close it when you have seen enough.")
        page = QPushButton("Show the page", self.bar)
        page.clicked.connect(open_page)
        self.bar.add_button(page)
        self._hold(False)

    def _hold(self, held: bool) -> None:
        """What a visitor writes or opens while a turn is played would come in between."""
        window = self._window
        window.composer.edit.setReadOnly(held)
        for part in (window.empty, window.sidebar.list, window.commands.new):
            part.setEnabled(not held)

    def _on_begun(self, turn: int, step: Step) -> None:
        self.bar.say(f"Turn {turn} of {self._turns}. {step.note}".strip())

    def _on_measured(self, row: Row) -> None:
        if row.cache == "on":
            self._warm, self._is_reused = row.ttft_s, row.reused_tokens > 0
            self.bar.show_times(self._warm, None)
        else:
            self.bar.show_times(self._warm, row.ttft_s, self._is_reused)

"""The demo for an audience: a bar above the conversation that starts, pauses and explains it, and shows both times."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app import theme
from app.demo.player import SPEEDS, Pace, Player
from app.demo.report import Row
from app.demo.script import TITLES, Script, Step
from app.widgets.plain import Label
from app.window.window import Window
from app.words import seconds

NORMAL = 1
"""The index of the speed a demo begins with."""
HEIGHT = 112
NUMBER_WIDTH = 104
BAR = 6


class TwoTimes(QWidget):
    """The first token of one turn with the cache and without it: two large numbers, each with its bar. A third one
    stands before them where the turn was read ahead while it was typed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.warm: float | None = None
        self.cold: float | None = None
        self.ahead: float | None = None
        self._is_reused = False
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.show_times(None, None)

    def show_times(
        self, warm: float | None, cold: float | None, is_reused: bool = False, ahead: float | None = None
    ) -> None:
        """Show the times in seconds; None while one is not measured. Without reuse they differ by chance only."""
        self.warm, self.cold, self.ahead, self._is_reused = warm, cold, ahead, is_reused
        self.updateGeometry()
        self.setAccessibleName(self.text)
        self.update()

    @property
    def text(self) -> str:
        """The times and how much sooner the first is."""
        ahead = f"read ahead {_number(self.ahead)}, " if self.ahead is not None else ""
        return f"{ahead}with the cache {_number(self.warm)}, without {_number(self.cold)}{self._sooner(', ')}"

    def _sooner(self, lead: str = "") -> str:
        if not self.warm or not self.cold:
            return ""
        if not self._is_reused:
            return f"{lead}nothing to reuse yet"
        return f"{lead}{self.cold / self.warm:.1f} times sooner"

    def sizeHint(self) -> QSize:
        columns = 2 if self.ahead is None else 3
        return QSize(columns * (NUMBER_WIDTH + 16) - 16, 72)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = theme.current()
        longest = max(self.warm or 0.0, self.cold or 0.0, self.ahead or 0.0)
        columns = [("With the cache", self.warm, colours.reused), ("Without", self.cold, colours.cold)]
        if self.ahead is not None:
            columns.insert(0, ("Read ahead", self.ahead, colours.reused))
        for number, (name, value, colour) in enumerate(columns):
            self._paint_one(painter, number * (NUMBER_WIDTH + 16), name, value, longest, colour)

    def _paint_one(
        self, painter: QPainter, left: int, name: str, value: float | None, longest: float, colour: str
    ) -> None:
        colours = theme.current()
        align = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.text_font(theme.SMALL))
        painter.setPen(QColor(colours.soft))
        painter.drawText(QRectF(left, 0, NUMBER_WIDTH, 20), align, name)
        painter.setFont(theme.text_font(theme.LARGE, bold=True))
        painter.setPen(QColor(colours.text))
        painter.drawText(QRectF(left, 20, NUMBER_WIDTH, 32), align, _number(value))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.line))
        painter.drawRoundedRect(QRectF(left, 58, NUMBER_WIDTH, BAR), 3, 3)
        if value and longest:
            painter.setBrush(QColor(colour))
            painter.drawRoundedRect(QRectF(left, 58, max(3.0, NUMBER_WIDTH * value / longest), BAR), 3, 3)


class DemoBar(QWidget):
    """The bar: what happens now, three buttons, and `times`, the two times of the turn that was played last.

    Signals: start(), pause(), next_turn(), speed(int index into the names given).
    """

    start = Signal()
    pause = Signal()
    next_turn = Signal()
    speed = Signal(int)

    def __init__(self, title: str, speeds: Sequence[str], chosen: int) -> None:
        super().__init__()
        self.setFixedHeight(HEIGHT)
        self.setAccessibleName("Demo")
        self.title, self.says = Label(title, self), Label(self)
        self.title.setFont(theme.text_font(bold=True))
        self.says.setWordWrap(True)
        self.says.setObjectName("soft")
        self.says.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.times = TwoTimes(self)
        self.play_button, self.next_button = QPushButton("Start", self), QPushButton("Next turn", self)
        self.play_button.setObjectName("primary")
        self.play_button.clicked.connect(self._on_play)
        self.next_button.clicked.connect(self.next_turn)
        self.speeds = QComboBox(self)
        self.speeds.addItems(list(speeds))
        self.speeds.setCurrentIndex(chosen)
        self.speeds.setAccessibleName("Speed of the demo")
        self.speeds.activated.connect(self.speed)
        self._running = False
        self._lay_out()

    def _lay_out(self) -> None:
        buttons = self._buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for widget in (self.play_button, self.next_button, self.speeds):
            buttons.addWidget(widget)
        buttons.addStretch(1)
        left = QVBoxLayout()
        left.setSpacing(2)
        left.addWidget(self.title)
        left.addWidget(self.says, 1)
        left.addLayout(buttons)
        row = QHBoxLayout(self)
        row.setContentsMargins(24, 8, 24, 10)
        row.setSpacing(24)
        row.addLayout(left, 1)
        row.addWidget(self.times, 0, Qt.AlignmentFlag.AlignVCenter)

    def say(self, sentence: str) -> None:
        """Show a sentence about what happens now."""
        self.says.setText(sentence)

    def set_running(self, running: bool) -> None:
        """Show whether the demo goes on by itself."""
        self._running = running
        self.play_button.setText("Pause" if running else "Start")
        self.next_button.setEnabled(not running)

    def end(self, sentence: str) -> None:
        """Show that all turns are played; the buttons are hidden."""
        self.say(sentence)
        for button in (self.play_button, self.next_button, self.speeds):
            button.hide()

    def add_button(self, button: QPushButton) -> None:
        """Add a button behind the others."""
        self._buttons.insertWidget(self._buttons.count() - 1, button)

    def _on_play(self) -> None:
        (self.pause if self._running else self.start).emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colours = theme.current()
        painter.fillRect(self.rect(), QColor(colours.panel))
        painter.fillRect(0, self.height() - 1, self.width(), 1, QColor(colours.line))


class DemoShow(QObject):
    """Puts a DemoBar into the window and keeps it in step with the player, which waits for Start. Attributes: bar."""

    def __init__(self, window: Window, player: Player, script: Script, turns: int) -> None:
        super().__init__(window)
        self._window = window
        self._turns = turns
        self._warm: float | None = None
        self._ahead: float | None = None
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
        """Show that everything is played and written. The window stays until it is closed."""
        self.bar.end("Played to the end. The window stays open; close it when you have seen enough.")
        page = QPushButton("Show the page", self.bar)
        page.clicked.connect(open_page)
        self.bar.add_button(page)
        self._hold(False)

    def _hold(self, held: bool) -> None:
        """Lock or unlock the composer and the list: what somebody writes or opens would disturb the turn."""
        window = self._window
        window.composer.edit.setReadOnly(held)
        for part in (window.empty, window.sidebar.list, window.commands.new):
            part.setEnabled(not held)

    def _on_begun(self, turn: int, step: Step) -> None:
        self.bar.say(f"Turn {turn} of {self._turns}. {step.note}".strip())

    def _on_measured(self, row: Row) -> None:
        if row.cache == "ahead":
            self._ahead = row.ttft_s
            self.bar.times.show_times(None, None, ahead=self._ahead)
        elif row.cache == "on":
            self._warm, self._is_reused = row.ttft_s, row.reused_tokens > 0
            self.bar.times.show_times(self._warm, None, ahead=self._ahead)
        else:
            self.bar.times.show_times(self._warm, row.ttft_s, self._is_reused, self._ahead)


def _number(value: float | None) -> str:
    return "–" if value is None else seconds(value)

"""The proof of a turn: its prompt with the cache and without, how long both took, and whether both wrote the same."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app import theme, words
from app.language import tr
from app.proof.compare import Half
from app.widgets.explain import Explain
from app.widgets.plain import Label
from app.words import seconds
from engine import Matched, Prefill, TurnStats

WIDTH = 520
BAR, LINE, NUMBER = 12, 20, 28
NUMBER_WIDTH = 96
RUNS: dict[Half, str] = {"warm": tr("First run: remembering"), "cold": tr("Second run: from scratch")}
FOLLOWS: dict[Half, str] = {
    "warm": tr("Then the same prompt is read from scratch, and both answers are compared."),
    "cold": tr("Then both answers are compared."),
}
"""What is said while a run has no result yet."""


class ProofBar(QWidget):
    """One of the runs: its name, its time to the first token as a bar and a number, and its tokens."""

    def __init__(self, half: Half, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.seconds: float | None = None
        self._half, self._name = half, name
        self._status = ""
        self._tokens: list[tuple[int, str, str]] = []  # how many, what became of them, and its colour in the theme
        self._longest = 0.0
        self.setFixedHeight(LINE + NUMBER + LINE)
        self._refresh()

    @property
    def text(self) -> str:
        """Everything the bar says."""
        parts = [seconds(self.seconds) if self.seconds is not None else self._status]
        if self._tokens:
            parts += [tr("{count:,} {name}", count=count, name=name) for count, name, _ in self._tokens]
        return f"{self._name}: " + ", ".join(part for part in parts if part)

    def clear(self) -> None:
        """Forget what an earlier run showed."""
        self.seconds, self._tokens, self._status = None, [], ""
        self._refresh()

    def show_status(self, status: str) -> None:
        """Show what is being done, while there is no number."""
        self._status = status
        self._refresh()

    def show_tokens(self, reused: int, computed: int, ahead: int = 0) -> None:
        """Show how much of the prompt was in the cache; `ahead` of that was read before it was sent."""
        self._tokens = [(reused - ahead, tr("remembered"), "reused")]
        self._tokens += [(ahead, tr("read ahead"), "reused")] if ahead else []
        self._tokens += [(computed, tr("read"), "computed")]
        self._refresh()

    def show_seconds(self, value: float, longest: float) -> None:
        """Show the time to the first token. A time of `longest` seconds would fill the width."""
        self.seconds, self._longest = value, longest
        self._refresh()

    def set_longest(self, longest: float) -> None:
        """Scale the bar so that this many seconds fill the width."""
        self._longest = longest
        self.update()

    def _refresh(self) -> None:
        self.setAccessibleName(self.text)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = theme.current()
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.text_font(theme.SMALL))
        painter.setPen(QColor(colours.soft))
        painter.drawText(QRectF(0, 0, self.width(), LINE), left, self._name)
        if self.seconds is None:
            painter.drawText(QRectF(0, LINE, self.width(), NUMBER), left, self._status)
        else:
            self._paint_bar(painter, self.seconds)
        if self._tokens:
            self._paint_tokens(painter, self._tokens)

    def _paint_bar(self, painter: QPainter, value: float) -> None:
        colours = theme.current()
        room = self.width() - NUMBER_WIDTH
        length = max(3.0, room * value / self._longest) if self._longest > 0 else 3.0
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.line))
        painter.drawRoundedRect(QRectF(0, LINE + (NUMBER - BAR) / 2, room, BAR), 3, 3)
        painter.setBrush(QColor(colours.reused if self._half == "warm" else colours.cold))
        painter.drawRoundedRect(QRectF(0, LINE + (NUMBER - BAR) / 2, length, BAR), 3, 3)
        painter.setPen(QColor(colours.text))
        painter.setFont(theme.text_font(theme.LARGE, bold=True))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(room, LINE, NUMBER_WIDTH, NUMBER), right, seconds(value))

    def _paint_tokens(self, painter: QPainter, tokens: Sequence[tuple[int, str, str]]) -> None:
        colours = theme.current()
        painter.setFont(theme.text_font(theme.SMALL))
        left, top = 0.0, LINE + NUMBER
        for count, name, colour in tokens:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(getattr(colours, colour)))
            painter.drawRoundedRect(QRectF(left, top + 5, 10, 10), 2, 2)
            painter.setPen(QColor(colours.soft))
            part = QRectF(left + 16, top, 144, LINE)
            painter.drawText(
                part,
                Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
                tr("{count:,} {name}", count=count, name=name),
            )
            left += 160


class ProofDialog(QDialog):
    """A bar for each run; a third one, `turn`, for a turn that was read ahead, as it was when it was sent.

    Signals: stop_wanted() while it runs, also when it is closed; again_wanted() when it has ended."""

    stop_wanted = Signal()
    again_wanted = Signal()

    def __init__(self, length: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Prove it"))
        self.setModal(True)
        self._running = False
        self.bars: dict[Half, ProofBar] = {
            "warm": ProofBar("warm", tr("Remembering, first word"), self),
            "cold": ProofBar("cold", tr("From scratch"), self),
        }
        self.turn = ProofBar("warm", tr("The turn itself, read ahead while you wrote"), self)
        self.turn.hide()
        self.headline, self.says, self.own = Label(self), Label(self), Label(self)
        self.headline.setFont(theme.text_font(theme.LARGE, bold=True))
        for label in (self.headline, self.says, self.own):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.again = QPushButton(tr("Once more"), self)
        self.again.setAutoDefault(False)  # Enter closes, also before anything has the focus
        self.again.clicked.connect(self.again_wanted)
        self.button = QPushButton(self)
        self.button.setObjectName("primary")
        self.button.clicked.connect(self._on_button)
        self._lay_out(length)
        self.set_running(False)

    def _head(self) -> QHBoxLayout:
        title = Label(tr("The same prompt, remembering and from scratch"), self)
        title.setFont(theme.text_font(bold=True))
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(title)
        head.addWidget(Explain("proof", self))
        head.addStretch(1)
        return head

    def _lay_out(self, length: int) -> None:
        tokens = tr("one token") if length == 1 else tr("up to {length:,} tokens", length=length)
        note = Label(
            tr(
                "This turn's prompt is read twice and answered with always the likeliest word, {tokens} "
                "each time. The conversation stays as it is.",
                tokens=tokens,
            ),
            self,
        )
        note.setObjectName("soft")
        note.setWordWrap(True)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.again)
        buttons.addWidget(self.button)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(8)
        column.addLayout(self._head())
        column.addWidget(self.headline)
        column.addWidget(self.says)
        column.addSpacing(4)
        column.addWidget(self.turn)
        column.addWidget(self.bars["warm"])
        column.addSpacing(8)
        column.addWidget(self.bars["cold"])
        column.addSpacing(8)
        column.addWidget(self.own)
        column.addWidget(note)
        column.addStretch(1)
        column.addLayout(buttons)
        # Room for the longest verdict, so that nothing moves when it comes.
        self.says.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.says.setMinimumHeight(3 * self.says.fontMetrics().lineSpacing())
        self.own.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.own.setMinimumHeight(2 * self.own.fontMetrics().lineSpacing())
        self.headline.setMinimumHeight(self.headline.fontMetrics().lineSpacing())
        self.setFixedWidth(WIDTH)

    def set_running(self, running: bool) -> None:
        """Make the button stop the proof while it runs, and close the dialog afterwards."""
        self._running = running
        self.button.setText(tr("Stop") if running else tr("Close"))
        self.button.setAccessibleName(tr("Stop the proof") if running else tr("Close the proof"))
        self.button.setEnabled(True)
        self.again.setVisible(not running)

    def clear(self) -> None:
        """Forget what an earlier proof showed."""
        for bar in self.bars.values():
            bar.clear()
        self.own.clear()
        self.headline.clear()
        self.says.clear()

    def show_begun(self, half: Half) -> None:
        """Show that this run begins, and what follows it."""
        self.headline.setText(RUNS[half])
        self.says.setText(FOLLOWS[half])
        self.bars[half].show_status(tr("waiting for the model"))
        if half == "warm":
            self.bars["cold"].show_status("follows")

    def show_matched(self, half: Half, matched: Matched) -> None:
        """Show what the run found in the cache."""
        self.bars[half].show_tokens(matched.reused_tokens, matched.computed_tokens)

    def show_turn(self, stats: TurnStats | None) -> None:
        """Show a turn that was read ahead as it was, none of any other."""
        self.turn.setVisible(stats is not None and bool(stats.ahead_tokens) and stats.ttft_s is not None)
        if stats is not None and stats.ttft_s is not None:
            self.turn.show_tokens(stats.reused_tokens, stats.computed_tokens, stats.ahead_tokens)
            self.turn.show_seconds(stats.ttft_s, stats.ttft_s)

    def show_own(self, text: str) -> None:
        """Show what the turn itself found in the cache where that was something else; "" shows nothing."""
        self.own.setText(text)

    def show_reading(self, half: Half, progress: Prefill) -> None:
        """Show how much of the prompt is read."""
        self.bars[half].show_status(words.reading(progress.done, progress.total, progress.seconds_left))

    def show_stats(self, half: Half, stats: TurnStats) -> None:
        """Show the figures of the run so far."""
        if stats.ttft_s is None:
            return
        bars = [*self.bars.values(), *([self.turn] if not self.turn.isHidden() else [])]
        longest = max([*(bar.seconds for bar in bars if bar.seconds is not None), stats.ttft_s])
        self.bars[half].show_seconds(stats.ttft_s, longest)
        for bar in bars:
            bar.set_longest(longest)
        self.says.setText(
            tr(
                "{written_tokens:,} tokens written {words}",
                written_tokens=stats.written_tokens,
                words=tr("remembering") if half == "warm" else tr("from scratch"),
            )
        )

    def show_result(self, headline: str, sentence: str) -> None:
        """Show how the proof ended."""
        self.headline.setText(headline)
        self.says.setText(sentence)
        self.set_running(False)

    def done(self, result: int) -> None:
        if self._running:
            self._running = False
            self.stop_wanted.emit()
        super().done(result)

    def _on_button(self) -> None:
        if self._running:
            self.button.setEnabled(False)
            self.stop_wanted.emit()
        else:
            self.accept()

"""What stands first beside the conversation: how much sooner the newest answer began, and what was saved so far."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.charts import words
from app.charts.card import label
from app.charts.plot import mixed
from app.charts.series import Savings, TurnSeries
from app.language import plural, tr
from app.prices import Used, in_words
from app.theme import BODY, GRID, LARGE, SMALL, Theme, text_font
from app.widgets.plain import tool_tip
from app.words import ERROR, knows_cold, seconds, times_sooner
from engine import TtftParts, TurnStats

LINE, BAR = 18, 14
NO_GAIN = tr("No sooner this time")


class Headline(QWidget):
    """Attributes: bars; text: the large line; says: the sentence under it; saved, more: the sums in their box."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._priced = 0
        self._large, self._says = label(LARGE, bold=True), label(SMALL)
        self.bars = Bars(theme)
        self._box = QWidget()
        self._box.setObjectName("saved")
        self._box.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._saved, self._more = label(BODY, bold=True), label(SMALL)
        for line in (self._large, self._says, self._saved, self._more):
            line.setWordWrap(True)
        self._lay_out()
        self.set_theme(theme)

    def _lay_out(self) -> None:
        inside = QVBoxLayout(self._box)
        inside.setContentsMargins(12, GRID, 12, GRID)
        inside.setSpacing(2)
        inside.addWidget(self._saved)
        inside.addWidget(self._more)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self._large)
        column.addWidget(self._says)
        column.addSpacing(GRID - 2)
        column.addWidget(self.bars)
        column.addSpacing(GRID - 2)
        column.addWidget(self._box)

    @property
    def text(self) -> str:
        """The large line."""
        return self._large.text()

    @property
    def says(self) -> str:
        """The sentence under it."""
        return self._says.text()

    @property
    def saved(self) -> str:
        """What was saved here, "" where that is nothing yet."""
        return "" if self._box.isHidden() else self._saved.text()

    @property
    def more(self) -> str:
        """The sum since installation, "" where it is the same or nothing."""
        return "" if self._more.isHidden() else self._more.text()

    def show_turn(self, row: Any) -> None:
        """Say what came of a turn, a TURN row of the series."""
        stats = stats_of(row)
        large, says = headline(stats)
        self._large.setText(large)
        self._says.setText(says)
        self.bars.show_turn(stats)
        self._describe()

    def show_saved(self, here: Savings, total: Savings, all_turns: bool) -> None:
        """Show the sum of the conversation in view, or of all, and under it that since installation."""
        shown = total if all_turns else here
        self._saved.setText(saved_words(shown, tr("in all conversations") if all_turns else tr("in this conversation")))
        self._more.setText("" if all_turns or total == here else saved_words(total, tr("since installation")))
        self._more.setVisible(bool(self._more.text()))
        self._box.setVisible(bool(shown.tokens or total.tokens))
        self._describe()

    def show_elsewhere(self, turns: TurnSeries, all_turns: bool) -> None:
        """Have the saving say on hovering what the conversation's prompts would have cost elsewhere; worked out once
        for each turn."""
        count = 0 if all_turns else len(turns)
        if count != self._priced:
            self._priced = count
            self._box.setToolTip(tool_tip(elsewhere(turns)) if count else "")

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of this theme from now on."""
        for line, colour in (
            (self._large, theme.text),
            (self._says, theme.soft),
            (self._saved, theme.text),
            (self._more, theme.soft),
        ):
            line.setStyleSheet(f"color: {colour}; background: transparent;")
        tint = mixed(theme.reused, theme.page, 0.12).name()
        self._box.setStyleSheet(f"QWidget#saved {{ background: {tint}; border-radius: 8px; }}")
        self.bars.set_theme(theme)

    def _describe(self) -> None:
        said = ", ".join(part for part in (self.text, self.says, self._saved.text(), self._more.text()) if part)
        self.setAccessibleName(said)


class Bars(QWidget):
    """Two bars: the wait for the first word, and what it would have been from scratch. The end of an estimate is
    lighter, as far as it is unsure."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.rows: list[tuple[str, str, str, float, float]] = []
        self.setFont(text_font(SMALL))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_turn(self, stats: TurnStats) -> None:
        """Draw the bars of a turn: each as its name, its time, its colour, and where its sure and its unsure part end;
        none where there is nothing to compare."""
        self.rows = bar_rows(stats)
        self.setVisible(bool(self.rows))
        self.updateGeometry()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of this theme from now on."""
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(296, len(self.rows) * (LINE + BAR + 4))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        longest = max((unsure for *_, unsure in self.rows), default=0.0) or 1.0
        for number, (name, time, colour, sure, unsure) in enumerate(self.rows):
            top = number * (LINE + BAR + 4)
            words_box = QRectF(0, top, self.width(), LINE)
            painter.setPen(QColor(self._theme.soft))
            painter.drawText(words_box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
            painter.drawText(words_box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, time)
            painter.setPen(Qt.PenStyle.NoPen)
            full = getattr(self._theme, colour)
            for length, strength in ((unsure, 0.4), (sure, 1.0)):
                painter.setBrush(mixed(full, self._theme.panel, strength))
                width = max(4.0, self.width() * length / longest)
                painter.drawRoundedRect(QRectF(0, top + LINE, width, BAR), 3, 3)


def elsewhere(turns: TurnSeries) -> str:
    """What the prompts of the conversation would have cost at hosted APIs; answers cost the same with a cache and
    without."""
    rows = turns.rows()  # nobody else reads ahead
    used = [Used(int(row["prompt_tokens"]), int(row["reused_tokens"] - row["ahead_tokens"])) for row in rows]
    return tr(
        "The prompts of its last {count} elsewhere:\n{in_words}",
        count=plural("{count:,} turn", "{count:,} turns", len(used)),
        in_words=in_words(used),
    )


def stats_of(row: Any) -> TurnStats:
    """The figures of a TURN row that the headline is about."""
    ttft_s = None if row["ttft_s"] != row["ttft_s"] else float(row["ttft_s"])
    tokens = (int(row["prompt_tokens"]), int(row["reused_tokens"]), int(row["computed_tokens"]))
    cold = float(row["cold_ttft_s"]), bool(row["cold_measured"])
    ahead = int(row["ahead_tokens"])
    return TurnStats(0, *tokens, 0, ttft_s, TtftParts(), 0.0, *cold, 0, ahead_tokens=ahead)


def headline(stats: TurnStats) -> tuple[str, str]:
    """The large line about a turn, and the sentence under it."""
    if stats.ttft_s is None:
        remembered = stats.reused_tokens - stats.ahead_tokens
        ahead = tr(", {ahead_tokens:,} were read ahead", ahead_tokens=stats.ahead_tokens) if stats.ahead_tokens else ""
        return tr("Reading"), tr(
            "{remembered:,} of {prompt_tokens:,} tokens are remembered{ahead}",
            remembered=remembered,
            prompt_tokens=stats.prompt_tokens,
            ahead=ahead,
        )
    after = tr("first word after {seconds}", seconds=seconds(stats.ttft_s))
    if not stats.reused_tokens and stats.ttft_s >= 0.5:
        return tr("Read from scratch"), after
    if not stats.reused_tokens or not knows_cold(stats):
        return tr("First word after {seconds}", seconds=seconds(stats.ttft_s)), tr("too short a prompt to compare")
    cold = seconds(stats.cold_ttft_s) if stats.cold_measured else words.about_span(stats.cold_ttft_s)
    sooner = times_sooner(stats.ttft_s, stats.cold_ttft_s, stats.cold_measured)
    if sooner:
        return f"{sooner[0].upper()}{sooner[1:]}", tr("{after} instead of {cold}", after=after, cold=cold)
    return NO_GAIN, tr("{after}, from scratch {cold}", after=after, cold=cold)


def bar_rows(stats: TurnStats) -> list[tuple[str, str, str, float, float]]:
    """The bars of a turn, as `Bars.rows`."""
    ttft_s = stats.ttft_s
    if ttft_s is None:
        return []
    if not stats.reused_tokens:
        return [(tr("from scratch"), seconds(ttft_s), "cold", ttft_s, ttft_s)] if ttft_s >= 0.5 else []
    if not knows_cold(stats):
        return []
    cold_s, error = stats.cold_ttft_s, 0.0 if stats.cold_measured else ERROR
    time = seconds(cold_s) if stats.cold_measured else words.about_span(cold_s)
    return [
        (tr("with Headstart"), seconds(ttft_s), "reused", ttft_s, ttft_s),
        (tr("from scratch"), time, "cold", (1 - error) * cold_s, (1 + error) * cold_s),
    ]


def saved_words(saved: Savings, where: str) -> str:
    """A sum in words: "3.5 s saved in this conversation, 3,252 tokens not read again"."""
    if not saved.tokens:
        return tr("Nothing saved {where} yet", where=where)
    tokens = tr("{many} tokens not read again", many=words.many(saved.tokens))
    if saved.shown_seconds < 0.05:
        return f"{tokens} {where}"
    duration = words.duration(saved.shown_seconds, saved.estimated)
    time = duration[0].upper() + duration[1:]
    return tr("{time} saved {where}, {tokens}", time=time, where=where, tokens=tokens)

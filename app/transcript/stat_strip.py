"""The line under an answer: what came of it, and its figures for those who want them."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app import theme
from app.language import tr
from app.widgets.explain import Explain
from app.widgets.plain import Label, SoftLabel, tool_tip
from app.words import figures, is_sooner, result
from engine import TurnStats


class StatStrip(QWidget):
    """The result first: how soon the first word came, and what that is to be compared with. A blue square stands before
    what the cache made sooner. The figures show on hovering, and under the line where `show_figures` says so.

    `explain` is the "?" that says what the figures are; whoever shows the strip gives it its place. It is painted while
    `is_awake` says so.
    """

    def __init__(self, parent: QWidget | None = None, is_awake: Callable[[], bool] = lambda: True) -> None:
        super().__init__(parent)
        self._parts = ("", "")
        self._is_sooner = False
        self._stats: TurnStats | None = None
        self.explain = Explain("strip", self, is_awake)
        self._says, self._figures = Label(self), SoftLabel(self)
        self._says.setTextFormat(Qt.TextFormat.RichText)
        self._says.setFont(theme.text_font(theme.SMALL))
        for label in (self._says, self._figures):
            label.setWordWrap(True)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._figures.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self._says)
        column.addWidget(self._figures)
        self.hide()

    @property
    def text(self) -> str:
        """Everything the line says."""
        return " ".join(part for part in self._parts if part)

    @property
    def figures(self) -> str:
        """The figures of the turn, in sight or not."""
        return figures(self._stats) if self._stats else ""

    def show_stats(self, stats: TurnStats, finish_reason: str = "") -> None:
        """Show the figures of a turn, so far or at its end. While it is written, those that are out of sight are worked
        out only when somebody points at them."""
        self._stats = stats
        parts = result(stats, finish_reason)
        if (parts, is_sooner(stats)) != (self._parts, self._is_sooner):
            self._parts, self._is_sooner = parts, is_sooner(stats)
            self._say()
        if finish_reason or not self._figures.isHidden():
            self._say_figures()
        self.setVisible(True)

    def show_figures(self, wanted: bool) -> None:
        """Whether the figures stand under the line."""
        self._say_figures()
        self._figures.setVisible(wanted)

    def _say_figures(self) -> None:
        if self._stats and self.figures != self._figures.text():
            self._figures.setText(self.figures)
            self.setToolTip(tool_tip(where_it_went(self._stats)))
            self.setAccessibleDescription(f"{self.figures}. {where_it_went(self._stats)}")

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            self._say_figures()
        return super().event(event)

    def _say(self) -> None:
        colours, (lead, rest) = theme.current(), self._parts
        square = f'<span style="color: {colours.reused}">■</span>&nbsp;' if self._is_sooner else ""
        lead = f"{square}<b>{escape(lead)}</b>&ensp;" if lead else ""
        self._says.setText(f'{lead}<span style="color: {colours.soft}">{escape(rest)}</span>')
        self.setAccessibleName(self.text)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._say()


def where_it_went(stats: TurnStats) -> str:
    """The figures of a turn in lines, and where the wait for the first token went."""
    named = (
        (tr("waiting its turn"), stats.parts.queue),
        (tr("template and tokens"), stats.parts.template),
        (tr("look-up"), stats.parts.lookup),
        (tr("restoring"), stats.parts.restore),
        (tr("reading"), stats.parts.prefill),
        (tr("first token"), stats.parts.first_token),
    )
    parts = [tr("{name} {value:.3f} s", name=name, value=value) for name, value in named if value >= 0.0005]
    return "\n".join([figures(stats), *parts])

"""The right column of the window: what each turn cost, what it would have cost cold, and what is kept in memory."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QColor, QPalette, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.charts.cards import Card, FirstTokenCard, MemoryCard, SavedCard, TokensCard
from app.charts.series import MemorySeries, TurnSeries
from app.theme import GRID, LIGHT, Theme
from engine import CacheView, TurnStats

REDRAW_MS = 80
"""At most 12.5 redraws a second, however fast figures arrive."""

WIDTH = 360
TALLEST = 256
"""Height of a card in pixels on a tall window."""


class ChartPanel(QWidget):
    """Three charts and the savings. Figures are kept at once and drawn together at the next beat, while visible.

    Attributes: turns, memory (the series); first_token, tokens, cache, saved (the cards, from the top down).
    """

    def __init__(self, theme: Theme = LIGHT, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.turns, self.memory = TurnSeries(), MemorySeries()
        self.first_token = FirstTokenCard(self.turns, theme)
        self.tokens = TokensCard(self.turns, theme)
        self.cache = MemoryCard(self.memory, theme)
        self.saved = SavedCard(self.turns, theme)
        self._changed: set[Card] = set()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REDRAW_MS)
        self._timer.timeout.connect(self._redraw_changed)
        self.setAccessibleName("What the cache saved")
        self.setAutoFillBackground(True)
        self._lay_out()
        self.set_theme(theme)
        self.redraw()

    def add_turn(self, stats: TurnStats) -> None:
        """A turn that is complete."""
        self.turns.add(stats)
        self._change(self.first_token, self.tokens, self.saved)

    def update_turn(self, stats: TurnStats) -> None:
        """The figures so far of the turn that is being answered."""
        self.turns.update(stats)
        self._change(self.first_token, self.tokens, self.saved)

    def load_turns(self, turns: Iterable[TurnStats]) -> None:
        """Another conversation or branch is in view; these are its finished turns."""
        self.turns.load(turns)
        self._change(self.first_token, self.tokens, self.saved)

    def add_cache_view(self, view: CacheView) -> None:
        """A new picture of the cache."""
        self.memory.add(view)
        self._change(self.cache)

    def set_theme(self, theme: Theme) -> None:
        """Colours at run time."""
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Window, QColor(theme.panel))
        self.setPalette(palette)
        for card in self.cards:
            card.set_theme(theme)

    @property
    def cards(self) -> tuple[Card, ...]:
        """All cards, from the top down."""
        return self.first_token, self.tokens, self.cache, self.saved

    @property
    def redraw_pending(self) -> bool:
        """Whether the next beat will redraw."""
        return self._timer.isActive()

    def redraw(self) -> None:
        """Show the series as they are now, without waiting for the next beat."""
        self._timer.stop()
        self._changed.clear()
        for card in self.cards:
            card.redraw()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 640)

    def showEvent(self, event: QShowEvent) -> None:
        self._redraw_changed()
        super().showEvent(event)

    def _change(self, *cards: Card) -> None:
        self._changed.update(cards)
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def _redraw_changed(self) -> None:
        changed, self._changed = self._changed, set()
        for card in changed:
            card.redraw()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(2 * GRID, 2 * GRID + 4, 2 * GRID, 2 * GRID)
        column.setSpacing(3 * GRID)
        for card in self.cards:
            if card.plot is not None:
                card.setMaximumHeight(TALLEST)
            column.addWidget(card, 100 if card.plot is not None else 0)
        column.addStretch(1)
        column.setAlignment(Qt.AlignmentFlag.AlignTop)

"""The right column of the window: how much sooner the newest answer began, each turn, and the memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QHideEvent, QPalette, QShowEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.charts.bars import MOST_SLOTS
from app.charts.card import Card, label
from app.charts.cards import MOST_LETTERS, FirstTokenCard, MemoryCard, TokensCard
from app.charts.export import Saver
from app.charts.headline import Headline
from app.charts.series import MemorySeries, Savings, ShownTurn, TurnSeries
from app.charts.tree.prefix_card import PrefixCard
from app.charts.tree.words import Titles
from app.language import tr
from app.theme import GRID, LIGHT, SMALL, Theme
from app.widgets.room import scrolling
from app.words import shortened_line
from engine import CacheView, TurnStats

REDRAW_MS = 80
"""At most 12.5 redraws a second, however fast figures arrive."""

WIDTH = 360
TALLEST = 192
"""Height of a card in pixels on a tall window."""
NOTHING = tr("Shown here with the first answer: how much sooner it began than it would have from scratch.")
READING = tr("The first prompt is being read. What that took is shown here with the first word.")


class ChartPanel(QWidget):
    """The headline, three charts and the shared beginnings; nothing but a sentence before the first answer. Figures are
    stored at once; what they change is drawn together at most every REDRAW_MS, and only while the panel is visible.

    Attributes: turns, memory (the series); scope (the switch); headline; first_token, tokens, cache (the cards, from
    the top down); prefixes (the tree in short); saver.
    Signals: turn_chosen(int): the answer whose bar was clicked; visibility_changed(); folded_changed(str): other parts
    are folded now, as `set_folded` takes them.
    """

    turn_chosen = Signal(object)
    visibility_changed = Signal()
    folded_changed = Signal(str)

    def __init__(self, theme: Theme = LIGHT) -> None:
        super().__init__()
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # as time runs in charts, in every language
        self.turns, self.memory = TurnSeries(), MemorySeries()
        self.scope = ScopeSwitch(theme)
        self.headline = Headline(theme)
        self.first_token = FirstTokenCard(self.turns, theme)
        self.tokens = TokensCard(self.turns, theme)
        self.cache = MemoryCard(self.memory, theme)
        self.prefixes = PrefixCard(theme)
        self.saver = Saver(self)
        self._name, self._nothing = label(SMALL, text=tr("What it saves"), bold=True), label(SMALL)
        for line in (self._name, self._nothing):
            line.setWordWrap(True)
        self._reading = self._has_others = False
        self._saved = Savings(), Savings()
        self._changed: set[Card | Headline] = set()
        self._live: TurnStats | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REDRAW_MS)
        self._timer.timeout.connect(self._redraw_changed)
        self.setAccessibleName(tr("What it saves"))
        self.setAutoFillBackground(True)
        self._connect()
        self._lay_out()
        self.set_theme(theme)
        self.redraw()

    def _connect(self) -> None:
        self.scope.changed.connect(self._on_scope)
        self.first_token.chosen.connect(self._on_chosen)
        self.tokens.chosen.connect(self._on_chosen)
        for part in self._foldable.values():
            part.folded.connect(lambda _: self.folded_changed.emit(self.folded))
        for card in self.cards:
            card.save_wanted.connect(
                lambda kind, card=card: self.saver.ask(card.accessibleName(), kind, card.rendered(kind))
            )

    @property
    def _foldable(self) -> dict[str, Card | PrefixCard]:
        return {"first": self.first_token, "tokens": self.tokens, "memory": self.cache, "prefixes": self.prefixes}

    @property
    def folded(self) -> str:
        """The names of the folded parts, with commas between them."""
        return ",".join(name for name, part in self._foldable.items() if part.fold.is_folded)

    def set_folded(self, names: str) -> None:
        """Fold these parts, and no other."""
        for name, part in self._foldable.items():
            part.set_folded(name in names.split(","))

    def add_turn(self, stats: TurnStats, message_id: int = 0) -> None:
        """Show a turn that is complete: its answer is `message_id`."""
        self._live = None
        self.turns.add(stats, message_id)
        self._change(self.headline, self.first_token, self.tokens)

    def update_turn(self, stats: TurnStats, message_id: int = 0, conversation: str = "") -> None:
        """Show the figures so far of the turn that is being answered."""
        self.turns.update(stats, message_id, conversation)
        drawn = replace(stats, written_tokens=0, tokens_per_s=0.0, cache_bytes=0)
        if drawn != self._live:  # while it writes, nothing of what the cards show moves
            self._live = drawn
            self._change(self.headline, self.first_token, self.tokens)

    def show_reading(self, reading: bool) -> None:
        """Say whether an answer is on its way, perhaps still without figures."""
        self._reading = reading
        self._change(self.headline)

    def load_turns(self, turns: Iterable[ShownTurn]) -> None:
        """Show these finished turns in place of those so far: another conversation, branch or scope is in view."""
        self._live = None
        self.turns.load(turns)
        self._change(self.headline, self.first_token, self.tokens)

    def offer_all(self) -> None:
        """There are turns of others, so that all turns can be shown even before there is one here."""
        self._has_others = True
        self._change(self.headline)

    def show_miss(self, text: str) -> None:
        """Say when something that had been cached was last read again, and why; "" where nothing was."""
        self.tokens.miss = text
        self._change(self.tokens)

    def add_cache_view(self, view: CacheView) -> None:
        """Add a newer picture of the cache to the chart of its memory."""
        self.memory.add(view)
        self._change(self.cache)

    def show_prefixes(self, view: CacheView, titles: Titles) -> None:
        """Show the largest runs of a newer picture of the cache."""
        self.prefixes.show_view(view, titles)

    def show_saved(self, here: Savings, total: Savings) -> None:
        """Show what was saved in this conversation, in all versions of it, and since the program was installed."""
        self._saved = here, total
        self._change(self.headline)

    def show_weights(self, weights_bytes: int) -> None:
        """Show how much memory the weights of the model take; 0 while there is no model, and so no cache."""
        self.cache.weights_bytes = weights_bytes
        if not weights_bytes:
            self.memory.clear()
        self._change(self.cache)

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of this theme from now on."""
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Window, QColor(theme.panel))
        self.setPalette(palette)
        self._name.setStyleSheet(f"color: {theme.text}; background: transparent;")
        self._nothing.setStyleSheet(f"color: {theme.soft}; background: transparent;")
        self.scope.set_theme(theme)
        self.headline.set_theme(theme)
        for card in self.cards:
            card.set_theme(theme)
        self.prefixes.set_theme(theme)

    @property
    def cards(self) -> tuple[Card, ...]:
        """The charts, from the top down."""
        return self.first_token, self.tokens, self.cache

    @property
    def heading(self) -> str:
        """Which answer the headline is about, and of all conversations in which of them it stands."""
        return self._name.text()

    @property
    def redraw_pending(self) -> bool:
        """Whether something changed and is going to be drawn."""
        return self._timer.isActive()

    def redraw(self) -> None:
        """Draw the series as they are now, without waiting."""
        self._timer.stop()
        self._changed = {self.headline, *self.cards}
        self._redraw_changed()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 640)

    def showEvent(self, event: QShowEvent) -> None:
        self._redraw_changed()
        super().showEvent(event)
        self.visibility_changed.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()  # what changed is drawn when it is shown again
        super().hideEvent(event)

    def _change(self, *cards: Card | Headline) -> None:
        self._changed.update(cards)
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def _redraw_changed(self) -> None:
        changed, self._changed = self._changed, set()
        for part in changed:
            self._redraw(part)

    def _redraw(self, part: Card | Headline) -> None:
        if isinstance(part, Card):
            part.redraw()
            return
        rows = self.turns.rows(1)
        self._show_parts(bool(len(rows)))
        if len(rows):
            is_newest = self.turns.live or not self._reading
            name = tr("Newest answer") if is_newest else tr("The answer before")
            title = shortened_line(str(rows[0]["conversation"]), MOST_LETTERS)
            self._name.setText(f"{name}: {title}" if title else name)
            self.headline.show_turn(rows[0])
        self.headline.show_saved(*self._saved, self.scope.shows_all)
        self.headline.show_elsewhere(self.turns, self.scope.shows_all)

    def _show_parts(self, has_turns: bool) -> None:
        """The charts once there is an answer, before it a sentence in their place."""
        if not has_turns:
            self._name.setText(tr("What it saves"))
            self._nothing.setText(READING if self._reading else NOTHING)
        self._nothing.setVisible(not has_turns)
        self.scope.setVisible(has_turns or self.scope.shows_all or self._has_others or bool(self._saved[1].tokens))
        for part in (self.headline, *self.cards, self.prefixes):
            part.setVisible(has_turns)

    @property
    def nothing(self) -> str:
        """The sentence that stands here before the first answer, "" after it."""
        return "" if self._nothing.isHidden() else self._nothing.text()

    def _on_scope(self, all_turns: bool) -> None:
        self._change(self.headline)

    def _on_chosen(self, place: int) -> None:
        rows = self.turns.rows(MOST_SLOTS)
        if place < len(rows) and rows[place]["message_id"]:
            self.turn_chosen.emit(int(rows[place]["message_id"]))

    def _lay_out(self) -> None:
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, GRID)
        column.setSpacing(GRID + 4)
        top = QHBoxLayout()
        top.addWidget(self._name, 1)
        top.addWidget(self.scope)
        column.addLayout(top)
        column.addWidget(self._nothing)
        column.addWidget(self.headline)
        for card in self.cards:
            card.setMaximumHeight(TALLEST)
            column.addWidget(card, 100)
        column.addWidget(self.prefixes)
        column.addStretch(1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(scrolling(inside))


class ScopeSwitch(QWidget):
    """Which turns the charts show: those of this conversation, or all. The chosen word is underlined.

    Signals: changed(bool): whether all turns are wanted now."""

    changed = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName(tr("Turns in the charts"))
        self.one, self.all = QPushButton(tr("This chat")), QPushButton(tr("All"))
        self.one.setAccessibleName(tr("Show the turns of this conversation"))
        self.all.setAccessibleName(tr("Show the turns of all conversations"))
        group = QButtonGroup(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        for button in (self.one, self.all):
            button.setCheckable(True)
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            group.addButton(button)
            row.addWidget(button)
        self.one.setChecked(True)
        self.all.toggled.connect(self.changed)
        self.set_theme(theme)

    @property
    def shows_all(self) -> bool:
        """Whether all turns are chosen."""
        return self.all.isChecked()

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of this theme from now on."""
        self.setStyleSheet(f"""
            QPushButton {{ border: none; border-bottom: 2px solid transparent; border-radius: 0; padding: 0 0 2px 0;
                min-height: 18px; background: transparent; color: {theme.soft}; font-size: {SMALL}px; }}
            QPushButton:checked {{ color: {theme.text}; border-bottom-color: {theme.accent}; }}
            QPushButton:hover {{ color: {theme.text}; background: transparent; }}
            QPushButton:focus {{ color: {theme.accent}; }}""")

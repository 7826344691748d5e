"""The four cards of the panel: what each one says and draws of the series, and what it says of a hovered place."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.charts import words
from app.charts.bars import MOST_SLOTS, BarsPlot, Layer, part_color
from app.charts.card import Card
from app.charts.memory import PARTS, MemoryPlot
from app.charts.saving import Table
from app.charts.series import TTFT_PARTS, MemorySeries, Savings, TurnSeries, used_bytes
from app.prices import Used, in_words
from app.theme import Theme
from app.widgets.plain import tool_tip
from app.words import beside_cache, counted, scaled, seconds, size, time_ago

WINDOW_S = 600.0
"""How much of the past the memory chart shows."""

MOST_PRICED = 512
"""So many of the newest turns are priced as if elsewhere."""

NOTHING = "–"
EMPTY = "Send a message to see what its answer costs."
READING = "The prompt is being read. What that costs is shown here with the first token."
LONG_NUMBER = 10
"""Beside a number of so many characters there is no room for a sentence in one line."""
PART_NAMES = ("queue", "template", "look-up", "restore", "prefill", "first token")
"""The parts of the time to first token in words, in the order of TTFT_PARTS."""


class FirstTokenCard(Card):
    """The time to first token of each turn, split into what it was spent on, in front of the time of a cold run.

    Attributes: reading: whether an answer is on its way of which there are no figures yet.
    """

    def __init__(self, turns: TurnSeries, theme: Theme) -> None:
        self.bars, self.turns, self.reading = BarsPlot(theme, words.scale_seconds), turns, False
        legend = [("measured", "computed", 1.0), ("cold", "cold", 0.5)]
        super().__init__("First token", theme, self.bars, legend, about="first token")

    def copy(self) -> FirstTokenCard:
        return FirstTokenCard(self.turns, self.theme)

    def draw(self) -> None:
        rows = self.turns.rows(MOST_SLOTS)
        parts = np.stack([rows[part] for part in TTFT_PARTS], axis=1)
        measured = Layer("computed", rows["ttft_s"], split=parts)
        self.bars.set_layers([Layer("cold", rows["cold_ttft_s"], 0.5), measured], first_number(self.turns))

    def speak(self) -> None:
        rows = self.turns.rows(MOST_SLOTS)
        if not len(rows):
            self.say("First token", NOTHING, "", READING if self.reading else EMPTY)
            return
        row = rows[self.place]
        if self.hovering:
            cold = words.cold(row["cold_ttft_s"], row["cold_measured"])
            self.say(turn_name(self.turns, self.place), words.exact_seconds(row["ttft_s"]), cold)
        else:
            note = words.sooner(row["ttft_s"], row["cold_ttft_s"], row["cold_measured"], row["reused_tokens"])
            self.say("First token", seconds(row["ttft_s"]), note)

    def details(self) -> list[tuple[str, str]]:
        row = self.turns.rows(MOST_SLOTS)[self.place]
        if not sum(row[part] for part in TTFT_PARTS):
            return []
        parts = enumerate(zip(TTFT_PARTS, PART_NAMES, strict=True))
        return [(part_color(self.theme, n).name(), f"{name} {row[part]:.3f} s") for n, (part, name) in parts]

    def table(self) -> Table:
        return turn_table(self.turns)


class TokensCard(Card):
    """Prompt tokens per turn: reused, and computed on top of them. `miss` says when something was last read again, and
    why; "" where nothing was."""

    def __init__(self, turns: TurnSeries, theme: Theme) -> None:
        self.bars, self.turns, self.miss = BarsPlot(theme, words.scale_tokens), turns, ""
        legend = [("computed", "computed", 1.0), ("reused", "reused", 1.0)]
        super().__init__("Tokens this turn", theme, self.bars, legend, about="tokens")

    def copy(self) -> TokensCard:
        made = TokensCard(self.turns, self.theme)
        made.miss = self.miss
        return made

    def draw(self) -> None:
        rows = self.turns.rows(MOST_SLOTS)
        read = rows["reused_tokens"] + rows["computed_tokens"]
        layers = [Layer("computed", read), Layer("reused", rows["reused_tokens"])]
        self.bars.set_layers(layers, first_number(self.turns))

    def speak(self) -> None:
        rows = self.turns.rows(MOST_SLOTS)
        if not len(rows):
            self.say("Tokens this turn", NOTHING, "")
            return
        row = rows[self.place]
        number = f"{words.percent(row['reused_tokens'], row['prompt_tokens'])} reused"
        if self.hovering:
            note = f"{row['reused_tokens']:,} reused, {row['computed_tokens']:,} computed"
            self.say(turn_name(self.turns, self.place), number, note, more=self.miss)
        else:
            note = f"{row['reused_tokens']:,} of {row['prompt_tokens']:,}"
            self.say("Tokens this turn", number, note, more=self.miss)

    def table(self) -> Table:
        return turn_table(self.turns)


class MemoryCard(Card):
    """Bytes in the cache over time, by what keeps them there. The weights, which are no cache, are a line of text."""

    def __init__(self, memory: MemorySeries, theme: Theme, weights_bytes: int = 0) -> None:
        self.areas, self.memory = MemoryPlot(theme), memory
        self.weights_bytes = weights_bytes
        names = ("reusable", "in use", "pinned")
        legend = [(word, color, share) for word, (_, color, share) in zip(names, PARTS, strict=True)]
        super().__init__("Cache memory", theme, self.areas, legend, about="memory", across="time")

    def copy(self) -> MemoryCard:
        return MemoryCard(self.memory, self.theme, self.weights_bytes)

    def draw(self) -> None:
        self.areas.set_rows(self.memory.rows(WINDOW_S))

    def speak(self) -> None:
        rows = self.areas.rows
        weights = f"weights apart: {size(self.weights_bytes)}" if self.weights_bytes else ""
        if not len(rows):
            self.say("Cache memory", NOTHING, weights)
            return
        row, used = rows[self.place], int(used_bytes(rows)[self.place])
        beside = beside_cache(row["overhead_bytes"])
        if self.hovering:
            evicted = f"\nevicted {size(row['evicted_bytes'])}" if row["evicted_bytes"] else ""
            age_s = rows["time_s"][-1] - row["time_s"]
            name = "Newest" if age_s < 1 else time_ago(age_s)
            self.say(name, size(used), _parts(row, used) + evicted, more=beside)
        else:
            budget = f"budget {size(row['budget_bytes'])}"
            self.say("Cache memory", size(used), f"{budget}\n{weights}" if weights else budget, more=beside)

    def table(self) -> Table:
        return Table(*_columns(self.memory.rows()))


class SavedCard(Card):
    """The sums over the conversation and since the program was installed; no plot.

    Attributes: total: since installation; all_turns: whether that is the large number.
    """

    def __init__(self, turns: TurnSeries, theme: Theme) -> None:
        self.turns = turns
        self.total, self.all_turns = Savings(), False
        self._priced = 0
        super().__init__("Saved in this conversation", theme, about="saved")

    def speak(self) -> None:
        if self.all_turns:
            saved, name, more = self.total, "Saved since installation", "in all conversations together"
            known = bool(saved.tokens)
        else:
            saved, name, more = self.turns.saved(), "Saved in this conversation", since_installation(self.total)
            known = len(self.turns) > 0
        number = _seconds(saved)
        between = " " if len(number) < LONG_NUMBER else "\n"
        note = f"{saved.tokens:,} tokens{between}not read again" if known else "nothing yet"
        self.say(name, number, note, more=more)
        self._price(is_shown=known and not self.all_turns)

    def _price(self, *, is_shown: bool) -> None:
        """On hovering: what the conversation's prompts would have cost elsewhere. Worked out once for each turn."""
        turns = len(self.turns) if is_shown else 0
        if turns != self._priced:
            self._priced = turns
            self.setToolTip(tool_tip(elsewhere(self.turns)) if turns else "")


def elsewhere(turns: TurnSeries) -> str:
    """What the prompts of the conversation would have cost at hosted APIs; answers cost the same with a cache and
    without."""
    rows = turns.rows(MOST_PRICED)
    used = [Used(int(row["prompt_tokens"]), int(row["reused_tokens"])) for row in rows]
    return f"The prompts of its last {counted(len(used), 'turn')} elsewhere:\n{in_words(used)}"


def since_installation(total: Savings) -> str:
    """The sum since installation as a line; "" while there is none."""
    if not total.tokens:
        return ""
    return f"since installation: {_seconds(total)}, {words.many(total.tokens)} tokens"


def turn_name(turns: TurnSeries, place: int) -> str:
    """Which turn a place among the newest MOST_SLOTS is: "Turn 5", or the conversation it is of."""
    return turns.rows(MOST_SLOTS)[place]["conversation"] or f"Turn {first_number(turns) + place}"


def first_number(turns: TurnSeries) -> int:
    """The number of the first of the newest MOST_SLOTS turns, 0 where they are of several conversations."""
    rows = turns.rows(MOST_SLOTS)
    return 0 if any(rows["conversation"]) else len(turns) - len(rows) + 1


def turn_table(turns: TurnSeries) -> Table:
    """All figures of the turns that are kept, with their number in front."""
    heading, rows = _columns(turns.rows())
    first = len(turns) - len(rows) + 1
    return Table(("turn", *heading), [(number, *row) for number, row in enumerate(rows, first)])


def _columns(rows: Any) -> tuple[list[str], list[tuple[object, ...]]]:
    """The columns of series rows; every name says its unit."""
    names = [f"{name}_s" if name in TTFT_PARTS else name for name in rows.dtype.names]
    return names, rows.tolist()


def _seconds(saved: Savings) -> str:
    return words.duration(saved.shown_seconds, saved.estimated)


def _parts(row: Any, used: int) -> str:
    """ "70 pinned, 24 in use, 120 reusable", in the unit of the whole."""
    names = (("pinned_bytes", "pinned"), ("live_bytes", "in use"), ("reusable_bytes", "reusable"))
    return ", ".join(f"{scaled(row[field], used)[0]} {word}" for field, word in names)

"""The three charts of the panel: what each one says and draws of the series, and what it says of a hovered place."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.charts import words
from app.charts.bars import MOST_SLOTS, BarsPlot, Layer
from app.charts.card import Card
from app.charts.export import Table
from app.charts.headline import stats_of
from app.charts.memory import PARTS, MemoryPlot
from app.charts.series import TTFT_PARTS, MemorySeries, TurnSeries, used_bytes
from app.language import tr
from app.theme import Theme
from app.words import (
    LEAST_ESTIMATE_S,
    behind_gpu,
    beside_cache,
    is_told,
    knows_cold,
    percent,
    scaled,
    seconds,
    shortened_line,
    size,
    time_ago,
    tokens,
)

WINDOW_S = 600.0
"""How much of the past the memory chart shows."""

NOTHING = "–"
MOST_LETTERS = 24
"""Of the title of a conversation, which has to leave room for the figures beside it."""
PART_NAMES = (tr("queue"), tr("template"), tr("look-up"), tr("restore"), tr("prefill"), tr("first token"))
"""The parts of the time to first token in words, in the order of TTFT_PARTS."""


class FirstTokenCard(Card):
    """The wait for the first word of each turn, blue where most of the prompt was remembered, before a grey bar for
    what it would have been from scratch, where that is known."""

    def __init__(self, turns: TurnSeries, theme: Theme) -> None:
        self.bars, self.turns = BarsPlot(theme, words.scale_seconds), turns
        legend = [
            (tr("with Headstart"), "reused", 1.0),
            (tr("from scratch"), "cold", 1.0),
            (tr("instead of"), "cold", 0.5),
        ]
        super().__init__(tr("First word"), theme, self.bars, legend, about="first token")

    def copy(self) -> FirstTokenCard:
        return FirstTokenCard(self.turns, self.theme)

    def draw(self) -> None:
        rows = self.turns.rows(MOST_SLOTS)
        is_warm = 2 * rows["reused_tokens"] >= rows["prompt_tokens"]
        is_known = (rows["reused_tokens"] > 0) & (rows["cold_measured"] | (rows["cold_ttft_s"] >= LEAST_ESTIMATE_S))
        layers = [
            Layer("cold", np.where(is_known, rows["cold_ttft_s"], np.nan), 0.5),
            Layer("cold", np.where(is_warm, np.nan, rows["ttft_s"])),
            Layer("reused", np.where(is_warm, rows["ttft_s"], np.nan)),
        ]
        self.bars.set_layers(layers, first_number(self.turns))

    def speak(self) -> None:
        rows = self.turns.rows(MOST_SLOTS)
        if not len(rows):
            self.say(tr("First word"), NOTHING, "")
            return
        row = rows[self.place]
        stats = stats_of(row)
        cold = (
            words.cold(row["cold_ttft_s"], row["cold_measured"]) if knows_cold(stats) and row["reused_tokens"] else ""
        )
        if self.hovering:
            self.say(turn_name(self.turns, self.place), words.exact_seconds(row["ttft_s"]), cold)
        else:
            self.say(
                tr("First word"),
                tr("after {seconds}", seconds=seconds(row["ttft_s"])) if row["ttft_s"] == row["ttft_s"] else "…",
                cold,
            )

    def details(self) -> list[tuple[str, str]]:
        row = self.turns.rows(MOST_SLOTS)[self.place]
        if not sum(row[part] for part in TTFT_PARTS):
            return []
        parts = zip(TTFT_PARTS, PART_NAMES, strict=True)
        return [(self.theme.soft, tr("{name} {part:.3f} s", name=name, part=row[part])) for part, name in parts]

    def table(self) -> Table:
        return turn_table(self.turns)


class TokensCard(Card):
    """Prompt tokens per turn: remembered, read ahead on top of them, and read now on top of those. `miss` says when
    something was last read again, and why; "" where nothing was."""

    def __init__(self, turns: TurnSeries, theme: Theme) -> None:
        self.bars, self.turns, self.miss = BarsPlot(theme, words.scale_tokens), turns, ""
        legend = [
            (tr("read now"), "computed", 1.0),
            (tr("read ahead"), "reused", 0.5),
            (tr("remembered"), "reused", 1.0),
        ]
        super().__init__(tr("Tokens"), theme, self.bars, legend, about="tokens")

    def copy(self) -> TokensCard:
        made = TokensCard(self.turns, self.theme)
        made.miss = self.miss
        return made

    def draw(self) -> None:
        rows = self.turns.rows(MOST_SLOTS)
        read = rows["reused_tokens"] + rows["computed_tokens"]
        layers = [
            Layer("computed", read),
            Layer("reused", rows["reused_tokens"], 0.5),
            Layer("reused", rows["reused_tokens"] - rows["ahead_tokens"]),
        ]
        self.bars.set_layers(layers, first_number(self.turns))

    def speak(self) -> None:
        rows = self.turns.rows(MOST_SLOTS)
        if not len(rows):
            self.say(tr("Tokens"), NOTHING, "")
            return
        row = rows[self.place]
        name = turn_name(self.turns, self.place) if self.hovering else tr("Tokens")
        if not is_told(stats_of(row)):
            self.say(name, tokens(int(row["prompt_tokens"])), "")
            return
        remembered = row["reused_tokens"] - row["ahead_tokens"]
        is_ahead = row["ahead_tokens"] > remembered
        share = percent(row["ahead_tokens"] if is_ahead else remembered, row["prompt_tokens"])
        number = f"{share} {(tr('read ahead') if is_ahead else tr('remembered'))}"
        ahead = tr("{ahead_tokens:,} read ahead, ", ahead_tokens=row["ahead_tokens"]) if row["ahead_tokens"] else ""
        note = tr(
            "{remembered:,} remembered, {ahead}{computed_tokens:,} read",
            remembered=remembered,
            ahead=ahead,
            computed_tokens=row["computed_tokens"],
        )
        self.say(name, number, note, more=self.miss)

    def table(self) -> Table:
        return turn_table(self.turns)


class MemoryCard(Card):
    """Bytes that are remembered, over time, by what keeps them there. The weights, which are no cache, are words."""

    def __init__(self, memory: MemorySeries, theme: Theme, weights_bytes: int = 0) -> None:
        self.areas, self.memory = MemoryPlot(theme), memory
        self.weights_bytes = weights_bytes
        names = (tr("can go"), tr("in use"), tr("kept"))
        legend = [(word, color, share) for word, (_, color, share) in zip(names, PARTS, strict=True)]
        super().__init__(tr("Memory"), theme, self.areas, legend, about="memory", across=tr("time"))

    def copy(self) -> MemoryCard:
        return MemoryCard(self.memory, self.theme, self.weights_bytes)

    def draw(self) -> None:
        self.areas.set_rows(self.memory.rows(WINDOW_S))

    def speak(self) -> None:
        rows = self.areas.rows
        weights = tr("the model itself takes {size}", size=size(self.weights_bytes)) if self.weights_bytes else ""
        if not len(rows):
            self.say(tr("Memory"), NOTHING, weights)
            return
        row, used = rows[self.place], int(used_bytes(rows)[self.place])
        if self.hovering:
            evicted = tr(", {size} dropped", size=size(row["evicted_bytes"])) if row["evicted_bytes"] else ""
            age_s = rows["time_s"][-1] - row["time_s"]
            self.say(tr("Now") if age_s < 1 else time_ago(age_s), size(used), _parts(row, used) + evicted)
        else:
            beside = beside_cache(row["overhead_bytes"])
            behind = behind_gpu(row["memory_bytes"])
            note = ", ".join(part for part in (weights, behind, beside) if part)
            self.say(tr("Memory"), tr("{size} of {size2}", size=size(used), size2=size(row["budget_bytes"])), note)

    def table(self) -> Table:
        return Table(*_columns(self.memory.rows()))


def turn_name(turns: TurnSeries, place: int) -> str:
    """Which turn a place among the newest MOST_SLOTS is: "Turn 5", or the conversation it is of."""
    title = turns.rows(MOST_SLOTS)[place]["conversation"]
    return (
        shortened_line(title, MOST_LETTERS)
        if title
        else tr("Turn {first_number}", first_number=first_number(turns) + place)
    )


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


def _parts(row: Any, used: int) -> str:
    """ "70 kept, 24 in use, 120 can go", in the unit of the whole."""
    names = (("pinned_bytes", tr("kept")), ("live_bytes", tr("in use")), ("reusable_bytes", tr("can go")))
    return ", ".join(f"{scaled(row[field], used)[0]} {word}" for field, word in names)

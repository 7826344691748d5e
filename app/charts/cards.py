"""The four cards of the panel: what each one says and draws of the series, and what it says of a hovered place."""

from __future__ import annotations

from typing import Any

from app.charts import words
from app.charts.bars import MOST_SLOTS, BarsPlot, Layer
from app.charts.card import Card
from app.charts.memory import PARTS, MemoryPlot
from app.charts.series import MemorySeries, TurnSeries, used_bytes
from app.theme import Theme

WINDOW_S = 600.0
"""How much of the past the memory chart shows."""

NOTHING = "–"


class FirstTokenCard(Card):
    """Seconds to the first token, in front of what it would have been cold."""

    def __init__(self, turns: TurnSeries, theme: Theme) -> None:
        self.bars = BarsPlot(theme)
        super().__init__("First token", theme, self.bars, [("measured", "computed", 1.0), ("cold", "cold", 0.5)])
        self.turns = turns

    def draw(self) -> None:
        rows = self.turns.rows(MOST_SLOTS)
        self.bars.set_layers([Layer("cold", rows["cold_ttft_s"], 0.5), Layer("computed", rows["ttft_s"])])

    def speak(self) -> None:
        rows = self.turns.rows(MOST_SLOTS)
        if not len(rows):
            self.say("First token", NOTHING, "", "Send a message to see what its answer costs.")
            return
        row = rows[self.place]
        if self.hovering:
            cold = words.cold(row["cold_ttft_s"], row["cold_measured"])
            self.say(turn_name(self.turns, self.place), words.exact_seconds(row["ttft_s"]), cold)
        else:
            note = words.sooner(row["ttft_s"], row["cold_ttft_s"], row["cold_measured"], row["reused_tokens"])
            self.say("First token", words.seconds(row["ttft_s"]), note)


class TokensCard(Card):
    """Prompt tokens per turn: reused, and computed on top of them."""

    def __init__(self, turns: TurnSeries, theme: Theme) -> None:
        self.bars = BarsPlot(theme)
        super().__init__(
            "Tokens this turn", theme, self.bars, [("computed", "computed", 1.0), ("reused", "reused", 1.0)]
        )
        self.turns = turns

    def draw(self) -> None:
        rows = self.turns.rows(MOST_SLOTS)
        read = rows["reused_tokens"] + rows["computed_tokens"]
        self.bars.set_layers([Layer("computed", read), Layer("reused", rows["reused_tokens"])])

    def speak(self) -> None:
        rows = self.turns.rows(MOST_SLOTS)
        if not len(rows):
            self.say("Tokens this turn", NOTHING, "")
            return
        row = rows[self.place]
        number = f"{words.percent(row['reused_tokens'], row['prompt_tokens'])} reused"
        if self.hovering:
            note = f"{row['reused_tokens']:,} reused, {row['computed_tokens']:,} computed"
            self.say(turn_name(self.turns, self.place), number, note)
        else:
            self.say("Tokens this turn", number, f"{row['reused_tokens']:,} of {row['prompt_tokens']:,}")


class MemoryCard(Card):
    """Bytes in the cache over time, by what keeps them there."""

    def __init__(self, memory: MemorySeries, theme: Theme) -> None:
        self.areas = MemoryPlot(theme)
        names = ("reusable", "in use", "pinned")
        legend = [(word, color, share) for word, (_, color, share) in zip(names, PARTS, strict=True)]
        super().__init__("Cache memory", theme, self.areas, legend)
        self.memory = memory

    def draw(self) -> None:
        self.areas.set_rows(self.memory.rows(WINDOW_S))

    def speak(self) -> None:
        rows = self.areas.rows
        if not len(rows):
            self.say("Cache memory", NOTHING, "")
            return
        row, used = rows[self.place], int(used_bytes(rows)[self.place])
        if self.hovering:
            age = words.ago(rows["time_s"][-1] - row["time_s"])
            self.say(age, words.size(used), _parts(row, used))
        else:
            self.say("Cache memory", words.size(used), f"budget {words.size(row['budget_bytes'])}")


class SavedCard(Card):
    """The sum over the conversation; no plot."""

    def __init__(self, turns: TurnSeries, theme: Theme) -> None:
        super().__init__("Saved in this conversation", theme)
        self.turns = turns

    def speak(self) -> None:
        saved = self.turns.saved()
        number = words.seconds(saved.seconds) if saved.seconds else "0 s"
        note = f"{saved.tokens:,} tokens not read again" if len(self.turns) else "nothing yet"
        self.say("Saved in this conversation", number, note)


def turn_name(turns: TurnSeries, place: int) -> str:
    """Which turn of the conversation a place among the newest MOST_SLOTS is: "Turn 5"."""
    return f"Turn {len(turns) - min(len(turns), MOST_SLOTS) + place + 1}"


def _parts(row: Any, used: int) -> str:
    """ "70 pinned, 24 in use, 120 reusable", in the unit of the whole."""
    names = (("pinned_bytes", "pinned"), ("live_bytes", "in use"), ("reusable_bytes", "reusable"))
    return ", ".join(f"{words.scaled(row[field], used)[0]} {word}" for field, word in names)

"""The charts of the demo's page, drawn as SVG from the rows of the report. Colours are the page's CSS variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from app.charts.axes import round_up
from app.demo.report import Pair, Row

WIDTH, HEIGHT = 640, 200
LEFT, RIGHT, TOP, BOTTOM = 56, 8, 12, 28
LINE_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
"""Grid lines stand one of these times a power of ten apart."""
MOST_LINES = 4
"""So many grid lines at most between the ground and the largest value."""
WIDEST = 64.0
"""Pixels of the bars of one turn where there are few turns."""
GAP = 2.0
"""Pixels between two bars of one turn."""


class Chart(NamedTuple):
    """A chart: its name, its SVG, and what its colours mean as (name of the colour in the theme, words)."""

    name: str
    svg: str
    legend: tuple[tuple[str, str], ...]


class Bar(NamedTuple):
    """A bar from `base` up by `value`, in a colour of the theme. `place` of `places` are side by side in one turn."""

    turn: int
    base: float
    value: float
    colour: str
    tooltip: str
    place: int = 0
    places: int = 1


def charts(pairs: Sequence[Pair], ahead: Sequence[Row] = ()) -> tuple[Chart, ...]:
    """The wait for the first token with the cache and without, the tokens of each prompt, and the cache's memory; in
    the colours that the window uses for them. Where the turns were read `ahead` as well, the wait then comes first."""
    first_token, tokens, memory = list[Bar](), list[Bar](), list[Bar]()
    read_ahead = {row.turn: row for row in ahead}
    for on, off in pairs:
        turn = f"Turn {on.turn}"
        waits = f"{turn}: {on.ttft_s:.2f} s with the cache, {off.ttft_s:.2f} s without"
        times = [(on.ttft_s, "computed"), (off.ttft_s, "cold")]
        if row := read_ahead.get(on.turn):
            waits = f"{waits}, {row.ttft_s:.2f} s read ahead"
            times = [(row.ttft_s, "reused"), *times]
        for place, (seconds, colour) in enumerate(times):
            first_token.append(Bar(on.turn, 0, seconds, colour, waits, place, len(times)))
        counts = f"{turn}: {on.reused_tokens:,} tokens reused, {on.computed_tokens:,} computed"
        tokens.append(Bar(on.turn, 0, on.reused_tokens, "reused", counts))
        tokens.append(Bar(on.turn, on.reused_tokens, on.computed_tokens, "computed", counts))
        megabytes = on.cache_bytes / 1e6
        memory.append(Bar(on.turn, 0, megabytes, "reused", f"{turn}: {megabytes:,.0f} MB"))
    waits_legend = [("computed", "measured, with the cache"), ("cold", "cold, without")]
    if ahead:
        waits_legend.insert(0, ("reused", "read ahead while it was typed"))
    tokens_legend = (("reused", "reused"), ("computed", "computed"))
    return (
        _chart("Time to first token", first_token, lambda value: f"{value:g} s", tuple(waits_legend)),
        _chart("Tokens of the prompt", tokens, lambda value: f"{value:,.0f}", tokens_legend),
        _chart("Cache memory", memory, lambda value: f"{value:,.0f} MB", (("reused", "held after the turn"),)),
    )


class ChartScale:
    """Where values stand: the grid lines are round numbers, `step` apart, and the last one, `top`, is above all."""

    def __init__(self, largest: float) -> None:
        self.step = round_up(largest / MOST_LINES, LINE_STEPS) if largest > 0 else 1.0
        self.top = max(self.step, self.step * -(-largest // self.step))

    def y(self, value: float) -> float:
        """The height of a value, in pixels from the top."""
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / self.top)

    def lines(self) -> list[float]:
        """The values that have a grid line."""
        return [self.step * number for number in range(round(self.top / self.step) + 1)]


def _chart(name: str, bars: Sequence[Bar], words: Callable[[float], str], legend: tuple[tuple[str, str], ...]) -> Chart:
    """Draw the bars over a grid; `words` turns the value of a grid line into words."""
    scale = ChartScale(max((bar.base + bar.value for bar in bars), default=0.0))
    turns = max((bar.turn for bar in bars), default=0)
    grid = [
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{scale.y(value):.1f}" y2="{scale.y(value):.1f}"/>'
        f'<text class="value" x="{LEFT - 8}" y="{scale.y(value) + 4:.1f}">{escape(words(value))}</text>'
        for value in scale.lines()
    ]
    labels = [_label(turn, turns) for turn in range(1, turns + 1)]
    body = "\n".join((*grid, *(_rect(scale, bar, turns) for bar in bars), *labels))
    svg = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{name} of each turn">\n{body}\n</svg>'
    return Chart(name, svg, legend)


def _column(turn: int, turns: int) -> tuple[float, float]:
    """The left edge and the width of a turn's bars."""
    pitch = (WIDTH - LEFT - RIGHT) / turns
    width = min(pitch * 0.7, WIDEST)
    return LEFT + pitch * (turn - 1) + (pitch - width) / 2, width


def _rect(scale: ChartScale, bar: Bar, turns: int) -> str:
    left, whole = _column(bar.turn, turns)
    width = (whole - GAP * (bar.places - 1)) / bar.places
    left += bar.place * (width + GAP)
    top, bottom = scale.y(bar.base + bar.value), scale.y(bar.base)
    height = max(bottom - top, 1.0 if bar.value > 0 else 0.0)
    return (
        f'<rect class="{bar.colour}" x="{left:.1f}" y="{bottom - height:.1f}" width="{width:.1f}"'
        f' height="{height:.1f}"><title>{escape(bar.tooltip)}</title></rect>'
    )


def _label(turn: int, turns: int) -> str:
    left, width = _column(turn, turns)
    return f'<text class="turn" x="{left + width / 2:.1f}" y="{HEIGHT - 8}">{turn}</text>'

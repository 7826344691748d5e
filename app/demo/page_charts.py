"""The charts of the demo's page, drawn as SVG from the rows of the report. Colours are the page's CSS variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from app.demo.report import Row

WIDTH, HEIGHT = 640, 200
LEFT, RIGHT, TOP, BOTTOM = 56, 8, 12, 28
STEPS = (1, 2, 2.5, 5, 10)


def first_token_chart(on: Sequence[Row], off: Sequence[Row]) -> str:
    """The wait for the first token of each turn with the cache, and beside it without; coloured as in the window."""
    top = max([row.ttft_s for row in (*on, *off)], default=0.0)
    scale = Scale(top, lambda value: f"{value:g} s")
    bars = []
    for warm, cold in zip(on, off, strict=True):
        left, width = scale.column(warm.turn, len(on))
        half = width / 2
        said = f"Turn {warm.turn}: {warm.ttft_s:.2f} s with the cache, {cold.ttft_s:.2f} s without"
        bars.append(_bar(scale, left, half - 1, 0, warm.ttft_s, "computed", said))
        bars.append(_bar(scale, left + half + 1, half - 1, 0, cold.ttft_s, "cold", said))
    return _chart("Time to first token", scale, bars, [row.turn for row in on])


def tokens_chart(on: Sequence[Row]) -> str:
    """The prompt of each turn: what was reused, and what was computed on top of it."""
    scale = Scale(max([row.prompt_tokens for row in on], default=0), lambda value: f"{value:,.0f}")
    bars = []
    for row in on:
        left, width = scale.column(row.turn, len(on))
        said = f"Turn {row.turn}: {row.reused_tokens:,} tokens reused, {row.computed_tokens:,} computed"
        bars.append(_bar(scale, left, width, 0, row.reused_tokens, "reused", said))
        bars.append(_bar(scale, left, width, row.reused_tokens, row.computed_tokens, "computed", said))
    return _chart("Tokens of the prompt", scale, bars, [row.turn for row in on])


def memory_chart(on: Sequence[Row]) -> str:
    """What the cache held after each turn, in megabytes."""
    scale = Scale(max([row.cache_bytes for row in on], default=0) / 1e6, lambda value: f"{value:,.0f} MB")
    bars = []
    for row in on:
        left, width = scale.column(row.turn, len(on))
        said = f"Turn {row.turn}: {row.cache_bytes / 1e6:,.0f} MB"
        bars.append(_bar(scale, left, width, 0, row.cache_bytes / 1e6, "reused", said))
    return _chart("Cache memory", scale, bars, [row.turn for row in on])


class Scale:
    """Where values and turns stand: `top` is the greatest value, `words` says one."""

    def __init__(self, top: float, words: Callable[[float], str]) -> None:
        self.words = words
        self.step = nice_step(top)
        self.top = max(self.step, self.step * -(-top // self.step))

    def y(self, value: float) -> float:
        """The height of a value, in pixels from the top."""
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / self.top)

    def column(self, turn: int, turns: int) -> tuple[float, float]:
        """Left edge and width of a turn's bars."""
        pitch = (WIDTH - LEFT - RIGHT) / max(1, turns)
        width = min(pitch * 0.7, 64.0)
        return LEFT + pitch * (turn - 1) + (pitch - width) / 2, width

    def lines(self) -> list[float]:
        """The values that have a line."""
        return [self.step * number for number in range(round(self.top / self.step) + 1)]


def nice_step(top: float) -> float:
    """A round distance of lines, so that there are two to five of them up to `top`."""
    if top <= 0:
        return 1.0
    power = 1.0
    while power * 10 <= top / 4:
        power *= 10
    while power > top / 4:
        power /= 10
    return next(power * step for step in STEPS if power * step >= top / 4)


def _bar(scale: Scale, left: float, width: float, base: float, value: float, name: str, said: str) -> str:
    top, bottom = scale.y(base + value), scale.y(base)
    height = max(bottom - top, 1.0 if value > 0 else 0.0)
    return (
        f'<rect class="{name}" x="{left:.1f}" y="{bottom - height:.1f}" width="{width:.1f}" height="{height:.1f}">'
        f"<title>{escape(said)}</title></rect>"
    )


def _chart(name: str, scale: Scale, bars: Sequence[str], turns: Sequence[int]) -> str:
    grid = [
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{scale.y(value):.1f}" y2="{scale.y(value):.1f}"/>'
        f'<text class="value" x="{LEFT - 8}" y="{scale.y(value) + 4:.1f}">{escape(scale.words(value))}</text>'
        for value in scale.lines()
    ]
    labels = []
    for turn in turns:
        left, width = scale.column(turn, len(turns))
        labels.append(f'<text class="turn" x="{left + width / 2:.1f}" y="{HEIGHT - 8}">{turn}</text>')
    body = "\n".join((*grid, *bars, *labels))
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(name)} of each turn">\n{body}\n</svg>'

"""Figures in words, the same in every part of the window: durations, sizes, counts, and what a turn cost. No Qt."""

from __future__ import annotations

import math
import time
from datetime import datetime

from engine import Divergence, ModelInfo, Preview, Role, Sampling, TurnStats


def seconds(value: float) -> str:
    """A measured duration: "4 ms", "0.11 s", "1.59 s", "14.2 s"."""
    if math.isnan(value):
        return "…"
    if value < 0.01:
        return f"{value * 1000:.0f} ms"
    return f"{value:.2f} s" if value < 10 else f"{value:,.1f} s"


def size(count: float) -> str:
    """Bytes in decimal units: "0 MB", "640 kB", "1.4 MB", "214 MB", "1.0 GB"."""
    number, unit = scaled(count, count)
    return f"{number} {unit}"


def scaled(count: float, whole: float) -> tuple[str, str]:
    """Bytes as a number in the unit that suits `whole`, and that unit."""
    if whole >= 999.5e6:
        return f"{count / 1e9:.1f}", "GB"
    if 0 < whole < 999.5e3:
        return f"{count / 1e3:.0f}", "kB"
    return f"{count / 1e6:.{1 if 0 < whole < 9.95e6 else 0}f}", "MB"


def beside_cache(overhead_bytes: int) -> str:
    """What the engine keeps beside keys and values: "12 MB beside it for texts and token ids", "" below 1 MB."""
    return f"{size(overhead_bytes)} beside it for texts and token ids" if overhead_bytes >= 1_000_000 else ""


def time_ago(age_s: float) -> str:
    """A time that has passed, in whole units: "40 s ago", "3 min ago", "2 h ago", "5 days ago"."""
    if age_s < 60:
        return f"{int(age_s)} s ago"
    if age_s < 3600:
        return f"{int(age_s) // 60} min ago"
    return f"{int(age_s) // 3600} h ago" if age_s < 48 * 3600 else f"{int(age_s) // 86_400} days ago"


def counted(number: int, thing: str) -> str:
    """ "1 token", "3,012 tokens"."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def about_seconds(value: float) -> str:
    """An estimated duration, with a digit less: "1.7 s", "0.10 s"; never less than "0.01 s"."""
    return f"{max(value, 0.01):.2f} s" if value < 1 else f"{value:,.1f} s"


def turn_parts(stats: TurnStats, finish_reason: str = "") -> tuple[str, str, str]:
    """What the strip under an answer says: reused, computed, and the rest in one phrase."""
    rest = [f"{stats.written_tokens:,} written"]
    if stats.ttft_s is not None:
        rest.append(f"first token {seconds(stats.ttft_s)}{_cold(stats)}")
    if stats.tokens_per_s:
        rest.append(f"{stats.tokens_per_s:,.0f} tok/s")
    rest += [ENDINGS[finish_reason]] if finish_reason in ENDINGS else []
    reused = f"{stats.reused_tokens:,} reused{from_disk(stats.disk_tokens)}"
    return reused, f"{stats.computed_tokens:,} computed", " · ".join(rest)


def thought(stats: TurnStats | None, is_running: bool) -> str:
    """The line over a thought: "Thinking… 2.1 s", "Thought for 3.2 s, 140 tokens"; less where less is known."""
    if is_running:
        return f"Thinking… {about_seconds(stats.thought_s)}" if stats and stats.thought_s else "Thinking…"
    if stats is None or not stats.thought_tokens:
        return "Thought"
    return f"Thought for {about_seconds(stats.thought_s)}, {tokens(stats.thought_tokens)}"


def shortened_line(text: str, most: int) -> str:
    """A text on one line, of at most `most` characters."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def from_disk(count: int) -> str:
    """What is said behind a number of reused tokens: " (512 from disk)", or nothing where none were."""
    return f" ({count:,} from disk)" if count else ""


ENDINGS = {
    "length": "length limit",
    "stopped": "stopped",
    "failed": "broken off by an error",
    "interrupted": "broken off when the program ended",
}
"""How an answer ended, where it is not its own end."""


def _cold(stats: TurnStats) -> str:
    """What it would have been cold; nothing to compare where nothing was reused."""
    if not stats.reused_tokens or stats.cold_ttft_s <= 0:
        return ""
    about = "" if stats.cold_measured else "about "
    return f" (cold {about}{about_seconds(stats.cold_ttft_s)})"


def next_prompt(preview: Preview) -> str:
    """What sending now would cost, or that it does not fit."""
    too_many = preview.prompt_tokens - preview.context_length + 1
    if too_many > 0:
        return f"{tokens(too_many)} too long for this model"
    return (
        f"{preview.reused_tokens:,} reused{from_disk(preview.disk_tokens)} · {preview.computed_tokens:,} to compute"
        f" · estimated {about_seconds(preview.seconds)}"
    )


def this_prompt(preview: Preview, done: int) -> str:
    """What became of the prompt that is being answered, of which `done` tokens are computed by now."""
    reused = f"{preview.reused_tokens:,} reused{from_disk(preview.disk_tokens)}"
    total = preview.computed_tokens
    if not done:
        return f"{reused} · {total:,} to compute"
    return f"{reused} · {f'{done:,} of ' if done < total else ''}{total:,} computed"


def recomputes(preview: Preview) -> str:
    """What a change of an earlier message costs."""
    return f"recomputes {tokens(preview.computed_tokens)}, about {about_seconds(preview.seconds)}"


def tokens(count: int) -> str:
    """A number of tokens: "1 token", "3,120 tokens"."""
    return counted(count, "token")


def token_cost(model: ModelInfo) -> str:
    """What the cache takes for each token of this model: "One token costs 22.5 kB"."""
    return f"One token costs {model.kv_bytes_per_token / 1000:,.1f} kB"


def least_budget(model: ModelInfo) -> str:
    """The least that the cache of this model can do with, and why: "189 MB: one whole conversation of 8,192 tokens"."""
    least = model.context_length * model.kv_bytes_per_token
    return f"{size(least)}: one whole conversation of {tokens(model.context_length)}"


def raised_budget(model: ModelInfo, asked_bytes: int) -> str:
    """A sentence where the budget asked for is too little for this model; "" where it is enough, or 0 for automatic."""
    if not 0 < asked_bytes < model.context_length * model.kv_bytes_per_token:
        return ""
    return f"{size(asked_bytes)} is too little for the cache of {model.name}. It takes {least_budget(model)}."


def ordinal(number: int) -> str:
    """ "1st", "2nd", "3rd", "4th"."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def ordinal_message(role: Role, number: int) -> str:
    """A message by its place among those of its role, counted from 1: "your 2nd message", "the 3rd answer"."""
    if role == "system":
        return "the system prompt"
    return {
        "user": f"your {ordinal(number)} message",
        "assistant": f"the {ordinal(number)} answer",
        "tool": f"the {ordinal(number)} tool result",
    }[role]


def context(preview: Preview) -> str:
    """How full the model's context is with the next prompt."""
    return f"Context {preview.prompt_tokens:,} of {preview.context_length:,}"


def reading(done: int, total: int, seconds_left: float) -> str:
    """How far the prompt is read."""
    return f"reading {done:,} of {total:,} tokens, {seconds_left:.1f} s left"


def sampling(values: Sampling, thinking: str = "") -> str:
    """The two settings most people change, and what was chosen about thoughts."""
    chosen = "Greedy" if values.temperature == 0 else f"Temperature {values.temperature:g} · top-p {values.top_p:g}"
    return f"{chosen} · thinking {thinking}" if thinking else chosen


def change_of_prompt(now: Preview, other: Preview) -> str:
    """What it costs to send another prompt in place of the one of now: what is cached of this and not of the other, and
    how much longer that is."""
    again, longer = now.reused_tokens - other.reused_tokens, other.prompt_tokens - now.prompt_tokens
    read = "nothing is read again"
    if abs(again) > 1:
        read = f"about {tokens(again)} are read again" if again > 0 else f"about {tokens(-again)} fewer are read"
    return f"{read}, and each prompt is about {tokens(longer)} longer" if longer > 1 else read


def is_worth_saying(divergence: Divergence, computed_tokens: int) -> bool:
    """Whether a user is told that a prompt was read again: only where more was read again than was new to the model."""
    again = divergence.recomputed_tokens
    return again > 0 and again > computed_tokens - again


def ago(moment: float, now: float | None = None) -> str:
    """When something was last written in, for a list: "now", "5 min ago", "3 h ago", "yesterday", "29 Nov"."""
    now = time.time() if now is None else now
    age = now - moment
    then, today = datetime.fromtimestamp(moment), datetime.fromtimestamp(now)
    if age < 60:
        return "now"
    if age < 3600 or then.date() == today.date():
        return time_ago(age)
    if (today.date() - then.date()).days == 1:
        return "yesterday"
    return then.strftime("%d %b").lstrip("0") if then.year == today.year else then.strftime("%d %b %Y").lstrip("0")

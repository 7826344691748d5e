"""Figures in words, the same in every part of the window: durations, sizes, counts, and what a turn cost. No Qt."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from datetime import datetime, timedelta

from engine import CacheView, Divergence, ModelInfo, Preview, Role, Sampling, TurnStats


def seconds(value: float) -> str:
    """A measured duration: "4 ms", "0.013 s", "0.11 s", "1.59 s", "14.2 s". So many digits that what is said of two of
    them can be worked out from what is shown."""
    if math.isnan(value):
        return "…"
    if value < 0.01:
        return f"{value * 1000:.0f} ms"
    if value < 0.0995:
        return f"{value:.3f} s"
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


def behind_gpu(memory_bytes: int) -> str:
    """What of the cache lies in main memory because the GPU had no room for it any more; "" where nothing does."""
    return f"{size(memory_bytes)} in main memory behind the GPU" if memory_bytes else ""


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


LEAST_ESTIMATE_S = 0.5
"""What reading from scratch would take is not said where the estimate is below this: nobody waits for so little."""
ERROR = 0.25
"""The share of an estimate that it may be off (row E1 of tests/bench)."""


def about_seconds(value: float) -> str:
    """An estimated duration without false digits: "0.2 s", "1.7 s", "14 s", "3 min"; never less than "0.01 s"."""
    value = max(value, 0.01)
    return f"{_rounded(value)} s" if value < 120 else f"{_rounded(value / 60)} min"


def estimated_seconds(value: float) -> str:
    """An estimated duration as the span in which it lies: "3 to 5 s", "1.5 to 2 min"."""
    unit, name = (1.0, "s") if value < 120 else (60.0, "min")
    low, high = _rounded((1 - ERROR) * value / unit), _rounded((1 + ERROR) * value / unit)
    return f"{low} to {high} {name}" if low != high else f"{low} {name}"


def _rounded(value: float) -> str:
    """One digit that says something, two behind a leading 1 and above 10: "0.2", "1.7", "14", "140"."""
    power = math.floor(math.log10(value))
    leading = f"{value:.1e}"[:3]
    digits = 2 if power >= 1 or (leading[0] == "1" and leading != "1.0") else 1
    places = digits - 1 - power
    return f"{round(value, places):,.{max(0, places)}f}"


def knows_cold(stats: TurnStats) -> bool:
    """Whether it is said what a turn would have taken from scratch: it was measured, or the estimate is worth it."""
    return stats.cold_measured or stats.cold_ttft_s >= LEAST_ESTIMATE_S


def cold_time(stats: TurnStats) -> str:
    """What a turn would have taken from scratch: "3.45 s" where that was measured, else "about 3 to 5 s"."""
    return seconds(stats.cold_ttft_s) if stats.cold_measured else f"about {estimated_seconds(stats.cold_ttft_s)}"


def times_sooner(ttft_s: float, cold_s: float, measured: bool) -> str:
    """How much sooner the first word came: "19 times sooner", "about 20 times sooner"; "" where that is too little to
    tell it from an error of measurement or of the estimate."""
    ratio = cold_s / ttft_s if ttft_s > 0 else 0.0
    if ratio < (1.1 if measured else 1 / (1 - ERROR)):
        return ""
    if measured:
        return f"{ratio:.1f} times sooner" if ratio < 3 else f"{ratio:,.0f} times sooner"
    step = 0.5 if ratio < 3 else 1 if ratio < 10 else 5 if ratio < 100 else 50
    return f"about {round(ratio / step) * step:,.{1 if step < 1 else 0}f} times sooner"


def result(stats: TurnStats, finish_reason: str = "") -> tuple[str, str]:
    """The line under an answer: what came of it, and behind it what that is to be compared with."""
    ending = ENDINGS.get(finish_reason, "")
    if stats.ttft_s is None:
        return "", ending
    after = f"irst word after {seconds(stats.ttft_s)}"
    if not stats.reused_tokens:
        is_long = stats.ttft_s >= LEAST_ESTIMATE_S
        return (
            (f"F{after}", _joined("", ending)) if not is_long else ("", _joined(f"Read from scratch: f{after}", ending))
        )
    if not knows_cold(stats):
        return f"F{after}", _joined("", ending)
    share = _shares(stats)
    if times_sooner(stats.ttft_s, stats.cold_ttft_s, stats.cold_measured):
        return f"F{after}", _joined(f"instead of {cold_time(stats)}, {share}", ending)
    return f"F{after}", _joined(f"no sooner than from scratch, {share}", ending)


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)


def _shares(stats: TurnStats) -> str:
    """ "87% remembered, 12% read ahead", as far as either was."""
    remembered = stats.reused_tokens - stats.ahead_tokens
    parts = [f"{percent(remembered, stats.prompt_tokens)} remembered{_disk_words(stats)}"] if remembered else []
    parts += [f"{percent(stats.ahead_tokens, stats.prompt_tokens)} read ahead"] if stats.ahead_tokens else []
    return ", ".join(parts)


def _disk_words(stats: TurnStats) -> str:
    return ", from disk" if 2 * stats.disk_tokens > stats.reused_tokens else ""


def figures(stats: TurnStats) -> str:
    """The figures of a turn in one line: tokens remembered, read and written, and how quickly."""
    remembered = stats.reused_tokens - stats.ahead_tokens
    parts = [
        f"{remembered:,} of {tokens(stats.prompt_tokens)} remembered{from_disk(stats.disk_tokens)}",
        *([f"{stats.ahead_tokens:,} read ahead"] if stats.ahead_tokens else []),
        f"{stats.computed_tokens:,} read",
        f"{stats.written_tokens:,} written",
    ]
    parts += [f"{stats.tokens_per_s:,.0f} tokens a second"] if stats.tokens_per_s else []
    parts += [written_ahead(stats)] if stats.guessed_tokens else []
    return " · ".join(parts)


def written_ahead(stats: TurnStats) -> str:
    """What writing ahead gave: "1.8 tokens a pass written ahead, 84 of 120 guesses held"; "" where it tried nothing."""
    if not stats.guessed_tokens:
        return ""
    each = (
        f"{stats.accepted_tokens / stats.passes:.1f} tokens a pass written ahead" if stats.passes else "written ahead"
    )
    return f"{each}, {stats.accepted_tokens:,} of {stats.guessed_tokens:,} guesses held"


def percent(part: int, whole: int) -> str:
    """A share of tokens: "<1%" below 1%; 100% only where it is all of them, 0% only where it is none."""
    if not whole:
        return "0%"
    share = 100 * part / whole
    if 0 < share < 1:
        return "<1%"
    return f"{min(share, 99.0) if part < whole else share:.0f}%"


def thought(stats: TurnStats | None, is_running: bool) -> str:
    """The line over a thought: "Thinking… 2.1 s", "Thought for 3.2 s, 140 tokens"; less where less is known."""
    if is_running:
        return f"Thinking… {_short(stats.thought_s)}" if stats and stats.thought_s else "Thinking…"
    if stats is None or not stats.thought_tokens:
        return "Thought"
    return f"Thought for {_short(stats.thought_s)}, {tokens(stats.thought_tokens)}"


def _short(value: float) -> str:
    return f"{max(value, 0.01):.2f} s" if value < 1 else f"{value:,.1f} s"


def shortened_line(text: str, most: int) -> str:
    """A text on one line, of at most `most` characters."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def from_disk(count: int) -> str:
    """What is said behind a number of remembered tokens: " (512 from disk)", or nothing where none were."""
    return f" ({count:,} from disk)" if count else ""


ENDINGS = {
    "length": "length limit",
    "stopped": "stopped",
    "failed": "broken off by an error",
    "interrupted": "broken off when the program ended",
    "edited": "written by you",
}
"""How an answer ended, where it is not its own end."""


def next_prompt(preview: Preview) -> str:
    """What sending now would cost, or that it does not fit."""
    too_many = preview.prompt_tokens - preview.context_length + 1
    if too_many > 0:
        return f"{tokens(too_many)} too long for this model"
    if preview.is_elsewhere:
        had = f"the first {preview.reused_tokens:,} as sent before" if preview.reused_tokens else ""
        return _joined(tokens(preview.prompt_tokens), had)
    first_word = f"first word in about {about_seconds(preview.seconds)}"
    if not preview.ahead_tokens:
        return _joined(_remembered(preview), first_word)
    remembered = preview.reused_tokens - preview.ahead_tokens  # without the whole: there is no room for it
    return _joined(f"{remembered:,} remembered{from_disk(preview.disk_tokens)}", read_ahead(preview), first_word)


def read_ahead(preview: Preview) -> str:
    """How much of what no turn before has left is read already: "read ahead: 212 of 230"; "" where nothing is."""
    ahead = preview.ahead_tokens
    return f"read ahead: {ahead:,} of {ahead + preview.computed_tokens:,}" if ahead else ""


def this_prompt(preview: Preview, done: int) -> str:
    """What became of the prompt that is being answered, of which `done` tokens are computed by now."""
    total = preview.computed_tokens
    before = _joined(_remembered(preview), f"{preview.ahead_tokens:,} read ahead" if preview.ahead_tokens else "")
    if not done:
        return f"{before} · {total:,} to read"
    return f"{before} · {f'{done:,} of ' if done < total else ''}{total:,} read"


def cost_of_reading_ahead(view: CacheView) -> str:
    """A sentence on what was read ahead in vain so far; "" where nothing was read ahead."""
    if not view.ahead_tokens:
        return ""
    sent = "all of them were sent" if not view.unasked_tokens else f"{view.unasked_tokens:,} of them nobody sent so far"
    return f"{tokens(view.ahead_tokens)} were read ahead since the model was opened; {sent}."


def _remembered(preview: Preview) -> str:
    disk = from_disk(preview.disk_tokens)
    return f"{preview.reused_tokens - preview.ahead_tokens:,} of {tokens(preview.prompt_tokens)} remembered{disk}"


def recomputes(preview: Preview) -> str:
    """What a change of an earlier message costs."""
    are = "is" if preview.computed_tokens == 1 else "are"
    if preview.is_elsewhere:
        return f"{tokens(preview.computed_tokens)} {are} others than sent before"
    return f"{tokens(preview.computed_tokens)} {are} read again, about {about_seconds(preview.seconds)}"


def tokens(count: int) -> str:
    """A number of tokens: "1 token", "3,120 tokens"."""
    return counted(count, "token")


def token_cost(model: ModelInfo) -> str:
    """What the cache takes for each token of this model: "One token costs 22.5 kB"; "" for one on a server, which
    costs no memory here."""
    cost = model.cached_bytes_per_token
    return f"One token costs {cost / 1000:,.1f} kB" if cost else ""


def least_budget(model: ModelInfo) -> str:
    """The least that the cache of this model can do with, and why: "189 MB: one whole conversation of 8,192 tokens"."""
    least = model.context_length * model.kv_bytes_per_token
    return f"{size(least)}: one whole conversation of {tokens(model.context_length)}"


def raised_budget(model: ModelInfo, asked_bytes: int) -> str:
    """A sentence where the budget asked for is too little for this model; "" where it is enough, or 0 for automatic."""
    if not 0 < asked_bytes < model.context_length * model.kv_bytes_per_token:
        return ""
    return f"{size(asked_bytes)} is too little memory for {model.name}. It takes {least_budget(model)}."


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
    """How much of the model's context is left with the next prompt."""
    left = max(0, preview.context_length - preview.prompt_tokens)
    return f"Room left: {percent(left, preview.context_length)} of {tokens(preview.context_length)}"


def reading(done: int, total: int, seconds_left: float) -> str:
    """How far the prompt is read."""
    left = f", about {about_seconds(seconds_left)} left" if done < total else ""
    return f"reading {done:,} of {total:,} tokens{left}"


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


MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def day_group(moment: float, now: float) -> tuple[str, float, float]:
    """Under which heading a list puts a moment ("Today", "Yesterday", "Previous 7 days", "November", "March 2025"), and
    from when to when that holds. What lies ahead, by a clock that was set back, is of today."""
    today = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    begins = today.timestamp()
    if moment >= begins:
        return "Today", begins, math.inf
    for name, days in (("Yesterday", 1), ("Previous 7 days", 7)):
        begins, ends = (today - timedelta(days=days)).timestamp(), begins
        if moment >= begins:
            return name, begins, ends
    first = datetime.fromtimestamp(moment).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    following = (first + timedelta(days=32)).replace(day=1)
    name = MONTHS[first.month - 1] + ("" if first.year == today.year else f" {first.year}")
    return name, first.timestamp(), min(begins, following.timestamp())


def day_headings(moments: Iterable[float], now: float) -> dict[int, str]:
    """The headings between rows of a list that were last used then: each by the number of the row it stands above."""
    headings: dict[int, str] = {}
    name, begins, ends = "", math.inf, -math.inf
    for number, moment in enumerate(moments):
        if not begins <= moment < ends:
            before, (name, begins, ends) = name, day_group(moment, now)
            if name != before:
                headings[number] = name
    return headings

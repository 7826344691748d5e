"""Figures in words, the same in every part of the window: durations, sizes, counts, and what a turn cost. No Qt."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from datetime import datetime, timedelta

from app.language import numeral, plural, tr
from engine import CacheView, Divergence, ModelInfo, Preview, Role, Sampling, TurnStats


def seconds(value: float) -> str:
    """A measured duration: "4 ms", "0.013 s", "0.11 s", "1.59 s", "14.2 s". So many digits that what is said of two of
    them can be worked out from what is shown."""
    if math.isnan(value):
        return "…"
    if value < 0.01:
        return tr("{value:.0f} ms", value=value * 1000)
    if value < 0.0995:
        return tr("{value:.3f} s", value=value)
    return tr("{value:.2f} s", value=value) if value < 10 else tr("{value:,.1f} s", value=value)


def size(count: float) -> str:
    """Bytes in decimal units: "0 MB", "640 kB", "1.4 MB", "214 MB", "1.0 GB"."""
    number, unit = scaled(count, count)
    return f"{number} {unit}"


def scaled(count: float, whole: float) -> tuple[str, str]:
    """Bytes as a number in the unit that suits `whole`, and that unit."""
    if whole >= 999.5e6:
        return numeral(count / 1000000000.0, ".1f"), "GB"
    if 0 < whole < 999.5e3:
        return numeral(count / 1000.0, ".0f"), "kB"
    return numeral(count / 1000000.0, f".{(1 if 0 < whole < 9950000.0 else 0)}f"), "MB"


def behind_gpu(memory_bytes: int) -> str:
    """What of the cache lies in main memory because the GPU had no room for it any more; "" where nothing does."""
    return tr("{size} in main memory behind the GPU", size=size(memory_bytes)) if memory_bytes else ""


def beside_cache(overhead_bytes: int) -> str:
    """What the engine keeps beside keys and values: "12 MB beside it for texts and token ids", "" below 1 MB."""
    return (
        tr("{size} beside it for texts and token ids", size=size(overhead_bytes)) if overhead_bytes >= 1_000_000 else ""
    )


def time_ago(age_s: float) -> str:
    """A time that has passed, in whole units: "40 s ago", "3 min ago", "2 h ago", "5 days ago"."""
    if age_s < 60:
        return tr("{age_s} s ago", age_s=int(age_s))
    if age_s < 3600:
        return tr("{age_s} min ago", age_s=int(age_s) // 60)
    return (
        tr("{age_s} h ago", age_s=int(age_s) // 3600)
        if age_s < 48 * 3600
        else tr("{age_s} days ago", age_s=int(age_s) // 86400)
    )


LEAST_ESTIMATE_S = 0.5
"""What reading from scratch would take is not said where the estimate is below this: nobody waits for so little."""
ERROR = 0.25
"""The share of an estimate that it may be off (row E1 of tests/bench)."""


def about_seconds(value: float) -> str:
    """An estimated duration without false digits: "0.2 s", "1.7 s", "14 s", "3 min"; never less than "0.01 s"."""
    value = max(value, 0.01)
    return f"{_rounded(value)} s" if value < 120 else tr("{rounded} min", rounded=_rounded(value / 60))


def estimated_seconds(value: float) -> str:
    """An estimated duration as the span in which it lies: "3 to 5 s", "1.5 to 2 min"."""
    unit, name = (1.0, "s") if value < 120 else (60.0, "min")
    low, high = _rounded((1 - ERROR) * value / unit), _rounded((1 + ERROR) * value / unit)
    return tr("{low} to {high} {name}", low=low, high=high, name=name) if low != high else f"{low} {name}"


def _rounded(value: float) -> str:
    """One digit that says something, two behind a leading 1 and above 10: "0.2", "1.7", "14", "140"."""
    power = math.floor(math.log10(value))
    leading = f"{value:.1e}"[:3]
    digits = 2 if power >= 1 or (leading[0] == "1" and leading != "1.0") else 1
    places = digits - 1 - power
    return numeral(round(value, places), f",.{max(0, places)}f")


def knows_cold(stats: TurnStats) -> bool:
    """Whether it is said what a turn would have taken from scratch: it was measured, or the estimate is worth it."""
    return stats.cold_measured or stats.cold_ttft_s >= LEAST_ESTIMATE_S


def is_sooner(stats: TurnStats) -> bool:
    """Whether the cache made the first word come sooner than from scratch, as far as that is said."""
    if stats.ttft_s is None or not stats.reused_tokens or not knows_cold(stats):
        return False
    return bool(times_sooner(stats.ttft_s, stats.cold_ttft_s, stats.cold_measured))


def cold_time(stats: TurnStats) -> str:
    """What a turn would have taken from scratch: "3.45 s" where that was measured, else "about 3 to 5 s"."""
    return (
        seconds(stats.cold_ttft_s)
        if stats.cold_measured
        else tr("about {estimated_seconds}", estimated_seconds=estimated_seconds(stats.cold_ttft_s))
    )


def times_sooner(ttft_s: float, cold_s: float, measured: bool) -> str:
    """How much sooner the first word came: "19 times sooner", "about 20 times sooner"; "" where that is too little to
    tell it from an error of measurement or of the estimate."""
    ratio = cold_s / ttft_s if ttft_s > 0 else 0.0
    if ratio < (1.1 if measured else 1 / (1 - ERROR)):
        return ""
    if measured:
        return (
            tr("{ratio:.1f} times sooner", ratio=ratio) if ratio < 3 else tr("{ratio:,.0f} times sooner", ratio=ratio)
        )
    step = 0.5 if ratio < 3 else 1 if ratio < 10 else 5 if ratio < 100 else 50
    return tr("about {ratio} times sooner", ratio=numeral(round(ratio / step) * step, f",.{(1 if step < 1 else 0)}f"))


def is_told(stats: TurnStats) -> bool:
    """Whether it is known what of the prompt was reused. A server that answers need not say it."""
    return bool(stats.reused_tokens or stats.computed_tokens)


def result(stats: TurnStats, finish_reason: str = "") -> tuple[str, str]:
    """The line under an answer: what came of it, and behind it what that is to be compared with."""
    ending = ENDINGS.get(finish_reason, "")
    if stats.ttft_s is None:
        return "", ending
    time = seconds(stats.ttft_s)
    after = tr("First word after {time}", time=time)
    if is_told(stats) and not stats.reused_tokens and stats.ttft_s >= LEAST_ESTIMATE_S:
        return "", _joined(tr("Read from scratch: first word after {time}", time=time), ending)
    if not stats.reused_tokens or not knows_cold(stats):
        return after, _joined("", ending)
    share = _shares(stats)
    if is_sooner(stats):
        return after, _joined(tr("instead of {cold_time}, {share}", cold_time=cold_time(stats), share=share), ending)
    return after, _joined(tr("no sooner than from scratch, {share}", share=share), ending)


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)


def _shares(stats: TurnStats) -> str:
    """ "87% remembered, 12% read ahead", as far as either was."""
    remembered = stats.reused_tokens - stats.ahead_tokens
    parts = (
        [
            tr(
                "{percent} remembered{disk_words}",
                percent=percent(remembered, stats.prompt_tokens),
                disk_words=_disk_words(stats),
            )
        ]
        if remembered
        else []
    )
    parts += (
        [tr("{percent} read ahead", percent=percent(stats.ahead_tokens, stats.prompt_tokens))]
        if stats.ahead_tokens
        else []
    )
    return ", ".join(parts)


def _disk_words(stats: TurnStats) -> str:
    return tr(", from disk") if 2 * stats.disk_tokens > stats.reused_tokens else ""


def figures(stats: TurnStats) -> str:
    """The figures of a turn in one line: tokens remembered, read and written, and how quickly."""
    parts = _read_of(stats)
    parts += [tr("{written_tokens:,} written", written_tokens=stats.written_tokens)]
    parts += [tr("{tokens_per_s:,.0f} tokens a second", tokens_per_s=stats.tokens_per_s)] if stats.tokens_per_s else []
    parts += [written_ahead(stats)] if stats.guessed_tokens else []
    return " · ".join(parts)


def _read_of(stats: TurnStats) -> list[str]:
    """What became of the prompt's tokens; of a server that does not say it, only how many there are."""
    if not is_told(stats):
        return [tokens(stats.prompt_tokens)]
    return [
        tr(
            "{remembered:,} of {tokens} remembered{from_disk}",
            remembered=stats.reused_tokens - stats.ahead_tokens,
            tokens=tokens(stats.prompt_tokens),
            from_disk=from_disk(stats.disk_tokens),
        ),
        *([tr("{ahead_tokens:,} read ahead", ahead_tokens=stats.ahead_tokens)] if stats.ahead_tokens else []),
        tr("{computed_tokens:,} read", computed_tokens=stats.computed_tokens),
    ]


def written_ahead(stats: TurnStats) -> str:
    """What writing ahead gave: "1.8 tokens a pass written ahead, 84 of 120 guesses held"; "" where it tried nothing."""
    if not stats.guessed_tokens:
        return ""
    each = (
        tr("{accepted_tokens:.1f} tokens a pass written ahead", accepted_tokens=stats.accepted_tokens / stats.passes)
        if stats.passes
        else tr("written ahead")
    )
    return tr(
        "{each}, {accepted_tokens:,} of {guessed_tokens:,} guesses held",
        each=each,
        accepted_tokens=stats.accepted_tokens,
        guessed_tokens=stats.guessed_tokens,
    )


def percent(part: int, whole: int) -> str:
    """A share of tokens: "<1%" below 1%; 100% only where it is all of them, 0% only where it is none."""
    if not whole:
        return "0%"
    share = 100 * part / whole
    if 0 < share < 1:
        return "<1%"
    return tr("{words:.0f}%", words=min(share, 99.0) if part < whole else share)


def thought(stats: TurnStats | None, is_running: bool) -> str:
    """The line over a thought: "Thinking… 2.1 s", "Thought for 3.2 s, 140 tokens"; less where less is known."""
    if is_running:
        return tr("Thinking… {short}", short=_short(stats.thought_s)) if stats and stats.thought_s else tr("Thinking…")
    if stats is None or not stats.thought_tokens:
        return tr("Thought")
    return tr("Thought for {short}, {tokens}", short=_short(stats.thought_s), tokens=tokens(stats.thought_tokens))


def _short(value: float) -> str:
    return tr("{max:.2f} s", max=max(value, 0.01)) if value < 1 else tr("{value:,.1f} s", value=value)


def shortened_line(text: str, most: int) -> str:
    """A text on one line, of at most `most` characters."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def from_disk(count: int) -> str:
    """What is said behind a number of remembered tokens: " (512 from disk)", or nothing where none were."""
    return tr(" ({count:,} from disk)", count=count) if count else ""


AT_ONCE_S = 0.1

ENDINGS = {
    "length": tr("length limit"),
    "stopped": tr("stopped"),
    "failed": tr("broken off by an error"),
    "interrupted": tr("broken off when the program ended"),
    "edited": tr("written by you"),
}
"""How an answer ended, where it is not its own end."""


def next_prompt(preview: Preview) -> str:
    """What sending now would cost, or that it does not fit."""
    too_many = preview.prompt_tokens - preview.context_length + 1
    if too_many > 0:
        return tr("{tokens} too long for this model", tokens=tokens(too_many))
    if preview.is_elsewhere:
        had = (
            tr("the first {reused_tokens:,} as sent before", reused_tokens=preview.reused_tokens)
            if preview.reused_tokens
            else ""
        )
        return _joined(tokens(preview.prompt_tokens), had)
    if not preview.ahead_tokens:
        return _joined(_remembered(preview), _first_word(preview.seconds))
    remembered = preview.reused_tokens - preview.ahead_tokens  # without the whole: there is no room for it
    return _joined(
        tr("{remembered:,} remembered{from_disk}", remembered=remembered, from_disk=from_disk(preview.disk_tokens)),
        read_ahead(preview),
        _first_word(preview.seconds),
    )


def _first_word(foreseen_s: float) -> str:
    """When the first word comes. Below a tenth of a second it hangs on more than on the tokens to read."""
    if foreseen_s < AT_ONCE_S:
        return tr("first word in under 0.1 s")
    return tr("first word in about {about_seconds}", about_seconds=about_seconds(foreseen_s))


def read_ahead(preview: Preview) -> str:
    """How much of what no turn before has left is read already: "read ahead: 212 of 230"; "" where nothing is."""
    ahead = preview.ahead_tokens
    return (
        tr("read ahead: {ahead:,} of {ahead2:,}", ahead=ahead, ahead2=ahead + preview.computed_tokens) if ahead else ""
    )


def this_prompt(preview: Preview, done: int) -> str:
    """What became of the prompt that is being answered, of which `done` tokens are computed by now."""
    total = preview.computed_tokens
    before = _joined(
        _remembered(preview),
        tr("{ahead_tokens:,} read ahead", ahead_tokens=preview.ahead_tokens) if preview.ahead_tokens else "",
    )
    if not done:
        return tr("{before} · {total:,} to read", before=before, total=total)
    return tr(
        "{before} · {words}{total:,} read",
        before=before,
        words=tr("{done:,} of ", done=done) if done < total else "",
        total=total,
    )


def cost_of_reading_ahead(view: CacheView) -> str:
    """A sentence on what was read ahead in vain so far; "" where nothing was read ahead."""
    if not view.ahead_tokens:
        return ""
    sent = (
        tr("all of them were sent")
        if not view.unasked_tokens
        else tr("{unasked_tokens:,} of them nobody sent so far", unasked_tokens=view.unasked_tokens)
    )
    return tr(
        "{tokens} were read ahead since the model was opened; {sent}.", tokens=tokens(view.ahead_tokens), sent=sent
    )


def _remembered(preview: Preview) -> str:
    disk = from_disk(preview.disk_tokens)
    return tr(
        "{reused_tokens:,} of {tokens} remembered{disk}",
        reused_tokens=preview.reused_tokens - preview.ahead_tokens,
        tokens=tokens(preview.prompt_tokens),
        disk=disk,
    )


def recomputes(preview: Preview) -> str:
    """What a change of an earlier message costs."""
    count = preview.computed_tokens
    if preview.is_elsewhere:
        return plural(
            "{count:,} token is another than sent before", "{count:,} tokens are others than sent before", count
        )
    return plural(
        "{count:,} token is read again, about {time}",
        "{count:,} tokens are read again, about {time}",
        count,
        time=about_seconds(preview.seconds),
    )


def tokens(count: int) -> str:
    """A number of tokens: "1 token", "3,120 tokens"."""
    return plural("{count:,} token", "{count:,} tokens", count)


def token_cost(model: ModelInfo) -> str:
    """What the cache takes for each token of this model: "One token costs 22.5 kB"; "" for one on a server, which
    costs no memory here."""
    cost = model.cached_bytes_per_token
    return tr("One token costs {cost:,.1f} kB", cost=cost / 1000) if cost else ""


def least_budget(model: ModelInfo) -> str:
    """The least that the cache of this model can do with, and why: "189 MB: one whole conversation of 8,192 tokens"."""
    least = model.context_length * model.kv_bytes_per_token
    return tr("{size}: one whole conversation of {tokens}", size=size(least), tokens=tokens(model.context_length))


def raised_budget(model: ModelInfo, asked_bytes: int) -> str:
    """A sentence where the budget asked for is too little for this model; "" where it is enough, or 0 for automatic."""
    if not 0 < asked_bytes < model.context_length * model.kv_bytes_per_token:
        return ""
    return tr(
        "{size} is too little memory for {name}. It takes {least_budget}.",
        size=size(asked_bytes),
        name=model.name,
        least_budget=least_budget(model),
    )


def ordinal(number: int) -> str:
    """ "1st", "2nd", "3rd", "4th"."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return tr("{number:,}{ending}", about="1st, 2nd, 3rd", number=number, ending=ending)


def ordinal_message(role: Role, number: int) -> str:
    """A message by its place among those of its role, counted from 1: "your 2nd message", "the 3rd answer"."""
    if role == "system":
        return tr("the system prompt")
    return {
        "user": tr("your {ordinal} message", ordinal=ordinal(number)),
        "assistant": tr("the {ordinal} answer", ordinal=ordinal(number)),
        "tool": tr("the {ordinal} tool result", ordinal=ordinal(number)),
    }[role]


def context(preview: Preview) -> str:
    """How much of the model's context is left with the next prompt."""
    left = max(0, preview.context_length - preview.prompt_tokens)
    return tr(
        "Room left: {percent} of {tokens}",
        percent=percent(left, preview.context_length),
        tokens=tokens(preview.context_length),
    )


def reading(done: int, total: int, seconds_left: float) -> str:
    """How far the prompt is read."""
    left = tr(", about {about_seconds} left", about_seconds=about_seconds(seconds_left)) if done < total else ""
    return tr("reading {done:,} of {total:,} tokens{left}", done=done, total=total, left=left)


def sampling(values: Sampling, thinking: str = "") -> str:
    """The two settings most people change, and what was chosen about thoughts."""
    chosen = (
        tr("Greedy")
        if values.temperature == 0
        else tr("Temperature {temperature:g} · top-p {top_p:g}", temperature=values.temperature, top_p=values.top_p)
    )
    return tr("{chosen} · thinking {thinking}", chosen=chosen, thinking=thinking) if thinking else chosen


def change_of_prompt(now: Preview, other: Preview) -> str:
    """What it costs to send another prompt in place of the one of now: what is cached of this and not of the other, and
    how much longer that is."""
    again, longer = now.reused_tokens - other.reused_tokens, other.prompt_tokens - now.prompt_tokens
    read = tr("nothing is read again")
    if abs(again) > 1:
        read = (
            tr("about {tokens} are read again", tokens=tokens(again))
            if again > 0
            else tr("about {tokens} fewer are read", tokens=tokens(-again))
        )
    return (
        tr("{read}, and each prompt is about {tokens} longer", read=read, tokens=tokens(longer)) if longer > 1 else read
    )


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
        return tr("now")
    if age < 3600 or then.date() == today.date():
        return time_ago(age)
    if (today.date() - then.date()).days == 1:
        return tr("yesterday")
    day = tr("{day} {month}", day=then.day, month=MONTHS[then.month - 1][:3])
    return day if then.year == today.year else f"{day} {then.year}"


MONTHS = (
    *(tr("January"), tr("February"), tr("March"), tr("April"), tr("May"), tr("June")),
    *(tr("July"), tr("August"), tr("September"), tr("October"), tr("November"), tr("December")),
)


def day_group(moment: float, now: float) -> tuple[str, float, float]:
    """Under which heading a list puts a moment ("Today", "Yesterday", "Previous 7 days", "November", "March 2025"), and
    from when to when that holds. What lies ahead, by a clock that was set back, is of today."""
    today = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    begins = today.timestamp()
    if moment >= begins:
        return tr("Today"), begins, math.inf
    for name, days in ((tr("Yesterday"), 1), (tr("Previous 7 days"), 7)):
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

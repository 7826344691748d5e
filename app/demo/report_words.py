"""What the demo's figures say, in sentences and as the table for the terminal. No Qt."""

from __future__ import annotations

from collections.abc import Sequence

from app.demo.report import Pair, Report, Row, times_sooner
from app.proof.compare import FAULT, NEAR_TIE, Parted

MOST_NAMED = 3
"""So many turns that were not sooner are named one by one."""
MISSED_SHARE = 0.1
"""Where less than this share of a prompt was reused, both runs read nearly all of it."""


def as_table(report: Report) -> str:
    """A line for each turn, and the sentences that belong under them."""
    model = report.model
    lines = [
        f"{model.name} on {model.device}, {model.dtype}{', near' if model.near else ''}",
        "",
        "            tokens of the prompt         first token             tokens a second",
        "turn    total   reused computed      on     off  sooner            on      off",
    ]
    if report.rows("ahead"):
        lines[-2] += "   read ahead"
        lines[-1] += "    left   first token"
    lines += [_table_line(on, off, report.ahead(on.turn)) for on, off in report.pairs()]
    return "\n".join([*lines, "", *filter(None, sentences(report))])


def sentences(report: Report) -> tuple[str, ...]:
    """All that is said of the figures; "" stands for what this demo did not play."""
    return gain(report), gain_ahead(report), gain_written(report), agreement(report)


def gain(report: Report) -> str:
    """What the cache saved, and which turns were not sooner."""
    pairs = report.pairs()[1:]
    if not pairs:
        return "One turn is always cold: play two or more to see what the cache saves."
    others = [pair for pair in pairs if _is_miss(pair) or _times(pair) < 1.05]
    sooner = [pair for pair in pairs if pair not in others]
    sentences = [_sooner(sooner, of_all=not others)] if sooner else []
    sentences += map(_other, others) if len(others) <= MOST_NAMED else [_many(len(others))]
    return " ".join([*sentences, _total(pairs)])


def gain_ahead(report: Report) -> str:
    """What it gave on top of the cache to read the questions while they were typed; "" where that was not played."""
    both = zip(report.rows("ahead"), report.rows("on"), strict=False)
    pairs = [(row, on) for row, on in both if row.ttft_s > 0 and on.reused_tokens]  # the first one is cold without it
    if not pairs:
        return ""
    values = sorted(on.ttft_s / row.ttft_s for row, on in pairs)
    low, high = f"{values[0]:.1f}", f"{values[-1]:.1f}"
    read = sum(row.ahead_tokens for row, _ in pairs)
    times = low if low == high else f"{low} to {high}"
    return f"Read ahead while they were typed, {read:,} tokens in all, the first token came {times} times sooner still."


def gain_written(report: Report) -> str:
    """How many tokens of the answers were written ahead; "" where none were."""
    rows = report.rows("ahead") or report.rows("on")
    accepted, passes = sum(row.accepted_tokens for row in rows), sum(row.passes for row in rows)
    if not accepted or not passes:
        return ""
    return (
        f"Written ahead, by guesses that held, were {accepted:,} tokens of the answers:"
        f" each of {passes:,} passes of the model wrote {1 + accepted / passes:.2f} tokens instead of one."
    )


def agreement(report: Report) -> str:
    """Whether both runs wrote the same, and why not where they did not."""
    count = len(report.rows("on"))
    if not report.parted:
        return f"All answers are equal with the cache and without, token by token{_in_all(count)}."
    parts = ", ".join(map(_parting, report.parted))
    return f"The answers are equal in {count - len(report.parted)} of {count} turns. They part {parts}. {_why(report)}"


def _times(pair: Pair) -> float:
    on, off = pair
    return off.ttft_s / on.ttft_s if on.ttft_s > 0 else 1.0


def _is_miss(pair: Pair) -> bool:
    return MISSED_SHARE * pair[0].prompt_tokens > pair[0].reused_tokens


def _sooner(pairs: Sequence[Pair], of_all: bool) -> str:
    values = sorted(map(_times, pairs))
    low, high = f"{values[0]:.1f}", f"{values[-1]:.1f}"
    times = low if low == high else f"{low} to {high}"
    turns = "From turn 2 on" if of_all and len(pairs) > 1 else f"In {_turns(pairs)}"
    return f"{turns} the first token came {times} times sooner with the cache."


def _turns(pairs: Sequence[Pair]) -> str:
    numbers = [str(on.turn) for on, _ in pairs]
    return f"turn {numbers[0]}" if len(numbers) == 1 else f"turns {', '.join(numbers[:-1])} and {numbers[-1]}"


def _other(pair: Pair) -> str:
    """Say of a turn that it read nearly everything again, or why else it was not sooner."""
    on, times = pair[0], _times(pair)
    if times >= 1.05:
        pace = f"was {times:.1f} times sooner, but by chance:"
    elif times > 1 / 1.05:
        pace = "was not sooner:"
    else:
        pace = f"was not sooner, it took about {1 / times:.1f} times as long as without the cache:"
    reused = f"{on.reused_tokens:,} of its {on.prompt_tokens:,} tokens could be reused"
    if _is_miss(pair):
        return f"Turn {on.turn} {pace} just {reused}, so that both runs read nearly all of the prompt."
    return f"Turn {on.turn} {pace} {reused}, but the machine was slower than in the run without."


def _many(count: int) -> str:
    return f"In {count} turns it came no sooner or little could be reused; the table names them."


def _total(pairs: Sequence[Pair]) -> str:
    seconds = sum(off.ttft_s - on.ttft_s for on, off in pairs)
    reused = f"{sum(on.reused_tokens for on, _ in pairs):,} tokens"
    if seconds < 0.05:
        return f"In all, {reused} were saved, but no time."
    return f"In all, {seconds:.1f} s and {reused} were saved."


def _in_all(count: int) -> str:
    return "" if count == 1 else " in both turns" if count == 2 else f" in all {count} turns"


def _parting(parted: Parted) -> str:
    if not parted.token:
        return f"at the first token in turn {parted.turn}"
    return f"after {parted.token} equal token{'s' * (parted.token > 1)} in turn {parted.turn}"


def _why(report: Report) -> str:
    """What a reader is to make of answers that part."""
    if not report.model.near:
        return FAULT
    apart = [parted.turn for parted in report.parted if parted.margin is not None and parted.margin >= NEAR_TIE]
    said = (
        "Where two tokens are nearly equally likely, the two runs may choose different ones, and the answers part from "
        f"there: {report.model.near}"
    )
    if apart:
        where = ", ".join(map(str, apart))
        said += f" In turn {where} the two likeliest tokens were not that close, so rounding may not be the reason."
    return said


def _table_line(on: Row, off: Row, ahead: Sequence[Row]) -> str:
    times = times_sooner(on, off)
    sooner = "-" if times is None else f"{times:.1f}x"
    return (
        f"{on.turn:>4} {on.prompt_tokens:>8,} {on.reused_tokens:>8,} {on.computed_tokens:>8,}"
        f" {on.ttft_s:>5.2f} s {off.ttft_s:>5.2f} s {sooner:>7} {on.tokens_per_s:>13.1f} {off.tokens_per_s:>8.1f}"
        + "".join(f" {row.computed_tokens:>7,} {row.ttft_s:>11.2f} s" for row in ahead)
    )

"""Figures in words are the figures, as every part of the window says them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import words
from app.sidebar.badges import badge_of
from engine import CacheView, Preview, Sampling, TtftParts, TurnStats


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.004, "4 ms"), (0.114, "0.11 s"), (1.594, "1.59 s"), (14.42, "14.4 s"), (float("nan"), "…")],
)
def test_seconds(value: float, text: str) -> None:
    assert words.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 MB"),
        (900, "1 kB"),
        (640e3, "640 kB"),
        (1.44e6, "1.4 MB"),
        (9.96e6, "10 MB"),
        (214e6, "214 MB"),
        (999.9e6, "1.0 GB"),
        (1e9, "1.0 GB"),
        (12.34e9, "12.3 GB"),
    ],
)
def test_sizes(value: float, text: str) -> None:
    assert words.size(value) == text


def test_parts_of_a_size_have_its_unit() -> None:
    assert words.scaled(90e6, 1.2e9) == ("0.1", "GB")


@pytest.mark.parametrize(
    ("age_s", "text"),
    [(42.9, "42 s ago"), (60, "1 min ago"), (1900, "31 min ago"), (7200, "2 h ago"), (90_000, "25 h ago")],
)
def test_times_that_have_passed_are_in_whole_units(age_s: float, text: str) -> None:
    assert words.time_ago(age_s) == text


def test_one_thing_and_many() -> None:
    assert [words.tokens(number) for number in (0, 1, 3_012)] == ["0 tokens", "1 token", "3,012 tokens"]


def stats(reused: int = 3008, ttft: float | None = 0.13, measured: bool = False, rate: float = 52.3) -> TurnStats:
    return TurnStats(1, reused + 57, reused, 57, 43, ttft, TtftParts(), rate, 1.7, measured, 0)


def preview(prompt: int, reused: int, system: int) -> Preview:
    return Preview(1, prompt, reused, prompt - reused, 0.1, system, 8192, ())


def test_what_came_from_disk_is_said() -> None:
    assert words.figures(replace(stats(), disk_tokens=512)).startswith(
        "3,008 of 3,065 tokens remembered (512 from disk)"
    )
    seen = replace(preview(400, 320, 100), disk_tokens=64)
    said = "320 of 400 tokens remembered (64 from disk)"
    assert words.next_prompt(seen) == f"{said} · first word in about 0.1 s"
    assert words.this_prompt(seen, 0) == f"{said} · 80 to read"
    assert words.this_prompt(seen, 16) == f"{said} · 16 of 80 read"
    assert words.this_prompt(seen, 80) == f"{said} · 80 read"


def test_a_badge_says_where_it_is_remembered_and_nothing_of_little() -> None:
    """By where most of it comes from; the explanation has the number."""
    badge = badge_of(replace(preview(400, 320, 100), disk_tokens=320))
    assert badge.text == "remembered on disk"
    assert "320 of 400 tokens of its next prompt are remembered (320 from disk)" in badge.explanation
    assert badge_of(replace(preview(400, 320, 100), disk_tokens=16)).text == "remembered"
    assert badge_of(replace(preview(400, 320, 100), seconds=2.2)).text == "remembered, about 2 s"
    assert badge_of(replace(preview(400, 32, 100), seconds=2.2)).text == "from scratch, about 2 s"
    assert badge_of(preview(400, 32, 100)).text == "", "nobody waits for a tenth of a second"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.5, "0.4 to 0.6 s"),
        (3.7, "3 to 5 s"),
        (12.0, "9 to 15 s"),
        (40.0, "30 to 50 s"),
        (118.0, "88 to 150 s"),
        (300.0, "4 to 6 min"),
    ],
)
def test_an_estimate_is_a_span_without_false_digits(seconds: float, said: str) -> None:
    assert words.estimated_seconds(seconds) == said


@given(st.floats(0.5, 1e5))
def test_an_estimated_span_holds_what_row_e1_allows(value: float) -> None:
    low, high, unit = re.fullmatch(r"([\d.,]+)(?: to ([\d.,]+))? (s|min)", words.estimated_seconds(value)).groups()  # type: ignore[union-attr]
    scale = 1 if unit == "s" else 60
    low, high = (scale * float((each or low).replace(",", "")) for each in (low, high))
    assert 0.6 * value <= low <= value <= high <= 1.5 * value


@pytest.mark.parametrize(
    ("ttft_s", "cold_s", "measured", "text"),
    [
        (0.11, 1.8, True, "16 times sooner"),
        (0.11, 1.8, False, "about 15 times sooner"),
        (1.0, 2.4, True, "2.4 times sooner"),
        (1.0, 2.4, False, "about 2.5 times sooner"),
        (1.0, 1.05, True, ""),
        (1.0, 1.3, False, ""),
        (3.0, 2.0, True, ""),
        (0.0, 2.0, True, ""),
    ],
)
def test_how_soon_is_said_honestly(ttft_s: float, cold_s: float, measured: bool, text: str) -> None:
    assert words.times_sooner(ttft_s, cold_s, measured) == text


def test_before_the_first_token_nothing_is_made_up() -> None:
    assert words.result(stats(ttft=None, rate=0.0)) == ("", "")
    assert words.figures(stats(ttft=None, rate=0.0)) == "3,008 of 3,065 tokens remembered · 57 read · 43 written"


@pytest.mark.parametrize("reason", ["length", "stopped", "failed", "interrupted"])
def test_an_answer_that_did_not_end_by_itself_says_so(reason: str) -> None:
    for given_ in (
        stats(),
        stats(reused=0),
        stats(reused=0, ttft=3.0),
        stats(ttft=None),
        stats(measured=True, ttft=5.0),
    ):
        assert words.result(given_, reason)[1].endswith(words.ENDINGS[reason])


def test_next_prompt_and_room() -> None:
    given_ = preview(3196, 3184, 3012)
    assert words.next_prompt(given_) == "3,184 of 3,196 tokens remembered · first word in about 0.1 s"
    assert words.context(given_) == "Room left: 61% of 8,192 tokens"
    assert words.reading(1920, 3050, 1.1) == "reading 1,920 of 3,050 tokens, about 1.1 s left"
    assert words.reading(3050, 3050, 0.0) == "reading 3,050 of 3,050 tokens"


def test_sampling_in_short() -> None:
    assert words.sampling(Sampling()) == "Temperature 0.2 · top-p 0.9"
    assert words.sampling(Sampling(temperature=0.0)) == "Greedy"
    assert words.sampling(Sampling(temperature=0.0), "low") == "Greedy · thinking low"


@pytest.mark.parametrize(
    ("tokens", "seconds", "is_running", "said"),
    [
        (21, 2.14, True, "Thinking… 2.1 s"),
        (0, 0.0, True, "Thinking…"),
        (140, 3.2, False, "Thought for 3.2 s, 140 tokens"),
        (1, 0.04, False, "Thought for 0.04 s, 1 token"),
        (0, 0.0, False, "Thought"),
    ],
)
def test_what_a_thought_took(tokens: int, seconds: float, is_running: bool, said: str) -> None:
    stats = TurnStats(1, 100, 0, 100, 200, 0.1, TtftParts(), 40.0, 0.1, False, 0, 0, tokens, seconds)
    assert words.thought(stats, is_running) == said
    assert words.thought(None, is_running) == ("Thinking…" if is_running else "Thought")


@pytest.mark.parametrize(
    ("prompt", "reused", "said"),
    [
        (1000, 800, "nothing is read again"),
        (1000, 100, "about 700 tokens are read again"),
        (1140, 100, "about 700 tokens are read again, and each prompt is about 140 tokens longer"),
        (1000, 900, "about 100 tokens fewer are read"),
    ],
)
def test_what_another_prompt_costs(prompt: int, reused: int, said: str) -> None:
    now, other = (
        Preview(1, total, cached, total - cached, 0.1, 0, 8192, ()) for total, cached in ((1000, 800), (prompt, reused))
    )
    assert words.change_of_prompt(now, other) == said


@pytest.mark.parametrize(
    ("then", "said"),
    [
        (datetime(2026, 11, 29, 15, 59, 50), "now"),
        (datetime(2026, 11, 29, 15, 30), "30 min ago"),
        (datetime(2026, 11, 29, 12, 30), "3 h ago"),
        (datetime(2026, 11, 28, 23, 0), "yesterday"),
        (datetime(2026, 11, 3, 12, 0), "3 Nov"),
        (datetime(2025, 11, 3, 12, 0), "3 Nov 2025"),
    ],
)
def test_ago(then: datetime, said: str) -> None:
    now = datetime(2026, 11, 29, 16, 0).timestamp()
    assert words.ago(then.timestamp(), now) == said


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (1, "1st"),
        (2, "2nd"),
        (3, "3rd"),
        (4, "4th"),
        (11, "11th"),
        (12, "12th"),
        (13, "13th"),
        (22, "22nd"),
        (111, "111th"),
    ],
)
def test_ordinals(number: int, said: str) -> None:
    assert words.ordinal(number) == said


def test_messages_by_their_place() -> None:
    said = [words.ordinal_message(role, 2) for role in ("system", "user", "assistant", "tool")]
    assert said == ["the system prompt", "your 2nd message", "the 2nd answer", "the 2nd tool result"]


def test_a_prompt_that_does_not_fit_says_by_how_much() -> None:
    assert words.next_prompt(preview(8192, 0, 0)) == "1 token too long for this model"
    assert words.next_prompt(preview(9001, 0, 0)) == "810 tokens too long for this model"


def test_what_a_change_costs() -> None:
    assert words.recomputes(preview(3200, 80, 0)) == "3,120 tokens are read again, about 0.1 s"
    assert words.recomputes(preview(3200, 3199, 0)) == "1 token is read again, about 0.1 s"


@pytest.mark.parametrize(("value", "said"), [(0.0004, "0.01 s"), (0.104, "0.1 s"), (1.68, "1.7 s"), (1234.5, "21 min")])
def test_estimated_seconds(value: float, said: str) -> None:
    assert words.about_seconds(value) == said


MOMENTS = st.floats(0, 4e9)


@given(MOMENTS, MOMENTS)
def test_the_group_of_a_day_holds_it(moment: float, now: float) -> None:
    _, begins, ends = words.day_group(moment, now)
    assert begins <= moment < ends


def test_rows_stand_under_the_day_or_month_they_are_of() -> None:
    now = datetime(2026, 12, 1, 9).timestamp()
    days = (0, 1, 6, 9, 11, 360)
    headings = words.day_headings((now - each * 86_400 for each in days), now)
    assert headings == {0: "Today", 1: "Yesterday", 2: "Previous 7 days", 3: "November", 5: "December 2025"}


def test_what_was_read_ahead_is_told_from_what_was_remembered() -> None:
    """Before, while and after a question is answered; and how much of it nobody sent."""
    preview = Preview(1, 3300, 3212, 88, 0.08, 3000, 8192, (), ahead_tokens=212)
    assert words.next_prompt(preview) == "3,000 remembered · read ahead: 212 of 300 · first word in under 0.1 s"
    assert words.this_prompt(preview, 0) == "3,000 of 3,300 tokens remembered · 212 read ahead · 88 to read"
    stats = TurnStats(1, 3300, 3212, 88, 9, 0.1, TtftParts(), 40.0, 3.0, True, 0, ahead_tokens=212)
    assert words.result(stats)[1] == "instead of 3.00 s, 91% remembered, 6% read ahead"
    assert words.figures(stats).startswith("3,000 of 3,300 tokens remembered · 212 read ahead · 88 read")
    first = replace(stats, ahead_tokens=3212)
    assert words.result(first)[1] == "instead of 3.00 s, 97% read ahead"
    view = CacheView(0, 0.0, 0, 0, 0, 0, 0, 0, ahead_tokens=1200, unasked_tokens=310)
    said = "1,200 tokens were read ahead since the model was opened; 310 of them nobody sent so far."
    assert words.cost_of_reading_ahead(view) == said
    assert words.cost_of_reading_ahead(replace(view, ahead_tokens=0, unasked_tokens=0)) == ""


def test_of_a_server_that_does_not_say_what_it_reused_nothing_is_claimed() -> None:
    untold = TurnStats(1, 100, 0, 0, 9, 2.0, TtftParts(), 40.0, 2.0, False, 0)
    assert words.result(untold) == ("First word after 2.00 s", "")
    assert "remembered" not in words.figures(untold)
    assert " read" not in words.figures(untold)

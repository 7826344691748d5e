"""Figures in words are the figures, as every part of the window says them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from app import words
from app.sidebar.badges import badge_of
from engine import Preview, Sampling, TtftParts, TurnStats


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
    assert [words.counted(number, "token") for number in (0, 1, 3_012)] == ["0 tokens", "1 token", "3,012 tokens"]


def stats(reused: int = 3008, ttft: float | None = 0.13, measured: bool = False, rate: float = 52.3) -> TurnStats:
    return TurnStats(1, reused + 57, reused, 57, 43, ttft, TtftParts(), rate, 1.7, measured, 0)


def preview(prompt: int, reused: int, system: int) -> Preview:
    return Preview(1, prompt, reused, prompt - reused, 0.1, system, 8192, ())


def test_an_estimated_cold_run_is_called_about() -> None:
    assert words.turn_parts(stats()) == (
        "3,008 reused",
        "57 computed",
        "43 written · first token 0.13 s (cold about 1.7 s) · 52 tok/s",
    )


def test_what_came_from_disk_is_said() -> None:
    assert words.turn_parts(replace(stats(), disk_tokens=512))[0] == "3,008 reused (512 from disk)"
    seen = replace(preview(400, 320, 100), disk_tokens=64)
    assert words.next_prompt(seen).startswith("320 reused (64 from disk) · 80 to compute")
    assert words.this_prompt(seen, 0) == "320 reused (64 from disk) · 80 to compute"
    assert words.this_prompt(seen, 16) == "320 reused (64 from disk) · 16 of 80 computed"
    assert words.this_prompt(seen, 80) == "320 reused (64 from disk) · 80 computed"


def test_a_badge_says_where_it_is_warm() -> None:
    """By where most of it comes from; the explanation has the number."""
    badge = badge_of(replace(preview(400, 320, 100), disk_tokens=320))
    assert badge.text == "warm (on disk) · 0.10 s"
    assert "320 of 400 tokens of its next prompt are in the cache (320 from disk)" in badge.explanation
    assert badge_of(replace(preview(400, 320, 100), disk_tokens=16)).text == "warm · 0.10 s"
    assert badge_of(replace(preview(400, 32, 100), disk_tokens=32)).text == "cold · 0.10 s"


def test_a_measured_cold_run_is_not() -> None:
    assert "(cold 1.7 s)" in words.turn_parts(stats(measured=True))[2]


def test_nothing_reused_has_nothing_to_compare() -> None:
    assert words.turn_parts(stats(reused=0, ttft=1.59))[2] == "43 written · first token 1.59 s · 52 tok/s"


def test_before_the_first_token_nothing_is_made_up() -> None:
    assert words.turn_parts(stats(ttft=None, rate=0.0))[2] == "43 written"


@pytest.mark.parametrize("reason", ["length", "stopped", "failed", "interrupted"])
def test_an_answer_that_did_not_end_by_itself_says_so(reason: str) -> None:
    assert words.turn_parts(stats(), reason)[2].endswith(words.ENDINGS[reason])


def test_next_prompt_and_context() -> None:
    given = preview(3196, 3184, 3012)
    assert words.next_prompt(given) == "3,184 reused · 12 to compute · estimated 0.10 s"
    assert words.context(given) == "Context 3,196 of 8,192"
    assert words.reading(1920, 3050, 1.1) == "reading 1,920 of 3,050 tokens, 1.1 s left"


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
    assert words.recomputes(preview(3200, 80, 0)) == "recomputes 3,120 tokens, about 0.10 s"
    assert words.recomputes(preview(3200, 3199, 0)) == "recomputes 1 token, about 0.10 s"


@pytest.mark.parametrize(
    ("value", "said"), [(0.0004, "0.01 s"), (0.104, "0.10 s"), (1.68, "1.7 s"), (1234.5, "1,234.5 s")]
)
def test_estimated_seconds(value: float, said: str) -> None:
    assert words.about_seconds(value) == said

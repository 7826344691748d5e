"""Figures in words are the figures."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from app.widgets import words
from app.widgets.divergence_box import body, title
from app.widgets.next_prompt import cells
from engine import Divergence, Preview, Sampling, TtftParts, TurnStats


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
    assert words.next_prompt(given) == "3,184 reused · 12 to compute · about 0.10 s"
    assert words.context(given) == "Context 3,196 of 8,192"
    assert words.reading(1920, 3050, 1.1) == "reading 1,920 of 3,050 tokens, 1.1 s left"


def test_sampling_in_short() -> None:
    assert words.sampling(Sampling()) == "Temperature 0.7 · top-p 0.9"
    assert words.sampling(Sampling(temperature=0.0)) == "Greedy"


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 MB"), (900, "1 kB"), (214e6, "214 MB"), (1e9, "1.0 GB"), (999.9e6, "1.0 GB")]
)
def test_sizes(count: float, said: str) -> None:
    assert words.size(count) == said


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


def test_ribbon_shows_the_prompt_in_its_order() -> None:
    made = cells(preview(3196, 3184, 3012), 80)
    assert len(made) == 80
    assert [kind for kind, before in zip(made, [None, *made], strict=False) if kind != before] == [
        "pinned",
        "reused",
        "computed",
        "empty",
    ]
    assert made.count("computed") == 1


@pytest.mark.parametrize("prompt", [1, 16, 1000, 8192, 131_072])
@pytest.mark.parametrize("room", [0, 2, 3, 10, 80])
def test_ribbon_fits_and_never_hides_what_must_be_computed(prompt: int, room: int) -> None:
    made = cells(preview(prompt, prompt - 1, prompt // 2), room)
    assert len(made) == (room if room >= 3 else 0)
    assert ("computed" in made) == (room >= 3)


@pytest.mark.parametrize(
    ("index", "has_system", "place"),
    [
        (0, True, "in the system prompt"),
        (1, True, "in question 1"),
        (2, True, "in answer 1"),
        (0, False, "in question 1"),
        (5, False, "in answer 3"),
        (-1, True, "between two messages"),
    ],
)
def test_where_a_prompt_changed(index: int, has_system: bool, place: str) -> None:
    said = title(Divergence(1412, index, "edited", "29 Nov", "30 Nov", 2600), has_system)
    assert said == f"Changed at token 1,412, {place}: “29 Nov” became “30 Nov”."


def test_long_and_broken_quotes_are_cut_to_one_line() -> None:
    said = title(Divergence(4, 0, "edited", "a\n\nb", "x" * 300, 9), True)
    assert said == f"Changed at token 4, in the system prompt: “a b” became “{'x' * 28}…”."


@pytest.mark.parametrize("cause", ["edited", "date", "reasoning removed", "tools", "trimmed", "evicted", "other model"])
def test_every_cause_names_the_price_and_what_helps(cause: Any) -> None:
    said = body(Divergence(4, 0, cause, "a", "b", 2600))
    assert "2,600 tokens" in said
    assert said.count(".") >= 2

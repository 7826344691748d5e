"""Placeholders of a system prompt: filled in, frozen, moved. Pure."""

from __future__ import annotations

from datetime import datetime

import pytest

from app.placeholders import (
    NAMES,
    Cure,
    current_values,
    fill,
    names_in,
    question_as_sent,
    system_as_sent,
    used_values,
    values_at,
    with_cure,
    without_cure,
)

VALUES = values_at(datetime(2026, 11, 29, 14, 3, 22), "id-1")


def test_every_placeholder_is_filled_in() -> None:
    filled = fill("{{date}} {{time}} {{datetime}} {{weekday}} {{uuid}}", VALUES)
    assert filled == "29 November 2026 14:03:22 29 November 2026, 14:03:22 Sunday id-1"
    assert set(VALUES) == set(NAMES) == set(current_values())


@pytest.mark.parametrize("text", ["{{name}}", "{{ }}", "{date}", "{{date", "{{datetimes}}", "{{{{}}}}", "{% raw %}"])
def test_what_nobody_knows_stays_as_it_is(text: str) -> None:
    assert fill(text, VALUES) == text


def test_blanks_and_capitals_do_not_matter() -> None:
    assert fill("{{ Date }}{{TIME}}", VALUES) == "29 November 202614:03:22"
    assert names_in("{{ Time }} {{date}} {{time}} {{x}}") == ("time", "date")


def test_a_value_that_looks_like_a_placeholder_is_not_filled_in_again() -> None:
    assert fill("{{uuid}}", values_at(datetime(2026, 11, 29), "{{date}}")) == "{{date}}"


def test_frozen_stays_and_moved_goes_to_the_question() -> None:
    prompt = "Day {{date}}, time {{time}}, id {{uuid}}."
    cures = (Cure("date", "frozen", "2026-11-01"), Cure("time", "moved"))
    assert system_as_sent(prompt, VALUES, cures) == "Day 2026-11-01, time [time: see the newest message], id id-1."
    assert question_as_sent("Hi", prompt, VALUES, cures) == "Hi\n\n[time: 14:03:22]"
    assert used_values(prompt, VALUES, cures) == (("time", "14:03:22"), ("uuid", "id-1"))


def test_a_cure_for_what_is_not_in_the_prompt_adds_nothing() -> None:
    assert question_as_sent("Hi", "No placeholder.", VALUES, (Cure("time", "moved"),)) == "Hi"


def test_two_moved_ones_stand_in_the_order_of_the_prompt() -> None:
    cures = (Cure("time", "moved"), Cure("date", "moved"))
    sent = question_as_sent("Hi", "{{date}} {{time}}", VALUES, cures)
    assert sent == "Hi\n\n[date: 29 November 2026] [time: 14:03:22]"


def test_a_placeholder_has_one_cure_at_most() -> None:
    cures = with_cure((Cure("time", "moved"), Cure("date", "moved")), Cure("time", "frozen", "1:00"))
    assert cures == (Cure("date", "moved"), Cure("time", "frozen", "1:00"))
    assert without_cure(cures, "time") == (Cure("date", "moved"),)

"""What is found in a system prompt, where, and when it changes. Pure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.changing_parts import Search, find, payers
from app.demo.script import read_script


def names(prompt: str) -> list[tuple[str, str, str]]:
    return [(finding.text, finding.name, finding.changes) for finding in find(prompt)]


def test_placeholders_are_found_in_order_with_when_they_change() -> None:
    assert names("On {{weekday}}, {{ Date }} at {{time}}: {{uuid}} {{datetime}} {{who}}") == [
        ("{{weekday}}", "weekday", "every day"),
        ("{{ Date }}", "date", "every day"),
        ("{{time}}", "time", "every turn"),
        ("{{uuid}}", "uuid", "every turn"),
        ("{{datetime}}", "datetime", "every turn"),
    ]


@pytest.mark.parametrize(
    ("prompt", "text", "name"),
    [
        ("Current time: 14:03:22", "14:03:22", "time"),
        ("The time is 2:03 pm.", "2:03 pm", "time"),
        ("It was written at 23:59:01 sharp.", "23:59:01", "time"),
        ("Today is 29 Nov 2026.", "29 Nov 2026", "date"),
        ("Today is Sunday, November 29th, 2026.", "November 29th, 2026", "date"),
        ("Date: 2026-11-29", "2026-11-29", "date"),
        ("today's date is 30/11/2026", "30/11/2026", "date"),
        ("Generated 2026-11-29T14:03:22Z.", "2026-11-29T14:03:22Z", "datetime"),
        ("now: 2026-11-29 14:03", "2026-11-29 14:03", "datetime"),
        ("ref 123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000", "uuid"),
        ("session id: 8f3a9c", "8f3a9c", "uuid"),
        ("request_id=req-8831", "req-8831", "uuid"),
    ],
)
def test_pasted_clocks_dates_and_ids_are_found_where_they_stand(prompt: str, text: str, name: str) -> None:
    (finding,) = find(prompt)
    assert (finding.text, finding.name, finding.changes) == (text, name, "when edited")
    assert prompt[finding.start : finding.end] == text
    assert not finding.by_itself


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "We are open from 9:00 to 17:30.",
        "Founded on 3 May 2009, 84 employees.",
        "Articles from 2025-01-31 on are covered for 14 days.",
        "The time limit is 30 days; the session token must be sent.",
        "Version 1.2.3, ratio 16:9, chapter 3:16.",
        "Call get_order with {order_id} and {{customer}}.",
    ],
)
def test_what_never_changes_is_left_alone(prompt: str) -> None:
    assert find(prompt) == ()


def test_the_prompt_that_comes_along_has_nothing_to_find() -> None:
    assert find(read_script().system_prompt) == ()


def test_the_first_that_changes_each_turn_pays_for_all_behind_it() -> None:
    findings = find("{{date}} Current time: 14:03:22 {{time}} {{uuid}} {{date}}")
    assert [finding.text for finding in payers(findings, frozenset())] == ["{{date}}", "{{time}}"]
    assert [finding.text for finding in payers(findings, frozenset({"time"}))] == ["{{date}}", "{{uuid}}"]
    assert payers(findings, frozenset({"time", "uuid", "date"})) == ()


def test_of_two_that_change_at_midnight_the_first_pays() -> None:
    assert [finding.text for finding in payers(find("{{weekday}} {{date}} {{time}}"), frozenset())] == [
        "{{weekday}}",
        "{{time}}",
    ]
    assert [finding.text for finding in payers(find("{{time}} {{date}}"), frozenset())] == ["{{time}}"]


def test_a_huge_prompt_takes_no_more_than_its_length() -> None:
    prompt = ("It is as of now the current date and time " * 5_000) + "9" * 50_000 + " {{time}}"
    assert names(prompt) == [("{{time}}", "time", "every turn")]


PIECES = (
    "{{time}}",
    "{{ date }}",
    "Today is 29 Nov 2026.",
    "now: 2026-11-29 14:03",
    "14:03:22",
    "session id: 8f3a9c",
    " x ",
)


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.integers(1, 60))
def test_the_same_is_found_in_whatever_steps_a_prompt_is_read(pieces: list[str], step_length: int) -> None:
    prompt = "".join(pieces)
    search = Search(prompt, step_length)
    steps = 1
    while not search.step():
        steps += 1
    assert search.findings == find(prompt)
    assert steps == max(1, -(-len(prompt) // step_length))

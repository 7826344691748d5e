"""The demo's report says what the turns measured, in the forms it is written in."""

from __future__ import annotations

import csv
import io
import json
import os
import platform
from dataclasses import replace

import pytest

from app.demo import report as report_module
from app.demo.page import as_html, page_of
from app.demo.report import Report, machine, make_row
from app.demo.report_words import as_table, gain_written
from engine import DeviceReport, EngineReport, HeadstartError, TtftParts, TurnStats, describe_devices
from tests.app.fake_engine import MODEL


def stats(prompt: int, reused: int, ttft_s: float | None) -> TurnStats:
    return TurnStats(1, prompt, reused, prompt - reused, 48, ttft_s, TtftParts(), 51.25, 1.7, False, 70_000_000)


@pytest.fixture
def report() -> Report:
    made = Report(MODEL, {"headstart": "0.1.0"})
    for turn, (prompt, reused) in enumerate([(3052, 0), (3150, 3088)], 1):
        made.turns.append(make_row(turn, "on", stats(prompt, reused, 2.0 if turn == 1 else 0.125)))
    for turn, prompt in enumerate([3052, 3150], 1):
        made.turns.append(make_row(turn, "off", stats(prompt, 0, 2.0)))
    return made


def test_json_has_the_agreed_fields(report: Report) -> None:
    content = json.loads(report.as_json())
    assert list(content) == ["model", "device", "dtype", "near", "versions", "answers_equal", "parted", "turns"]
    assert (content["model"], content["device"], content["dtype"], content["near"]) == ("Fake-1M", "cpu", "fp32", "")
    assert content["turns"][3] == {
        "turn": 2,
        "cache": "on",
        "prompt_tokens": 3150,
        "reused_tokens": 3088,
        "computed_tokens": 62,
        "written_tokens": 48,
        "ttft_s": 0.125,
        "tokens_per_s": 51.25,
        "cache_bytes": 70_000_000,
        "ahead_tokens": 0,
        "passes": 0,
        "accepted_tokens": 0,
    }
    assert [(row["turn"], row["cache"]) for row in content["turns"]] == [(1, "off"), (1, "on"), (2, "off"), (2, "on")]
    assert all(row["reused_tokens"] + row["computed_tokens"] == row["prompt_tokens"] for row in content["turns"])


def test_csv_holds_the_same_rows_as_json(report: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(report.as_csv())))
    content = json.loads(report.as_json())["turns"]
    assert [{name: str(value) for name, value in row.items()} for row in content] == rows


def test_what_was_written_ahead_is_said_where_any_was(report: Report) -> None:
    assert gain_written(report) == ""
    report.turns = [
        replace(row, passes=40, accepted_tokens=30) if row.cache == "on" else replace(row, passes=9, accepted_tokens=9)
        for row in report.turns
    ]
    said = (
        "Written ahead, by guesses that held, were 60 tokens of the answers: each of 80 passes of the model wrote 1.75"
    )
    assert gain_written(report).startswith(said)
    assert gain_written(report) in as_table(report)


def test_a_turn_without_any_token_is_an_error() -> None:
    with pytest.raises(HeadstartError, match="wrote nothing in turn 3"):
        make_row(3, "off", replace(stats(10, 0, None), written_tokens=0))


def test_the_machine_has_cores_and_system_but_not_the_computer() -> None:
    said = machine()
    assert said.startswith(describe_devices().devices[-1].name)
    assert f"{os.cpu_count()} cores" in said
    assert platform.system() in said
    assert not platform.node() or platform.node() not in said


def test_a_graphics_card_is_named_behind_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = tuple(DeviceReport(kind, name, 1, 1, ()) for kind, name in (("cuda", "Card 7"), ("cpu", "Fine CPU 9")))
    monkeypatch.setattr(report_module, "describe_devices", lambda: EngineReport({}, 2, devices))
    assert machine().startswith("Fine CPU 9, Card 7, ")


def test_what_was_read_ahead_stands_in_both_tables(report: Report) -> None:
    """What was left to compute when the question was sent, and the first token then."""
    *_, without, first, second = as_table(report).split("\n\n")[1].splitlines()
    assert "ahead" not in without
    for turn, (prompt, reused, ahead) in enumerate([(3052, 3040, 3040), (3150, 3141, 53)], 1):
        row = replace(make_row(turn, "ahead", stats(prompt, reused, 0.0625)), ahead_tokens=ahead)
        report.turns.append(row)
    _, heads, *lines = as_table(report).split("\n\n")[1].splitlines()
    assert heads.split()[-3:] == ["left", "first", "token"]
    assert [line.split()[-3:] for line in lines] == [["12", "0.06", "s"], ["9", "0.06", "s"]]
    assert [line.startswith(before) for line, before in zip(lines, (first, second), strict=True)] == [True, True]
    page = page_of(report, "a computer")
    assert all(len(line.cells) == len(page.heads) for line in page.turns)
    at = page.heads.index("read ahead")
    assert [line.cells[at - 1 : at + 1] for line in page.turns] == [("12", "0.06 s"), ("9", "0.06 s")]
    assert "<th" in as_html(page)
    assert "read ahead" in as_html(page)

"""What the list under a system prompt says about each finding. Pure."""

from __future__ import annotations

from app.chat.changing_parts import find
from app.chat.cures import FREEZE, MOVE
from app.placeholders import Cure
from app.system_prompt.finding_list import FindingRow
from app.system_prompt.findings import THAW, Price, rows

PROMPT = "{{date}} {{time}} {{uuid}} {{time}} Current time: 14:03:22. session id: 8f3a9c"


def said(prompt: str, *cures: Cure, prices: tuple[Price, ...] = ()) -> dict[str, FindingRow]:
    findings = find(prompt)
    return {row.key: row for row in rows(findings, cures, dict(zip(findings, prices, strict=False)))}


def keys(row: FindingRow) -> list[str]:
    return [key for key, _, _ in row.actions]


def test_what_changes_at_each_turn_says_its_price() -> None:
    row = said("{{time}}", prices=((2600, 1.54),))["time"]
    assert row.text == "{{time}} changes at each turn: 2,600 tokens after it are read again, about\xa01.5\xa0s."
    assert (row.kind, keys(row)) == ("costs", [FREEZE, MOVE])


def test_what_changes_at_midnight_says_so() -> None:
    assert said("{{date}}", prices=((1, 0.04),))["date"].text == (
        "{{date}} changes at midnight: one token after it is read again each day, about\xa00.04\xa0s."
    )


def test_without_a_price_it_names_none() -> None:
    assert said("{{time}}")["time"].text == "{{time}} changes at each turn: everything after it is read again."


def test_what_stands_behind_another_costs_nothing_more_until_that_is_cured() -> None:
    assert said(PROMPT)["uuid"].kind == "note"
    assert "costs nothing more" in said(PROMPT)["uuid"].text
    assert said(PROMPT, Cure("time", "moved"))["uuid"].kind == "costs"


def test_each_placeholder_has_one_row_at_its_first_place() -> None:
    assert [key for key in said(PROMPT) if not key.isdecimal()] == ["date", "time", "uuid"]
    prices = tuple((tokens, 0.1) for tokens in (50, 40, 30, 20, 10, 5))
    assert "40 tokens" in said(PROMPT, prices=prices)["time"].text


def test_cured_ones_say_how_and_can_be_filled_in_again() -> None:
    cured = said(PROMPT, Cure("date", "frozen", "2026-11-29"), Cure("time", "moved"))
    assert cured["date"].text == "{{date}} stays “2026-11-29” in this conversation."
    assert cured["time"].text == "{{time}} goes with the newest message; the system prompt stays the same."
    assert [(cured[name].kind, keys(cured[name])) for name in ("date", "time")] == [("cured", [THAW])] * 2


def test_pasted_text_is_only_a_note_and_an_id_cannot_be_moved() -> None:
    clock, number = (row for key, row in said(PROMPT).items() if key.isdecimal())
    assert clock.text.startswith("“14:03:22” looks like a clock that was pasted. It costs nothing until it is edited;")
    assert number.text.startswith("“8f3a9c” looks like an id")
    assert [(row.kind, keys(row)) for row in (clock, number)] == [("note", [MOVE]), ("note", [])]

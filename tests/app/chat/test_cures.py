"""Which cure fits a turn that was read again from the system prompt on. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from app.chat.cures import Culprit, cured_prompt, find_culprit, template_cure
from app.history.records import Conversation, StoredMessage
from app.placeholders import Cure
from engine import Divergence, Sampling, TemplateSettings

EARLIER = (("date", "2026-11-29"), ("time", "23:59:58"))
LATER = (("date", "2026-11-30"), ("time", "00:00:02"))


def conversation(prompt: str, *cures: Cure) -> Conversation:
    return Conversation(1, "", prompt, Sampling(), date(2026, 11, 29), cures=cures)


def question(*filled: tuple[str, str]) -> StoredMessage:
    return StoredMessage(1, 1, None, "user", "Why?", filled=filled)


def parted(new: str = "", index: int = 0) -> Divergence:
    return Divergence(12, index, "date", "", new, 2600)


def culprit(prompt: str, *cures: Cure, new: str = "") -> str:
    found = find_culprit(conversation(prompt, *cures), [question(*EARLIER), question(*LATER)], parted(new))
    return found.shown if found else ""


def test_the_first_placeholder_whose_value_changed_and_that_is_not_cured() -> None:
    assert culprit("{{time}} {{date}}") == "{{time}}"
    assert culprit("{{date}} {{time}}") == "{{date}}"
    assert culprit("{{date}} {{time}}", Cure("date", "moved")) == "{{time}}"
    assert culprit("{{weekday}}") == ""


def test_what_did_not_change_is_not_blamed() -> None:
    same = [question(("date", "2026-11-29"), ("time", "1:00")), question(("date", "2026-11-29"), ("time", "2:00"))]
    found = find_culprit(conversation("{{date}} {{time}}"), same, parted())
    assert found == Culprit("time")


@pytest.mark.parametrize(
    ("prompt", "new", "shown"),
    [
        ("Today is 30 Nov 2026. Be brief.", "Today is 30 Nov", "“30 Nov 2026”"),
        ("Date: 2026-11-30", ": 2026-11-30", "“2026-11-30”"),
        ("Current time: 14:03:24", "-24", ""),
        ("session id: 8f3a9c", "8f3a9c", ""),
        ("Be very brief.", "very brief", ""),
    ],
)
def test_a_pasted_date_is_blamed_where_its_text_changed(prompt: str, new: str, shown: str) -> None:
    assert culprit(prompt, new=new) == shown


@pytest.mark.parametrize("index", [-1, 1, 2])
def test_a_prompt_that_parted_behind_the_system_prompt_has_another_cause(index: int) -> None:
    questions = [question(*EARLIER), question(*LATER)]
    assert find_culprit(conversation("{{time}}"), questions, parted(index=index)) is None
    assert find_culprit(conversation("{{time}}"), questions, None) is None
    assert find_culprit(conversation(""), questions, parted()) is None


@pytest.mark.parametrize("cause", ["new", "evicted", "other client", "positions", "other model", "cache off"])
def test_what_is_nobodys_change_is_not_blamed_on_a_clock(cause: Any) -> None:
    """A pasted date in the system prompt had nothing to do with it."""
    found = Divergence(3, 0, cause, "", "", 2600)
    assert find_culprit(conversation("Today is 30 Nov 2026."), [question(), question()], found) is None


def test_one_question_alone_has_nothing_before_it() -> None:
    assert find_culprit(conversation("{{time}}"), [question(*LATER)], parted()) is None


def test_pasted_text_becomes_the_placeholder_that_is_cured() -> None:
    before = conversation("Today is 30 Nov 2026. Be brief.")
    found = find_culprit(before, [question(), question()], parted("is 30 Nov"))
    assert found is not None
    after = cured_prompt(before, found, Cure("date", "moved"))
    assert (after.system_prompt, after.cures) == ("Today is {{date}}. Be brief.", (Cure("date", "moved"),))


@pytest.mark.parametrize(
    ("cure", "cured"),
    [
        ("keep thoughts", TemplateSettings("off", keep_thoughts=True)),
        ("system in question", TemplateSettings("off", system_place="question")),
        (None, None),
    ],
)
def test_a_cure_of_the_template_is_offered_until_it_is_chosen(cure: Any, cured: TemplateSettings | None) -> None:
    chat, found = replace(conversation(""), template=TemplateSettings("off")), replace(parted(), cure=cure)
    assert template_cure(chat, found) == cured
    assert template_cure(chat, None) is None
    if cured:
        assert template_cure(replace(chat, template=cured), found) is None

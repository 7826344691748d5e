"""Titles that the model writes, without a token more than their own question."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.chat.titles import QUESTION, Titles, clean
from app.placeholders import Cure
from app.settings import Settings
from engine import Matched, Message, TextDelta
from tests.app.conftest import Desk
from tests.app.fake_engine import FakeEngine, Script

ANSWER = Script(tokens=("A", " shelter", "."))
TITLE = Script(tokens=("**Title", ": All about", " tents**", "\nMore"))


@pytest.fixture
def desk(make_desk: Callable[..., Desk]) -> Desk:
    desk = make_desk(FakeEngine(ANSWER, TITLE, ANSWER, manual=True))
    desk.session.send("What is a tent?")
    desk.play()
    return desk


@pytest.fixture
def titles(desk: Desk) -> Titles:
    return Titles(desk.session, desk.bridge, Settings())


def title(desk: Desk) -> str:
    return desk.session.conversations()[0].title


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Tents", "Tents"),
        ('\n"Tents and ropes."\nThat is it.', "Tents and ropes"),
        ("Title: Tents", "Tents"),
        ("**Titel:** „Zelte“", "Zelte"),
        ("Ropes: how to tie them", "Ropes: how to tie them"),
        ("Title:", "Title:"),
        ("...", ""),
        ("word " * 60, ("word " * 24).strip() + "…"),
    ],
)
def test_a_title_is_the_first_line_without_marks(text: str, wanted: str) -> None:
    assert clean(text) == wanted


def test_it_reads_its_own_question_only(desk: Desk, titles: Titles) -> None:
    said: list[tuple[int, Matched]] = []
    titles.written.connect(lambda number, matched: said.append((number, matched)))
    titles.write(1)
    asked = desk.engine.requests[-1]
    assert asked.messages[:-1] == (
        *desk.engine.requests[0].messages,
        Message("assistant", "A shelter.", (70000, 70001, 70002)),
    )
    assert asked.messages[-1] == Message("user", QUESTION)
    assert (asked.conversation, asked.pin_system) == ("", False)
    desk.play()
    assert title(desk) == "All about tents"
    ((number, matched),) = said
    assert (number, matched.computed_tokens) == (1, 4 + len(QUESTION) // 4)
    assert [message.content for message in desk.session.messages] == ["What is a tent?", "A shelter."]


def test_the_server_of_a_conversation_writes_its_title(desk: Desk, titles: Titles) -> None:
    """What is said there is nothing for the model that is open."""
    desk.bridge.server_of = lambda label: "http://host:8000/v1" if label == "#1" else ""
    titles.write(1)
    assert desk.engine.requests[-1].server == "http://host:8000/v1"
    desk.play()
    assert title(desk) == "All about tents"


def test_a_question_breaks_it_off_and_is_remembered_as_before(desk: Desk, titles: Titles) -> None:
    titles.write(1)
    running = desk.engine.requests[-1]
    desk.until(TextDelta)
    desk.session.send("And a rope?")
    assert desk.engine.cancelled
    desk.play()
    assert title(desk) == "What is a tent?"
    assert running.conversation == ""
    assert desk.session.messages[-1].stats is not None
    assert desk.session.messages[-1].stats.computed_tokens == 4 + len("And a rope?") // 4


def test_a_title_of_the_users_own_stays(desk: Desk, titles: Titles) -> None:
    titles.write(1)
    desk.session.rename(1, "Mine")
    desk.play()
    assert title(desk) == "Mine"


def test_it_is_not_offered_where_it_cannot_be(desk: Desk, titles: Titles, make_desk: Callable[..., Desk]) -> None:
    assert titles.can_write(1)
    desk.session.send("And a rope?")
    assert not titles.can_write(1)
    desk.play()
    assert titles.can_write(1)
    assert not titles.can_write(99)


def test_it_is_written_behind_a_placeholder_that_was_moved(desk: Desk, titles: Titles) -> None:
    desk.session.set_system_prompt("It is {{time}}.", (Cure("time", "moved"),))
    titles.write(1)
    assert desk.engine.requests[-1].messages[-1] == Message("user", QUESTION)
    desk.play()
    assert title(desk) == "All about tents"

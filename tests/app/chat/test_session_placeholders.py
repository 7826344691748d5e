"""A clock in the system prompt, turn by turn: filled in, frozen, moved; what was sent is what the next turn repeats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from app.chat.bridge import Bridge
from app.chat.session import Session
from app.history.history import History
from app.placeholders import Cure, values_at
from app.settings import Settings
from engine import Message
from tests.app.conftest import DAY, Desk
from tests.app.fake_engine import FakeEngine

PROMPT = "It is {{time}}. " + "You are a support bot. " * 100
AT_FIRST = "It is 14:03:22. " + "You are a support bot. " * 100
CONSTANT = "It is [time: see the newest message]. " + "You are a support bot. " * 100


class Clock:
    """A time of day that moves when the test says so; every reading makes a new id."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 29, 14, 3, 22)
        self.read = 0

    def values(self) -> dict[str, str]:
        self.read += 1
        return values_at(self.now, f"id-{self.read}")

    def forward(self, **time: float) -> None:
        self.now += timedelta(**time)


class ClockDesk(Desk):
    """A desk whose session reads `clock`."""

    clock: Clock

    def ask(self, text: str, seconds_later: float = 2) -> None:
        self.session.send(text)
        self.play()
        self.clock.forward(seconds=seconds_later)

    @property
    def newest(self) -> tuple[Message, ...]:
        """The messages of the newest request."""
        return self.engine.requests[-1].messages

    @property
    def reused(self) -> int:
        """Tokens the newest answer reused."""
        stats = self.session.messages[-1].stats
        assert stats is not None
        return stats.reused_tokens


@pytest.fixture
def open_desk(qapp: object, tmp_path: Path) -> Iterator[Callable[[], ClockDesk]]:
    desks: list[ClockDesk] = []
    clock = Clock()

    def make() -> ClockDesk:
        engine = FakeEngine(manual=True)
        bridge, history = Bridge(engine), History(tmp_path / "history.sqlite3")
        session = Session(bridge, history, Settings(), today=lambda: DAY, values=clock.values)
        desk = ClockDesk(engine, bridge, history, session)
        desk.clock = clock
        session.error.connect(lambda *values: desk.said.append(("error", values)))
        desks.append(desk)
        desk.load()
        return desk

    yield make
    for desk in desks:
        desk.close()


@pytest.fixture
def desk(open_desk: Callable[[], ClockDesk]) -> ClockDesk:
    made = open_desk()
    made.session.set_system_prompt(PROMPT)
    return made


def system(desk: ClockDesk) -> str:
    assert desk.newest[0].role == "system"
    return desk.newest[0].content


def test_scenario_1_two_messages_two_seconds_apart_miss_while_the_clock_is_filled_in(desk: ClockDesk) -> None:
    desk.ask("One?")
    assert system(desk) == AT_FIRST
    desk.ask("Two?")
    assert system(desk).startswith("It is 14:03:24. ")
    assert desk.reused == 0
    assert desk.session.conversation.system_prompt == PROMPT


def test_scenario_1_frozen_it_stays_as_it_was_sent_and_everything_is_reused(desk: ClockDesk) -> None:
    desk.ask("One?")
    desk.session.set_system_prompt(PROMPT, (desk.session.new_cure("time", "frozen"),))
    desk.ask("Two?")
    assert system(desk) == AT_FIRST
    assert desk.reused > len(AT_FIRST) // 4
    desk.ask("Three?", 86_400)
    desk.ask("Four?")
    assert system(desk) == AT_FIRST


def test_scenario_1_moved_the_system_prompt_is_constant_and_the_time_goes_with_the_question(desk: ClockDesk) -> None:
    desk.session.set_system_prompt(PROMPT, (desk.session.new_cure("time", "moved"),))
    desk.ask("One?")
    desk.ask("Two?")
    assert system(desk) == CONSTANT
    assert [message.content for message in desk.newest if message.role == "user"] == [
        "One?\n\n[time: 14:03:22]",
        "Two?\n\n[time: 14:03:24]",
    ]
    assert desk.reused > len(CONSTANT) // 4
    assert [message.content for message in desk.session.messages if message.role == "user"] == ["One?", "Two?"]


def test_frozen_before_the_first_question_it_stays_at_the_moment_of_freezing(desk: ClockDesk) -> None:
    desk.session.set_system_prompt(PROMPT, (desk.session.new_cure("time", "frozen"),))
    desk.clock.forward(hours=1)
    desk.ask("One?")
    assert system(desk) == AT_FIRST


def test_without_the_cure_the_clock_goes_on(desk: ClockDesk) -> None:
    desk.ask("One?")
    desk.session.set_system_prompt(PROMPT, (desk.session.new_cure("time", "frozen"),))
    desk.session.set_system_prompt(PROMPT, ())
    desk.ask("Two?")
    assert system(desk).startswith("It is 14:03:24. ")


def test_another_text_keeps_the_cures_of_what_is_still_in_it(desk: ClockDesk) -> None:
    desk.session.set_system_prompt(PROMPT, (Cure("time", "frozen", "12:00:00"),))
    desk.session.set_system_prompt("At {{time}}.")
    assert desk.session.conversation.cures == (Cure("time", "frozen", "12:00:00"),)
    desk.session.set_system_prompt("No clock.")
    assert desk.session.conversation.cures == ()


@pytest.mark.parametrize("kind", ["frozen", "moved"])
def test_after_a_restart_the_prompt_is_the_same(open_desk: Callable[[], ClockDesk], kind: str) -> None:
    first = open_desk()
    first.session.set_system_prompt(PROMPT, (first.session.new_cure("time", kind),))  # type: ignore[arg-type]
    first.ask("One?")
    first.ask("Two?")
    before = first.newest
    first.close()
    second = open_desk()
    second.session.open(1)
    second.ask("Three?")
    assert second.newest[: len(before)] == before


def test_answering_again_sends_what_was_sent(desk: ClockDesk) -> None:
    desk.session.set_system_prompt("{{uuid}} {{time}}", (desk.session.new_cure("time", "moved"),))
    desk.ask("One?")
    before = desk.newest
    desk.session.retry()
    desk.play()
    assert desk.newest == before
    assert desk.reused > 0


def test_answering_again_after_a_move_asks_the_question_anew(desk: ClockDesk) -> None:
    desk.ask("One?")
    question = desk.session.messages[0].id
    desk.session.set_system_prompt(PROMPT, (desk.session.new_cure("time", "moved"),))
    desk.session.retry()
    desk.play()
    assert system(desk) == CONSTANT
    assert desk.newest[-1].content == "One?\n\n[time: 14:03:24]"
    assert desk.session.versions(question) == [question, desk.session.messages[0].id]
    desk.session.choose_sibling(question)
    assert len(desk.session.messages) == 2


def test_an_edited_question_is_a_new_one(desk: ClockDesk) -> None:
    desk.session.set_system_prompt(PROMPT, (desk.session.new_cure("time", "moved"),))
    desk.ask("One?")
    desk.session.edit(desk.session.messages[0].id, "Other?")
    desk.play()
    assert desk.newest[-1].content == "Other?\n\n[time: 14:03:24]"


def test_the_preview_is_of_what_would_be_sent(desk: ClockDesk) -> None:
    desk.session.set_system_prompt(PROMPT, (desk.session.new_cure("time", "moved"),))
    desk.session.cost.draft_changed("Soon?")
    desk.session.cost.draft.ask()
    preview = desk.engine.previews[-1].messages
    desk.ask("Soon?", 0)
    assert preview == desk.newest


def test_what_an_answer_was_written_under_is_kept(desk: ClockDesk) -> None:
    desk.ask("One?")
    desk.ask("Two?")
    desk.session.set_system_prompt("Another one.")
    desk.ask("Three?")
    answers = [message.id for message in desk.session.messages if message.role == "assistant"]
    sent = [desk.history.sent_system_prompt(answer) for answer in answers]
    assert sent == [AT_FIRST, AT_FIRST.replace("14:03:22", "14:03:24"), "Another one."]


def test_the_same_system_prompt_is_stored_once(desk: ClockDesk) -> None:
    desk.session.set_system_prompt("Be brief.")
    for question in ("One?", "Two?", "Three?"):
        desk.ask(question)
    assert desk.history.file.db.execute("SELECT text FROM sent_system").fetchall() == [("Be brief.",)]
    desk.session.delete(desk.session.conversation.id)
    assert desk.history.file.db.execute("SELECT count(*) FROM sent_system").fetchone() == (0,)


def test_an_unknown_placeholder_is_sent_as_it_is(desk: ClockDesk) -> None:
    desk.session.set_system_prompt("For {{customer}} at {{nowhere}}.")
    desk.ask("One?")
    assert system(desk) == "For {{customer}} at {{nowhere}}."

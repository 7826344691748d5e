"""Answers into the history: on a slow timer, at their end, and on a disk that is full for a while."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from app.chat.saving import SAVE_EVERY_MS
from app.history.history import History
from engine import DiskFullError, TextDelta
from tests.app.conftest import Desk
from tests.app.fake_engine import FakeEngine, Script


class Disk:
    """Makes the history's writes fail while it is full, and counts those that were tried."""

    def __init__(self, desk: Desk, patch: pytest.MonkeyPatch) -> None:
        self.full = False
        self.writes = 0
        self._change = desk.history.file.change
        patch.setattr(desk.history.file, "change", self.change)

    def change(self, statement: str, *values: object) -> int:
        self.writes += 1
        if self.full:
            raise DiskFullError("The disk is full.", "SQLITE_FULL")
        return self._change(statement, *values)


@pytest.fixture
def disk(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(desk, monkeypatch)


def save(desk: Desk) -> None:
    """What the slow timer does."""
    desk.session.saving.save()


def stored(desk: Desk) -> list[str]:
    return [message.content for message in desk.history.messages(desk.session.conversation.id)]


def test_text_is_stored_on_the_timer_and_only_when_there_is_more(desk: Desk, disk: Disk) -> None:
    desk.session.send("Hi")
    disk.writes = 0
    desk.until(TextDelta)
    desk.until(TextDelta)
    assert disk.writes == 0
    desk.save()
    desk.save()
    assert disk.writes == 1
    assert stored(desk) == ["Hi", "Hello from"]


def test_the_timer_is_slow_and_ends_with_the_last_answer(desk: Desk, qtbot: QtBot) -> None:
    timer = desk.session.saving.timer
    assert SAVE_EVERY_MS == 1000
    assert not timer.isActive()
    desk.session.send("Hi")
    desk.until(TextDelta)
    assert timer.isActive()
    timer.setInterval(0)
    with qtbot.waitSignal(timer.timeout):
        pass
    assert stored(desk) == ["Hi", "Hello"]
    desk.play()
    with qtbot.waitSignal(timer.timeout):
        pass
    assert not timer.isActive()


def test_on_a_full_disk_the_engine_makes_room(desk: Desk, disk: Disk) -> None:
    """What it keeps there is worth less than what was written, be it a question or an answer."""
    disk.full = True
    desk.session.send("Hi")
    assert desk.engine.calls.count("set_disk_budget None") == 1
    disk.full = False
    desk.session.send("Hi")
    disk.full = True
    desk.play()
    save(desk)
    assert desk.engine.calls.count("set_disk_budget None") == 2


def test_an_answer_that_ends_on_a_full_disk_is_kept_and_stored_later(desk: Desk, disk: Disk) -> None:
    desk.session.send("Hi")
    disk.full = True
    desk.play()
    assert desk.heard("error") == [("The disk is full.", "SQLITE_FULL")]
    (final,) = desk.heard("message_finished")
    assert desk.session.messages[-1] == final
    desk.save()
    assert len(desk.heard("error")) == 1
    disk.full = False
    desk.save()
    assert desk.history.message(final.id) == final


def test_what_is_not_stored_yet_is_shown_and_sent_after_switching(desk: Desk, disk: Disk) -> None:
    desk.session.send("Hi")
    number = desk.session.conversation.id
    disk.full = True
    desk.play()
    desk.session.new_conversation()
    desk.session.open(number)
    assert [message.content for message in desk.session.messages] == ["Hi", "Hello from a fake."]
    disk.full = False
    desk.session.send("And?")
    assert desk.engine.requests[-1].messages[1].content == "Hello from a fake."
    assert len(desk.engine.requests[-1].messages[1].token_ids) == 5


def test_each_new_trouble_is_told_once(desk: Desk, disk: Disk) -> None:
    desk.session.send("Hi")
    for full in (True, False, True):
        disk.full = full
        desk.until(TextDelta)
        desk.save()
        desk.save()
    assert len(desk.heard("error")) == 2


def test_a_question_that_cannot_be_stored_is_not_sent_and_not_lost(desk: Desk, disk: Disk) -> None:
    disk.full = True
    assert not desk.session.send("Hi")
    assert (desk.session.messages, desk.engine.requests) == ((), [])
    assert desk.heard("error") == [("The disk is full.", "SQLITE_FULL")]
    disk.full = False
    assert desk.history.conversations() == []
    assert desk.session.send("Hi")
    desk.play()
    assert stored(desk) == ["Hi", "Hello from a fake."]


def test_an_empty_answer_that_cannot_be_dropped_is_out_of_view_and_gone_next_time(
    make_desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = make_desk()
    first.session.send("Hi")
    disk = Disk(first, monkeypatch)
    disk.full = True
    first.session.stop()
    first.play()
    assert [message.content for message in first.session.messages] == ["Hi"]
    first.close()
    second = make_desk()
    second.session.open(first.session.conversation.id)
    assert [message.content for message in second.session.messages] == ["Hi"]


@pytest.mark.parametrize("change", ["rename", "set_system_prompt", "delete", "choose_sibling"])
def test_a_change_that_cannot_be_stored_is_told(desk: Desk, disk: Disk, change: str) -> None:
    desk.session.send("Hi")
    desk.play()
    number, answer = desk.session.conversation.id, desk.session.messages[-1].id
    arguments = {"rename": (number, "x"), "delete": (number,), "choose_sibling": (answer,)}.get(change, ("x",))
    disk.full = True
    getattr(desk.session, change)(*arguments)
    assert len(desk.heard("error")) == 1
    assert [message.content for message in desk.session.messages] == ["Hi", "Hello from a fake."]


def test_a_thought_is_kept_where_its_answer_failed_or_the_program_ended(make_desk: Callable[..., Desk]) -> None:
    thinks = Script(thought=("Hm", ", well"), fail_after=0)
    desk = make_desk(FakeEngine(thinks, thinks, manual=True))
    desk.session.send("Why?")
    desk.play()
    failed = desk.session.messages[-1]
    assert (failed.content, failed.thought, failed.finish_reason) == ("", "Hm, well", "failed")
    desk.session.send("And why that?")
    desk.until(TextDelta)
    desk.save()
    desk.bridge.close()
    desk.history.close()
    again = History(desk.history.path)
    stored = again.messages(failed.conversation_id)
    assert [(each.thought, each.finish_reason) for each in stored[1::2]] == [
        ("Hm, well", "failed"),
        ("Hm", "interrupted"),
    ]
    again.close()

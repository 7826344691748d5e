"""The demo's turns on the fake engine: each prompt with the cache on, then off; measured values in the window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.chat.bridge import Bridge
from app.chat.session import Session
from app.demo import player as player_module
from app.demo.player import DemoClock, Player
from app.demo.report import Report
from app.demo.script import Script, Step, read_script
from app.history.history import History
from app.placeholders import values_at
from app.settings import Settings
from engine import HeadstartError, Message, ModelSpec, Request
from tests.app.fake_engine import MODEL, FakeEngine
from tests.app.fake_engine import Script as Answer

PROMPT = "You are a support bot. " * 40
SCRIPT = Script("support", ("Support bot",), PROMPT, (Step("First question?"), Step("Second?"), Step("Third?")))


class Room:
    """A session on a fake engine, without a window."""

    def __init__(self, folder: Path, *answers: Answer) -> None:
        self.engine = FakeEngine(*answers)
        self.bridge = Bridge(self.engine)
        self.history = History(folder / "history.sqlite3")
        self.clock = DemoClock()
        self.session = Session(self.bridge, self.history, Settings(), values=self.clock.values)
        self.lines: list[str] = []
        self.player = Player(self.session, self.bridge, self.history, self.lines.append, self.clock)
        self.report = Report(MODEL, {})

    def load(self) -> None:
        self.session.answers.load(ModelSpec())
        self.player.wait_for_model()

    def play(self, turns: int, script: Script = SCRIPT) -> None:
        self.load()
        self.player.play(script, turns, self.report)

    def close(self) -> None:
        self.session.shutdown()
        self.bridge.close()
        self.history.close()


@pytest.fixture
def open_room(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Room]]:
    monkeypatch.setattr(player_module, "REST_MS", 0)
    rooms: list[Room] = []

    def make(*answers: Answer) -> Room:
        rooms.append(Room(tmp_path, *answers))
        return rooms[-1]

    yield make
    for room in rooms:
        room.close()


def test_both_passes_read_the_same_prompts(open_room: Callable[..., Room]) -> None:
    room = open_room()
    room.play(3)
    on, off = room.engine.requests[::2], room.engine.requests[1::2]
    assert [request.use_cache for request in room.engine.requests] == [True, False] * 3
    for warm, cold in zip(on, off, strict=True):
        assert cold == replace(warm, use_cache=False, record_margins=True, keep_room=False)
        assert (cold.sampling.temperature, cold.messages[0]) == (0, Message("system", PROMPT))
    assert [message.role for message in off[2].messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert all(message.token_ids for message in off[2].messages if message.role == "assistant")


def test_rows_hold_what_the_engine_reported(open_room: Callable[..., Room]) -> None:
    room = open_room()
    room.play(3)
    on, off = room.report.rows("on"), room.report.rows("off")
    assert [row.turn for row in on] == [row.turn for row in off] == [1, 2, 3]
    assert [row.prompt_tokens for row in on] == [row.prompt_tokens for row in off]
    assert [row.reused_tokens for row in off] == [0, 0, 0]
    assert on[0].reused_tokens == 0 < on[1].reused_tokens < on[2].reused_tokens
    assert all(row.reused_tokens + row.computed_tokens == row.prompt_tokens for row in room.report.turns)
    assert room.report.answers_equal
    assert len(room.lines) == 6


def test_the_conversation_in_view_ends_with_the_cold_times_measured(open_room: Callable[..., Room]) -> None:
    room = open_room()
    room.play(2)
    answers = [message for message in room.session.messages if message.role == "assistant"]
    assert room.session.conversation.title == "Support bot"
    on, off = room.report.rows("on"), room.report.rows("off")
    first, second = (answer.stats for answer in answers)
    assert first is not None
    assert second is not None
    assert (first.ttft_s, first.reused_tokens, first.cold_measured) == (on[0].ttft_s, 0, False)
    assert (second.ttft_s, second.reused_tokens) == (on[1].ttft_s, on[1].reused_tokens)
    assert (second.cold_ttft_s, second.cold_measured) == (off[1].ttft_s, True)


def test_where_the_answers_part_is_reported(open_room: Callable[..., Room]) -> None:
    same, longer = Answer(tokens=("a", "b")), Answer(tokens=("a", "b", "c"))
    room = open_room(same, same, same, longer, same)
    room.play(2)
    assert [(parted.turn, parted.token, parted.margin) for parted in room.report.parted] == [(2, 2, 1.0)]


@pytest.mark.parametrize("bad_turn", [0, 1, 2, 3])
def test_a_failing_turn_ends_the_demo_with_its_sentence(open_room: Callable[..., Room], bad_turn: int) -> None:
    good, bad = Answer(), Answer(fail_after=-1, sentence="There is not enough memory.")
    room = open_room(*[good] * bad_turn, bad)
    with pytest.raises(HeadstartError, match="not enough memory"):
        room.play(2)


def test_closing_the_window_ends_the_demo(open_room: Callable[..., Room]) -> None:
    room = open_room()
    room.session.message_finished.connect(room.player.stop)
    with pytest.raises(HeadstartError, match="closed before its end"):
        room.play(3)
    assert len(room.engine.requests) == 1


def test_a_failing_load_ends_the_demo_with_its_sentence(open_room: Callable[..., Room]) -> None:
    room = open_room()
    room.engine.load_failure = "This folder has no model."
    with pytest.raises(HeadstartError, match="has no model"):
        room.play(2)
    assert not room.engine.requests


def test_a_day_passes_and_the_cure_keeps_the_prompt_as_it_is(open_room: Callable[..., Room]) -> None:
    room = open_room()
    script = read_script("one-token")
    room.play(6, script)
    first, _, third, fourth, fifth, sixth = (request.messages[0].content for request in room.engine.requests[::2])
    today, tomorrow = (values_at(datetime.now() + timedelta(days=days), "")["date"] for days in (0, 1))
    assert f"Today is {today}." in first
    assert f"Today is {tomorrow}." in third
    assert "Today is [date: see the newest message]." in fourth
    assert fourth == fifth == sixth
    asked = [request.messages[-1].content for request in room.engine.requests[::2]]
    assert asked[2] == script.questions[2]
    assert asked[3] == f"{script.questions[3]}\n\n[date: {tomorrow}]"
    reused = [row.reused_tokens for row in room.report.rows("on")]
    assert [tokens > 0 for tokens in reused] == [False, True, False, False, True, True]
    for warm, cold in zip(room.engine.requests[::2], room.engine.requests[1::2], strict=True):
        assert warm.messages == cold.messages


def test_conversations_branch_from_one_document(open_room: Callable[..., Room]) -> None:
    room = open_room()
    script = read_script("tree")
    room.play(8, script)
    assert [each.title for each in reversed(room.session.conversations())] == list(script.titles)
    assert {request.messages[0].content for request in room.engine.requests} == {script.system_prompt}
    assert all(row.reused_tokens > 0 for row in room.report.rows("on")[1:])
    again = room.report.rows("on")[6]
    assert (again.computed_tokens, again.reused_tokens) == (1, again.prompt_tokens - 1)
    assert [room.report.asides[turn].conversation for turn in (1, 2, 3)] == ["Newcomer", "Newcomer", "Guest"]


def test_a_script_that_outgrows_the_context_is_refused_before_the_first_turn(open_room: Callable[..., Room]) -> None:
    room = open_room()
    room.load()
    with pytest.raises(
        HeadstartError,
        match=r"only the first question fits\. Give --turns 1 or --model another",
    ):
        room.player.check_fits(replace(SCRIPT, system_prompt="word " * 6_500), 3, MODEL)
    with pytest.raises(HeadstartError, match=r"reads 8,192\. Give --model another model"):
        room.player.check_fits(replace(SCRIPT, system_prompt="word " * 9_000), 3, MODEL)
    room.player.check_fits(replace(SCRIPT, system_prompt="word " * 6_000), 3, MODEL)
    assert room.engine.requests == []
    assert all(preview.messages[-1].role == "user" for preview in room.engine.previews)


def test_what_is_measured_is_told_as_it_comes(open_room: Callable[..., Room]) -> None:
    room = open_room()
    told: list[object] = []
    room.player.begun.connect(lambda turn, step: told.append((turn, step)))
    room.player.measured.connect(told.append)
    room.player.ended.connect(told.append)
    room.play(2)
    on, off = room.report.rows("on"), room.report.rows("off")
    steps = SCRIPT.steps
    assert told == [(1, steps[0]), on[0], off[0], 1, (2, steps[1]), on[1], off[1], 2]


def test_paused_it_waits_for_each_turn(open_room: Callable[..., Room]) -> None:
    room = open_room()
    pace = room.player.pace
    pace.pause()
    begun: list[int] = []
    room.player.begun.connect(lambda turn, step: begun.append(turn))

    def press() -> None:
        assert len(room.report.turns) == 2 * len(begun)
        (pace.next_turn if len(begun) < 2 else pace.start)()

    presses = [QTimer(room.player, singleShot=True, interval=0) for _ in range(3)]
    for timer in presses:
        timer.timeout.connect(press)
    presses[0].start()
    room.player.measured.connect(lambda row: row.cache == "off" and row.turn < 3 and presses[row.turn].start())
    room.play(3)
    assert begun == [1, 2, 3]
    assert pace.running


def test_a_rest_lasts_until_the_answer_was_read_again(open_room: Callable[..., Room]) -> None:
    room = open_room()
    room.load()
    view = room.engine.cache_view()
    said: list[int] = []
    for milliseconds, unread in ((0, 7), (1, 3), (40, 0)):
        later = replace(view, unread_tokens=unread)
        QTimer.singleShot(
            milliseconds, lambda later=later: (said.append(later.unread_tokens), room.bridge.cache_view.emit(later))
        )  # type: ignore[misc]
    room.bridge.cache_view.emit(replace(view, unread_tokens=9))
    room.player.rest()
    assert said == [7, 3, 0]


def test_a_rest_lasts_until_what_is_read_ahead_is_read(open_room: Callable[..., Room]) -> None:
    room = open_room()
    room.load()
    room.bridge.read_ahead(Request((Message("user", "Where is my parcel?"),)))
    room.player.rest()
    assert not room.bridge.is_reading_ahead


def test_a_rest_is_over_where_the_answer_is_never_read_again(
    open_room: Callable[..., Room], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player_module, "LONGEST_REST_MS", 1)
    room = open_room()
    room.load()
    room.bridge.cache_view.emit(replace(room.engine.cache_view(), unread_tokens=9))
    room.player.rest()

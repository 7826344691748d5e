"""The demo's two passes, played on the fake engine: same prompts, cache on and off, measured values in the window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app import player as player_module
from app.bridge import Bridge
from app.history import History
from app.player import Player
from app.report import Report
from app.script import Script, read_script
from app.session import Session
from app.settings import Settings
from engine import HeadstartError, Message, ModelSpec
from tests.app.fake_engine import MODEL, FakeEngine
from tests.app.fake_engine import Script as Answer

SCRIPT = Script("Support bot", "You are a support bot. " * 40, ("First question?", "Second?", "Third?"))


class Room:
    """A session on a fake engine, without a window."""

    def __init__(self, folder: Path, *answers: Answer) -> None:
        self.engine = FakeEngine(*answers)
        self.bridge = Bridge(self.engine)
        self.history = History(folder / "history.sqlite3")
        self.session = Session(self.bridge, self.history, Settings())
        self.lines: list[str] = []
        self.player = Player(self.session, self.bridge, self.history, self.lines.append)
        self.report = Report(MODEL, {})

    def play(self, turns: int) -> None:
        self.session.load_model(ModelSpec())
        self.player.wait_for_model()
        self.player.play_warm(SCRIPT, turns, self.report)
        self.player.play_cold(self.report)

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
    on, off = room.engine.requests[:3], room.engine.requests[3:]
    assert [request.use_cache for request in room.engine.requests] == [True] * 3 + [False] * 3
    for warm, cold in zip(on, off, strict=True):
        assert cold == replace(warm, use_cache=False, record_margins=True)
        assert (cold.sampling.temperature, cold.messages[0]) == (0, Message("system", SCRIPT.system_prompt))
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
    room = open_room(same, same, same, longer)
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


def test_the_script_is_a_long_prompt_with_tools_and_enough_questions() -> None:
    script = read_script()
    assert 8 <= len(script.questions) <= 12
    assert "# Tools" in script.system_prompt
    assert 10_000 < len(script.system_prompt) < 16_000

"""The running total counts each finished turn once, survives a restart, and says so where it cannot be stored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.chat.savings import SavedTotal, Savings, sum_of
from app.settings import Settings
from engine import HeadstartError, Request, TtftParts, TurnStats
from tests.app.conftest import Desk
from tests.app.fake_engine import FakeEngine, Script


def answer(desk: Desk, text: str) -> TurnStats:
    desk.session.send(text)
    desk.play()
    stats = desk.session.messages[-1].stats
    assert stats is not None
    return stats


def test_it_is_the_sum_of_what_the_engine_told(make_desk: Callable[..., Desk], tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    settings = Settings.load(path)
    desk = make_desk(settings=settings)
    saved = SavedTotal(desk.session.answers, settings)
    heard: list[Savings] = []
    saved.changed.connect(heard.append)
    turns = [answer(desk, text) for text in ("One", "Two", "Three")]
    desk.session.new_conversation()
    turns.append(answer(desk, "Four"))
    counted = [stats for stats in turns if stats.reused_tokens]
    assert len(counted) == 2, "the first turn of a conversation here reuses nothing"
    assert saved.total.tokens == sum(stats.reused_tokens for stats in counted)
    assert saved.total.seconds == 0.0, "what the fake engine estimates is below half a second"
    assert heard[-1] == saved.total
    again = Settings.load(path)
    assert SavedTotal(desk.session.answers, again).total == saved.total


def test_an_answer_in_the_background_counts_and_a_cold_run_does_not(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk()
    saved = SavedTotal(desk.session.answers, Settings())
    answer(desk, "One")
    desk.session.send("Two")
    messages = desk.engine.requests[-1].messages
    desk.session.new_conversation()
    desk.play()
    total = saved.total
    assert total.tokens > 0
    desk.bridge.submit(Request(messages, use_cache=False))
    desk.play()
    assert saved.total == total


def test_what_cannot_be_stored_is_said_once(make_desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings()
    desk = make_desk(settings=settings)
    saved = SavedTotal(desk.session.answers, settings)
    said: list[str] = []
    saved.error.connect(lambda sentence, detail: said.append(sentence))

    def refuse() -> None:
        raise HeadstartError("The settings cannot be written.")

    monkeypatch.setattr(settings, "save", refuse)
    for text in ("One", "Two", "Three"):
        answer(desk, text)
    assert said == ["The settings cannot be written."]
    assert saved.total.tokens > 0, "it goes on counting"


def turn(reused: int, ttft_s: float | None, cold_s: float = 1.5, measured: bool = False) -> TurnStats:
    return TurnStats(1, 100, reused, 100 - reused, 5, ttft_s, TtftParts(), 50.0, cold_s, measured, 0)


def test_savings_are_net_and_say_whether_any_cold_time_is_an_estimate() -> None:
    saved = Savings().plus(turn(80, 0.5, 2.0, measured=True))
    assert saved == Savings(1.5, 80, estimated=False)
    assert saved.plus(turn(64, None)) == saved, "its first token never came"
    assert saved.plus(turn(0, 9.0, 0.1)) == saved, "it was the cold run itself"
    slower = saved.plus(turn(64, 4.0, 2.0))
    assert slower == Savings(-0.5, 144, estimated=True)
    assert slower.shown_seconds == 0.0
    little = saved.plus(turn(16, 1.0, 9.0))
    assert little == Savings(1.5, 96, estimated=False), "8 seconds that only the estimate knows of"
    assert saved.plus(turn(16, 1.0, 9.0, measured=True)) == Savings(9.5, 96, estimated=False)
    assert saved.plus(turn(96, 0.1, 0.4)) == Savings(1.5, 176), "an estimate below half a second is none"
    assert sum_of([turn(80, 0.5, 2.0, measured=True), turn(64, 4.0, 2.0)]) == slower


def test_all_versions_count_and_the_sum_means_one_thing(make_desk: Callable[..., Desk]) -> None:
    """Seen: a retry made what was saved in a conversation fall from 1.5 s to 0."""
    desk = make_desk()
    saved = SavedTotal(desk.session.answers, Settings())
    answer(desk, "One")
    answer(desk, "Two")
    for _ in range(2):
        desk.session.retry()
        desk.play()
    here = sum_of(desk.history.figures(desk.session.conversation.id))
    assert here == saved.total
    assert here.tokens > sum_of(m.stats for m in desk.session.messages if m.stats).tokens, (
        "more than the branch in view"
    )


def test_a_turn_that_broke_off_counts_as_it_does_in_its_conversation(make_desk: Callable[..., Desk]) -> None:
    engine = FakeEngine(Script(), Script(fail_after=3, stats_every=1), manual=True)
    desk = make_desk(engine)
    saved = SavedTotal(desk.session.answers, Settings())
    answer(desk, "One")
    answer(desk, "Two")
    assert saved.total.tokens > 0
    assert sum_of(desk.history.figures(desk.session.conversation.id)) == saved.total

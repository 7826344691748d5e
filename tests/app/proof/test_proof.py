"""The proof of a turn: two runs of the same prompt, compared; nothing else hears of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app.proof.proof import Proof, ProofResult, gain, own_figures, proof_requests, result_of, verdict
from engine import Finished, Matched, Message, Request, Sampling, TextDelta, TtftParts, TurnStats
from tests.app.conftest import Desk
from tests.app.fake_engine import FakeEngine, Script

REQUEST = Request(
    (Message("system", "Be brief. " * 40), Message("user", "Why?")),
    Sampling(temperature=0.9),
    "chat #1",
    use_cache=False,
)
SIGNALS = ("begun", "matched", "reading", "measured", "ended", "stopped", "failed")


class Bench:
    """A proof on a fake engine, and what it said."""

    def __init__(self, desk: Desk, length: int = 5) -> None:
        self.desk = desk
        self.proof = Proof(desk.bridge, REQUEST, length)
        self.said: list[tuple[str, tuple[Any, ...]]] = []
        for name in SIGNALS:
            getattr(self.proof, name).connect(lambda *values, name=name: self.said.append((name, values)))

    def run(self) -> None:
        self.proof.start()
        self.desk.play()

    @property
    def ends(self) -> list[str]:
        return [name for name, _ in self.said if name in ("ended", "stopped", "failed")]

    @property
    def result(self) -> ProofResult:
        (result,) = (values[0] for name, values in self.said if name == "ended")
        return result


@pytest.fixture
def bench(make_desk: Callable[..., Desk]) -> Callable[..., Bench]:
    def make(*scripts: Script) -> Bench:
        desk = make_desk(FakeEngine(*scripts, manual=True))
        desk.said.clear()
        return Bench(desk)

    return make


@pytest.mark.parametrize(
    ("own", "now", "said"),
    [
        (
            14,
            1568,
            "Turn 3 itself remembered 14 tokens and waited 1.50 s. Now its prompt is remembered: this run remembers "
            "1,568.",
        ),
        (
            1,
            0,
            "Turn 3 itself remembered one token and waited 1.50 s. Now less of its prompt is remembered: this run "
            "remembers 0.",
        ),
        (14, 14, ""),
    ],
)
def test_what_the_turn_itself_reused_is_said_where_it_is_another_number(own: int, now: int, said: str) -> None:
    stats = TurnStats(1, 1582, own, 1582 - own, 9, 1.5, TtftParts(), 20.0, 9.0, False, 0)
    assert own_figures(3, stats, Matched(2, 1582, now, 1582 - now, None, ())) == said
    waiting = own_figures(3, replace(stats, ttft_s=None), Matched(2, 1582, now, 1582 - now, None, ()))
    assert waiting == said.replace(" and waited 1.50 s", "")


def test_the_same_prompt_runs_with_the_cache_then_without_greedy_and_as_long(bench: Callable[..., Bench]) -> None:
    made = bench()
    made.run()
    warm, cold = made.desk.engine.requests
    assert (warm.use_cache, cold.use_cache) == (True, False)
    assert replace(warm, use_cache=False) == cold
    assert (warm.messages, warm.conversation, warm.pin_system) == (REQUEST.messages, "", False)
    assert (warm.sampling.temperature, warm.sampling.max_tokens, warm.record_margins) == (0.0, 5, True)
    assert [values[0] for name, values in made.said if name == "begun"] == ["warm", "cold"]
    assert made.ends == ["ended"]


def test_it_says_what_the_engine_reported(bench: Callable[..., Bench]) -> None:
    made = bench()
    reported: list[Any] = []
    made.desk.bridge.aside.connect(reported.append)
    made.run()
    assert [values[1] for name, values in made.said if name in ("matched", "reading")] == [
        event for event in reported if type(event).__name__ in ("Matched", "Prefill")
    ]
    finished = [event for event in reported if isinstance(event, Finished)]
    assert [made.result.warm, made.result.cold] == finished
    measured = {values[0]: values[1] for name, values in made.said if name == "measured"}
    assert measured == {"warm": finished[0].stats, "cold": finished[1].stats}


def test_nobody_else_hears_of_it(bench: Callable[..., Bench]) -> None:
    made = bench()
    heard: list[object] = []
    for signal in ("matched", "prefill", "text", "stats", "finished", "failed"):
        getattr(made.desk.bridge, signal).connect(heard.append)
    made.run()
    assert heard == []
    assert {name for name, _ in made.desk.said} <= {"cache_view"}
    assert made.desk.session.messages == ()


def test_answers_that_part_are_found(bench: Callable[..., Bench]) -> None:
    made = bench(Script(tokens=("a", "b")), Script(tokens=("a", "b", "c")))
    made.run()
    parted = made.result.parted
    assert parted is not None
    assert (parted.token, parted.margin) == (2, 1.0)


@pytest.mark.parametrize("half", ["warm", "cold"])
def test_it_can_be_stopped_in_either_run(bench: Callable[..., Bench], half: str) -> None:
    made = bench()
    made.proof.start()
    made.desk.until(TextDelta)
    if half == "cold":
        made.desk.until(Finished)
        made.desk.until(TextDelta)
    made.proof.stop()
    made.proof.stop()
    made.desk.play()
    assert len(made.desk.engine.cancelled) == 1
    assert made.ends == (["stopped"] if half == "warm" else ["ended"])
    assert len(made.desk.engine.requests) == (1 if half == "warm" else 2)
    made.proof.stop()
    assert len(made.desk.engine.cancelled) == 1


def test_stopped_before_the_cold_run_wrote_there_is_nothing_to_compare(bench: Callable[..., Bench]) -> None:
    made = bench()
    made.proof.start()
    made.desk.until(Finished)
    made.proof.stop()
    made.desk.play()
    assert made.ends == ["stopped"]


@pytest.mark.parametrize("failing", [0, 1])
def test_a_failure_ends_it_with_its_sentence(bench: Callable[..., Bench], failing: int) -> None:
    bad = Script(fail_after=-1, sentence="No memory is left.")
    made = bench(*[Script()] * failing, bad)
    made.run()
    assert made.said[-1] == ("failed", ("No memory is left.", bad.detail))
    assert made.ends == ["failed"]


def test_an_answer_of_nothing_is_proved_with_one_token() -> None:
    assert proof_requests(REQUEST, 0)["warm"].sampling.max_tokens == 1


def finished(ids: tuple[int, ...], text: str, *, ttft: float = 0.1, reused: int = 90, **changes: Any) -> Finished:
    stats = TurnStats(1, 100, reused, 100 - reused, len(ids), ttft, TtftParts(), 0.0, 1.0, False, 0)
    made = Finished(1, "end", text, ids, stats, (0.5,) * len(ids))
    return replace(made, **changes)


SAME = finished((1, 2, 3), "one two three")
NEAR = "it is so."


@pytest.mark.parametrize(
    ("warm", "cold", "near", "words"),
    [
        (SAME, SAME, NEAR, "The same answer, word for word: 3 tokens."),
        (
            SAME,
            SAME,
            "",
            "The same answer, word for word: 3 tokens, and the numbers behind them are equal to the last bit.",
        ),
        (SAME, replace(SAME, margins=(0.5, 0.5, 0.4)), "", "The same answer, word for word: 3 tokens."),
        (finished((), ""), finished((), ""), "", "The same: both ended the answer at once."),
        (
            SAME,
            finished((1, 2, 4), "one two four", margins=(0.5, 0.5, 0.04)),
            "",
            "The same up to token 2, where they part: “three” remembering, “four” from scratch. "
            "They should be equal to the last bit: this is a fault of the program, please report it.",
        ),
        (
            SAME,
            finished((1, 2, 4), "one two four", margins=(0.5, 0.5, 0.04)),
            NEAR,
            "The same up to token 2, where they part: “three” remembering, “four” from scratch. "
            "The two best choices were 0.040 apart there: so close that rounding decides. "
            "Here answers are only near: it is so.",
        ),
        (
            SAME,
            finished((1, 2), "one two ", margins=(0.5, 0.5, 0.7)),
            NEAR,
            "The same up to token 2, where they part: “three” remembering, the end from scratch. "
            "The two best choices were 0.700 apart there: more than rounding explains. "
            "Here answers are only near: it is so.",
        ),
        (
            SAME,
            finished((1, 2), "one two", reason="stopped"),
            "",
            "Stopped: the 2 tokens that both wrote are the same.",
        ),
        (
            replace(SAME, thought="Hm, so"),
            finished((1, 2, 4), "one two three", thought="Hm, no", margins=(0.5, 0.5, 0.04)),
            NEAR,
            "The same up to token 2, where they part: “so one two three” remembering, “no one two three” from scratch. "
            "The two best choices were 0.040 apart there: so close that rounding decides. "
            "Here answers are only near: it is so.",
        ),
        (SAME, finished((1,), "one", reason="stopped"), "", "Stopped: the token that both wrote is the same."),
    ],
)
def test_the_verdict_in_words(warm: Finished, cold: Finished, near: str, words: str) -> None:
    assert verdict(result_of(warm, cold), near) == words


def test_the_verdict_in_one_line() -> None:
    assert gain(result_of(SAME, finished((1, 2, 3), "", ttft=1.25))) == "The same answer, 12 times sooner"
    assert gain(result_of(SAME, finished((1, 2, 3), "", ttft=0.05))) == "The same answer, no sooner"
    assert gain(result_of(SAME, finished((1, 2, 4), "", ttft=1.25))) == "Another answer, 12 times sooner"
    assert gain(result_of(finished((1, 2, 3), "", reused=0), SAME)) == "Nothing was remembered any more"

"""Tokens that are chosen on the device, one ahead of the processor: answers are those of the processor's own choice.

Here the device is the CPU, whose "recordings" are plain calls; `tests/engine/gpu/test_pipelined.py` simulates another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from engine.cache.rounding import rounded
from engine.cache.store import Lane
from engine.events import Finished
from engine.models.graphs import SIZE, PlainCalls, Steps, size_at
from engine.models.loaded import LoadedModel
from engine.turn.pipelined import PipelinedChoice, choose
from engine.turn.responder import Responder
from engine.turn.sampling import KnownTokens, draw, make_generator, sample
from engine.types import Message, ModelError, Request, Sampling
from tests.engine.inside import lanes
from tests.engine.model_zoo import CASES, LENGTH, ROPE_CASES, ModelCase
from tests.engine.models.test_classes import make_subject, prompt
from tests.engine.tiny_models import make_model
from tests.engine.turn import test_parts_of_answers, test_settle
from tests.engine.turn.test_sampling import logit_lists, samplings
from tests.engine.turns import Chat, SpyModel, events, make_responder

DRAWN = Sampling(temperature=0.9, top_p=0.9, top_k=40, min_p=0.01, repetition_penalty=1.2, seed=3, max_tokens=12)
ALL = Sampling(temperature=1.1, top_p=1.0, frequency_penalty=0.4, presence_penalty=0.3, seed=5, max_tokens=12)
NUCLEUS = Sampling(temperature=0.8, top_p=0.8, seed=7, max_tokens=12)
GREEDY = Sampling(temperature=0.0, repetition_penalty=1.3, max_tokens=12)
KINDS = {"greedy": GREEDY, "drawn": DRAWN, "of all": ALL, "nucleus": NUCLEUS}
ASKED = Message("user", "Where is it?")
SYSTEM = "You answer questions about parcels and tents. Be brief, be kind, and never guess a price."


def make_chat(
    model: LoadedModel | SpyModel, sampling: Sampling, steps: Callable[[LoadedModel | SpyModel], Steps] | None = Steps
) -> Chat:
    """A chat whose tokens are chosen on the device; without `steps` by the processor."""
    chat = Chat(make_responder(model), SYSTEM, sampling=sampling)
    if steps is not None:
        chat.responder.wait_less(steps(model))
    return chat


def recorded(model: LoadedModel | SpyModel) -> Steps:
    """Steps that are repeated, on a device that only calls them again."""
    return Steps(model, PlainCalls())  # type: ignore[arg-type]


@given(logit_lists, samplings)
def test_the_same_token_is_chosen(values: list[float], sampling: Sampling) -> None:
    """Of the same logits, with the same number drawn. Of equal logits any may be."""
    logits = torch.tensor(sorted(set(values)))
    own, other = make_generator(sampling), make_generator(sampling)
    for _ in range(4):
        expected = sample(logits, sampling, own)
        assert int(choose(logits, sampling, float(draw(other)))) == expected


@given(st.integers(0, 2**31), st.floats(0.1, 6), samplings)
def test_the_same_token_of_many(seed: int, spread: float, sampling: Sampling) -> None:
    logits = torch.randn(3000, generator=torch.Generator().manual_seed(seed)) * spread
    expected = sample(logits, sampling, make_generator(sampling))
    assert int(choose(logits, sampling, float(draw(make_generator(sampling))))) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_the_same(tiny: LoadedModel, kind: str) -> None:
    """Turn for turn, with the cache and without, with a bias and with texts that end an answer; and what is cached
    then."""
    one, other = make_chat(tiny, KINDS[kind]), make_chat(tiny, KINDS[kind], None)
    for question, changes in (
        ("Where is my parcel?", {}),
        ("And my tent?", {"bias": ((5, 4.0), (9, -3.0))}),
        ("What?", {"use_cache": False}),
        ("When?", {"stop": (" ", "e")}),
    ):
        found, expected = one.ask(question, **changes), other.ask(question, **changes)
        assert (found.token_ids, found.text, found.reason) == (expected.token_ids, expected.text, expected.reason)
        assert one.reused == other.reused
        check_same_cache(one, other)


def check_same_cache(one: Chat, other: Chat) -> None:
    """Nothing that was computed in vain is vouched for."""
    one.responder.cache.check_integrity()
    assert [(lane.ids, lane.settled) for lane in lanes(one.responder.cache)] == [
        (lane.ids, lane.settled) for lane in lanes(other.responder.cache)
    ]
    assert one.responder.view().cached_tokens == other.responder.view().cached_tokens


@pytest.mark.parametrize("most", [1, 2, 7])
def test_a_length_is_kept(tiny: LoadedModel, most: int) -> None:
    """Nothing is computed behind the last token that may be written."""
    model = SpyModel(tiny)
    launched: list[int] = []
    model.launch = lambda token, lane, at: launched.append(at) or tiny.launch(token, lane, at)  # type: ignore[attr-defined]
    chat = make_chat(model, replace(GREEDY, max_tokens=most))
    finished = chat.ask("Where is my parcel, and when will it be here?")
    assert len(finished.token_ids) <= most
    assert len(launched) <= most - 1
    assert launched == list(range(launched[0], launched[0] + len(launched))) if launched else most == 1


@pytest.mark.parametrize("looks", range(2, 9))
def test_a_stop_at_any_token(tiny: LoadedModel, looks: int) -> None:
    """What was computed behind it is nobody's: the next turn is as if it had never been, and the answer goes on as if
    it had not been stopped."""
    one, other = make_chat(tiny, DRAWN), make_chat(tiny, DRAWN, None)
    stopped, expected = (stopped_after(chat, looks) for chat in (one, other))
    assert (stopped.token_ids, stopped.reason) == (expected.token_ids, "stopped")
    check_same_cache(one, other)
    begun = Message("assistant", stopped.text, stopped.token_ids)
    whole, further = (list(events(chat.responder, chat.request(begun=begun)))[-1] for chat in (one, other))
    assert isinstance(whole, Finished)
    assert isinstance(further, Finished)
    assert whole.token_ids == further.token_ids
    assert one.ask("And my tent?").token_ids == other.ask("And my tent?").token_ids
    check_same_cache(one, other)


def test_what_is_read_anew_is_not_written_over() -> None:
    """Past the length from which the position code is another one: the token that follows stands behind all of it."""
    answers = []
    for is_on in (True, False):
        chat = test_settle.make_long_chat()
        if is_on:
            chat.responder.wait_less(Steps(chat.responder.model))
        answers.append(chat.ask("Where is my parcel?", sampling=replace(GREEDY, max_tokens=test_settle.SWITCH)))
        (lane,) = lanes(chat.responder.cache)
        assert lane.regime.endswith("long")
        truth = Lane(lane.layout, lane.capacity)
        truth.regime = lane.regime
        chat.responder.model.forward(lane.ids, truth, 0)
        for mine, theirs in zip(lane.keys + lane.values, truth.keys + truth.values, strict=True):
            mine, theirs = mine[:, :, : len(lane.ids)], theirs[:, :, : len(lane.ids)]
            torch.testing.assert_close(mine, theirs, rtol=1e-3, atol=1e-4)
    assert answers[0].token_ids == answers[1].token_ids


def stopped_after(chat: Chat, looks: int) -> Finished:
    """An answer that the user stops: it is looked for that before each piece of the prompt, and behind each token."""
    chat.messages.append(Message("user", "What does a tent cost?"))
    left = iter([False] * looks)
    *_, last = events(chat.responder, chat.request(), is_cancelled=lambda: next(left, True))
    assert isinstance(last, Finished)
    return last


@pytest.mark.parametrize("name", test_parts_of_answers.CASES)
def test_thoughts_and_calls_are_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends an answer by its text: a call of a tool, a thought."""

    def pipelined(model: SpyModel, **options: object) -> Responder:
        responder = make_responder(model, **options)  # type: ignore[arg-type]
        responder.wait_less(Steps(model))  # type: ignore[arg-type]
        return responder

    monkeypatch.setattr(test_parts_of_answers, "make_responder", pipelined)
    test_parts_of_answers.test_an_answer_comes_in_its_parts(name)


def test_what_must_be_seen_is_chosen_by_the_processor(tiny: LoadedModel) -> None:
    """Scores, margins, and answers that are held to a form."""
    for changes in ({"scores": 3}, {"record_margins": True}, {"schema": '{"type": "integer"}'}):
        one, other = make_chat(tiny, GREEDY), make_chat(tiny, GREEDY, None)
        found, expected = (chat.ask("How many?", **changes) for chat in (one, other))
        assert (found.token_ids, found.margins) == (expected.token_ids, expected.margins)


@pytest.mark.parametrize("case", [case for case in CASES + ROPE_CASES if case.is_fast], ids=lambda case: case.name)
def test_a_step_with_fixed_shapes(case: ModelCase) -> None:
    """Computes what the plain one does, whatever numbers lie behind the token, in every family of ours."""
    model = make_subject(case).model
    step, ids = model.network.fixed_step, prompt(LENGTH)
    assert step is not None
    lane, other = Lane(model.layout, 80, fill=7.0), Lane(model.layout, 80, fill=float("nan"))
    for each in (lane, other):
        each.regime = model.reuse.regime(LENGTH + 2)
        model.forward(ids, each, 0)
    for at, token in enumerate((5, 9), LENGTH):
        expected = model.forward([token], other, at, is_answer=True)
        with torch.inference_mode():
            found = step(torch.tensor([token]), torch.tensor([at]), lane, 80)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-4 * float(expected.abs().max()))
    for mine, theirs in zip(lane.keys + lane.values, other.keys + other.values, strict=True):
        torch.testing.assert_close(mine[:, :, : LENGTH + 2], theirs[:, :, : LENGTH + 2], rtol=1e-4, atol=1e-5)


def test_a_step_with_fixed_shapes_rounds_what_it_writes() -> None:
    """Where keys and values are kept in 8 bits: their numbers are those of the plain step."""
    model = make_model()
    model.network.round_cache()
    layout, ids = model.network.layout, prompt(LENGTH)
    step, lane, other = model.network.fixed_step, Lane(layout, 80, fill=7.0), Lane(layout, 80)
    assert step is not None
    for each in (lane, other):
        model.forward(ids, each, 0)
    model.forward([5], other, LENGTH, is_answer=True)
    with torch.inference_mode():
        step(torch.tensor([5]), torch.tensor([LENGTH]), lane, 80)
    for mine, theirs in zip(lane.keys + lane.values, other.keys + other.values, strict=True):
        assert torch.equal(mine[:, :, LENGTH], rounded(mine[:, :, LENGTH]))
        torch.testing.assert_close(mine[:, :, LENGTH], theirs[:, :, LENGTH], rtol=0.02, atol=0.02)


@pytest.mark.parametrize("kind", KINDS)
def test_recordings_answer_the_same(tiny: LoadedModel, kind: str) -> None:
    """They are made while nobody waits, and repeated from then on, over a lane that was full of what is no number."""
    one, other = make_chat(tiny, KINDS[kind], recorded), make_chat(tiny, KINDS[kind], None)
    for number, question in enumerate(("Where is my parcel?", "And my tent?", "When?")):
        (lane, *_) = [*lanes(one.responder.cache), None]
        assert (lane is not None and bool(lane.recorded)) == (number > 0)
        assert one.ask(question).token_ids == other.ask(question).token_ids
        for chat in (one, other):
            list(chat.responder.work_idly())
        check_same_cache(one, other)


def test_recordings_go_where_memory_is_short(tiny: LoadedModel) -> None:
    """And with their lane."""
    chat = make_chat(tiny, GREEDY, recorded)
    chat.ask("Where is my parcel?")
    list(chat.responder.work_idly())
    (lane,) = lanes(chat.responder.cache)
    assert lane.recorded
    chat.responder.cache.free_device(is_kept_too=False)
    assert not lane.recorded


class Failing:
    """A device that has no memory to record."""

    tried = 0

    def record(self, step: Callable[[], Tensor]) -> Callable[[], Tensor]:
        """Fail."""
        self.tried += 1
        raise torch.OutOfMemoryError("made to fail")


def test_no_memory_to_record(tiny: LoadedModel) -> None:
    """Then each token is told anew, and it is not tried again."""
    failing = Failing()
    one, other = make_chat(tiny, GREEDY, lambda model: Steps(model, failing)), make_chat(tiny, GREEDY, None)  # type: ignore[arg-type]
    for question in ("Where is my parcel?", "And my tent?"):
        assert one.ask(question).token_ids == other.ask(question).token_ids
        list(one.responder.work_idly())
        list(other.responder.work_idly())
    assert failing.tried == 1


def test_what_is_no_number_is_told(tiny: LoadedModel) -> None:
    choice = PipelinedChoice(Steps(tiny), Request((ASKED,), GREEDY), KnownTokens(tiny.vocabulary, ()), ())
    logits = torch.zeros(tiny.vocabulary)
    logits[3] = float("nan")
    with pytest.raises(ModelError):
        choice.next(logits)


def test_a_lack_of_memory_ahead_is_met_later(tiny: LoadedModel) -> None:
    """Where there is a way to make room."""
    model, calls = SpyModel(tiny), [0]

    def launch(token: Tensor, lane: Lane, position: int) -> Tensor:
        calls[0] += 1
        if calls[0] in (2, 5):
            raise torch.OutOfMemoryError("made to fail")
        return tiny.launch(token, lane, position)

    model.launch = launch  # type: ignore[attr-defined]
    one, other = make_chat(model, DRAWN), make_chat(tiny, DRAWN, None)
    assert one.ask("Where is it?").token_ids == other.ask("Where is it?").token_ids
    assert calls[0] > 5


def test_a_lane_is_recorded_for_its_last_size_too(tiny: LoadedModel) -> None:
    """Which is not one of the round ones."""
    steps, lane = recorded(tiny), Lane(tiny.layout, SIZE + 80, fill=0.0)
    lane.ids[:] = prompt(8)
    list(steps.record([lane]))
    assert [size for size, _ in lane.recorded] == [SIZE, SIZE + 80]  # type: ignore[misc]


def test_sizes() -> None:
    assert [size_at(at, 1000) for at in (0, SIZE - 1, SIZE, 999)] == [SIZE, SIZE, 1000, 1000]

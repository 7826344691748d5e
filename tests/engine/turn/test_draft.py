"""A small model that writes ahead: it makes an answer quicker, and changes nothing else of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import zip_longest
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from engine.cache.store import Lane
from engine.events import Finished
from engine.models.loaded import LoadedModel
from engine.turn import draft as drafting
from engine.turn.draft import Draft
from engine.types import Message, Request, Sampling
from tests.depth import fewer
from tests.engine.inside import is_idle
from tests.engine.tiny_models import make_model
from tests.engine.turns import Chat, SpyModel, events, make_responder

QUESTION = "Where is the parcel, and who has it?"
GREEDY = Sampling(temperature=0.0, repetition_penalty=1.0, max_tokens=50)


@cache
def model(seed: int) -> LoadedModel:
    return make_model(seed=seed)


def chat(seed: int, small: LoadedModel | SpyModel | None, sampling: Sampling = GREEDY, at_once: int = 8) -> Chat:
    """A conversation with a model that may have a small one beside it."""
    responder = make_responder(SpyModel(model(seed), at_once))
    responder.draft = None if small is None else Draft(small, 0.1)  # type: ignore[arg-type]
    return Chat(responder, sampling=sampling)


def passes(finished: Finished) -> int:
    return finished.stats.passes


@fewer(4)
@given(
    seeds=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    temperature=st.sampled_from([0.0, 0.4, 1.5]),
    penalty=st.sampled_from([1.0, 1.3]),
    max_tokens=st.integers(1, 40),
)
def test_answers_are_the_same_with_and_without(
    seeds: tuple[int, int], temperature: float, penalty: float, max_tokens: int
) -> None:
    """Turn after turn, whether the small model is the same one or another."""
    sampling = Sampling(temperature, repetition_penalty=penalty, max_tokens=max_tokens, seed=4)
    alone, beside = chat(seeds[0], None, sampling, at_once=1), chat(seeds[0], model(seeds[1]), sampling)
    for question in (QUESTION, "And when?", QUESTION):
        one, other = alone.ask(question), beside.ask(question)
        assert (one.token_ids, one.text, one.reason) == (other.token_ids, other.text, other.reason)
        beside.responder.cache.check_integrity()
        assert is_idle(beside.responder.cache)


def test_a_small_model_that_knows_what_comes_saves_passes() -> None:
    """It reads a prompt and what was written once, and of what it guessed in vain only what came instead."""
    small = SpyModel(model(1))
    finished = chat(1, small).ask(QUESTION)
    written = len(finished.token_ids)
    assert finished.stats.accepted_tokens > written / 2
    assert passes(finished) < written / 2
    assert sum(count for _, count in small.calls) < small.calls[0][1] + 2 * written


def test_one_that_knows_nothing_is_seldom_asked() -> None:
    class Wrong(SpyModel):
        def forward(self, ids: Sequence[int], lane: Lane, start: int, *, is_answer: bool = False) -> Tensor:
            logits = super().forward(ids, lane, start, is_answer=is_answer)
            number = len(self.calls) % 50
            return torch.nn.functional.one_hot(torch.tensor(number), len(logits)).float()

    small = Wrong(model(2))
    sampling = Sampling(temperature=1.5, top_p=1.0, seed=1, max_tokens=200)
    finished = chat(1, small, sampling).ask(QUESTION)
    late = [start for start, _ in small.calls if start > len(finished.token_ids) / 2]
    assert len(small.calls) < 70
    assert late, "it is tried again from time to time"


def test_a_long_prompt_is_read_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer does not stand still meanwhile."""
    monkeypatch.setattr(drafting, "PIECE", 16)
    small = SpyModel(model(1))
    finished = chat(1, small).ask(QUESTION * 3)
    assert max(count for _, count in small.calls) == 16
    assert [start for start, count in small.calls if count == 16] == list(
        range(0, 16 * sum(count == 16 for _, count in small.calls), 16)
    )
    assert finished.stats.accepted_tokens > 0


@pytest.mark.parametrize("trouble", ["can't allocate memory", "no numbers"])
def test_without_memory_or_numbers_it_guesses_nothing(trouble: str) -> None:
    class Broken(SpyModel):
        def forward(self, *arguments: Any, **options: Any) -> Tensor:
            logits = super().forward(*arguments, **options)
            if trouble == "no numbers":
                return self.checked(logits * float("nan"), 1)
            raise RuntimeError(trouble)

    small = Broken(model(1))
    finished = chat(1, small).ask(QUESTION)
    assert finished.token_ids == chat(1, None, at_once=1).ask(QUESTION).token_ids
    assert len(small.calls) == 1


def test_its_lane_is_counted() -> None:
    beside = chat(1, model(1))
    before = beside.responder.view().overhead_bytes
    finished = beside.ask(QUESTION)
    tokens = finished.stats.prompt_tokens + len(finished.token_ids)
    assert beside.responder.view().overhead_bytes - before > tokens * model(1).layout.bytes_per_token


def test_of_two_answers_side_by_side_it_writes_ahead_for_one() -> None:
    """Else each would cut off what it has read for the other, and it would read both prompts again and again."""
    small = SpyModel(model(1))
    beside = chat(1, small)
    beside.responder.cache.serve_beside()
    texts = {"one": QUESTION, "other": "Say again: " + QUESTION}
    running = [
        events(beside.responder, Request((Message("user", text),), GREEDY, name), request_id=number)
        for number, (name, text) in enumerate(texts.items(), 1)
    ]
    seen = zip(*zip_longest(*running), strict=True)
    ends = [next(event for event in each if isinstance(event, Finished)) for each in seen]
    for text, end in zip(texts.values(), ends, strict=True):
        assert end.token_ids == chat(1, None, at_once=1).ask(text).token_ids
    assert ends[0].stats.accepted_tokens > len(ends[0].token_ids) / 2
    assert sum(count for _, count in small.calls) < small.calls[0][1] + 2 * len(ends[0].token_ids)


@pytest.mark.parametrize("end", ["closed", "broken"])
def test_after_an_answer_that_broke_off_it_writes_ahead_for_the_next(end: str) -> None:
    small = SpyModel(model(1))
    beside = chat(1, small)
    running = events(beside.responder, Request((Message("user", QUESTION),), GREEDY))
    while not small.calls:
        next(running)
    if end == "closed":
        running.close()  # type: ignore[attr-defined]
    else:
        small.before_forward = lambda call: (_ for _ in ()).throw(ZeroDivisionError)
        with pytest.raises(ZeroDivisionError):
            list(running)
        small.before_forward = lambda call: None
    assert beside.ask(QUESTION).stats.accepted_tokens > 0


def test_what_it_read_under_one_salt_makes_no_answer_under_another_quicker() -> None:
    small = SpyModel(model(1))
    beside, starts = chat(1, small), []
    for salt in ("", "", "one", "one", "other", ""):
        small.calls.clear()
        beside.messages.clear()
        beside.ask(QUESTION, salt=salt)
        starts.append(small.calls[0][0] > 0)
    assert starts == [False, True, False, True, False, False]


@pytest.mark.parametrize("drop", ["forget", "clear"])
def test_what_it_read_of_a_conversation_goes_with_it(drop: str) -> None:
    small = SpyModel(model(1))
    beside = chat(1, small)
    finished = beside.ask(QUESTION)
    before = beside.responder.view().overhead_bytes
    beside.responder.forget("chat") if drop == "forget" else beside.responder.clear()
    tokens = finished.stats.prompt_tokens + len(finished.token_ids)
    assert before - beside.responder.view().overhead_bytes > tokens * model(1).layout.bytes_per_token


def test_a_stop_is_heard_while_it_reads() -> None:
    """A long prompt takes it longer than anybody would wait for the end of an answer."""
    small = SpyModel(model(1))
    beside = chat(1, small)
    layers: list[bool] = []

    def is_cancelled() -> bool:
        layers.append(bool(small.calls))
        return any(layers)

    request = Request((Message("user", QUESTION * 20),), GREEDY)
    last = list(events(beside.responder, request, is_cancelled=is_cancelled))[-1]
    assert isinstance(last, Finished)
    assert (last.reason, len(last.token_ids)) == ("stopped", 2)
    assert layers.count(True) == 2, "once in its first layer, and once behind the token"
    assert beside.ask(QUESTION).token_ids == chat(1, None, at_once=1).ask(QUESTION).token_ids

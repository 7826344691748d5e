"""A small model that writes ahead: it makes an answer quicker, and changes nothing else of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
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
from engine.types import Sampling
from tests.depth import fewer
from tests.engine.inside import is_idle
from tests.engine.tiny_models import make_model
from tests.engine.turns import Chat, SpyModel, make_responder

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

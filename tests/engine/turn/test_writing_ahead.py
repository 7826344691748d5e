"""Writing ahead: what is guessed makes an answer quicker, and changes nothing else of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from engine.cache.store import Lane
from engine.events import CacheView, Event, Finished, Matched, Prefill, TextDelta, TurnStats
from engine.models.loaded import LoadedModel
from engine.turn import lookup
from engine.types import Message, ModelError, Request, Sampling
from tests.depth import fewer
from tests.engine.inside import is_idle
from tests.engine.tiny_models import make_model, make_packed
from tests.engine.turns import Chat, Scripted, SpyModel, events, make_responder

QUESTION = "Where is the parcel? Where is the parcel? Say again: where is the parcel?"
TELLS = (CacheView, TurnStats, Prefill, Matched)
"""Events with figures: how long something took, and how much memory there was."""


@cache
def model(seed: int) -> LoadedModel:
    return make_packed("fp32") if seed == 0 else make_model(seed=seed)


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guesses cost nothing, so that all there are are tried."""
    monkeypatch.setattr(lookup, "PASS_COSTS", (1.0,) * 7)


def said(seen: Sequence[Event]) -> list[object]:
    """What went out, but for figures; the last event without what is told of writing ahead."""
    last = seen[-1]
    assert isinstance(last, Finished)
    rest = [event for event in seen[:-1] if not isinstance(event, TELLS)]
    return [*rest, replace(last, stats=replace(last.stats, **NO_FIGURES), accepted=())]


NO_FIGURES: dict[str, Any] = {
    "parts": None, "ttft_s": None, "tokens_per_s": 0.0, "cold_ttft_s": 0.0, "cold_measured": False, "cache_bytes": 0,
    "passes": 0, "guessed_tokens": 0, "accepted_tokens": 0, "reused_tokens": 0, "computed_tokens": 0, "thought_s": 0.0,
}  # fmt: skip

SAMPLINGS = st.builds(
    Sampling,
    temperature=st.sampled_from([0.0, 0.3, 1.5]),
    top_p=st.sampled_from([1.0, 0.8]),
    top_k=st.sampled_from([0, 3]),
    repetition_penalty=st.sampled_from([1.0, 1.3, 0.7]),
    frequency_penalty=st.sampled_from([0.0, 0.5, -0.5]),
    seed=st.integers(0, 5),
    max_tokens=st.integers(1, 60),
)


@fewer(2)
@given(
    seed=st.integers(0, 3),
    sampling=SAMPLINGS,
    words=st.text("ab .", min_size=1, max_size=12),
    often=st.integers(1, 12),
    stop=st.sampled_from([(), ("e",), ("the", ".")]),
    scores=st.sampled_from([None, 2]),
    bias=st.sampled_from([(), ((5, 3.0), (9, -100.0))]),
)
def test_an_answer_is_the_same_with_and_without(
    seed: int,
    sampling: Sampling,
    words: str,
    often: int,
    stop: tuple[str, ...],
    scores: int | None,
    bias: tuple[tuple[int, float], ...],
) -> None:
    """Also token by token, with its scores and margins, where it ends, and of what the lane holds behind it."""
    told, last = [], []
    for at_once in (1, 8):
        responder = make_responder(SpyModel(model(seed), at_once), context=400)
        request = Request((Message("user", words * often),), sampling, "chat", stop=stop, scores=scores, bias=bias)
        request = replace(request, record_margins=True, use_cache=True)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(lookup, "PASS_COSTS", (1.0,) * 7)
            seen = list(events(responder, request))
        told.append(said(seen))
        last.append(responder.last_turns.of("chat"))
        responder.cache.check_integrity()
        assert is_idle(responder.cache)
    assert told[0] == told[1]
    assert last[0] == last[1]


def write(at_once: int, *, max_tokens: int = 120, **changes: Any) -> tuple[Finished, SpyModel]:
    """A long greedy answer of a model that soon says the same again and again."""
    spy = SpyModel(model(0), at_once)
    chat = Chat(make_responder(spy), sampling=Sampling(temperature=0.0, repetition_penalty=1.0, max_tokens=max_tokens))
    return chat.ask(QUESTION, **changes), spy


def test_what_repeats_itself_takes_fewer_passes() -> None:
    plain, _ = write(1)
    ahead, spy = write(8)
    stats = ahead.stats
    assert ahead.token_ids == plain.token_ids
    assert (plain.stats.passes, plain.stats.guessed_tokens) == (len(plain.token_ids) - (plain.reason == "length"), 0)
    assert stats.passes < plain.stats.passes / 2
    assert 0 < stats.accepted_tokens <= stats.guessed_tokens
    assert stats.passes == len(spy.calls) - 1
    assert stats.passes + stats.accepted_tokens >= plain.stats.passes
    assert ahead.accepted
    assert plain.accepted == ()


def test_it_can_be_left() -> None:
    finished, spy = write(8, write_ahead=False)
    assert finished.stats.guessed_tokens == 0
    assert all(count == 1 for _, count in spy.calls[1:])


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("max_tokens", range(1, 12))
def test_no_pass_goes_past_the_end_of_the_answer(max_tokens: int) -> None:
    """A lane has room for the answer, and no more."""
    finished, spy = write(8, max_tokens=max_tokens)
    first = spy.calls[0][1]
    assert len(finished.token_ids) == max_tokens
    assert max(start + count for start, count in spy.calls) <= first + max_tokens - (max_tokens == 1) * 1


class Elsewhere(Scripted):
    """A model that never writes what was guessed: everything that a pass computed for guesses is thrown away. Without a
    script it writes what it would."""

    def _by_script(self, logits: Tensor) -> Tensor:
        return super()._by_script(logits) if self.script else logits

    def steps(self, ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        return torch.stack([self._chosen(row, number) for number, row in enumerate(super().steps(ids, lane, start))])

    def _chosen(self, logits: Tensor, number: int) -> Tensor:
        if number == 0:
            self.written += 1
        chosen = torch.full_like(logits, -1.0)
        chosen[self.script[self.written] if number == 0 else 0] = 1.0
        return chosen


@pytest.mark.usefixtures("eager")
def test_what_did_not_hold_is_never_reused() -> None:
    """A turn that goes on from what was written, as it was written, has the same numbers in either case."""
    script = [token for new in range(60, 72) for token in (20, 21, new)]
    found = []
    for at_once in (1, 8):
        writer = Elsewhere(model(0), script)
        writer.at_once = at_once
        responder = make_responder(writer, near="made up")
        chat = Chat(responder, sampling=Sampling(temperature=0.0, repetition_penalty=1.0, max_tokens=len(script) - 1))
        finished = chat.ask(QUESTION)
        assert list(finished.token_ids) == script[:-1]
        assert (finished.stats.accepted_tokens, finished.accepted) == (0, ())
        assert (finished.stats.guessed_tokens > 20) == (at_once > 1)
        responder.cache.check_integrity()
        writer.script, writer.at_once = (), 1
        writer.logits.clear()
        chat.ask("And?")
        assert chat.reused > len(script)
        found.append(torch.stack(writer.logits))
    assert torch.equal(*found)


class BrokenRows(SpyModel):
    """A model whose rows are no numbers but for the first of each pass."""

    def steps(self, ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        rows = super().steps(ids, lane, start).clone()
        rows[1:] = float("nan")
        return rows


@pytest.mark.usefixtures("eager")
def test_numbers_that_are_none_matter_where_they_are_used() -> None:
    """A guess that does not hold may be anything to the model; one that holds is refused as ever."""
    chat = Chat(make_responder(BrokenRows(model(0), 8)), sampling=Sampling(temperature=0.0, max_tokens=60))
    with pytest.raises(ModelError, match="bf16 or fp32"):
        chat.ask(QUESTION)
    chat.responder.cache.check_integrity()
    assert is_idle(chat.responder.cache)


def test_the_text_that_was_written_ahead_is_told() -> None:
    spy = SpyModel(model(0), 8)
    request = Request((Message("user", QUESTION),), Sampling(temperature=0.0, repetition_penalty=1.0, max_tokens=90))
    seen = list(events(make_responder(spy), request))
    last = seen[-1]
    assert isinstance(last, Finished)
    assert last.accepted
    assert all(0 <= start < end <= len(last.text) for start, end in last.accepted)
    assert last.text == "".join(event.text for event in seen if isinstance(event, TextDelta))

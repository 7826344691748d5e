"""A warm answer equals a cold one: for every prompt length and every branch point, bit for bit, on real classes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
import torch

from engine.cache.null_cache import NullCache
from engine.cache.prefix_cache import PrefixCache
from engine.cache.store import KVStore, Lane
from engine.models.loaded import LoadedModel
from tests.engine.inside import forget_lanes
from tests.engine.tiny_models import make_model
from tests.engine.turns import NAN, Chat, SpyModel, Ticks, cold_logits, make_responder, prompt_logits

ALL = [
    pytest.param((0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64), id="borders"),
    pytest.param(range(65), id="all", marks=pytest.mark.deep),
]
"""Lengths of a prompt, and where it branches off: around the ends of blocks, or everywhere."""

BASE = [(7 * index * index + 3 * index) % 300 for index in range(65)]
OTHER = [5, 299, 17]
KINDS = {
    "fast-fp32": (torch.float32, True),
    "fast-bf16": (torch.bfloat16, True),
    "own-fp32": (torch.float32, False),
    "own-bf16": (torch.bfloat16, False),
}


@pytest.fixture(scope="module", params=KINDS)
def model(request: pytest.FixtureRequest) -> LoadedModel:
    """Our own forward pass and transformers' own, in both number types."""
    dtype, is_fast = KINDS[request.param]
    return make_model(dtype, is_fast=is_fast)


def make_cache(model: LoadedModel) -> PrefixCache:
    store = KVStore(model.layout, 4096 * model.layout.bytes_per_token, fill=NAN)
    return PrefixCache(store, "tiny", 1024, Ticks())


@pytest.mark.parametrize("lengths", ALL)
@pytest.mark.parametrize("chunk", [7, 512])
def test_every_prompt_length(model: LoadedModel, chunk: int, lengths: Sequence[int]) -> None:
    """ENGINE_BUGS kinds A1, A3, F39: the same prompt again, from the lane and from the blocks, lengths 1 to 64."""
    for length in filter(None, lengths):
        cache, ids = make_cache(model), BASE[:length]
        cold = cold_logits(model, ids)
        assert prompt_logits(cache, model, ids, chunk)[0] == 0
        reused, warm = prompt_logits(cache, model, ids, chunk)
        assert torch.equal(warm, cold)
        assert reused == length - 1
        forget_lanes(cache)
        reused, warm = prompt_logits(cache, model, ids, chunk)
        assert torch.equal(warm, cold)
        assert reused == (length - 1) // 16 * 16
        cache.check_integrity()


@pytest.mark.parametrize("branches", ALL)
def test_every_branch_point(model: LoadedModel, branches: Sequence[int]) -> None:
    """ENGINE_BUGS kind B12: cold against warm logits for every split, not only the text."""
    cache = make_cache(model)
    for branch in branches:
        prompt_logits(cache, model, BASE)
        ids = BASE[:branch] + OTHER
        reused, warm = prompt_logits(cache, model, ids)
        assert torch.equal(warm, cold_logits(model, ids))
        assert reused >= branch // 16 * 16
    cache.check_integrity()


@pytest.mark.parametrize("kind", KINDS)
def test_a_chat_with_edits_is_equal_bit_for_bit(kind: str) -> None:
    """Issue 3 point 2: bit for bit over turns, a regenerated answer and an edit, in all logits."""
    dtype, is_fast = KINDS[kind]
    spies = [SpyModel(make_model(dtype, is_fast=is_fast)) for _ in range(2)]
    warm, cold = (Chat(make_responder(spy), "Answer in a few words.") for spy in spies)
    hits = []

    def compare() -> None:
        for spy in spies:
            spy.logits.clear()
        one, other = warm.answer(), cold.answer(use_cache=False)
        assert (one.token_ids, one.text, one.reason) == (other.token_ids, other.text, other.reason)
        steps = len(one.token_ids) + (one.reason == "end") - (one.stats.computed_tokens == 0)
        for first, second in itertools.islice(zip(*(reversed(spy.logits) for spy in spies), strict=False), steps):
            assert torch.equal(first, second)
        list(warm.responder.settle())
        hits.append(warm.reused)
        assert cold.reused == 0

    def ask(question: str) -> None:
        for chat in (warm, cold):
            chat.messages += [type(chat.messages[0])("user", question)]
        compare()

    for turn in range(4):
        ask(f"Where is parcel number {turn}, and when will it be here?")
    for chat in (warm, cold):
        del chat.messages[-1]
    compare()
    for chat in (warm, cold):
        del chat.messages[3:]
    ask("Is the tent in it?")
    ask("And the stove?")
    assert hits[1:4] == sorted(hits[1:4])
    assert min(hits[1:]) > 0


def test_answers_that_were_read_again_are_reused() -> None:
    """What decoding wrote is read once more while idle, and then hits."""
    chat = Chat(make_responder(make_model()), "Answer in a few words.")
    chat.ask("Where is the parcel, and when will it be here?", sampling=chat.sampling)
    total = len(chat.responder.last_turns.all["chat"].ids)
    list(chat.responder.settle())
    assert chat.responder.cache.view().cached_tokens == total // 16 * 16
    chat.ask("Thanks. " * 9)
    assert chat.reused == total
    assert chat.responder.view().unread_tokens > 0
    assert list(chat.responder.settle())[-1].unread_tokens == 0  # type: ignore[union-attr]
    assert list(chat.responder.settle()) == []


@pytest.mark.parametrize("fill", [NAN, 1e4, 0.0])
def test_what_stands_behind_a_prompt_is_never_read(model: LoadedModel, fill: float) -> None:
    """ENGINE_BUGS kind E30: unused slots are poisoned, in a lane much longer than the prompt; the logits are equal."""
    expected = cold_logits(model, BASE)
    lane = Lane(model.layout, 1024, fill=fill)
    assert torch.equal(model.forward(BASE, lane, 0), expected)
    whole = model.forward(OTHER, lane, len(BASE))
    for buffer in lane.keys + lane.values:
        buffer[:, :, len(BASE) :] = fill
    assert torch.equal(model.forward(OTHER, lane, len(BASE)), whole)


@pytest.mark.parametrize("is_fast", [True, False])
def test_room_for_an_answer_changes_no_number(is_fast: bool) -> None:
    """With heads whose rows lie at odd addresses. Where a head begins hung on how long the answer might
    get, and on whether the cache was used; with it, on some processors, the order in which a kernel adds up. Lanes of
    whole blocks begin every head at an even address."""
    model = make_model(is_fast=is_fast, heads={"hidden_size": 24, "head_dim": 6})
    ids = [(11 * index + index // 9) % 300 for index in range(70)]
    for length in (33, 70):
        seen = []
        for new_tokens in range(1, 12):
            store = KVStore(model.layout, 4096 * model.layout.bytes_per_token, fill=NAN)
            warm = PrefixCache(store, "tiny", 100, Ticks())
            for cache in (NullCache(store), warm, warm):
                run = cache.begin(ids[:length], new_tokens)
                assert run.lane.capacity % 16 == 0
                cache.restore(run)
                for start in range(run.reused, length, 16):
                    piece = ids[start : min(start + 16, length)]
                    logits = model.forward(piece, run.lane, start)
                    cache.commit(run, piece, settled=True)
                cache.finish(run)
                seen.append(logits)
        assert all(torch.equal(seen[0], other) for other in seen)

"""A warm answer equals a cold one: for every prompt length and every branch point, in both modes, on real classes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from engine.cache.null_cache import NullCache
from engine.cache.prefix_cache import PrefixCache
from engine.cache.store import KVStore, Lane
from engine.models.loaded import LoadedModel
from engine.turn.chunks import exact_chunks
from tests.depth import cases
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


def make_cache(model: LoadedModel, step: int = 0) -> PrefixCache:
    store = KVStore(model.layout, 4096 * model.layout.bytes_per_token, fill=NAN)
    return PrefixCache(store, "tiny", 1024, Ticks(), step=step)


def check_equal(model: LoadedModel, warm: Tensor, cold: Tensor, *, is_exact: bool) -> None:
    if is_exact:
        assert torch.equal(warm, cold), "exact mode differs"
    elif model.layout.dtype == torch.float32:
        torch.testing.assert_close(warm, cold, rtol=1e-4, atol=1e-4)
        assert warm.argmax() == cold.argmax()
    else:
        assert float((warm - cold).norm() / cold.norm()) < 0.15


@pytest.mark.parametrize("lengths", ALL)
@pytest.mark.parametrize("step", [0, 16])
def test_every_prompt_length(model: LoadedModel, step: int, lengths: Sequence[int]) -> None:
    """ENGINE_BUGS kinds A1, A3, F39: the same prompt again, from the lane and from the blocks, lengths 1 to 64."""
    for length in filter(None, lengths):
        cache, ids = make_cache(model, step), BASE[:length]
        cold = cold_logits(model, ids, step)
        assert prompt_logits(cache, model, ids)[0] == 0
        reused, warm = prompt_logits(cache, model, ids)
        check_equal(model, warm, cold, is_exact=bool(step))
        assert reused == (length - 1) // (step or 1) * (step or 1)
        forget_lanes(cache)
        reused, warm = prompt_logits(cache, model, ids)
        check_equal(model, warm, cold, is_exact=bool(step))
        assert reused == (length - 1) // 16 * 16
        cache.check_integrity()


@pytest.mark.parametrize("branches", ALL)
@pytest.mark.parametrize("step", [0, 16])
def test_every_branch_point(model: LoadedModel, step: int, branches: Sequence[int]) -> None:
    """ENGINE_BUGS kind B12: cold against warm logits for every split, not only the text."""
    cache = make_cache(model, step)
    for branch in branches:
        prompt_logits(cache, model, BASE)
        ids = BASE[:branch] + OTHER
        reused, warm = prompt_logits(cache, model, ids)
        check_equal(model, warm, cold_logits(model, ids, step), is_exact=bool(step))
        assert reused >= branch // 16 * 16
    cache.check_integrity()


@pytest.mark.parametrize("end", cases([127, 128, 129, 130, 255, 256, 257, 300], always=[127, 128, 129, 257]))
def test_the_grid_of_the_program(model: LoadedModel, end: int) -> None:
    """Exact mode on its real grid of 128, around its borders."""
    cache, ids = make_cache(model, 128), [(11 * index + index // 9) % 300 for index in range(end)]
    cold = cold_logits(model, ids, 128)
    for _ in range(2):
        reused, warm = prompt_logits(cache, model, ids)
        check_equal(model, warm, cold, is_exact=True)
    assert reused == (end - 1) // 128 * 128


@pytest.mark.parametrize("kind", KINDS)
def test_exact_mode_over_a_chat_with_edits(kind: str) -> None:
    """Issue 3 point 2: bit for bit over turns, a regenerated answer and an edit, in all logits."""
    dtype, is_fast = KINDS[kind]
    spies = [SpyModel(make_model(dtype, is_fast=is_fast)) for _ in range(2)]
    warm, cold = (Chat(make_responder(spy, step=16), "Answer in a few words.") for spy in spies)
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
        assert warm.reused % 16 == 0 or one.stats.computed_tokens == 0
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


def test_settled_answers_are_reused_in_exact_mode() -> None:
    """What decoding wrote is computed once more in the grid while idle, and then hits."""
    chat = Chat(make_responder(make_model(), step=16), "Answer in a few words.")
    chat.ask("Where is the parcel, and when will it be here?", sampling=chat.sampling)
    total = len(chat.responder.past["chat"].ids)
    list(chat.responder.settle())
    assert chat.responder.cache.view().cached_tokens == total // 16 * 16
    chat.ask("Thanks. " * 9)
    assert chat.reused == total // 16 * 16
    assert list(chat.responder.settle()) != []
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
    """In exact mode, with heads whose rows lie at odd addresses. Where a head begins hung on how long the answer might
    get, and on whether the cache was used; with it, on some processors, the order in which a kernel adds up. Lanes of
    whole blocks begin every head at an even address."""
    model = make_model(is_fast=is_fast, heads={"hidden_size": 24, "head_dim": 6})
    ids = [(11 * index + index // 9) % 300 for index in range(70)]
    for length in (33, 70):
        seen = []
        for new_tokens in range(1, 12):
            store = KVStore(model.layout, 4096 * model.layout.bytes_per_token, fill=NAN)
            warm = PrefixCache(store, "tiny", 100, Ticks(), step=16)
            for cache in (NullCache(store), warm, warm):
                run = cache.begin(ids[:length], new_tokens)
                assert run.lane.capacity % 16 == 0
                cache.restore(run)
                for start, end in exact_chunks(run.reused, length, 16):
                    logits = model.forward(ids[start:end], run.lane, start)
                    cache.commit(run, ids[start:end], settled=end % 16 == 0)
                cache.finish(run)
                seen.append(logits)
        assert all(torch.equal(seen[0], other) for other in seen)

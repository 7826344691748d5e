"""Every model class that is promised something, with the real transformers class: what is reused equals what is read.

The truth is the class's own written-out attention over the whole sequence, without any cache. Kinds of ENGINE_BUGS:
29-33 (windows, shared layers, a class that silently reuses nothing), 37-38 (position codes), B11-12 (permuted blocks,
positions after a hit), E30 (stale slots: fresh lanes are NaN).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedModel

from engine.cache.prefix_cache import PrefixCache
from engine.cache.store import KVStore, Lane
from engine.models import attention_hook as interface
from engine.models import from_transformers as network
from engine.models.from_transformers import TransformersNetwork
from engine.models.lane_cache import check_reuse
from engine.models.loaded import LoadedModel
from engine.models.support import classify
from engine.types import BLOCK_TOKENS, ReuseClass
from tests.depth import cases, some
from tests.engine.model_zoo import (
    CASES,
    CHUNKED,
    GROUPED,
    HEADS,
    LATENT,
    LENGTH,
    ROPE_CASES,
    SWITCH,
    TWO_SIDES,
    UP_TO,
    VOCABULARY,
    WINDOW,
    ModelCase,
)

TOLERANCE = 2e-5
"""Largest difference of a logit, relative to the largest logit: fp32, sums in another order."""

LONG_CASES = [case for case in ROPE_CASES if case.reuse == TWO_SIDES]
MANY = 300
"""Tokens of a prompt that spans several blocks of keys and tiles of rows."""

CHUNKS = (7, BLOCK_TOKENS, LENGTH)
ALL = [pytest.param((case, True), id=case.name) for case in CASES + ROPE_CASES] + [
    pytest.param(
        (case, False),
        id=f"{case.name} through transformers",
        marks=[] if case.name == "Llama" else [pytest.mark.deep],
    )
    for case in CASES
    if case.is_fast
]
BORDERS = some(
    sorted({border + step for border in (16, 20, 32, 40, 60) for step in (-1, 0, 1)}),
    always=(15, 16, 17, 19, 20, 21, 40, 60),
)
"""Around the ends of blocks, and around one window, two and three."""


@dataclass(frozen=True)
class Subject:
    """A class ready to be tested: behind the engine's door, and as its own authors wrote it."""

    case: ModelCase
    ours: PreTrainedModel
    model: LoadedModel
    own: PreTrainedModel
    reuse: ReuseClass
    is_fast: bool

    def forward(self, ids: Sequence[int], lane: Lane, start: int, total: int, is_answer: bool = False) -> Tensor:
        """Compute a piece of a sequence that grows to `total` tokens."""
        lane.regime = self.reuse.regime(total)
        return self.model.forward(ids, lane, start, is_answer=is_answer)

    @torch.inference_mode()
    def cold(self, ids: Sequence[int]) -> Tensor:
        """The logits at every position, fp32 `[token, vocabulary]`."""
        logits: Tensor = self.own(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
        return logits

    def lane(self, capacity: int) -> Lane:
        """A fresh lane full of NaN."""
        return Lane(self.model.layout, capacity, fill=float("nan"))


@pytest.fixture(scope="module", params=ALL)
def tested(request: pytest.FixtureRequest) -> Subject:
    """Every class in turn, and those that have a forward pass of ours also through transformers' own."""
    return make_subject(*request.param)


def make_subject(case: ModelCase, is_fast: bool = True) -> Subject:
    """The class of a case with random weights; nothing in it is left at zero or one."""
    interface.register()
    torch.manual_seed(7)
    ours, own = (
        AutoModelForCausalLM.from_config(case.config(), attn_implementation=name).eval().requires_grad_(False)
        for name in (interface.NAME, "eager")
    )
    for parameter in ours.parameters():
        if parameter.dim() == 1:
            parameter.add_(torch.randn_like(parameter), alpha=0.3)
    own.load_state_dict(ours.state_dict())
    model = LoadedModel(TransformersNetwork(ours, is_fast=is_fast), SimpleNamespace(eos_token_id=None), "/nowhere/tiny")
    return Subject(case, ours, model, own, classify(case.config()), is_fast)


def prompt(length: int, seed: int = 1) -> list[int]:
    """Random tokens."""
    chance = random.Random(seed)
    return [chance.randrange(3, VOCABULARY) for _ in range(length)]


def assert_equal(warm: Tensor, cold: Tensor) -> None:
    """Equal but for the order of sums."""
    torch.testing.assert_close(warm, cold, rtol=0, atol=TOLERANCE * float(cold.abs().max()))


def read_on(tested: Subject, lane: Lane, ids: Sequence[int], start: int, chunk: int) -> None:
    """Compute the rest of `ids` in pieces; the logits at the end of each piece are those of a cold run."""
    cold = tested.cold(ids)
    for first in range(start, len(ids), chunk):
        last = min(first + chunk, len(ids))
        assert_equal(tested.forward(ids[first:last], lane, first, len(ids)), cold[last - 1])


def lengths(case: ModelCase) -> Iterator[int]:
    """How long a prompt is tested: past every window, and on both sides of a switch of the position code."""
    yield case.length
    if case.reuse == TWO_SIDES:
        yield SWITCH


def test_class_has_the_declared_reuse(tested: Subject) -> None:
    """ENGINE_BUGS 33: each class declares what it gets, and whether our own forward pass computes it."""
    assert tested.reuse.name == tested.case.reuse
    assert tested.reuse.sentence.endswith(".")
    assert network.fits(tested.ours) == tested.case.is_fast


def test_our_attention_equals_the_class_own(tested: Subject) -> None:
    for length in lengths(tested.case):
        read_on(tested, tested.lane(length), prompt(length), 0, length)
        assert tested.ours.config._attn_implementation == interface.NAME


@pytest.mark.parametrize("chunk", cases(CHUNKS, always=[BLOCK_TOKENS]))
def test_warm_equals_cold_at_every_branch_point(tested: Subject, chunk: int) -> None:
    """ENGINE_BUGS 31: rewind to around block borders and around the window, after the window was passed."""
    for length in lengths(tested.case):
        trunk = prompt(length)
        read_on(tested, lane := tested.lane(length), trunk, 0, length)
        for branch in reversed([1, *BORDERS, length - 1]):
            if branch < length:
                read_on(tested, lane, trunk[:branch] + prompt(length - branch, seed=branch), branch, chunk)


def test_decode_steps_equal_a_cold_run(tested: Subject) -> None:
    """Token by token around the first block and window, and past three windows; what lies between in one piece."""
    for length in lengths(tested.case):
        lane, ids, at = tested.lane(length), prompt(length, seed=2), 0
        cold = tested.cold(ids)
        single = some(range(length), always=(*range(BLOCK_TOKENS - 2, WINDOW + 3), *range(3 * WINDOW - 2, LENGTH)))
        for end in [*single[1:], length]:
            assert_equal(tested.forward(ids[at:end], lane, at, length, is_answer=end == at + 1), cold[end - 1])
            at = end


def test_restored_blocks_equal_a_cold_run(tested: Subject) -> None:
    """ENGINE_BUGS 11, 30: blocks with permuted numbers, restored into lanes of NaN."""
    numbers = random.Random(3).sample(range(100), 50)
    for length in lengths(tested.case):
        store = KVStore(tested.model.layout, 1 << 30, new_id=lambda _: numbers.pop(), fill=float("nan"))
        trunk = prompt(length)
        read_on(tested, lane := store.new_lane(length), trunk, 0, length)
        blocks = store.publish(lane, 0, length // BLOCK_TOKENS)
        for count in range(1, len(blocks) + 1):
            lane, at = store.new_lane(length), count * BLOCK_TOKENS
            store.restore(lane, 0, blocks[:count])
            read_on(tested, lane, trunk[:at] + prompt(length - at, seed=count), at, 7)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("threads", [1, 2])
def test_where_a_prompt_is_cut_changes_no_bit(tested: Subject, dtype: torch.dtype, threads: int) -> None:
    """ENGINE_BUGS 39, issue 21: a token's numbers hang on it and those before it alone. Pieces of 1 to 300 tokens, cut
    at random, over several blocks of keys, windows and tiles of products."""
    torch.set_num_threads(threads)
    network = TransformersNetwork(deepcopy(tested.ours).to(dtype), is_fast=tested.is_fast)
    model = LoadedModel(network, SimpleNamespace(eos_token_id=None), "/nowhere/tiny")
    length, chance = tested.reuse.limit or MANY, random.Random(threads)
    ids = prompt(length, seed=4)
    expected = read_in_pieces(model, ids, [])
    for _ in range(3):
        cuts = sorted(chance.sample(range(1, length), chance.randint(1, 5)))
        for ours, whole in zip(read_in_pieces(model, ids, cuts), expected, strict=True):
            assert torch.equal(ours, whole), cuts


def read_in_pieces(model: LoadedModel, ids: Sequence[int], cuts: Sequence[int]) -> list[Tensor]:
    """The last logits, and all keys and values."""
    lane = Lane(model.layout, len(ids), fill=float("nan"))
    lane.regime = model.reuse.regime(len(ids))
    for start, end in pairwise([0, *cuts, len(ids)]):
        logits = model.forward(ids[start:end], lane, start)
    return [logits, *lane.keys, *lane.values]


MORE = [
    ModelCase("GPT-2", "gpt2"),  # products by `torch.addmm`
    ModelCase(
        "Llama-4 with one KV head", "llama4_text", HEADS | CHUNKED | {"num_key_value_heads": 1}
    ),  # complex numbers
    ModelCase("JetMoE", "jetmoe", GROUPED | {"kv_channels": 8, "num_local_experts": 12}),  # products without a row
    # Experts of a width that torch's product of groups does not take.
    ModelCase("Mixtral, 50 wide", "mixtral", HEADS | {"num_local_experts": 4, "intermediate_size": 50}),
    ModelCase("GPT-OSS, 50 wide", "gpt_oss", HEADS | {"num_local_experts": 4, "intermediate_size": 50}),
    ModelCase("DeepSeek-V3, 50 wide", "deepseek_v3", LATENT | {"n_group": 2, "moe_intermediate_size": 50}),
]
"""Classes and sizes whose products come in other ways than those of the zoo."""


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("case", MORE, ids=[case.name for case in MORE])
def test_other_products_treat_each_row_for_itself(case: ModelCase, dtype: torch.dtype) -> None:
    """Where a prompt was cut changed bits, and the load did not see it; or an expert without a token was no product."""
    tested = make_subject(case)
    model = LoadedModel(TransformersNetwork(tested.ours.to(dtype)), SimpleNamespace(eos_token_id=None), "/nowhere/tiny")
    ids = prompt(MANY)
    expected = read_in_pieces(model, ids, [])
    for cuts in ([1, 2, 3, MANY - 1], range(1, 40), [7, 130]):
        for ours, whole in zip(read_in_pieces(model, ids, list(cuts)), expected, strict=True):
            assert torch.equal(ours, whole)


def test_a_wrong_block_would_be_seen(tested: Subject) -> None:
    """The tests above can fail: a block of another prompt changes the logits a thousand times as much."""
    length, at = min(lengths(tested.case)), 2 * BLOCK_TOKENS
    store = KVStore(tested.model.layout, 1 << 30)
    ids = prompt(length)
    for seed in (9, 1):
        read_on(tested, lane := store.new_lane(length), prompt(length, seed), 0, length)
        blocks = store.publish(lane, 0, 2)
        if seed == 9:
            foreign = blocks[1]
    store.restore(lane, 0, [blocks[0], foreign])
    cold = tested.cold(ids[: at + 1])[-1]
    warm = tested.forward(ids[at : at + 1], lane, at, length)
    assert (warm - cold).abs().max() > 1000 * TOLERANCE * cold.abs().max()


def test_cache_reuses_every_full_block(tested: Subject) -> None:
    """ENGINE_BUGS 32, 33: the hit is as long as the class promises, also inside the last window."""
    length = min(lengths(tested.case))
    clock = iter(range(1000)).__next__
    store = KVStore(tested.model.layout, 1 << 30, fill=float("nan"))
    cache = PrefixCache(store, "", length, clock, regime=tested.reuse.regime)
    trunk = prompt(length)
    other = prompt(length, seed=9)
    edited = [*trunk[: length - 3], 1, 1, 1]
    hits = [run_prompt(tested, cache, ids) for ids in (trunk, other, edited, trunk)]
    assert hits[:2] == [0, 0]
    assert all(hit >= (length - 3) // BLOCK_TOKENS * BLOCK_TOKENS for hit in hits[2:])


def run_prompt(tested: Subject, cache: PrefixCache, ids: Sequence[int]) -> int:
    """Read a prompt through the cache as a request does; the tokens that were reused."""
    run = cache.begin(ids, 0)
    try:
        cache.restore(run)
        read_on(tested, run.lane, ids, run.reused, 16)
        cache.commit(run, ids[run.reused :], settled=True)
    finally:
        cache.finish(run)
    return run.reused


def test_load_check_lets_the_class_pass(tested: Subject) -> None:
    check_reuse(tested.ours, tested.model.layout, tested.model.forward)
    assert tested.ours.config._attn_implementation == interface.NAME


def test_pieces_of_a_long_prompt_need_the_switch() -> None:
    """ENGINE_BUGS 38, why RegimeSwitch is there: left to itself the class reads an early piece with other positions."""
    case = next(case for case in ROPE_CASES if case.reuse == TWO_SIDES)
    tested, ids = make_subject(case), prompt(LENGTH)
    cold = tested.cold(ids)[-1]
    warm = {}
    for total in (LENGTH, SWITCH):
        lane = tested.lane(LENGTH)
        tested.forward(ids[:30], lane, 0, total)
        warm[total] = tested.forward(ids[30:], lane, 30, total)
    assert_equal(warm[LENGTH], cold)
    assert (warm[SWITCH] - cold).abs().max() > 1000 * TOLERANCE * cold.abs().max()


def test_dynamic_positions_are_exact_up_to_the_limit_only() -> None:
    """ENGINE_BUGS 38, why the context ends at the limit: past it a shorter prompt was computed with other positions."""
    case = next(case for case in ROPE_CASES if case.reuse == UP_TO)
    tested, ids = make_subject(case), prompt(2 * LENGTH)
    limit = tested.reuse.limit
    assert limit == tested.model.context_length == LENGTH
    lane = tested.lane(2 * LENGTH)
    assert_equal(tested.model.forward(ids[:limit], lane, 0), tested.cold(ids[:limit])[-1])
    warm, cold = tested.model.forward(ids[limit:], lane, limit), tested.cold(ids)[-1]
    assert (warm - cold).abs().max() > 1000 * TOLERANCE * cold.abs().max()


@pytest.mark.parametrize("tested", [pytest.param((case, True), id=case.name) for case in LONG_CASES], indirect=True)
def test_a_chat_that_crosses_the_switch_equals_a_cold_run(tested: Subject) -> None:
    """ENGINE_BUGS 38: what was computed in one regime is used in no other, neither from the lane nor from blocks."""
    store = KVStore(tested.model.layout, 1 << 30, fill=float("nan"))
    cache = PrefixCache(store, "", LENGTH, iter(range(10_000)).__next__, regime=tested.reuse.regime)
    chat, hits = prompt(LENGTH), []
    for length, new_tokens in ((33, 7), (33, 8), (50, 4), (36, 2), (60, 7)):
        run = cache.begin(chat[:length], new_tokens)
        try:
            cache.restore(run)
            hits.append(run.reused)
            for end in range(length, length + new_tokens + 1):
                if (regime := cache.regime(end)) != run.lane.regime:
                    cache.enter_regime(run, regime)
                first = len(run.lane.ids)
                logits = tested.model.forward(chat[first:end], run.lane, first)
                assert_equal(logits, tested.cold(chat[:end])[-1])
                cache.commit(run, chat[first:end], settled=True)
        finally:
            cache.finish(run)
    assert hits == [0, 32, 41, 32, 54 // BLOCK_TOKENS * BLOCK_TOKENS]

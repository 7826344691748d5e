"""A model without weights whose keys and values give away any block that stands in the wrong place.

Token i of a prompt gets the number digest(namespace, ids[:i + 1]) in every slot of the lane, marked with layer, head,
and key or value. Reading a lane back tells whether each slot belongs to exactly this prefix.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.cache.contract import Cache, Run
from engine.cache.disk_tier import DiskTier
from engine.cache.memory_tier import MemoryTier
from engine.cache.null_cache import NullCache
from engine.cache.prefix_cache import LANE_STEP, PrefixCache
from engine.cache.store import KVLayout, KVStore, Lane, LayerGroup
from engine.types import BLOCK_TOKENS
from tests.engine.inside import block_parts, lane_buffers, lanes, paths, real_bytes

LAYOUT = KVLayout(
    (LayerGroup((0, 2), kv_heads=2, key_dim=2, value_dim=1), LayerGroup((1,), kv_heads=1, key_dim=1, value_dim=3)),
    torch.float64,
    torch.device("cpu"),
)
"""Two groups of unlike shape, whole numbers up to 2**53 exact."""

MARKS = 64
NAN = float("nan")


class DigestModel:
    """Writes digests into lanes. `namespace` stands for the weights: another one gives other digests."""

    def __init__(self, namespace: str = "a", layout: KVLayout = LAYOUT) -> None:
        self.namespace = namespace
        self.layout = layout
        self._chains: dict[tuple[str | int, ...], list[int]] = {}

    def digests(self, ids: Sequence[int], space: str) -> Tensor:
        """The digest of each token's prefix, another one in each space."""
        key = (space, *ids)
        if key not in self._chains:
            digest, chain = hashlib.sha256(space.encode()).digest(), []
            for token in ids:
                digest = hashlib.sha256(digest + token.to_bytes(4, "little")).digest()
                chain.append(int.from_bytes(digest[:5], "little"))
            self._chains[key] = chain
        return torch.tensor(self._chains[key], dtype=torch.float64) * MARKS

    def forward(self, prompt: Sequence[int], start: int, end: int, lane: Lane) -> int:
        """Compute tokens `start` to `end` on top of what the lane holds, and return logits: a digest of all it read."""
        numbers = self.digests(prompt[:end], self.space(lane.regime))[start:]
        for group, buffers in enumerate(zip(lane.keys, lane.values, strict=True)):
            for kind, buffer in enumerate(buffers):
                buffer[:, :, start:end] = numbers[None, None, :, None] + _marks(buffer, group, kind)
        return hash(b"".join(buffer[:, :, :end].contiguous().numpy().tobytes() for buffer in lane_buffers(lane)))

    def check_lane(self, lane: Lane) -> None:
        """Every slot that the lane vouches for belongs to its own ids."""
        self._check(lane_buffers(lane), 0, len(lane.ids), lane.ids, self.space(lane.regime))

    def space(self, regime: str) -> str:
        """The part of the tree for what this model computed in a regime."""
        return f"{self.namespace}/{regime}" if regime else self.namespace

    def check_pool(self, store: KVStore, path: Sequence[int], blocks: Sequence[int], space: str) -> None:
        """Each published block holds what belongs to its place on the path."""
        for index, block in enumerate(blocks):
            start = index * BLOCK_TOKENS
            self._check(block_parts(store, block), start, BLOCK_TOKENS, path[: start + BLOCK_TOKENS], space)

    def _check(self, buffers: Sequence[Tensor], first: int, count: int, path: Sequence[int], space: str) -> None:
        numbers = self.digests(path, space)[first : first + count]
        for at, buffer in enumerate(buffers):
            expected = numbers[None, None, :, None] + _marks(buffer, at // 2, at % 2)
            assert torch.equal(buffer[:, :, :count], expected.expand_as(buffer[:, :, :count])), "a misplaced block"


class FlakyStore(KVStore):
    """A store whose memory runs out. `fail_after` counts the allocations that still succeed; negative means all do.

    `fail_for` allocations in a row are refused then.
    """

    fail_after = -1
    fail_for = 1
    allocations = 0

    def new_lane(self, capacity: int) -> Lane:
        """As in KVStore, or MemoryError."""
        self._allocate()
        return super().new_lane(capacity)

    def _copy_out(self, lane: Lane, start: int) -> Tensor:
        self._allocate()
        return super()._copy_out(lane, start)

    def _allocate(self) -> None:
        self.allocations += 1
        if self.fail_after == 0:
            self.fail_for -= 1
            if self.fail_for <= 0:
                self.fail_after = -1
            raise MemoryError("made to fail")
        if self.fail_after > 0:
            self.fail_after -= 1


@dataclass
class LateCopy:
    """A copy whose numbers are NaN until it is made: when somebody waits for it, or after `late` looks at it."""

    source: Tensor
    tensor: Tensor
    late: int
    fails: bool
    is_made: bool = False

    def is_done(self) -> bool:
        """Whether it is made by now."""
        self.late -= 1
        if self.late < 0:
            self.wait()
        return self.is_made

    def wait(self) -> bool:
        """Make it."""
        if not self.fails:
            self.tensor.copy_(self.source)
        self.is_made = True
        return not self.fails

    join = wait


class LateCopies:
    """Copies between two memories that are both the computer's: each is late by up to 3 looks, and one in `failing`
    fails, when it is begun or when it is made (0: none)."""

    def __init__(self, seed: int, failing: int = 0) -> None:
        self._chance, self._failing = random.Random(seed), failing

    def leave(self, block: Tensor) -> LateCopy:
        """Begin a copy."""
        if self._fails():
            raise torch.OutOfMemoryError("made to fail")
        return LateCopy(block, torch.full_like(block, NAN), self._chance.randrange(4), self._fails())

    arrive = leave

    def _fails(self) -> bool:
        return bool(self._failing) and not self._chance.randrange(self._failing)


def scattered_ids(seed: int = 7) -> Callable[[set[int]], int]:
    """Block numbers in no order and with gaps, and each freed one is given out again soon."""
    state = seed

    def new_id(taken: set[int]) -> int:
        nonlocal state
        while True:
            state = (state * 1103515245 + 12345) % 2**31
            number = state // 8 % (2 * len(taken) + 99)
            if number not in taken:
                return number

    return new_id


def run_prompt(
    cache: Cache,
    model: DigestModel,
    prompt: Sequence[int],
    answer: Sequence[int] = (),
    *,
    chunk: int = 24,
    owner: str = "",
) -> tuple[int, list[int]]:
    """A whole request: how many tokens were reused, and the logits after the prompt and after each answer token."""
    run = cache.begin(prompt, len(answer), owner)
    try:
        cache.restore(run)
        logits = [compute(cache, model, run, prompt, chunk)]
        for count in range(1, len(answer) + 1):
            logits.append(compute(cache, model, run, [*prompt, *answer[:count]], chunk))
    finally:
        cache.finish(run)
    return run.reused, logits


ORACLE = DigestModel()
"""Remembers its digests from one test to the next."""


def cold(prompt: Sequence[int]) -> int:
    """The last logits of a prompt in a fresh cache that reuses nothing."""
    return run_prompt(NullCache(FlakyStore(LAYOUT, 10**9)), ORACLE, prompt)[1][0]


def unlike(number: int, length: int) -> list[int]:
    """A prompt that shares nothing with one of another number."""
    return [1000 * number + i % 7 for i in range(length)]


def compute(cache: Cache, model: DigestModel, run: Run, path: Sequence[int], chunk: int) -> int:
    """Compute what is missing of `path` in pieces; the last logits."""
    logits = 0
    while len(run.lane.ids) < len(path):
        logits = step(cache, model, run, path, chunk)
    return logits


def step(cache: Cache, model: DigestModel, run: Run, path: Sequence[int], chunk: int, read: int | None = None) -> int:
    """Compute the next piece of `path`; its logits. What lies behind the first `read` tokens is not settled."""
    start = len(run.lane.ids)
    end = min(len(path), start + chunk)
    if (regime := cache.regime(end)) not in (run.lane.regime, cache.regime(0)):  # an answer that grew past the switch
        cache.enter_regime(run, regime)
        start, end = 0, min(len(path), chunk)
    logits = model.forward(path, start, end, run.lane)
    cache.commit(run, path[start:end], settled=read is None or end <= read)
    return logits


def make_cache(
    *,
    context: int = 256,
    tokens: int = 2048,
    model: DigestModel | None = None,
    clock: Callable[[], float] | None = None,
    max_lanes: int = 1,
    lane_step: int = LANE_STEP,
    switch: int | None = None,
    memory: MemoryTier | None = None,
    disk: DiskTier | None = None,
    decode: Callable[[Sequence[int]], str] = lambda _: "",
) -> PrefixCache:
    """A cache whose budget holds `tokens` tokens, lanes included. Fresh lanes are full of NaN, block numbers in no
    order. Sequences of more than `switch` tokens are in the regime "long"."""
    layout = model.layout if model else LAYOUT
    store = FlakyStore(layout, tokens * layout.bytes_per_token, scattered_ids(), fill=NAN)
    times = iter(range(1, 10**9))
    return PrefixCache(
        store,
        "a",
        context,
        clock or (lambda: float(next(times))),
        max_lanes=max_lanes,
        lane_step=lane_step,
        decode=decode,
        regime=regimes(switch),
        memory=memory,
        disk=disk,
    )


def regimes(switch: int | None) -> Callable[[int], str]:
    """The regime of a sequence of some length."""
    return lambda length: "long" if switch is not None and length > switch else ""


def check_contents(cache: PrefixCache, *models: DigestModel) -> None:
    """All invariants, and that every lane and every block holds what its place in the tree says."""
    cache.check_integrity()
    assert real_bytes(cache.store) == cache.store.used_bytes <= cache.store.budget_bytes
    for model in models:
        for space in (model.space(""), model.space("long")):
            for path, blocks in paths(cache, space):
                model.check_pool(cache.store, path, blocks, space)
        if model.namespace == cache.namespace:
            for lane in lanes(cache):
                model.check_lane(lane)


def _marks(buffer: Tensor, group: int, kind: int) -> Tensor:
    """A number for each layer, head and component, all different."""
    layers, heads, _, dim = buffer.shape
    number = torch.arange(layers * heads * dim, dtype=torch.float64).reshape(layers, heads, 1, dim)
    return number + 16 * (2 * group + kind)

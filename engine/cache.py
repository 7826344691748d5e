"""The prefix cache: tree + store + byte budget, and its twin that never reuses anything.

Order of a request: `begin` looks up, pins the hit, then makes room and fills the lane; `commit` after every forward
pass; `finish` publishes full blocks and unpins. Nothing is evicted between the look-up and the pin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.events import CacheView
from engine.store import KVStore, Lane
from engine.tree import Match, Node, PrefixTree, block_keys
from engine.types import BLOCK_TOKENS
from engine.view import node_views

LANE_STEP = 512
"""Lanes grow in steps of this many tokens."""


@dataclass(slots=True)
class Run:
    """A request that holds a lane. The first `reused` tokens of its prompt need not be computed."""

    lane: Lane
    match: Match
    prefix: list[int]
    owner: str

    @property
    def reused(self) -> int:
        """Tokens of the prompt that are in the lane or in pinned blocks."""
        return len(self.prefix)


class Cache(Protocol):
    """What a request needs of a cache, be it one that reuses or one that does not."""

    def peek(self, ids: Sequence[int]) -> int:
        """Tokens that `begin` would reuse, without touching anything."""

    def begin(self, ids: Sequence[int], new_tokens: int, owner: str = "") -> Run:
        """Look up, pin, and hold a lane with room for `ids` and `new_tokens` more. All or nothing.

        Raises MemoryError where the lane cannot be had.
        """

    def restore(self, run: Run) -> None:
        """Bring the reusable start of the prompt into the lane. Comes right after `begin`."""

    def commit(self, run: Run, ids: Sequence[int], *, settled: bool) -> None:
        """Note that keys and values of `ids` were written behind the lane's tokens."""

    def publish(self, run: Run) -> None:
        """Make the full settled blocks of the lane reusable, as far as the budget allows."""

    def finish(self, run: Run) -> None:
        """Publish, and hold nothing any more. Every `begin` is followed by one `finish`."""


class PrefixCache:
    """Blocks in a tree, their tensors in a store, one hard byte budget over both and the lanes.

    `namespace` separates what must never meet (model, dtype, RoPE regime, exactness). `context_length` is the longest
    path in tokens; the budget is never below one lane of that length. `step` above 0 means exact mode: hits are cut
    to this grid.
    """

    def __init__(
        self,
        store: KVStore,
        namespace: str,
        context_length: int,
        clock: Callable[[], float],
        *,
        step: int = 0,
        max_lanes: int = 1,
    ) -> None:
        self.store = store
        self.tree = PrefixTree(clock)
        self.namespace = namespace
        self.context_length = context_length
        self.step = step
        self.evicted_bytes = 0
        self._clock = clock
        self._max_lanes = max_lanes
        self._lanes: list[Lane] = []
        self._runs: list[Run] = []
        store.budget_bytes = max(store.budget_bytes, self.least_budget_bytes)

    @property
    def least_budget_bytes(self) -> int:
        """One lane for the whole context, so that every prompt the model can read gets answered."""
        return self._lane_capacity(self.context_length) * self.store.layout.bytes_per_token

    def peek(self, ids: Sequence[int]) -> int:
        """Tokens that `begin` would reuse, without touching anything. At least one token is left to compute."""
        usable = ids[: len(ids) - 1]
        in_lane = max((_common(lane, usable) for lane in self._lanes if not lane.is_busy), default=0)
        return self._cut_to_grid(max(self.tree.peek(self.namespace, usable), in_lane))

    def begin(self, ids: Sequence[int], new_tokens: int, owner: str = "") -> Run:
        """See `Cache.begin`."""
        usable = ids[: len(ids) - 1]
        capacity = self._lane_capacity(min(self.context_length, len(ids) + new_tokens))
        match = self._pinned_match(usable)
        try:
            lane = self._take_lane(usable, capacity, match)
        except BaseException as error:
            self.tree.unpin(match.node)
            if not isinstance(error, MemoryError):
                raise
            # No room beside the hit: now its blocks compete for the room like any others.
            lane = self._take_lane(usable, capacity, match)
            match = self._pinned_match(usable)
        reused = max(self._cut_to_grid(_common(lane, usable)), self._cut_to_grid(match.num_tokens))
        run = Run(lane, match, list(usable[:reused]), owner)
        lane.is_busy = True
        self._runs.append(run)
        self.tree.own(match.node, owner)
        return run

    def restore(self, run: Run) -> None:
        """See `Cache.restore`. Only blocks behind the point where the lane and the prompt part are copied."""
        lane = run.lane
        common = _common(lane, run.prefix)
        lane.cut(common)
        if run.reused > common:
            first = common // BLOCK_TOKENS
            self.store.restore(lane, first * BLOCK_TOKENS, run.match.blocks[first : run.reused // BLOCK_TOKENS])
            lane.ids[:] = run.prefix
            lane.settled = run.reused

    def commit(self, run: Run, ids: Sequence[int], *, settled: bool) -> None:
        """See `Cache.commit`. In exact mode only full grid steps are settled."""
        run.lane.ids.extend(ids)
        if settled:
            run.lane.settled = len(run.lane.ids)

    def publish(self, run: Run) -> None:
        """See `Cache.publish`. Blocks that do not fit behind pinned ones stay in the lane only."""
        ids = run.lane.ids[: run.lane.settled]
        match = self.tree.match(self.namespace, ids, is_hit=False)
        self._move_pin(run, match)
        keys = block_keys(ids, len(match.blocks))
        self._evict_for(len(keys) * self.store.layout.bytes_per_block)
        del keys[self.store.free_bytes // self.store.layout.bytes_per_block :]
        try:
            blocks = self.store.publish(run.lane, match.num_tokens, len(keys))
        except MemoryError:
            return
        self._move_pin(run, self.tree.insert(match, keys, blocks))
        self.tree.own(run.match.node, run.owner)

    def finish(self, run: Run) -> None:
        """See `Cache.finish`."""
        try:
            self.publish(run)
        finally:
            self._runs.remove(run)
            self.tree.unpin(run.match.node)
            run.lane.is_busy = False

    def keep(self, ids: Sequence[int], owner: str) -> bool:
        """Keep what is cached of `ids` resident for `owner`, in place of what it kept before.

        False where nothing is, or where kept blocks would take more than half of what lanes leave of the budget.
        """
        match = self.tree.match(self.namespace, ids, is_hit=False)
        self.tree.keep(match.node, owner)
        self._bound_kept()
        return owner in match.node.kept_by

    def release(self, owner: str) -> None:
        """Keep nothing for `owner` any more."""
        self.tree.release(owner)

    def make_room(self, nbytes: int) -> bool:
        """Evict until `nbytes` are free: reusable blocks first, then idle lanes. False if that is too little."""
        self._evict_for(nbytes)
        for lane in [lane for lane in self._lanes if not lane.is_busy]:
            if self.store.free_bytes < nbytes:
                self._drop_lane(lane)
        return self.store.free_bytes >= nbytes

    def set_budget(self, nbytes: int) -> None:
        """Change the budget, not below one whole lane or what running requests hold; what no longer fits is evicted at
        once."""
        self.store.budget_bytes = max(nbytes, self._lane_room)
        self._bound_kept()
        if self.make_room(0):
            return
        for run in self._runs:  # their hits stand in their lanes: the blocks may go
            self._move_pin(run, Match(self.tree.root(self.namespace), ()))
        self._evict_for(0)

    def clear(self) -> None:
        """Drop every block and lane that no running request needs, kept ones too."""
        for owner in self.tree.kept():
            self.tree.release(owner)
        self.store.free(self.tree.evict(len(self.tree)))
        for lane in [lane for lane in self._lanes if not lane.is_busy]:
            self._drop_lane(lane)

    def view(self, request_id: int = 0, *, with_nodes: bool = False) -> CacheView:
        """The cache's memory now; `with_nodes` adds the tree."""
        block = self.store.layout.bytes_per_block
        kept = sum(len(node.blocks) for node in self.tree.nodes() if node.kept_by)
        running = sum(len(node.blocks) for node in self.tree.nodes() if node.pins and not node.kept_by)
        now = self._clock()
        return CacheView(
            request_id=request_id,
            time_s=now,
            budget_bytes=self.store.budget_bytes,
            pinned_bytes=kept * block,
            live_bytes=running * block + self.store.lane_bytes,
            reusable_bytes=(len(self.tree) - kept - running) * block,
            evicted_bytes=self.evicted_bytes,
            cached_tokens=len(self.tree) * BLOCK_TOKENS,
            nodes=node_views(self.tree, block, now) if with_nodes else (),
        )

    def check_integrity(self) -> None:
        """Raise AssertionError where an invariant is broken; with no run left, also where a pin was forgotten."""
        self.tree.check()
        assert {block for node in self.tree.nodes() for block in node.blocks} == self.store.blocks
        assert self.store.used_bytes <= self.store.budget_bytes
        assert all(0 <= lane.settled <= len(lane.ids) <= lane.capacity for lane in self._lanes)
        if not any(lane.is_busy for lane in self._lanes):
            assert all(node.pins == 0 for node in self.tree.nodes())

    @property
    def _lane_room(self) -> int:
        """Bytes that lanes must be able to have: one whole one, or all that are running."""
        return max(self.least_budget_bytes, sum(run.lane.nbytes for run in self._runs))

    def _lane_capacity(self, tokens: int) -> int:
        return min(-(-tokens // LANE_STEP) * LANE_STEP, self.context_length)

    def _cut_to_grid(self, tokens: int) -> int:
        return tokens - tokens % self.step if self.step else tokens

    def _pinned_match(self, ids: Sequence[int]) -> Match:
        match = self.tree.match(self.namespace, ids)
        self.tree.pin(match.node)
        return match

    def _move_pin(self, run: Run, match: Match) -> None:
        self.tree.pin(match.node)
        self.tree.unpin(run.match.node)
        run.match = match

    def _take_lane(self, ids: Sequence[int], capacity: int, match: Match) -> Lane:
        """An idle lane of this capacity, the one that shares most with `ids`. Another one is made only where there is
        free room for it; a lane that is too small gives way to a larger one."""
        nbytes = capacity * self.store.layout.bytes_per_token
        idle = [lane for lane in self._lanes if not lane.is_busy]
        best = max(idle, key=lambda lane: _common(lane, ids), default=None)
        may_add = len(self._lanes) < self._max_lanes
        if best is not None and may_add and nbytes <= self.store.free_bytes and not self._continues(best, ids, match):
            best = None
        if best is not None and best.capacity >= capacity:
            return best
        if best is None and not may_add:
            raise MemoryError("every lane of the cache is busy")
        if best is not None:
            self._drop_lane(best)
        if not self.make_room(nbytes):
            raise MemoryError("the cache budget has no room for another lane")
        self._lanes.append(self.store.new_lane(capacity))
        return self._lanes[-1]

    def _continues(self, lane: Lane, ids: Sequence[int], match: Match) -> bool:
        """Whether `ids` is the next turn of what the lane holds, rather than a prompt that only shares a start."""
        return not lane.ids or _common(lane, ids) >= max(match.num_tokens, len(lane.ids) // 2)

    def _drop_lane(self, lane: Lane) -> None:
        self._lanes.remove(lane)
        self.store.free_lane(lane)

    def _evict_for(self, nbytes: int) -> None:
        """Evict reusable blocks until `nbytes` are free, or none is left."""
        missing = nbytes - self.store.free_bytes
        if missing > 0:
            freed = self.tree.evict(-(-missing // self.store.layout.bytes_per_block))
            self.store.free(freed)
            self.evicted_bytes += len(freed) * self.store.layout.bytes_per_block

    def _bound_kept(self) -> None:
        """Release the oldest kept prefixes until they take at most half of what lanes leave: the other half is for
        the chats themselves."""
        room = (self.store.budget_bytes - self._lane_room) // 2
        for owner in self.tree.kept():
            kept = sum(len(node.blocks) for node in self.tree.nodes() if node.kept_by)
            if kept * self.store.layout.bytes_per_block <= room:
                return
            self.tree.release(owner)


class NullCache:
    """The cache that never reuses: each run gets an empty lane, which is given back at the end.

    It is the "cache off" switch and the tests' oracle. `make_room` frees bytes of the budget it shares with others.
    """

    def __init__(self, store: KVStore, make_room: Callable[[int], object] = lambda _: None) -> None:
        self.store = store
        self._make_room = make_room

    def peek(self, ids: Sequence[int]) -> int:
        """Always 0."""
        return 0

    def begin(self, ids: Sequence[int], new_tokens: int, owner: str = "") -> Run:
        """See `Cache.begin`."""
        capacity = len(ids) + new_tokens
        self._make_room(capacity * self.store.layout.bytes_per_token)
        return Run(self.store.new_lane(capacity), Match(Node(None, [], []), ()), [], owner)

    def restore(self, run: Run) -> None:
        """There is nothing to bring in."""

    def commit(self, run: Run, ids: Sequence[int], *, settled: bool) -> None:
        """See `Cache.commit`."""
        run.lane.ids.extend(ids)

    def publish(self, run: Run) -> None:
        """Nothing is kept."""

    def finish(self, run: Run) -> None:
        """Give the lane back."""
        self.store.free_lane(run.lane)


def _common(lane: Lane, ids: Sequence[int]) -> int:
    """Length of the reusable start of `ids` that already stands in the lane, in tokens."""
    limit = min(lane.settled, len(ids))
    if lane.ids[:limit] == list(ids[:limit]):
        return limit
    low, high = 0, limit  # the first `low` agree, the first `high` do not
    while high - low > 1:
        middle = (low + high) // 2
        if lane.ids[low:middle] == list(ids[low:middle]):
            low = middle
        else:
            high = middle
    return low

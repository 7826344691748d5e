"""The prefix cache: tree + store + lanes under one byte budget, and what lies on disk behind them.

Order of a request: `begin` looks up, pins the hit, then makes room; `restore` fills the lane, also from disk; `commit`
after every forward pass; `finish` publishes full blocks and unpins. Nothing is evicted between the look-up and the pin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from torch import Tensor

from engine.cache.blocks import Key, block_keys, chain
from engine.cache.contract import Reuse, Run, lane_capacity, salted
from engine.cache.disk_tier import DiskTier, no_disk
from engine.cache.evictions import Evictions
from engine.cache.lanes import Lanes, common_tokens
from engine.cache.memory_tier import MemoryTier
from engine.cache.picture import Picture, memory_view
from engine.cache.store import KVStore, Lane
from engine.cache.tree import Keeper, Match, Node, PrefixTree
from engine.events import CacheView
from engine.types import BLOCK_TOKENS, check_budget

LANE_STEP = 512
"""Lanes grow in steps of this many tokens."""


class PrefixCache:
    """Blocks in a tree, their tensors in a store, one hard byte budget over both and the lanes.

    `namespace` separates what must never meet: blocks of another model or number type. The regime is added to it
    where it is used (`_space`). `context_length` is the longest
    path in tokens; the budget is never below one lane of that length. Lanes grow in steps of `lane_step` tokens.
    `decode` gives the text of ids, for the view. `regime` names
    how a sequence of so many tokens is computed: what was computed in one regime is never used in another. `memory`
    keeps blocks that a GPU had no room for any more, `disk` keeps blocks over a restart.
    """

    def __init__(
        self,
        store: KVStore,
        namespace: str,
        context_length: int,
        clock: Callable[[], float],
        *,
        max_lanes: int = 1,
        lane_step: int = LANE_STEP,
        decode: Callable[[Sequence[int]], str] = lambda _: "",
        regime: Callable[[int], str] = lambda _: "",
        memory: MemoryTier | None = None,
        disk: DiskTier | None = None,
    ) -> None:
        self.store = store
        self.memory = memory or MemoryTier(None, 0, store.layout.bytes_per_block)
        self.disk = disk or no_disk(store.layout)
        self.tree = PrefixTree(clock)
        tier = "memory" if store.layout.device.type == "cpu" else "device"
        self._picture = Picture(self.tree, self.disk, store.layout.bytes_per_block, tier, decode, self.memory)
        self.namespace = namespace
        self.context_length = context_length
        self.regime = regime
        self.evicted_bytes = 0
        self.evictions = Evictions()
        self._clock = clock
        self._lane_step = lane_step
        self._lanes = Lanes(store, max_lanes, self._evict_for)
        self._runs: list[Run] = []
        self._kept_until: dict[Keeper, float] = {}
        """When what is kept for a time goes, in seconds of the clock."""
        store.budget_bytes = max(store.budget_bytes, self.least_budget_bytes)

    @property
    def used_bytes(self) -> int:
        """Bytes that blocks and lanes take now."""
        return self.store.used_bytes

    @property
    def budget_bytes(self) -> int:
        """What they may take."""
        return self.store.budget_bytes

    @property
    def least_budget_bytes(self) -> int:
        """One lane for the whole context, so that every prompt the model can read gets answered."""
        return self._lane_capacity(self.context_length) * self.store.layout.bytes_per_token

    @property
    def is_busy(self) -> bool:
        """Whether a request holds a lane now."""
        return bool(self._runs)

    def idle_lanes(self) -> list[Lane]:
        """The lanes that no request holds."""
        return self._lanes.idle()

    def serve_beside(self) -> None:
        """Have a lane for another program's request beside that of the chat, from now on."""
        self._lanes.most = max(2, self._lanes.most)

    def peek(self, ids: Sequence[int], new_tokens: int = 0, length: int = 0) -> int:
        """Tokens that `begin` would reuse: all of them where the logits after exactly this prompt are kept. Otherwise
        at least one token is left to compute, because its logits are needed."""
        return self.estimate(ids, new_tokens, length).tokens

    def estimate(self, ids: Sequence[int], new_tokens: int = 0, length: int = 0, salt: str = "") -> Reuse:
        """What `begin` would reuse, without touching anything."""
        usable, regime = ids[: len(ids) - 1], salted(self.regime(max(len(ids), length)), salt)
        capacity = self._lane_capacity(min(self.context_length, len(ids) + new_tokens))
        cached = self.tree.peek(self._space(regime), usable)
        lane = self._lanes.choose(ids, capacity, cached, regime)
        if lane is not None and self._lanes.holds(lane, capacity):
            if lane.logits_after(ids, regime) is not None:
                return Reuse(len(ids))
            return self._with_tiers(usable, regime, max(cached, common_tokens(lane, usable, regime)))
        return self._with_tiers(usable, regime, cached - self._given_up(usable, regime, capacity))

    def begin(self, ids: Sequence[int], new_tokens: int, owner: str = "", length: int = 0, salt: str = "") -> Run:
        usable = ids[: len(ids) - 1]
        capacity = self._lane_capacity(min(self.context_length, len(ids) + new_tokens))
        regime = salted(self.regime(max(len(ids), length)), salt)
        match = self._pinned_match(usable, regime)
        self._touch_memory(usable, regime)
        return self._hold(ids, capacity, match, regime, owner)

    def _hold(
        self, ids: Sequence[int], capacity: int, match: Match, regime: str, owner: str, *, is_ahead: bool = False
    ) -> Run:
        """A run with a lane, for a match that is pinned."""
        usable = ids[: len(ids) - 1]
        try:
            lane = self._lanes.take(ids, capacity, match.num_tokens, regime)
        except BaseException as error:
            self.tree.unpin(match.node)
            if is_ahead or not isinstance(error, MemoryError):
                raise
            # No room beside the hit: now its blocks compete for the room like any others.
            lane = self._lanes.take(ids, capacity, match.num_tokens, regime)
            match = self._pinned_match(usable, regime)
        logits = lane.logits_after(ids, regime)
        if logits is None:
            reuse = self._with_tiers(usable, regime, max(common_tokens(lane, usable, regime), match.num_tokens))
        else:
            reuse = Reuse(len(ids))
        tokens = reuse.tokens, reuse.disk_tokens, reuse.memory_tokens
        run = Run(lane, match, list(ids[: tokens[0]]), owner, *tokens[1:], logits=logits, is_ahead=is_ahead)
        lane.is_busy = True
        self._runs.append(run)
        self.tree.own(match.node, owner)
        return run

    def begin_ahead(self, ids: Sequence[int], new_tokens: int, owner: str, length: int, salt: str = "") -> Run | None:
        """As `begin`, to read what nobody asked for yet. None where anything but what was read ahead would have to go
        for it. What it leaves is evicted before all else, until a request comes for it, and is not written to disk."""
        usable = ids[: len(ids) - 1]
        capacity = self._lane_capacity(min(self.context_length, len(ids) + new_tokens))
        regime = salted(self.regime(max(len(ids), length)), salt)
        match = self.tree.match(self._space(regime), usable, is_hit=False)
        self.tree.pin(match.node)
        lane = self._lanes.choose(ids, capacity, match.num_tokens, regime)
        if not self._lanes.fits(lane, capacity):
            self._evict_ahead(capacity * self.store.layout.bytes_per_token)
        if not self._lanes.fits(lane, capacity):
            self.tree.unpin(match.node)
            return None
        return self._hold(ids, capacity, match, regime, owner, is_ahead=True)

    def restore(self, run: Run) -> None:
        """Only blocks behind the point where the lane and the prompt part are copied."""
        lane = run.lane
        if run.logits is not None:
            lane.cut(run.reused)
            return
        common = common_tokens(lane, run.prefix, lane.regime)
        lane.cut(common)
        if run.reused > common:
            first = common // BLOCK_TOKENS
            self.store.restore(lane, first * BLOCK_TOKENS, run.match.blocks[first : run.reused // BLOCK_TOKENS])
            if run.disk_tokens or run.memory_tokens:
                self._restore_from_tiers(run, max(first, len(run.match.blocks)))
            lane.ids[:] = run.prefix
            lane.settled = run.reused

    def _restore_from_tiers(self, run: Run, at: int) -> None:
        """Bring what the tiers behind have straight into the lane, from block number `at` on; `finish` publishes it.

        `near` tokens were there already. A tier may have less than it said: then the prefix ends at the first block
        that was not to be had.
        """
        lane, space = run.lane, self._space(run.lane.regime)
        near, end = run.reused - run.disk_tokens - run.memory_tokens, run.reused - run.disk_tokens
        if run.memory_tokens:
            names = chain(space, block_keys(run.prefix[:end]))[1:]
            for copy in self.memory.arriving(names[at:]):
                if not copy.join():
                    break
                self.store.copy_in(lane, at * BLOCK_TOKENS, copy.tensor)
                at += 1
        if run.disk_tokens and at >= end // BLOCK_TOKENS:
            at = self.disk.fill(self.store, lane, space, run.prefix, at)
        del run.prefix[max(near, at * BLOCK_TOKENS) :]
        run.disk_tokens = max(0, run.reused - end)
        run.memory_tokens = max(0, run.reused - run.disk_tokens - near)

    def commit(self, run: Run, ids: Sequence[int], *, settled: bool) -> None:
        run.lane.ids.extend(ids)
        if settled:
            run.lane.settled = len(run.lane.ids)

    def keep_logits(self, run: Run, logits: Tensor) -> None:
        """They count towards the budget, and go with the lane. Those kept before go first: they need no room beside."""
        run.lane.drop_logits()
        self._evict_for(logits.nbytes)
        with suppress(MemoryError):
            self.store.keep_logits(run.lane, logits)

    def enter_regime(self, run: Run, regime: str) -> None:
        self._publish(run)
        run.lane.cut(0)
        run.lane.regime = regime
        self._move_pin(run, Match(self.tree.root(self._space(regime)), ()))

    def finish(self, run: Run) -> None:
        try:
            self._publish(run)
            if not run.is_forgotten and not run.is_ahead:
                self.disk.enqueue(self._space(run.lane.regime), run.lane.ids[: run.lane.settled], run.owner)
        finally:
            self._runs.remove(run)
            self.tree.unpin(run.match.node)
            run.lane.is_busy = False

    def keep(self, ids: Sequence[int], owner: str, length: int = 0, salt: str = "") -> bool:
        """Keep what is cached of `ids`, of a sequence of `length` tokens, resident for `owner`, in place of what it
        kept before. False where nothing is, or where kept blocks would take more than half of what lanes leave.
        """
        space = self._space(salted(self.regime(length), salt))
        match = self.tree.match(space, ids, is_hit=False)
        self.tree.keep(match.node, owner)
        self.disk.enqueue(space, ids[: match.num_tokens], owner, is_kept=True)
        self._bound_kept()
        return owner in match.node.kept_by

    def keep_for(self, ids: Sequence[int], seconds: float, length: int = 0, salt: str = "") -> None:
        """Keep what is cached of `ids` resident for so long from now on, whoever asked. Bounded as `keep` is."""
        space = self._space(salted(self.regime(length), salt))
        match = self.tree.match(space, ids, is_hit=False)
        if match.blocks:
            keeper = ("for a time", self.tree.digest(match.node))
            self.tree.keep(match.node, keeper)
            self._kept_until[keeper] = max(self._kept_until.get(keeper, 0.0), self._clock() + seconds)
            self._bound_kept()

    def _release_old(self) -> None:
        """Keep no longer what was to be kept until now."""
        for keeper in [keeper for keeper, until in self._kept_until.items() if until <= self._clock()]:
            del self._kept_until[keeper]
            self.tree.release(keeper)

    def release(self, owner: str) -> None:
        """Keep nothing for `owner` any more."""
        self.tree.release(owner)

    def forget(self, owner: str) -> None:
        """Keep nothing for `owner` any more, delete what only it used from disk, and write nothing more of it there."""
        self.release(owner)
        for run in self._runs:
            run.is_forgotten |= run.owner == owner
        self.memory.forget(owner)
        self.disk.forget(owner)

    def kept_tokens(self, ids: Sequence[int], length: int = 0, salt: str = "") -> int:
        """How many tokens at the start of `ids` are kept resident."""
        self._release_old()
        return self.tree.kept_tokens(self._space(salted(self.regime(length), salt)), ids)

    def keep_block(self, block: int) -> None:
        """Keep the path to the end of the stretch of `block` resident, until released. Unknown blocks are ignored.
        Raises InvalidRequestError for a stretch on disk only."""
        self._picture.refuse_disk_only(block)
        if (node := self.tree.find(block)) is not None:
            self.tree.keep(node, block)  # a number, so that no conversation has the same name
            self._bound_kept()

    def release_block(self, block: int) -> None:
        """Keep the stretch of `block` and all behind it no longer."""
        if (node := self.tree.find(block)) is not None:
            self.tree.release_below(self._picture.run_start(node))

    def drop_block(self, block: int) -> None:
        """Drop the stretch of `block` and all behind it, on disk too, except what a running request needs. Unknown
        blocks are ignored: the stretch may be gone since the window was drawn."""
        self.evictions.note_otherwise()
        node, digest = self.tree.find(block), self._picture.disk_name(block)
        if node is not None:
            first = self._picture.run_start(node)
            digest = self.tree.digest(first)
            self.tree.release_below(first)
            for name in [name for part in self.tree.below(first) for name in self.tree.names(part)[1:]]:
                self.memory.remove(name)
            self.store.free(self.tree.drop(first))
        if digest:
            self._lanes.cut_at(digest, self._space)
            self.memory.remove(digest)
            self.disk.drop(digest)

    def make_room(self, nbytes: int) -> bool:
        """Evict until `nbytes` are free: reusable blocks first, then idle lanes. False if that is too little."""
        return self._lanes.free_bytes(nbytes)

    def set_budget(self, nbytes: int) -> None:
        """Change the budget, not below one whole lane or what running requests hold; what no longer fits is evicted at
        once. Raises InvalidRequestError for a budget that no computer has."""
        self.store.budget_bytes = max(check_budget(nbytes), self._lane_room)
        self.evictions.note_otherwise()
        self._bound_kept()
        if self.make_room(0):
            return
        for run in self._runs:  # their hits stand in their lanes: the blocks may go
            self._move_pin(run, Match(self.tree.root(self._space(run.lane.regime)), ()))
        self._evict_for(0)

    def write_back(self) -> Iterator[None]:
        """Write to disk what was kept and what the newest requests left, a small step at a time."""
        return self.disk.write_back(self._held)

    def _held(self, space: str, keys: list[Key]) -> list[Tensor]:
        """What the blocks at the start of a path hold, on the device and in the memory behind it."""
        found = self.store.tensors(self.tree.blocks(space, keys))
        for digest in chain(space, keys)[1 + len(found) :] if self.memory.is_on else ():
            if (tensor := self.memory.tensor(digest)) is None:
                break
            found.append(tensor)
        return found

    def clear(self) -> None:
        """Drop every block and lane in memory that no running request needs, behind the device too."""
        self._release_all()
        self.store.free(self.tree.evict(len(self.tree)))
        self._drop_idle_lanes()
        self.memory.clear()

    def free_device(self, *, is_kept_too: bool) -> None:
        """Every block and lane that no running request needs leaves the device, into the memory behind it where there
        is one; kept ones stay where not `is_kept_too`."""
        self._release_all(is_kept_too=is_kept_too)
        for lane in self._lanes:
            lane.recorded.clear()
        self._evict(len(self.tree))
        self._drop_idle_lanes()

    def _release_all(self, *, is_kept_too: bool = True) -> None:
        self.evictions.note_otherwise()
        for owner in self.tree.kept() if is_kept_too else ():
            self.tree.release(owner)

    def _drop_idle_lanes(self) -> None:
        for lane in self._lanes.idle():
            self._lanes.drop(lane)
        self.store.let_go(self.store.budget_bytes)

    def view(self, request_id: int = 0, *, with_nodes: bool = False) -> CacheView:
        """The cache's memory now; `with_nodes` adds the tree."""
        self._release_old()
        now = self._clock()
        nodes = self._picture.nodes(now) if with_nodes else ()
        memory = memory_view(self.tree, self.store, self.evicted_bytes, request_id, now)
        beside = self.tree.nbytes + self._picture.text_bytes
        on_disk, note, behind = self.disk.used_bytes, self.disk.note, self.memory.used_bytes
        return replace(
            memory, nodes=nodes, disk_bytes=on_disk, disk_note=note, overhead_bytes=beside, memory_bytes=behind
        )

    def check_integrity(self) -> None:
        """Raise AssertionError where an invariant is broken; with no run left, also where a pin was forgotten."""
        self.tree.check()
        self.memory.check()
        self.disk.check()
        assert {block for node in self.tree.nodes() for block in node.blocks} == self.store.blocks
        assert self.store.used_bytes <= self.store.budget_bytes
        assert all(0 <= lane.settled <= len(lane.ids) <= lane.capacity for lane in self._lanes)
        if not any(lane.is_busy for lane in self._lanes):
            assert all(node.pins == 0 for node in self.tree.nodes())

    @property
    def _lane_room(self) -> int:
        """Bytes that lanes must be able to have: one whole one, or all that are running, cold ones too."""
        return max(self.least_budget_bytes, self.store.lane_bytes - sum(lane.nbytes for lane in self._lanes.idle()))

    def _lane_capacity(self, tokens: int) -> int:
        return lane_capacity(min(-(-tokens // self._lane_step) * self._lane_step, self.context_length))

    def _with_tiers(self, ids: Sequence[int], regime: str, near: int) -> Reuse:
        """What is reused where `near` tokens are in the lane or in blocks: of the tiers behind, the memory goes on from
        there, and the disk behind that."""
        space, end = self._space(regime), near
        if self.memory.is_on:
            first = near // BLOCK_TOKENS
            names = chain(space, block_keys(ids))[1:]
            end = max(near, (first + self.memory.extent(names[first:])) * BLOCK_TOKENS)
        tokens = max(end, self.disk.extent(space, ids))
        return Reuse(tokens, tokens - end, end - near)

    def _touch_memory(self, ids: Sequence[int], regime: str) -> None:
        """What room is made for is not to push out what is about to be used."""
        if self.memory.is_on:
            self.memory.touch(chain(self._space(regime), block_keys(ids))[1:])

    def _space(self, regime: str) -> str:
        """The part of the tree that belongs to a regime."""
        return f"{self.namespace}/{regime}" if regime else self.namespace

    def _given_up(self, ids: Sequence[int], regime: str, capacity: int) -> int:
        """Tokens of the hit that would have to go for a lane of this capacity: all other blocks go first."""
        missing = -(-self._lanes.missing_bytes(capacity) // self.store.layout.bytes_per_block)
        own = self.tree.evictable_on(self._space(regime), ids)
        return max(0, min(own, missing - (self.tree.evictable() - own))) * BLOCK_TOKENS if missing else 0

    def _publish(self, run: Run) -> None:
        """Make the full settled blocks of the lane reusable. Blocks for which nothing may be evicted any more, because
        the rest is pinned or kept, stay in the lane only."""
        ids = run.lane.ids[: run.lane.settled]
        match = self.tree.match(self._space(run.lane.regime), ids, is_hit=False)
        self._move_pin(run, match)
        keys = block_keys(ids, len(match.blocks))
        if run.is_ahead:
            self._evict_ahead(len(keys) * self.store.layout.bytes_per_block)
        else:
            self.tree.ask(match.node)
            self._evict_for(len(keys) * self.store.layout.bytes_per_block)
        del keys[self.store.free_bytes // self.store.layout.bytes_per_block :]
        try:
            blocks = self.store.publish(run.lane, match.num_tokens, len(keys))
        except MemoryError:
            return
        self._move_pin(run, self.tree.insert(match, keys, blocks, is_ahead=run.is_ahead))
        self.tree.own(run.match.node, run.owner)

    def _pinned_match(self, ids: Sequence[int], regime: str) -> Match:
        match = self.tree.match(self._space(regime), ids)
        self.tree.pin(match.node)
        self.tree.ask(match.node)
        return match

    def _move_pin(self, run: Run, match: Match) -> None:
        self.tree.pin(match.node)
        self.tree.unpin(run.match.node)
        run.match = match

    def _evict_for(self, nbytes: int) -> None:
        """Evict reusable blocks until `nbytes` are free, or none is left."""
        self._release_old()
        self._evict_until(nbytes, is_ahead_only=False)

    def _evict_ahead(self, nbytes: int) -> None:
        """The same, with nothing but blocks that were read ahead."""
        self._evict_until(nbytes, is_ahead_only=True)

    def _evict_until(self, nbytes: int, *, is_ahead_only: bool) -> None:
        self.store.let_go(nbytes)
        missing = nbytes - self.store.free_bytes
        if missing > 0:
            freed = self._evict(-(-missing // self.store.layout.bytes_per_block), is_ahead_only=is_ahead_only)
            self.evicted_bytes += freed * self.store.layout.bytes_per_block
            self.evictions.note(freed)
            self.store.let_go(nbytes)

    def _evict(self, count: int, *, is_ahead_only: bool = False) -> int:
        """Evict up to so many blocks, into the memory behind the device where there is one; how many. What was only
        read ahead is not worth a place there."""
        if is_ahead_only or not self.memory.is_on:
            freed = self.tree.evict(count, is_ahead_only=is_ahead_only)
            self.store.free(freed)
            return len(freed)
        return len(self.tree.evict(count, self._into_memory))

    def _into_memory(self, node: Node, length: int) -> None:
        """The blocks of a node behind the first `length` leave the device, the last one first."""
        names = self.tree.names(node)
        for number in reversed(range(length, len(node.blocks))):
            block = node.blocks[number]
            (tensor,) = self.store.tensors([block])
            copy = self.memory.take(names[number + 1], names[number], node.keys[number], tensor, node.owners)
            self.store.free([block]) if copy is None else self.store.free_behind(block, copy)

    def _bound_kept(self) -> None:
        """Release the oldest kept prefixes until they leave half of what lanes leave, for the chats themselves."""
        room = (self.store.budget_bytes - self._lane_room) // 2
        for owner in self.tree.kept():
            kept = sum(len(node.blocks) for node in self.tree.nodes() if node.kept_by)
            if kept * self.store.layout.bytes_per_block <= room:
                return
            self.tree.release(owner)

"""Which lane a request works in: the one that already holds most of its prompt, or a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from engine.cache.blocks import block_keys, chain
from engine.cache.store import KVStore, Lane
from engine.types import BLOCK_TOKENS


class Lanes:
    """The lanes of one cache, at most `most`, which may grow. `make_room` evicts blocks until that many bytes are
    free."""

    def __init__(self, store: KVStore, most: int, make_room: Callable[[int], None]) -> None:
        self._store = store
        self.most = most
        self._make_room = make_room
        self._lanes: list[Lane] = []

    def __iter__(self) -> Iterator[Lane]:
        return iter(self._lanes)

    def idle(self) -> list[Lane]:
        """The lanes that no request holds."""
        return [lane for lane in self._lanes if not lane.is_busy]

    def choose(self, ids: Sequence[int], capacity: int, cached_tokens: int, regime: str) -> Lane | None:
        """The idle lane that `take` would use: the one that shares most with `ids`. None where it would make another,
        or where every lane is busy. `ids` are the whole prompt, `cached_tokens` of it are in published blocks."""
        for lane in self.idle():
            if lane.logits_after(ids, regime) is not None:
                return lane
        usable = ids[: len(ids) - 1]
        best = max(self.idle(), key=lambda lane: common_tokens(lane, usable, regime), default=None)
        if best is not None and self._wants_another(best, usable, capacity, cached_tokens, regime):
            return None
        return best

    def holds(self, lane: Lane, capacity: int) -> bool:
        """Whether `take` keeps what stands in the lane: it is large enough, or a larger one has free room beside it."""
        return lane.capacity >= capacity or self._bytes(capacity) <= self._store.free_bytes

    def fits(self, lane: Lane | None, capacity: int) -> bool:
        """Whether `take` of this lane, or of another where that is None, needs no block and no other lane to go."""
        if lane is None and len(self._lanes) >= self.most:
            return False
        if lane is not None and self.holds(lane, capacity):
            return True
        return self._bytes(capacity) <= self._store.free_bytes + (lane.nbytes if lane is not None else 0)

    def missing_bytes(self, capacity: int) -> int:
        """Bytes of blocks that would be evicted for a new lane of this capacity, after every idle lane has gone for it.
        0 where no lane can be made at all: as many as there may be are busy."""
        idle = sum(lane.nbytes for lane in self.idle())
        if not idle and len(self._lanes) >= self.most:
            return 0
        return max(0, self._bytes(capacity) - self._store.free_bytes - idle)

    def take(self, ids: Sequence[int], capacity: int, cached_tokens: int, regime: str) -> Lane:
        """An idle lane of this capacity. Another one is made only where there is free room for it; one that is too
        small gives way to a larger one, and its tokens move where both have room.

        Raises MemoryError where there is no lane to be had.
        """
        lane = self.choose(ids, capacity, cached_tokens, regime)
        if lane is None or not self.holds(lane, capacity):
            if lane is not None:
                self.drop(lane)
            lane = self._new(capacity)
        elif lane.capacity < capacity:
            lane = self._enlarged(lane, capacity)
        if lane.regime != regime:
            lane.cut(0)
            lane.regime = regime
        return lane

    def free_bytes(self, nbytes: int) -> bool:
        """Evict until `nbytes` are free: reusable blocks first, then idle lanes. False if that is too little."""
        self._make_room(nbytes)
        for lane in self.idle():
            if self._store.free_bytes < nbytes:
                self.drop(lane)
        return self._store.free_bytes >= nbytes

    def cut_at(self, digest: str, space_of: Callable[[str], str]) -> None:
        """Let idle lanes go on no further than to the block of this name. `space_of` gives the part of the tree for a
        regime."""
        for lane in self.idle():
            names = chain(space_of(lane.regime), block_keys(lane.ids))
            if digest in names:
                lane.cut((names.index(digest) - 1) * BLOCK_TOKENS)

    def drop(self, lane: Lane) -> None:
        """Give an idle lane's memory back."""
        self._lanes.remove(lane)
        self._store.free_lane(lane)

    def _new(self, capacity: int) -> Lane:
        if len(self._lanes) >= self.most:
            raise MemoryError("every lane of the cache is busy")
        self.free_bytes(self._bytes(capacity))
        self._lanes.append(self._store.new_lane(capacity))
        return self._lanes[-1]

    def _enlarged(self, lane: Lane, capacity: int) -> Lane:
        larger = self._store.new_lane(capacity)
        larger.take_over(lane)
        self.drop(lane)
        self._lanes.append(larger)
        return larger

    def _bytes(self, capacity: int) -> int:
        return capacity * self._store.layout.bytes_per_token

    def _wants_another(self, lane: Lane, ids: Sequence[int], capacity: int, cached_tokens: int, regime: str) -> bool:
        """Whether `ids` only shares a start with what the lane holds, and there is room for a lane of its own."""
        has_room = self._bytes(capacity) <= self._store.free_bytes
        continues = not lane.ids or common_tokens(lane, ids, regime) >= max(cached_tokens, len(lane.ids) // 2)
        return len(self._lanes) < self.most and has_room and not continues


def common_tokens(lane: Lane, ids: Sequence[int], regime: str) -> int:
    """Length of the reusable start of `ids` that already stands in the lane, in tokens; 0 in another regime."""
    limit = min(lane.settled, len(ids)) if lane.regime == regime else 0
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

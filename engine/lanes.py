"""Which lane a request works in: the one that already holds most of its prompt, or a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from engine.store import KVStore, Lane


class Lanes:
    """The lanes of one cache, at most `most`. `make_room` evicts blocks until that many bytes are free."""

    def __init__(self, store: KVStore, most: int, make_room: Callable[[int], None]) -> None:
        self._store = store
        self._most = most
        self._make_room = make_room
        self._lanes: list[Lane] = []

    def __iter__(self) -> Iterator[Lane]:
        return iter(self._lanes)

    def idle(self) -> list[Lane]:
        """The lanes that no request holds."""
        return [lane for lane in self._lanes if not lane.is_busy]

    def shared(self, ids: Sequence[int], regime: str) -> int:
        """How many tokens at the start of `ids`, computed in `regime`, stand in an idle lane."""
        return max((common_tokens(lane, ids, regime) for lane in self.idle()), default=0)

    def take(self, ids: Sequence[int], capacity: int, cached_tokens: int, regime: str) -> Lane:
        """An idle lane of this capacity, the one that shares most with `ids`. Another one is made only where there is
        free room for it; a lane that is too small gives way to a larger one.

        `cached_tokens` of the prompt are in published blocks. Raises MemoryError where there is no lane to be had.
        """
        best = max(self.idle(), key=lambda lane: common_tokens(lane, ids, regime), default=None)
        if best is not None and self._wants_another(best, ids, capacity, cached_tokens, regime):
            best = None
        if best is not None and best.capacity >= capacity:
            if best.regime != regime:
                best.cut(0)
                best.regime = regime
            return best
        if best is not None:
            self.drop(best)
        if len(self._lanes) >= self._most:
            raise MemoryError("every lane of the cache is busy")
        self.free_bytes(capacity * self._store.layout.bytes_per_token)
        self._lanes.append(self._store.new_lane(capacity))
        self._lanes[-1].regime = regime
        return self._lanes[-1]

    def free_bytes(self, nbytes: int) -> bool:
        """Evict until `nbytes` are free: reusable blocks first, then idle lanes. False if that is too little."""
        self._make_room(nbytes)
        for lane in self.idle():
            if self._store.free_bytes < nbytes:
                self.drop(lane)
        return self._store.free_bytes >= nbytes

    def drop(self, lane: Lane) -> None:
        """Give an idle lane's memory back."""
        self._lanes.remove(lane)
        self._store.free_lane(lane)

    def _wants_another(self, lane: Lane, ids: Sequence[int], capacity: int, cached_tokens: int, regime: str) -> bool:
        """Whether `ids` only shares a start with what the lane holds, and there is room for a lane of its own."""
        has_room = capacity * self._store.layout.bytes_per_token <= self._store.free_bytes
        continues = not lane.ids or common_tokens(lane, ids, regime) >= max(cached_tokens, len(lane.ids) // 2)
        return len(self._lanes) < self._most and has_room and not continues


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

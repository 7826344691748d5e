"""The cache that never reuses anything: the "off" switch, and the tests' oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from engine.cache.contract import Reuse, Run, lane_capacity
from engine.cache.store import KVStore
from engine.cache.tree import Match, Node


class NullCache:
    """The cache that never reuses: each run gets an empty lane, which is given back at the end.

    It is the "cache off" switch and the tests' oracle. `make_room` frees bytes of the budget it shares with others.
    """

    def __init__(
        self,
        store: KVStore,
        make_room: Callable[[int], object] = lambda _: None,
        regime: Callable[[int], str] = lambda _: "",
    ) -> None:
        self.store = store
        self.regime = regime
        self._make_room = make_room

    def estimate(self, ids: Sequence[int], new_tokens: int = 0, length: int = 0) -> Reuse:
        """Always nothing."""
        return Reuse(0)

    def begin(self, ids: Sequence[int], new_tokens: int, owner: str = "", length: int = 0) -> Run:
        capacity = lane_capacity(len(ids) + new_tokens)
        self._make_room(capacity * self.store.layout.bytes_per_token)
        lane = self.store.new_lane(capacity)
        lane.is_busy = True
        lane.regime = self.regime(max(len(ids), length))
        return Run(lane, Match(Node(None, [], []), ()), [], owner)

    def restore(self, run: Run) -> None:
        """There is nothing to bring in."""

    def commit(self, run: Run, ids: Sequence[int], *, settled: bool) -> None:
        run.lane.ids.extend(ids)

    def keep_logits(self, run: Run, logits: Tensor) -> None:
        """Nothing is kept."""

    def enter_regime(self, run: Run, regime: str) -> None:
        run.lane.cut(0)
        run.lane.regime = regime

    def finish(self, run: Run) -> None:
        """Give the lane back."""
        self.store.free_lane(run.lane)

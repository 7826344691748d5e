"""The numbers behind the charts: ring buffers of numpy rows for turns and for pictures of the cache. No Qt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.chat.savings import Savings as Savings
from engine import CacheView, TtftParts, TurnStats

Rows = NDArray[Any]

TTFT_PARTS = tuple(part.name for part in fields(TtftParts))
"""What the time to first token is spent on, in the order it is."""

TURN = np.dtype(
    [
        ("message_id", "i8"),
        ("conversation", "O"),
        ("ttft_s", "f8"),
        ("cold_ttft_s", "f8"),
        ("cold_measured", "?"),
        ("prompt_tokens", "i8"),
        ("reused_tokens", "i8"),
        ("computed_tokens", "i8"),
        ("ahead_tokens", "i8"),
        *((part, "f8") for part in TTFT_PARTS),
    ]
)
"""One turn. `ttft_s` is nan until the first token is there; its parts, in seconds, add up to it. `ahead_tokens` of the
reused ones were read ahead."""

MEMORY = np.dtype(
    [
        ("time_s", "f8"),
        ("budget_bytes", "i8"),
        ("pinned_bytes", "i8"),
        ("live_bytes", "i8"),
        ("reusable_bytes", "i8"),
        ("evicted_bytes", "i8"),
        ("overhead_bytes", "i8"),
        ("memory_bytes", "i8"),
    ]
)
"""The cache at one moment. `evicted_bytes` counts only what left since the row before; `overhead_bytes` are kept beside
the cache, for texts and token ids; `memory_bytes` lie in main memory behind a GPU's."""
MEMORY_ROWS = 4096
"""So many of them are kept, the newest."""


class Ring:
    """A ring buffer: it keeps the newest `capacity` rows of one dtype, and adding a row never allocates memory."""

    def __init__(self, capacity: int, dtype: np.dtype[Any]) -> None:
        self._data: Rows = np.zeros(capacity, dtype)
        self._added = 0

    def __len__(self) -> int:
        return min(self._added, len(self._data))

    def append(self, row: tuple[object, ...]) -> None:
        """Add a row; the oldest one leaves when the ring is full."""
        self._data[self._added % len(self._data)] = row
        self._added += 1

    def replace_newest(self, row: tuple[object, ...]) -> None:
        """Put a row in the place of the newest one. The ring must hold one."""
        self._data[(self._added - 1) % len(self._data)] = row

    def clear(self) -> None:
        """Forget every row."""
        self._added = 0

    def rows(self, newest: int | None = None) -> Rows:
        """A copy of the `newest` rows (all when None), oldest first."""
        count = len(self) if newest is None else min(newest, len(self))
        return self._data[np.arange(self._added - count, self._added) % len(self._data)]


class ShownTurn(NamedTuple):
    """A finished turn as the charts show it: its figures, the answer they belong to (0: none that can be gone to), and
    the title of its conversation ("" where all turns are of one)."""

    stats: TurnStats
    message_id: int = 0
    conversation: str = ""


class TurnSeries:
    """The turns that the charts show. The newest one may be live: it is being answered, and each update replaces it."""

    def __init__(self, capacity: int = 512) -> None:
        self._ring = Ring(capacity, TURN)
        self._turns = 0
        self._live = False

    def __len__(self) -> int:
        """All turns so far, also those that left the ring."""
        return self._turns

    @property
    def live(self) -> bool:
        """Whether the newest turn is still being answered."""
        return self._live

    def add(self, stats: TurnStats, message_id: int = 0, conversation: str = "") -> None:
        """A turn that is complete; it takes the place of the live one."""
        self._put(ShownTurn(stats, message_id, conversation), live=False)

    def update(self, stats: TurnStats, message_id: int = 0, conversation: str = "") -> None:
        """The figures so far of the turn that is being answered."""
        self._put(ShownTurn(stats, message_id, conversation), live=True)

    def load(self, turns: Iterable[ShownTurn]) -> None:
        """Other turns are in view: forget everything and take these finished ones, oldest first."""
        self._ring.clear()
        self._turns, self._live = 0, False
        for turn in turns:
            self.add(*turn)

    def rows(self, newest: int | None = None) -> Rows:
        """The newest turns as TURN rows, oldest first."""
        return self._ring.rows(newest)

    def _put(self, turn: ShownTurn, live: bool) -> None:
        stats = turn.stats
        ttft_s = np.nan if stats.ttft_s is None else stats.ttft_s
        tokens = (stats.prompt_tokens, stats.reused_tokens, stats.computed_tokens, stats.ahead_tokens)
        parts = (getattr(stats.parts, part) for part in TTFT_PARTS)
        row = (*turn[1:], ttft_s, stats.cold_ttft_s, stats.cold_measured, *tokens, *parts)
        if self._live:
            self._ring.replace_newest(row)
        else:
            self._ring.append(row)
            self._turns += 1
        self._live = live


class MemorySeries:
    """The cache's memory over time since the model was loaded."""

    def __init__(self) -> None:
        self._ring = Ring(MEMORY_ROWS, MEMORY)
        self._evicted_bytes = 0

    def __len__(self) -> int:
        return len(self._ring)

    def add(self, view: CacheView) -> None:
        """A picture of the cache, newer than those before. A falling eviction count means another model was loaded."""
        if view.evicted_bytes < self._evicted_bytes:
            self.clear()
        evicted = view.evicted_bytes - self._evicted_bytes if len(self._ring) else 0
        parts = (view.pinned_bytes, view.live_bytes, view.reusable_bytes)
        self._ring.append((view.time_s, view.budget_bytes, *parts, evicted, view.overhead_bytes, view.memory_bytes))
        self._evicted_bytes = view.evicted_bytes

    def clear(self) -> None:
        """There is no cache any more, because there is no model."""
        self._ring.clear()
        self._evicted_bytes = 0

    def rows(self, window_s: float = float("inf")) -> Rows:
        """The MEMORY rows of the last `window_s` seconds, and the one before them, oldest first."""
        rows = self._ring.rows()
        if len(rows):
            first = int(np.searchsorted(rows["time_s"], rows["time_s"][-1] - window_s))
            rows = rows[max(0, first - 1) :]
        return rows


def used_bytes(rows: Rows) -> NDArray[np.int64]:
    """Everything the cache held at each moment of MEMORY rows."""
    used: NDArray[np.int64] = rows["pinned_bytes"] + rows["live_bytes"] + rows["reusable_bytes"]
    return used


def thin(rows: Rows, most: int) -> Rows:
    """Reduce MEMORY rows to `most` that look the same: the fullest of neighbours stays, with all that was evicted.

    The newest row stays as it is.
    """
    if len(rows) <= most:
        return rows
    edges = np.linspace(0, len(rows) - 1, most, dtype=int)
    used = used_bytes(rows)
    peaks = [start + int(used[start:end].argmax()) for start, end in pairwise(edges)]
    thinned: Rows = rows[[*peaks, -1]]
    thinned["evicted_bytes"][:-1] = np.add.reduceat(rows["evicted_bytes"], edges[:-1])
    thinned["evicted_bytes"][-2] -= rows["evicted_bytes"][-1]
    return thinned

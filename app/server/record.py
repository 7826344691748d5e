"""What was asked of the server and what became of it: the last requests one by one, and sums since the start."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.prices import Bill, Used, bills
from engine import Divergence, Failed, Finished, Matched, TurnStats

KEPT = 200
"""Requests that are shown one by one."""

TTFT_BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds in seconds of the steps of the histogram."""


@dataclass(eq=False, slots=True)
class Asked:
    """One request. `at` is in seconds since the epoch. It is `open`, `done`, `stopped` or `failed`."""

    client: str
    path: str
    at: float
    state: str = "open"
    prompt_tokens: int = 0
    reused_tokens: int = 0
    computed_tokens: int = 0
    written_tokens: int = 0
    ttft_s: float | None = None
    cold_ttft_s: float = 0.0
    divergence: Divergence | None = None
    stats: TurnStats | None = None
    kept_ends: tuple[int, ...] = ()

    def match(self, event: Matched) -> None:
        """The look-up is done."""
        self.prompt_tokens, self.reused_tokens = event.prompt_tokens, event.reused_tokens
        self.computed_tokens, self.divergence = event.computed_tokens, event.divergence
        self.kept_ends = event.kept_ends

    def measure(self, stats: TurnStats) -> None:
        """The figures so far."""
        self.stats = stats
        self.written_tokens, self.ttft_s, self.cold_ttft_s = stats.written_tokens, stats.ttft_s, stats.cold_ttft_s

    def finish(self, event: Finished) -> None:
        """The answer is there."""
        self.measure(event.stats)
        self.state = "stopped" if event.reason == "stopped" else "done"

    def fail(self, event: Failed) -> None:
        """There is none."""
        self.state = "failed"

    def shown(self) -> dict[str, Any]:
        """As the live page has it."""
        return {
            "client": self.client,
            "path": self.path,
            "at": self.at,
            "state": self.state,
            "prompt_tokens": self.prompt_tokens,
            "reused_tokens": self.reused_tokens,
            "computed_tokens": self.computed_tokens,
            "written_tokens": self.written_tokens,
            "ttft_s": self.ttft_s,
            "cold_ttft_s": self.cold_ttft_s,
            "cause": self.divergence.cause if self.divergence else None,
        }


class Record:
    """The last requests, and sums of all. Attributes: last (the newest at the end), sums (by name), ends (requests by
    how they ended), hosted (what all would have cost elsewhere), ttft_s and ttft_steps (sum of the waits, and how many
    were within each of TTFT_BOUNDS). `heard` is told of each request that has ended."""

    def __init__(
        self, heard: Callable[[Asked], None] = lambda asked: None, clock: Callable[[], float] = time.time
    ) -> None:
        self._heard = heard
        self._clock = clock
        self.last: deque[Asked] = deque(maxlen=KEPT)
        self.open = 0
        self.sums: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()
        self.hosted: dict[str, Bill] = {}
        self.ttft_s = 0.0
        self.ttft_steps = [0] * (len(TTFT_BOUNDS) + 1)

    def begin(self, client: str, path: str) -> Asked:
        """Note a request."""
        asked = Asked(client, path, self._clock())
        self.last.append(asked)
        self.open += 1
        return asked

    def end(self, asked: Asked) -> None:
        """It has ended, or nobody listens any more."""
        self.open -= 1
        if asked.state == "open":
            asked.state = "stopped"
        self.ends[asked.state] += 1
        self._heard(asked)
        for name, bill in bills([Used(asked.prompt_tokens, asked.reused_tokens, asked.written_tokens)]).items():
            before = self.hosted.get(name, Bill())
            self.hosted[name] = Bill(before.with_caching + bill.with_caching, before.without + bill.without)
        self.sums["prompt"] += asked.prompt_tokens
        self.sums["reused"] += asked.reused_tokens
        self.sums["computed"] += asked.computed_tokens
        self.sums["written"] += asked.written_tokens
        if (ttft := asked.ttft_s) is not None:
            self.ttft_s += ttft
            step = next((step for step, bound in enumerate(TTFT_BOUNDS) if ttft <= bound), len(TTFT_BOUNDS))
            self.ttft_steps[step] += 1

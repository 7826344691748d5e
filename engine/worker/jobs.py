"""Which of the open loads and answers the engine's thread works on next.

One answer of the window and one of other programs are under way at most; their steps take turns. All others wait, each
behind those of its kind that were asked for before. A load waits for everything before it, and everything behind it
waits for the load.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from engine.events import Event

Kind = Literal["load", "chat", "client"]

FIRST_SHARE, SHARE = 4.0, 1.2
"""How much more time than a program's answer that of the window gets, where both are under way: before its first token
and after it."""


@dataclass(eq=False, slots=True)
class Job:
    """A load or an answer: its events come one by one, and commands are served in between. `has_begun` says that its
    first token is there, `is_waiting` that it needs memory which another one holds."""

    request_id: int
    events: Iterator[Event | None]
    kind: Kind
    has_begun: bool = False
    is_waiting: bool = False


class Jobs:
    """The loads and answers that are open, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self._lead = 0.0
        """Seconds that the window's answer is ahead of its share."""

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Job]:
        return iter(self._jobs)

    def has(self, kind: Kind) -> bool:
        """Whether one of this kind is open."""
        return any(job.kind == kind for job in self._jobs)

    def add(self, job: Job) -> None:
        """One more, behind all others."""
        self._jobs.append(job)

    def remove(self, job: Job) -> None:
        """It has ended, and with it the wait for what it held."""
        self._jobs.remove(job)
        for other in self._jobs:
            other.is_waiting = False

    def next(self) -> Job:
        """The one to advance. Some must be open."""
        running = self._running()
        if len(running) < 2:
            self._lead = 0.0
            return running[0]
        chat, client = sorted(running, key=lambda job: job.kind)
        if chat.is_waiting or client.is_waiting:
            return client if chat.is_waiting else chat
        return chat if self._lead <= 0 else client

    def note(self, job: Job, seconds: float) -> None:
        """A step of this one took so long."""
        if len(self._running()) == 2:
            share = SHARE if job.has_begun else FIRST_SHARE
            self._lead += seconds / share if job.kind == "chat" else -seconds

    def _running(self) -> list[Job]:
        """Those that may be advanced: a load alone, or the first of each kind before the next load."""
        found: dict[Kind, Job] = {}
        for job in self._jobs:
            if job.kind == "load":
                return list(found.values()) or [job]
            found.setdefault(job.kind, job)
            if len(found) == 2:
                break
        return list(found.values())

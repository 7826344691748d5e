"""Who waits for the engine: the requests that are open, and the events on their way to them."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from contextlib import suppress

from engine.events import Event, Failed, Finished, Loaded, Preview

ENDS = (Loaded, Preview, Finished, Failed)
"""The events that end a request, a load or a preview."""


class OpenRequests:
    """Requests, loads and previews from the moment they are asked for until the event that ends them, and every event
    in the order it was reported. Any thread may call any method."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._events: deque[Event] = deque()
        self._lock = threading.RLock()
        self._open: set[int] = set()
        self._cancelled: set[int] = set()

    def __len__(self) -> int:
        return len(self._open)

    def begin(self) -> int:
        """Open one more; its id."""
        request_id = next(self._ids)
        with self._lock:
            self._open.add(request_id)
        return request_id

    def cancel(self, request_id: int) -> None:
        """Note that nobody wants this one any more. It stays open until an event ends it."""
        with self._lock:
            if request_id in self._open:
                self._cancelled.add(request_id)

    def is_cancelled(self, request_id: int) -> bool:
        """Whether it was cancelled while it was open."""
        return request_id in self._cancelled

    def report(self, event: Event) -> None:
        """Have `take` bring this. A request ends once: what would end it again is left out."""
        if event.request_id <= 0 or not isinstance(event, ENDS):
            self._events.append(event)
            return
        with self._lock:
            if event.request_id in self._open:
                self._open.discard(event.request_id)
                self._cancelled.discard(event.request_id)
                self._events.append(event)

    def end_all(self, sentence: str, detail: str = "", *, is_model_gone: bool = False) -> None:
        """End all that are open, because nobody is there any more that would answer them."""
        with self._lock:
            for request_id in sorted(self._open):
                self.report(Failed(request_id, sentence, detail, is_model_gone=is_model_gone))

    def take(self, limit: int) -> list[Event]:
        """Up to `limit` events, oldest first; each comes to one caller only."""
        taken: list[Event] = []
        with suppress(IndexError):  # empty; another thread may have taken the last one
            while len(taken) < limit:
                taken.append(self._events.popleft())
        return taken

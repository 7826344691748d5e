"""Who waits for the engine: the requests that are open, and the events on their way to those who asked."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from engine.events import Event, Failed, Finished, Loaded, Preview

ENDS = (Loaded, Preview, Finished, Failed)
"""The events that end a request, a load or a preview."""


class Mailbox:
    """The events for one of those who use the engine, in the order they were reported. `wake` is called whenever one
    comes, from the thread that reports it. One thread at a time may `wait`."""

    def __init__(self, wake: Callable[[], None] = lambda: None) -> None:
        self._events: deque[Event] = deque()
        self._has_come = threading.Event()
        self._wake = wake

    def put(self, event: Event) -> None:
        """One more event."""
        self._events.append(event)
        self._has_come.set()
        self._wake()

    def wait(self, timeout_s: float) -> bool:
        """Wait until there is an event, for so long at most; whether there is one. Whoever waits takes no time of a
        processor."""
        self._has_come.clear()
        return bool(self._events) or self._has_come.wait(timeout_s)

    def take(self, limit: int) -> list[Event]:
        """Up to `limit` events, oldest first; each comes to one caller only."""
        taken: list[Event] = []
        with suppress(IndexError):  # empty; another thread may have taken the last one
            while len(taken) < limit:
                taken.append(self._events.popleft())
        return taken


class OpenRequests:
    """Requests, loads and previews from the moment they are asked for until the event that ends them. Any thread may
    call any method.

    Whoever asked gets the events of that in a mailbox. `own` is that of the engine itself, which also gets what nobody
    asked for.
    """

    def __init__(self, first_id: int = 1) -> None:
        self.own = Mailbox()
        self._ids = itertools.count(first_id)
        self._lock = threading.RLock()
        self._open: dict[int, Mailbox] = {}
        self._cancelled: set[int] = set()
        self._ordered_by: Mailbox | None = None

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, box: Mailbox) -> int:
        """Open one more for the owner of a mailbox; its id."""
        request_id = next(self._ids)
        with self._lock:
            self._open[request_id] = box
        return request_id

    def cancel(self, request_id: int) -> None:
        """Note that nobody wants this one any more. It stays open until an event ends it."""
        with self._lock:
            if request_id in self._open:
                self._cancelled.add(request_id)

    def cancel_all(self, box: Mailbox) -> None:
        """The same for all that are open for the owner of a mailbox."""
        with self._lock:
            self._cancelled.update(request_id for request_id, owner in self._open.items() if owner is box)

    def is_cancelled(self, request_id: int) -> bool:
        """Whether it was cancelled while it was open."""
        return request_id in self._cancelled

    @contextmanager
    def answering(self, box: Mailbox | None) -> Iterator[None]:
        """What is reported inside with id 0 is for the owner of this mailbox. For the engine's thread only."""
        before, self._ordered_by = self._ordered_by, box
        try:
            yield
        finally:
            self._ordered_by = before

    def report(self, event: Event) -> None:
        """Have the mailbox of whoever asked hold this. A request ends once: what would end it again is left out."""
        if event.request_id <= 0 or not isinstance(event, ENDS):
            asked = self._ordered_by if event.request_id == 0 else self._open.get(event.request_id)
            (asked or self.own).put(event)
            return
        with self._lock:
            if (box := self._open.pop(event.request_id, None)) is not None:
                self._cancelled.discard(event.request_id)
                box.put(event)

    def end_all(self, sentence: str, detail: str = "", *, is_model_gone: bool = False) -> None:
        """End all that are open, because nobody is there any more that would answer them."""
        with self._lock:
            for request_id in sorted(self._open):
                self.report(Failed(request_id, sentence, detail, is_model_gone=is_model_gone))

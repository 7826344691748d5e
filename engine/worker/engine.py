"""The engine as others see it: commands in, events out, and a worker thread behind them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence

from engine.cache.disk_files import delete_all_files
from engine.events import CacheView, Event, Failed
from engine.turn.wish import Wish
from engine.types import ModelSpec, Request, check_disk_budget
from engine.worker.requests import Mailbox, OpenRequests
from engine.worker.thread import BROKEN, CLOSED, Worker


class Thread:
    """The engine's thread, which all who use the engine share. It is replaced by another one after it broke.

    `lock` is held while the worker is given a command, closed or replaced: nothing is asked of one that will not hear.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.requests = OpenRequests()
        self.lock = threading.RLock()
        self._conversations: dict[str, str] = {}
        """What was heard of conversations: their names by the digests that stand for them on disk."""
        self.worker = self._new()

    def revive(self) -> None:
        """Replace a worker that broke by a new one, without a model."""
        if not self.worker.is_closing and not self.worker.is_alive():
            self.worker.end_open()
            self.worker = self._new()

    def _new(self) -> Worker:
        return Worker(self.requests, self._conversations, self.clock)


class Engine:
    """The local engine; `EnginePort` says what each method promises. The thread starts with the object.

    Neither torch nor transformers is imported before the first `load`, and only on the worker thread. `clock` gives
    seconds. `thread` and `box` are for `beside`.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.perf_counter,
        thread: Thread | None = None,
        box: Mailbox | None = None,
    ) -> None:
        self._clock = clock
        self._thread = thread or Thread(clock)
        self._requests = self._thread.requests
        self._box = box or self._requests.own
        self._is_beside = box is not None
        self._is_closed = False

    @property
    def worker(self) -> Worker:
        """The thread that owns the model, for tests and measurements: whatever it holds is its own while it is busy, so
        look at that, or change it, only when no request is open. Programs need nothing but the methods."""
        return self._thread.worker

    def beside(self, wake: Callable[[], None] = lambda: None) -> Engine:
        return Engine(self._clock, self._thread, Mailbox(wake))

    def load(self, spec: ModelSpec) -> int:
        """A worker that broke is replaced by a new one, without a model."""
        with self._thread.lock:
            self._thread.revive()
        return self._ask(lambda worker, request_id: worker.load(request_id, spec))

    def submit(self, request: Request) -> int:
        submitted = self._clock() if request.asked_at is None else request.asked_at
        return self._ask(lambda worker, request_id: worker.answer(request_id, request, submitted))

    def preview(self, request: Request) -> int:
        return self._ask(lambda worker, request_id: worker.preview(request_id, request))

    def read_ahead(self, request: Request, others: Sequence[Request] = (), *, keeps: bool = False) -> int:
        return self._ask(lambda worker, request_id: worker.read_ahead(Wish(request_id, (request, *others), keeps)))

    def cancel(self, request_id: int) -> None:
        self._requests.cancel(request_id)

    def set_cache_budget(self, budget_bytes: int) -> None:
        self._order(lambda worker: worker.change_cache(lambda responder: responder.cache.set_budget(budget_bytes)))

    def set_disk_budget(self, budget_bytes: int | None) -> None:
        self._order(
            lambda worker: worker.change_disk(
                lambda responder: responder.cache.disk.set_budget(budget_bytes),
                lambda root: None if check_disk_budget(budget_bytes) != 0 else delete_all_files(root),
            )
        )

    def clear_cache(self) -> None:
        self._order(lambda worker: worker.drop_from_cache(lambda responder: responder.clear()))

    def forget(self, conversation: str) -> None:
        self._order(lambda worker: worker.forget(conversation))

    def keep_only(self, conversations: Collection[str]) -> None:
        living = frozenset(conversations)
        self._order(lambda worker: worker.keep_only(living))

    def keep_prefix(self, block: int) -> None:
        self._order(lambda worker: worker.change_cache(lambda responder: responder.cache.keep_block(block)))

    def release_prefix(self, block: int) -> None:
        self._order(lambda worker: worker.change_cache(lambda responder: responder.cache.release_block(block)))

    def drop_prefix(self, block: int) -> None:
        self._order(lambda worker: worker.drop_from_cache(lambda responder: responder.cache.drop_block(block)))

    def cache_view(self) -> CacheView:
        """Asks the worker for a newer picture, and returns the newest there is."""
        return self.worker.newest_view()

    def poll(self, limit: int = 256) -> list[Event]:
        if len(self._requests) and not self.worker.is_alive():
            with self._thread.lock:
                if not self.worker.is_alive():  # unless it was replaced meanwhile
                    self.worker.end_open()
        return self._box.take(limit)

    def wait(self, timeout_s: float) -> bool:
        return self._box.wait(timeout_s)

    def close(self, timeout_s: float = 6.0) -> bool:
        if self._is_beside:
            self._is_closed = True
            self._requests.cancel_all(self._box)
            return True
        with self._thread.lock:
            self.worker.is_closing = True
        return self.worker.join(timeout_s)

    def _ask(self, begin: Callable[[Worker, int], None]) -> int:
        """Open a request, which `begin` takes up on the worker thread. Where that has ended, `poll` ends it."""
        with self._thread.lock:
            worker, request_id = self.worker, self._requests.begin(self._box)
            if worker.is_closing or self._is_closed:
                self._requests.report(Failed(request_id, CLOSED))
            else:
                worker.put(lambda: begin(worker, request_id))
        return request_id

    def _order(self, command: Callable[[Worker], None]) -> None:
        """Have a command carried out on the worker thread that is answered with id 0."""
        with self._thread.lock:
            worker = self.worker
            is_closed = worker.is_closing or self._is_closed
            if is_closed or not worker.put(lambda: command(worker), self._box):
                self._box.put(Failed(0, CLOSED if is_closed else BROKEN))

"""The engine as others see it: commands in, events out, and a worker thread behind them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from functools import partial

from engine.cache.disk_files import delete_all_files, forget_files
from engine.events import CacheView, Event, Failed
from engine.types import ModelSpec, Request, check_disk_budget
from engine.worker.requests import OpenRequests
from engine.worker.thread import BROKEN, CLOSED, Worker


class Engine:
    """The local engine; `EnginePort` says what each method promises. The thread starts with the object.

    Neither torch nor transformers is imported before the first `load`, and only on the worker thread. `clock` gives
    seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._requests = OpenRequests()
        self._conversations: dict[str, str] = {}
        """What was heard of conversations: their names by the digests that stand for them on disk."""
        self._lock = threading.RLock()
        """Held while the worker is given a command, closed or replaced: nothing is asked of one that will not hear."""
        self._worker = Worker(self._requests, self._conversations, clock)

    @property
    def worker(self) -> Worker:
        """The thread that owns the model, for tests and measurements: whatever it holds is its own while it is busy, so
        look at that, or change it, only when no request is open. Programs need nothing but the methods."""
        return self._worker

    def load(self, spec: ModelSpec) -> int:
        """A worker that broke is replaced by a new one, without a model."""
        with self._lock:
            if not self._worker.is_closing and not self._worker.is_alive():
                self._worker.end_open()
                self._worker = Worker(self._requests, self._conversations, self._clock)
        return self._ask(lambda worker, request_id: worker.load(request_id, spec))

    def submit(self, request: Request) -> int:
        submitted = self._clock() if request.asked_at is None else request.asked_at
        return self._ask(lambda worker, request_id: worker.answer(request_id, request, submitted))

    def preview(self, request: Request) -> int:
        return self._ask(lambda worker, request_id: worker.preview(request_id, request))

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
        delete = partial(forget_files, conversation=conversation)
        self._order(lambda worker: worker.change_disk(lambda responder: responder.forget(conversation), delete))

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
        return self._worker.newest_view()

    def poll(self, limit: int = 256) -> list[Event]:
        if len(self._requests) and not self._worker.is_alive():
            with self._lock:
                if not self._worker.is_alive():  # unless it was replaced meanwhile
                    self._worker.end_open()
        return self._requests.take(limit)

    def close(self, timeout_s: float = 6.0) -> bool:
        with self._lock:
            self._worker.is_closing = True
        return self._worker.join(timeout_s)

    def _ask(self, begin: Callable[[Worker, int], None]) -> int:
        """Open a request, which `begin` takes up on the worker thread. Where that has ended, `poll` ends it."""
        with self._lock:
            worker, request_id = self._worker, self._requests.begin()
            if worker.is_closing:
                self._requests.report(Failed(request_id, CLOSED))
            else:
                worker.put(lambda: begin(worker, request_id))
        return request_id

    def _order(self, command: Callable[[Worker], None]) -> None:
        """Have a command carried out on the worker thread that is answered with id 0."""
        with self._lock:
            worker = self._worker
            if worker.is_closing or not worker.put(lambda: command(worker), is_order=True):
                self._requests.report(Failed(0, CLOSED if worker.is_closing else BROKEN))

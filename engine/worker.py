"""The engine: one thread that owns torch, a queue of commands in, a queue of events out."""

from __future__ import annotations

import gc
import itertools
import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.datadir import blocks_dir
from engine.diskfiles import delete_all_files, forget_files
from engine.events import CacheView, Event, Failed, Loaded, Loading
from engine.garbage import not_collected
from engine.jobs import Job, close_events, failure
from engine.types import HeadstartError, ModelError, ModelSpec, Request, check_disk_budget

if TYPE_CHECKING:
    from engine.generate import Responder

SPIN_COUNT = "1500"
"""How often OpenMP's threads look before they sleep: threads that spin at every barrier starve the window."""
CLOSED = "The engine is closed. Start Headstart again."
EMPTY_VIEW = CacheView(0, 0.0, 0, 0, 0, 0, 0, 0)


class Engine:
    """The local engine; see `EnginePort` for what each method promises. The thread starts with the object.

    Neither torch nor transformers is imported before the first `load`, and only on the worker thread. `clock` gives
    seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._ids = itertools.count(1)
        self._commands: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._events: deque[Event] = deque()
        self._open: set[int] = set()
        self._cancelled: set[int] = set()
        self._jobs: deque[Job] = deque()
        self._previews: list[tuple[int, Request]] = []
        self._responder: Responder | None = None
        self._view = EMPTY_VIEW
        self._view_wanted = False
        self._closing = False
        self._idle_work: Callable[[], Iterator[Event | None]] | None = None
        self._idle_steps: Iterator[Event | None] | None = None
        self._thread = threading.Thread(target=self._run, name="headstart-engine", daemon=True)
        self._thread.start()

    def load(self, spec: ModelSpec) -> int:
        """See `EnginePort.load`."""
        return self._start_job(lambda request_id: self._load(request_id, spec))

    def submit(self, request: Request) -> int:
        """See `EnginePort.submit`."""
        submitted = self._clock() if request.asked_at is None else request.asked_at
        return self._start_job(lambda request_id: self._answer(request_id, request, submitted))

    def preview(self, request: Request) -> int:
        """See `EnginePort.preview`."""
        request_id = next(self._ids)
        if self._closing:
            self._events.append(Failed(request_id, CLOSED))
            return request_id
        self._commands.put(lambda: self._previews.append((request_id, request)))
        return request_id

    def cancel(self, request_id: int) -> None:
        """See `EnginePort.cancel`."""
        if request_id in self._open:
            self._cancelled.add(request_id)

    def set_cache_budget(self, budget_bytes: int) -> None:
        """See `EnginePort.set_cache_budget`."""
        self._commands.put(lambda: self._change_cache(lambda responder: responder.cache.set_budget(budget_bytes)))

    def set_disk_budget(self, budget_bytes: int | None) -> None:
        """See `EnginePort.set_disk_budget`."""
        self._commands.put(
            lambda: self._change_disk(
                lambda responder: responder.cache.disk.set_budget(budget_bytes),
                lambda root: None if check_disk_budget(budget_bytes) != 0 else delete_all_files(root),
            )
        )

    def clear_cache(self) -> None:
        """See `EnginePort.clear_cache`."""
        self._commands.put(lambda: self._drop_from_cache(lambda responder: responder.clear()))

    def forget(self, conversation: str) -> None:
        """See `EnginePort.forget`."""
        delete = partial(forget_files, conversation=conversation)
        self._commands.put(lambda: self._change_disk(lambda responder: responder.forget(conversation), delete))

    def keep_prefix(self, block: int) -> None:
        """See `EnginePort.keep_prefix`."""
        self._commands.put(lambda: self._change_cache(lambda responder: responder.cache.keep_block(block)))

    def release_prefix(self, block: int) -> None:
        """See `EnginePort.release_prefix`."""
        self._commands.put(lambda: self._change_cache(lambda responder: responder.cache.release_block(block)))

    def drop_prefix(self, block: int) -> None:
        """See `EnginePort.drop_prefix`."""
        self._commands.put(lambda: self._drop_from_cache(lambda responder: responder.cache.drop_block(block)))

    def cache_view(self) -> CacheView:
        """See `EnginePort.cache_view`. Asks the worker for a newer picture, and returns the newest there is."""
        if not self._view_wanted:
            self._view_wanted = True
            self._commands.put(self._refresh_view)
        return self._view

    def poll(self, limit: int = 256) -> list[Event]:
        """See `EnginePort.poll`."""
        return [self._events.popleft() for _ in range(min(limit, len(self._events)))]

    def close(self, timeout_s: float = 2.0) -> bool:
        """See `EnginePort.close`."""
        self._closing = True
        self._commands.put(lambda: None)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _start_job(self, make: Callable[[int], Iterator[Event]]) -> int:
        request_id = next(self._ids)
        if self._closing:
            self._events.append(Failed(request_id, CLOSED))
            return request_id
        self._open.add(request_id)
        self._commands.put(lambda: self._jobs.append(Job(request_id, make(request_id))))
        return request_id

    def _run(self) -> None:
        """The worker thread: serve commands, answer one preview, advance the first job by one step, for ever."""
        while not self._closing:
            self._serve_commands()
            if self._previews:
                self._preview(*self._previews.pop())
            if self._jobs:
                self._stop_idle_work()
                self._advance(self._jobs[0])
            else:
                self._work_idly()
        self._stop_idle_work()
        for job in self._jobs:
            self._guarded(partial(close_events, job.events))
        if self._responder is not None:
            self._responder.cache.disk.close()
        self._responder = None

    def _serve_commands(self) -> None:
        """Carry out what is in the queue; wait for something where there is nothing else to do."""
        has_work = bool(self._jobs) or bool(self._previews) or self._idle_work is not None
        while not self._closing:
            try:
                command = self._commands.get(block=not has_work)
            except queue.Empty:
                return
            self._guarded(command)
            has_work = True

    def _advance(self, job: Job) -> None:
        try:
            event = next(job.events)
        except StopIteration:
            self._end(job)
        except Exception as error:
            self._end(job)
            self._events.append(failure(job.request_id, error))
        else:
            if isinstance(event, CacheView):
                self._refresh_view()
            self._events.append(event)

    def _end(self, job: Job) -> None:
        self._jobs.remove(job)
        self._open.discard(job.request_id)
        self._cancelled.discard(job.request_id)

    def _load(self, request_id: int, spec: ModelSpec) -> Iterator[Event]:
        """Load a model in place of the one that is there."""
        yield Loading(request_id, "Starting the engine")
        os.environ.setdefault("GOMP_SPINCOUNT", SPIN_COUNT)  # read once, when torch is imported
        os.environ.setdefault("KMP_BLOCKTIME", "0")

        def progress(stage: str, fraction: float | None) -> None:
            if self._closing or request_id in self._cancelled:
                raise HeadstartError("The model was not loaded: that was stopped.")
            self._events.append(Loading(request_id, stage, fraction))

        past = {} if self._responder is None else dict(self._responder.past)
        let_go = None if self._responder is None else self._let_go
        with not_collected(self._responder is None):
            from engine.loading import switch_model

            responder, model = switch_model(spec, self._clock, progress, self._empty_cache, let_go)
        if self._responder is not None:
            self._responder.cache.disk.close()
        responder.take_over(past)
        self._responder, self._idle_work = responder, None
        responder.cache.disk.open()
        self._refresh_view()
        yield responder.cache.view(request_id)
        yield Loaded(request_id, model)

    def _answer(self, request_id: int, request: Request, submitted: float) -> Iterator[Event]:
        responder = self._loaded()
        self._idle_work = self._idle_work or responder.write_back  # also where it fails half-way
        yield from responder.answer(
            request_id, request, submitted, lambda: self._closing or request_id in self._cancelled
        )
        self._idle_work = responder.work_idly

    def _empty_cache(self) -> None:
        """Before another model is read: what the present one cached is of no use to it, and is not to be settled."""
        if self._responder is not None:
            self._responder.cache.clear()
            self._idle_work = self._responder.write_back

    def _let_go(self) -> None:
        """No model is there any more: all its memory is free, and its folder on disk."""
        self._loaded().cache.disk.close()
        self._responder, self._idle_work, self._view = None, None, EMPTY_VIEW
        gc.collect()

    def _preview(self, request_id: int, request: Request) -> None:
        """Idle work gives back its lane meanwhile: a request would find what it settled so far."""
        self._stop_idle_work()
        try:
            self._events.append(self._loaded().preview(request_id, request))
        except Exception as error:
            self._events.append(failure(request_id, error))

    def _change_disk(self, change: Callable[[Responder], None], without_model: Callable[[Path], None]) -> None:
        """As `_drop_from_cache`, also where no model is loaded: what is on disk outlives it."""
        if self._responder is not None:
            self._drop_from_cache(change)
            return
        without_model(blocks_dir())
        self._events.append(replace(self._view, time_s=self._clock()))

    def _drop_from_cache(self, change: Callable[[Responder], None]) -> None:
        """Nothing is settled any more: that would compute anew what somebody does not want. Only writing goes on."""
        self._stop_idle_work()
        self._change_cache(change)
        self._idle_work = self._loaded().write_back

    def _change_cache(self, change: Callable[[Responder], None]) -> None:
        responder = self._loaded()
        change(responder)
        self._refresh_view()
        self._events.append(responder.cache.view())

    def _refresh_view(self) -> None:
        self._view_wanted = False
        if self._responder is not None:
            self._view = self._responder.cache.view(with_nodes=True)

    def _loaded(self) -> Responder:
        if self._responder is None:
            raise ModelError("No model is loaded. Open a model first.")
        return self._responder

    def _guarded(self, command: Callable[[], None]) -> None:
        """Carry out a command; what goes wrong is reported, and the thread lives on."""
        try:
            command()
        except Exception as error:
            self._events.append(failure(0, error))

    def _work_idly(self) -> None:
        """One step of what can be done while nobody waits."""
        if self._idle_work is None:
            return
        try:
            self._idle_steps = self._idle_steps or self._idle_work()
            if (event := next(self._idle_steps)) is not None:
                self._events.append(event)
                self._refresh_view()
        except StopIteration:
            self._idle_work = self._idle_steps = None
        except Exception as error:
            self._idle_work = self._idle_steps = None
            self._events.append(failure(0, error))

    def _stop_idle_work(self) -> None:
        """Before a request starts: idle work holds the lane. What is left of it is done when nobody waits again."""
        steps, self._idle_steps = self._idle_steps, None
        if steps is not None:
            self._guarded(partial(close_events, steps))

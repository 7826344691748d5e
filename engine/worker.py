"""The engine: one thread that owns torch, a queue of commands in, a queue of events out."""

from __future__ import annotations

import gc
import itertools
import os
import queue
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cache.disk_files import delete_all_files, forget_files, keep_only_files
from engine.cache.disk_index import owner_digest
from engine.events import CacheView, Event, Failed, Finished, Loaded, Loading, Preview
from engine.garbage import not_collected
from engine.jobs import Job, close_events, failure
from engine.library.places import blocks_dir
from engine.stopping import StoppedError
from engine.types import HeadstartError, ModelError, ModelSpec, Request, check_disk_budget

if TYPE_CHECKING:
    from engine.turn.responder import Responder

SPIN_COUNT = "1500"
"""How often OpenMP's threads look before they sleep: threads that spin at every barrier starve the window."""
CLOSED = "The engine is closed. Start Headstart again."
BROKEN = "The engine stopped because of an error of its own. The conversation is safe: open the model again."
EMPTY_VIEW = CacheView(0, 0.0, 0, 0, 0, 0, 0, 0)
WRITE_AT_MOST_S = 3.0
"""So long the end of the program, or of a model, waits for what is still to be written to disk."""
LISTEN_EVERY_S = 0.1
"""Between two looks at what is asked for while one step of an answer takes long."""
ENDS = (Loaded, Preview, Finished, Failed)
"""The events that end a request, a load or a preview."""


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
        self._lock = threading.RLock()
        """Held while `_open`, `_cancelled` or `_thread` change: any thread may ask, cancel, load and poll."""
        self._open: set[int] = set()
        self._cancelled: set[int] = set()
        self._conversations: dict[str, str] = {}
        self._view_wanted = False
        self._closing = False
        self._start_thread()

    def load(self, spec: ModelSpec) -> int:
        """See `EnginePort.load`."""
        with self._lock:
            if not self._closing and not self._thread.is_alive():  # it broke: begin anew
                self._fail_open()
                self._start_thread()
        return self._start_job(lambda request_id: self._load(request_id, spec))

    def submit(self, request: Request) -> int:
        """See `EnginePort.submit`."""
        submitted = self._clock() if request.asked_at is None else request.asked_at
        return self._start_job(lambda request_id: self._answer(request_id, request, submitted))

    def preview(self, request: Request) -> int:
        """See `EnginePort.preview`."""
        return self._ask(lambda request_id: self._previews.append((request_id, request)))

    def cancel(self, request_id: int) -> None:
        """See `EnginePort.cancel`."""
        with self._lock:
            if request_id in self._open:
                self._cancelled.add(request_id)

    def set_cache_budget(self, budget_bytes: int) -> None:
        """See `EnginePort.set_cache_budget`."""
        self._order(lambda: self._change_cache(lambda responder: responder.cache.set_budget(budget_bytes)))

    def set_disk_budget(self, budget_bytes: int | None) -> None:
        """See `EnginePort.set_disk_budget`."""
        self._order(
            lambda: self._change_disk(
                lambda responder: responder.cache.set_disk_budget(budget_bytes),
                lambda root: None if check_disk_budget(budget_bytes) != 0 else delete_all_files(root),
            )
        )

    def clear_cache(self) -> None:
        """See `EnginePort.clear_cache`."""
        self._order(lambda: self._drop_from_cache(lambda responder: responder.clear()))

    def forget(self, conversation: str) -> None:
        """See `EnginePort.forget`."""
        delete = partial(forget_files, conversation=conversation)
        self._order(lambda: self._change_disk(lambda responder: responder.forget(conversation), delete))

    def keep_only(self, conversations: Collection[str]) -> None:
        """See `EnginePort.keep_only`."""
        living = frozenset(conversations)
        self._order(lambda: self._keep_only(living))

    def keep_prefix(self, block: int) -> None:
        """See `EnginePort.keep_prefix`."""
        self._order(lambda: self._change_cache(lambda responder: responder.cache.keep_block(block)))

    def release_prefix(self, block: int) -> None:
        """See `EnginePort.release_prefix`."""
        self._order(lambda: self._change_cache(lambda responder: responder.cache.release_block(block)))

    def drop_prefix(self, block: int) -> None:
        """See `EnginePort.drop_prefix`."""
        self._order(lambda: self._drop_from_cache(lambda responder: responder.cache.drop_block(block)))

    def cache_view(self) -> CacheView:
        """See `EnginePort.cache_view`. Asks the worker for a newer picture, and returns the newest there is."""
        if not self._view_wanted:
            self._view_wanted = True
            self._commands.put(self._refresh_view)
        return self._view

    def poll(self, limit: int = 256) -> list[Event]:
        """See `EnginePort.poll`."""
        if self._open and not self._thread.is_alive():
            self._fail_open()
        taken: list[Event] = []
        with suppress(IndexError):  # empty; another thread may have taken the last one
            while len(taken) < limit:
                taken.append(self._events.popleft())
        return taken

    def close(self, timeout_s: float = 6.0) -> bool:
        """See `EnginePort.close`."""
        with self._lock:
            self._closing = True
        self._commands.put(lambda: None)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _start_thread(self) -> None:
        """Begin without a model. What was ordered from a thread that broke is not carried out any more."""
        self._commands = queue.SimpleQueue()
        self._jobs: deque[Job] = deque()
        self._previews: list[tuple[int, Request]] = []
        self._responder: Responder | None = None
        self._view = EMPTY_VIEW
        self._view_wanted = False
        self._idle_work: Callable[[], Iterator[Event | None]] | None = None
        self._idle_steps: Iterator[Event | None] | None = None
        self._fault = ""
        self._looked = self._clock()
        self._thread = threading.Thread(target=self._run, name="headstart-engine", daemon=True)
        self._thread.start()

    def _start_job(self, make: Callable[[int], Iterator[Event]]) -> int:
        return self._ask(lambda request_id: self._jobs.append(Job(request_id, make(request_id))))

    def _ask(self, begin: Callable[[int], None]) -> int:
        """Open a request, which `begin` takes up on the worker thread. Where that has ended, `poll` ends it."""
        request_id = next(self._ids)
        with self._lock:
            self._open.add(request_id)
            if self._closing:
                self._report(Failed(request_id, CLOSED))
            else:
                self._commands.put(lambda: begin(request_id))
        return request_id

    def _order(self, command: Callable[[], None]) -> None:
        """Have a command carried out that is answered with id 0."""
        with self._lock:
            if self._closing or not self._thread.is_alive():
                self._report(Failed(0, CLOSED if self._closing else BROKEN))
            else:
                self._commands.put(command)

    def _report(self, event: Event) -> None:
        """Have `poll` bring this. A request ends once: what would end it again is left out."""
        if event.request_id == 0 or not isinstance(event, ENDS):
            self._events.append(event)
            return
        with self._lock:
            if event.request_id in self._open:
                self._open.discard(event.request_id)
                self._cancelled.discard(event.request_id)
                self._events.append(event)

    def _fail_open(self) -> None:
        """End every request that is open, because no thread is there any more that would."""
        with self._lock:
            for request_id in sorted(self._open):
                if self._closing:
                    self._report(Failed(request_id, CLOSED))
                else:
                    self._report(Failed(request_id, BROKEN, self._fault, is_model_gone=True))

    def _run(self) -> None:
        """The worker thread: serve commands, answer one preview, advance the first job by one step, for ever.

        Each of these reports what goes wrong in it, whatever it is. Should even that fail, the thread ends, tells
        everybody who waits, and the next load begins another one."""
        try:
            while not self._closing:
                self._step()
        except BaseException as error:
            with suppress(BaseException):
                self._fault = "".join(traceback.format_exception(error))
        finally:
            self._leave()

    def _step(self) -> None:
        self._serve_commands()
        if self._previews:
            self._preview(*self._previews.pop())
        if self._jobs:
            self._stop_idle_work()
            self._advance(self._jobs[0])
        else:
            self._work_idly()

    def _leave(self) -> None:
        """The end of the thread: everything is given back, what was ordered before is carried out, what waits to be
        written to disk is written, and whoever still waits is told."""
        for last in (self._stop_idle_work, self._close_jobs, self._serve_commands, self._let_go_on_disk):
            with suppress(BaseException):  # each reports what goes wrong; this is for where even that does
                last()
        self._responder = None
        if not self._closing:
            self._view = EMPTY_VIEW
            if not self._open:
                self._report(Failed(0, BROKEN, self._fault, is_model_gone=True))
        self._fail_open()

    def _close_jobs(self) -> None:
        for job in self._jobs:
            self._guarded(partial(close_events, job.events))

    def _let_go_on_disk(self) -> None:
        """Write what waits for it, and leave the folder to others."""
        if self._responder is not None:
            self._guarded(partial(self._write_waiting, self._responder))
            self._guarded(self._responder.cache.close_disk)

    def _serve_commands(self) -> None:
        """Carry out what is in the queue; wait for something where there is nothing else to do."""
        has_work = bool(self._jobs) or bool(self._previews) or self._idle_work is not None
        may_wait = not has_work and not self._closing and not self._fault
        while True:
            try:
                command = self._commands.get(block=may_wait)
            except queue.Empty:
                return
            self._guarded(command)
            may_wait = False

    def _advance(self, job: Job) -> None:
        try:
            event = next(job.events)
        except StopIteration:
            self._jobs.remove(job)
            self._report(failure(job.request_id, RuntimeError("no event ended it")))  # left out where one did
        except BaseException as error:  # a panic in compiled code is no Exception
            self._jobs.remove(job)
            self._report(failure(job.request_id, error))
        else:
            if isinstance(event, CacheView):
                self._guarded(self._refresh_view)
            self._report(event)

    def _load(self, request_id: int, spec: ModelSpec) -> Iterator[Event]:
        """Load a model in place of the one that is there."""
        yield Loading(request_id, "Starting the engine")
        os.environ.setdefault("GOMP_SPINCOUNT", SPIN_COUNT)  # read once, when torch is imported
        os.environ.setdefault("KMP_BLOCKTIME", "0")

        def progress(stage: str, fraction: float | None) -> None:
            if self._is_stopped(request_id):
                raise HeadstartError("The model was not loaded: that was stopped.")
            self._report(Loading(request_id, stage, fraction))

        def make_room() -> None:
            self._empty_cache(lambda: self._is_stopped(request_id))
            progress("Loading the model", None)

        past = {} if self._responder is None else dict(self._responder.past)
        let_go = None if self._responder is None else self._let_go
        with not_collected(self._responder is None):
            from engine.loading import switch_model

            responder, model = switch_model(spec, self._clock, progress, make_room, let_go)
        if self._responder is not None:
            self._responder.cache.close_disk()
        responder.take_over(past)
        self._responder, self._idle_work = responder, None
        responder.cache.open_disk(self._conversations)
        self._guarded(self._refresh_view)
        yield responder.cache.view(request_id)
        yield Loaded(request_id, model)

    def _answer(self, request_id: int, request: Request, submitted: float) -> Iterator[Event]:
        responder = self._loaded()
        self._idle_work = self._idle_work or responder.write_back  # also where it fails half-way
        is_stopped = partial(self._is_stopped, request_id)
        yield from responder.answer(request_id, request, submitted, is_stopped, self._meanwhile)
        self._idle_work = partial(responder.work_idly, self._stop_idle_step)

    def _is_stopped(self, request_id: int) -> bool:
        return self._closing or request_id in self._cancelled

    def _meanwhile(self) -> None:
        """Within a long step of an answer: what may happen between two steps of it happens here, too."""
        if not self._closing and self._clock() - self._looked >= LISTEN_EVERY_S:
            self._serve_commands()
            if self._previews:
                self._preview(*self._previews.pop())
            self._looked = self._clock()

    def _stop_idle_step(self) -> None:
        """Within a long step of idle work: a request goes first."""
        if self._closing or self._open:
            raise StoppedError

    def _empty_cache(self, is_stopped: Callable[[], bool]) -> None:
        """Before another model is read: what the present one cached is of no use to it, and is not to be settled. What
        is not on disk yet is written first, so that it is found again when the present model is."""
        if self._responder is not None:
            self._guarded(partial(self._write_waiting, self._responder, is_stopped))
            if is_stopped():
                return
            self._responder.cache.clear()
            self._idle_work = self._responder.write_back

    def _write_waiting(self, responder: Responder, is_stopped: Callable[[], bool] = lambda: False) -> None:
        """Write to disk what waits for it, pinned prompts first and then the newest, as far as the time goes."""
        until = self._clock() + WRITE_AT_MOST_S
        for _ in responder.write_back():
            if is_stopped() or self._clock() >= until:
                break

    def _let_go(self) -> None:
        """No model is there any more: all its memory is free, and its folder on disk."""
        self._loaded().cache.close_disk()
        self._responder, self._idle_work, self._view = None, None, EMPTY_VIEW
        gc.collect()

    def _preview(self, request_id: int, request: Request) -> None:
        """Idle work gives back its lane meanwhile: a request would find what it settled so far. Where the answer is
        stopped while a long text is encoded, that goes first, and the preview begins again."""

        def listen() -> None:
            if self._closing or (self._jobs and self._jobs[0].request_id in self._cancelled):
                raise StoppedError

        self._stop_idle_work()
        try:
            self._report(self._loaded().preview(request_id, request, listen))
        except StoppedError:
            self._previews.append((request_id, request))
        except BaseException as error:
            self._report(failure(request_id, error))

    def _change_disk(self, change: Callable[[Responder], None], without_model: Callable[[Path], None]) -> None:
        """As `_drop_from_cache`, also where no model is loaded: what is on disk outlives it."""
        if self._responder is not None:
            self._drop_from_cache(change)
            return
        without_model(blocks_dir())
        self._report(replace(self._view, time_s=self._clock()))

    def _keep_only(self, living: frozenset[str]) -> None:
        self._conversations.update((owner_digest(conversation), conversation) for conversation in living)
        delete = partial(keep_only_files, conversations=living)
        self._change_disk(lambda responder: responder.cache.keep_only(living), delete)

    def _drop_from_cache(self, change: Callable[[Responder], None]) -> None:
        """Nothing is settled any more: that would compute anew what somebody does not want. Only writing goes on."""
        self._stop_idle_work()
        self._change_cache(change)
        self._idle_work = self._loaded().write_back

    def _change_cache(self, change: Callable[[Responder], None]) -> None:
        responder = self._loaded()
        change(responder)
        self._guarded(self._refresh_view)
        self._report(responder.cache.view())

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
        except BaseException as error:
            self._report(failure(0, error))

    def _work_idly(self) -> None:
        """One step of what can be done while nobody waits."""
        if self._idle_work is None:
            return
        try:
            self._idle_steps = self._idle_steps or self._idle_work()
            if (event := next(self._idle_steps)) is not None:
                self._guarded(self._refresh_view)
                self._report(event)
        except StoppedError:
            self._idle_steps = None
        except StopIteration:
            self._idle_work = self._idle_steps = None
        except BaseException as error:
            self._idle_work = self._idle_steps = None
            self._report(failure(0, error))

    def _stop_idle_work(self) -> None:
        """Before a request starts: idle work holds the lane. What is left of it is done when nobody waits again."""
        steps, self._idle_steps = self._idle_steps, None
        if steps is not None:
            self._guarded(partial(close_events, steps))

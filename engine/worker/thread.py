"""The worker: the one thread that owns torch, the model and its cache, and what it does in which order.

`Worker` is written in the order of its life: it serves commands, advances the first of its jobs by a step, works idly
where there is none, changes the cache, and at its end gives everything back.
"""

from __future__ import annotations

import gc
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cache.disk_files import forget_files, keep_only_files
from engine.cache.disk_index import owner_digest
from engine.events import BY_ITSELF, CacheView, Event, Failed, Loaded, Loading, Preview, TurnStats
from engine.library.places import blocks_dir
from engine.stopping import StoppedError
from engine.turn.chunks import BEHIND_CHAT_S, BESIDE_CHAT_S, CHUNK_S
from engine.turn.wish import Wish
from engine.types import (
    HeadstartError,
    InvalidRequestError,
    ModelError,
    ModelGoneError,
    ModelSpec,
    PromptTooLongError,
    Request,
)
from engine.worker.jobs import Job, Jobs, Kind
from engine.worker.requests import Mailbox, OpenRequests

if TYPE_CHECKING:
    from engine.turn.responder import Responder

SPIN_COUNT = "1500"
"""How often OpenMP's threads look before they sleep: threads that spin at every barrier starve the window."""
CLOSED = "The engine is closed. Start Headstart again."
BROKEN = "The engine stopped because of an error of its own. The conversation is safe: open the model again."
NOT_WANTED = "The preview was not made: that was stopped."
NOT_READ = "Nothing was read ahead: that was stopped."
EMPTY_VIEW = CacheView(0, 0.0, 0, 0, 0, 0, 0, 0)
WRITE_AT_MOST_S = 3.0
"""So long the end of the program, or of a model, waits for what is still to be written to disk."""
LISTEN_EVERY_S = 0.1
"""Between two looks at what is asked for while one step of an answer takes long."""

Steps = Iterator[Event | None]


@dataclass(frozen=True, slots=True)
class Command:
    """What the thread is to do between two steps. An order is answered with id 0, whatever happens: in the mailbox
    `box` of whoever gave it."""

    carry_out: Callable[[], None]
    box: Mailbox | None

    @property
    def is_order(self) -> bool:
        return self.box is not None


class Worker:
    """A thread, the commands it was given, and all that only it may touch. It runs from the start.

    Any thread may call the methods up to `end_open`; those behind are for commands. `conversations` maps the digests
    that stand for conversations on disk to their names; it outlives the worker. `responder` is None where no model is
    loaded.
    """

    def __init__(self, requests: OpenRequests, conversations: dict[str, str], clock: Callable[[], float]) -> None:
        self.is_closing = False
        self.responder: Responder | None = None
        self._requests = requests
        self._conversations = conversations
        self._clock = clock
        self._commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._door = threading.Lock()
        """Held while a command is put, and while the thread leaves: no order comes in behind its last look."""
        self._has_left = False
        self._jobs = Jobs()
        self._has_chat = False
        """Whether the window has asked the present model for an answer, and so may again."""
        self._previews: list[tuple[int, Request]] = []
        self._wishes: list[Wish] = []
        """What is to be read ahead, the newest first."""
        self._view = EMPTY_VIEW
        self._view_wanted = False
        self.idle_work: Callable[[], Steps] | None = None
        """Begins what can be done while nobody waits; None where there is nothing left."""
        self._idle_steps: Steps | None = None
        """The idle work that is under way: it holds the lane."""
        self._fault = ""
        self._looked = clock()
        self._thread = threading.Thread(target=self._run, name="headstart-engine", daemon=True)
        self._thread.start()

    def put(self, carry_out: Callable[[], None], ordered_by: Mailbox | None = None) -> bool:
        """Have a command carried out between two steps; False where the thread carries out nothing any more.

        An order, which somebody with a mailbox gave, is answered with id 0, if only by a Failed where the thread ends
        before.
        """
        with self._door:
            if not self._has_left:
                self._commands.put(Command(carry_out, ordered_by))
            return not self._has_left

    def newest_view(self) -> CacheView:
        """The newest picture of the cache; a newer one is made when there is time."""
        if not self._view_wanted:
            self._view_wanted = True
            self.put(self._refresh_view)
        return self._view

    def is_alive(self) -> bool:
        """Whether the thread still runs and carries out commands."""
        return self._thread.is_alive() and not self._has_left

    def join(self, timeout_s: float) -> bool:
        """Wake the thread and wait for its end; whether it ended in time."""
        self.put(lambda: None)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def end_open(self) -> None:
        """End every request that is open, because this thread will not."""
        if self.is_closing:
            self._requests.end_all(CLOSED)
        else:
            self._requests.end_all(BROKEN, self._fault, is_model_gone=True)

    def load(self, request_id: int, spec: ModelSpec) -> None:
        """Load a model when it is this job's turn."""
        self._jobs.add(Job(request_id, self._load(request_id, spec), "load"))

    def answer(self, request_id: int, request: Request, submitted: float) -> None:
        """Answer a request when it is this job's turn. `submitted` is when it was asked, in seconds of the clock."""
        kind: Kind = "client" if request.client else "chat"
        self._jobs.add(Job(request_id, self._answer(request_id, request, submitted), kind))

    def preview(self, request_id: int, request: Request) -> None:
        """Answer a preview before the next step of a job; the newest first."""
        self._previews.append((request_id, request))

    def read_ahead(self, wish: Wish) -> None:
        """Read what is wished when nothing is asked, before other idle work, which goes on after it."""
        self._stop_idle_work()
        self._wishes.insert(0, wish)

    def change_cache(self, change: Callable[[Responder], None]) -> None:
        """Change something about the cache, and report how it is then."""
        responder = self._loaded()
        change(responder)
        self._guarded(self._refresh_view)
        self._requests.report(responder.view())

    def drop_from_cache(
        self, change: Callable[[Responder], None], is_dropped: Callable[[str], bool] = lambda conversation: True
    ) -> None:
        """Drop something from the cache. Nothing is settled or read ahead any more, as that would compute anew what
        somebody does not want; only writing goes on, and the reading for conversations of which nothing `is_dropped`.
        """
        self._stop_idle_work()
        self._end_wishes([wish for wish in self._wishes if is_dropped(wish.requests[0].conversation)])
        self.change_cache(change)
        self.idle_work = self._loaded().write_back

    def change_disk(
        self,
        change: Callable[[Responder], None],
        without_model: Callable[[Path], None],
        is_dropped: Callable[[str], bool] = lambda conversation: True,
    ) -> None:
        """As `drop_from_cache`, also where no model is loaded: what is on disk outlives it."""
        if self.responder is not None:
            self.drop_from_cache(change, is_dropped)
            return
        without_model(blocks_dir())
        self._requests.report(replace(self._view, time_s=self._clock()))

    def keep_only(self, living: frozenset[str]) -> None:
        """Delete from disk what none of these conversations used."""
        self._conversations.update((owner_digest(conversation), conversation) for conversation in living)
        delete = partial(keep_only_files, conversations=living)
        self.change_disk(lambda responder: responder.cache.disk.keep_only(living), delete, lambda it: it not in living)

    def forget(self, conversation: str) -> None:
        """Keep nothing for this conversation any more, on disk neither."""
        delete = partial(forget_files, conversation=conversation)
        self.change_disk(lambda responder: responder.forget(conversation), delete, lambda it: it == conversation)

    # The life of the thread.

    def _run(self) -> None:
        """Serve commands, answer one preview, advance the first job by one step, for ever.

        Each of these reports what goes wrong in it, whatever it is. Should even that fail, the thread ends, tells
        everybody who waits, and the next load begins another one."""
        try:
            while not self.is_closing:
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
        self._end_wishes([wish for wish in self._wishes if self._requests.is_cancelled(wish.request_id)])
        if self._jobs:
            self._stop_idle_work()
            self._advance(self._jobs.next())
        else:
            self._work_idly()

    def _serve_commands(self) -> None:
        """Carry out what is in the queue; wait for something where there is nothing else to do."""
        has_work = bool(self._jobs or self._previews or self._wishes) or self.idle_work is not None
        may_wait = not has_work and not self.is_closing and not self._fault
        while True:
            try:
                command = self._commands.get(block=may_wait)
            except queue.Empty:
                return
            with self._requests.answering(command.box):
                self._guarded(command.carry_out, 0 if command.is_order else BY_ITSELF)
            may_wait = False

    def _advance(self, job: Job) -> None:
        began = self._clock()
        try:
            event = next(job.events)
        except StopIteration:
            self._jobs.remove(job)
            self._requests.report(failure(job.request_id, RuntimeError("no event ended it")))  # left out where one did
        except BaseException as error:  # a panic in compiled code is no Exception
            self._jobs.remove(job)
            self._requests.report(failure(job.request_id, error))
        else:
            self._jobs.note(job, self._clock() - began)
            job.is_waiting = event is None
            job.has_begun |= isinstance(event, TurnStats)
            if isinstance(event, CacheView):
                self._guarded(self._refresh_view)
            if event is not None:
                self._requests.report(event)

    def _leave(self) -> None:
        """The end of the thread: everything is given back, what was ordered before is carried out, what waits to be
        written to disk is written, and whoever still waits is told."""
        for last in (self._stop_idle_work, self._close_jobs, self._serve_commands, self._let_go_on_disk):
            with suppress(BaseException):  # each reports what goes wrong; this is for where even that does
                last()
        self.responder = None
        if not self.is_closing:
            self._view = EMPTY_VIEW
            if not len(self._requests):
                self._requests.report(Failed(BY_ITSELF, BROKEN, self._fault, is_model_gone=True))
        self.end_open()
        self._refuse_late_orders()

    def _refuse_late_orders(self) -> None:
        """Answer the orders that came after the last command was carried out, and take none from here on."""
        with self._door:
            self._has_left = True
            while not self._commands.empty():
                with self._requests.answering(box := self._commands.get().box):
                    if box is not None:
                        self._requests.report(Failed(0, CLOSED if self.is_closing else BROKEN))

    def _close_jobs(self) -> None:
        for job in self._jobs:
            self._guarded(partial(close_events, job.events))

    def _let_go_on_disk(self) -> None:
        """Write what waits for it, and leave the folder to others."""
        if self.responder is not None:
            self._guarded(partial(self._write_waiting, self.responder))
            self._guarded(self.responder.cache.disk.close)

    def _guarded(self, command: Callable[[], None], request_id: int = BY_ITSELF) -> None:
        """Carry out a command; what goes wrong is reported with this id, and the thread lives on."""
        try:
            command()
        except BaseException as error:
            self._requests.report(failure(request_id, error))

    # Jobs: a load, an answer; and previews between their steps.

    def _load(self, request_id: int, spec: ModelSpec) -> Iterator[Event]:
        """Load a model in place of the one that is there."""
        yield Loading(request_id, "Starting the engine")
        os.environ.setdefault("GOMP_SPINCOUNT", SPIN_COUNT)  # read once, when torch is imported
        os.environ.setdefault("KMP_BLOCKTIME", "0")
        os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "0"  # else what MPS lacks is done on the CPU, at every token
        os.environ["OMP_DYNAMIC"] = "false"  # else a busy computer lends fewer threads, and their number changes bits

        def progress(stage: str, fraction: float | None) -> None:
            if self._is_stopped(request_id):
                raise HeadstartError("The model was not loaded: that was stopped.")
            self._requests.report(Loading(request_id, stage, fraction))

        def make_room() -> None:
            self._empty_cache(lambda: self._is_stopped(request_id))
            progress("Loading the model", None)

        past = {} if self.responder is None else dict(self.responder.last_turns.all)
        let_go = None if self.responder is None else self._let_go
        with not_collected(self.responder is None):
            is_first_import = "engine.worker.loading" not in sys.modules
            from engine.worker.loading import switch_model

            if is_first_import:
                # Modules and classes stay. To look for garbage among those of torch takes 0.1 s, in which no thread
                # of the process goes on, the window's neither. No model is there yet: its remains are looked at.
                gc.freeze()
            responder, model = switch_model(spec, self._clock, progress, make_room, let_go)
        if self.responder is not None:
            self.responder.cache.disk.close()
        responder.last_turns.take_over(past)
        self.responder, self.idle_work, self._has_chat = responder, None, False
        for wish in self._wishes:
            wish.prompt = None  # that was in the tokens of the model before
        self._guarded(partial(responder.cache.disk.open, self._conversations))  # the model answers without it
        self._guarded(self._refresh_view)
        yield responder.view(request_id)
        yield Loaded(request_id, model)

    def _empty_cache(self, is_stopped: Callable[[], bool]) -> None:
        """Before another model is read: what the present one cached is of no use to it, and is not to be settled. What
        is not on disk yet is written first, so that it is found again when the present model is."""
        if self.responder is not None:
            self._guarded(partial(self._write_waiting, self.responder, is_stopped))
            if is_stopped():
                return
            self.responder.cache.clear()
            self.idle_work = self.responder.write_back

    def _write_waiting(self, responder: Responder, is_stopped: Callable[[], bool] = lambda: False) -> None:
        """Write to disk what waits for it, pinned prompts first and then the newest, as far as the time goes."""
        until = self._clock() + WRITE_AT_MOST_S
        for _ in responder.write_back():
            if is_stopped() or self._clock() >= until:
                break

    def _let_go(self) -> None:
        """No model is there any more: all its memory is free, and its folder on disk."""
        self._loaded().cache.disk.close()
        self.responder, self.idle_work, self._view = None, None, EMPTY_VIEW
        gc.collect()

    def _answer(self, request_id: int, request: Request, submitted: float) -> Iterator[Event | None]:
        responder = self._loaded()
        if request.client:
            responder.cache.serve_beside()
        else:
            self._has_chat = True
        longest = self._longest_client_chunk if request.client else lambda: CHUNK_S
        self.idle_work = self.idle_work or responder.write_back  # also where it fails half-way
        is_stopped = partial(self._is_stopped, request_id)
        yield from responder.answer(request_id, request, submitted, is_stopped, self._meanwhile, longest)
        self.idle_work = partial(responder.work_idly, self._stop_idle_step)

    def _longest_client_chunk(self) -> float:
        """In seconds: the window's answer waits no longer for a piece of another program's prompt."""
        if self._jobs.has("chat"):
            return BESIDE_CHAT_S
        return BEHIND_CHAT_S if self._has_chat else CHUNK_S

    def _is_stopped(self, request_id: int) -> bool:
        return self.is_closing or self._requests.is_cancelled(request_id)

    def _meanwhile(self) -> None:
        """Within a long step of an answer: what may happen between two steps of it happens here, too."""
        if not self.is_closing and self._clock() - self._looked >= LISTEN_EVERY_S:
            self._serve_commands()
            if self._previews:
                self._preview(*self._previews.pop())
            self._looked = self._clock()

    def _preview(self, request_id: int, request: Request) -> None:
        """Idle work is broken off first and gives its lane back, as it would for a request: so the preview finds what
        the request would. While a long text is encoded for it, in a thread of its own, everything else goes first:
        the preview is put back to its place and asked for again, until the text is there or nobody wants it."""
        place = len(self._previews)

        def listen() -> None:
            if self.is_closing or self._jobs or not self._commands.empty() or self._requests.is_cancelled(request_id):
                raise StoppedError

        self._stop_idle_work()
        try:
            if self._requests.is_cancelled(request_id):
                raise HeadstartError(NOT_WANTED)
            self._requests.report(self._loaded().preview(request_id, request, listen))
        except StoppedError:
            self._previews.insert(place, (request_id, request))
        except BaseException as error:
            self._requests.report(failure(request_id, error))

    def _loaded(self) -> Responder:
        if self.responder is None:
            raise ModelError("No model is loaded. Open a model first.")
        return self.responder

    def _refresh_view(self) -> None:
        self._view_wanted = False
        if self.responder is not None:
            self._view = self.responder.view(with_nodes=True)

    # Idle work.

    def _work_idly(self) -> None:
        """One step of what can be done while nobody waits: what is wished first."""
        if self._wishes:
            self._read_ahead(self._wishes[0])
            return
        if self.idle_work is None:
            return
        try:
            self._report_idly(self._step_idly(self.idle_work))
        except StopIteration:
            self.idle_work = self._idle_steps = None
        except BaseException as error:
            self.idle_work = self._idle_steps = None
            self._requests.report(failure(BY_ITSELF, error))

    def _read_ahead(self, wish: Wish) -> None:
        """One step of what is wished, which the preview at its end ends."""
        try:
            event = self._step_idly(lambda: self._loaded().read_ahead(wish, partial(self._stop_wish_step, wish)))
        except BaseException as error:
            event = failure(wish.request_id, error)
        if isinstance(event, Preview | Failed):
            self._idle_steps = None
            self._wishes.remove(wish)
            if wish.keeps and self.responder is not None:
                self.idle_work = self.idle_work or self.responder.write_back
        self._report_idly(event)

    def _step_idly(self, begin: Callable[[], Steps]) -> Event | None:
        """Advance the idle work that is under way, or begin this. Raises StopIteration at its end."""
        try:
            self._idle_steps = self._idle_steps or begin()
            return next(self._idle_steps)
        except StoppedError:
            self._idle_steps = None
            return None

    def _report_idly(self, event: Event | None) -> None:
        """What idle work says. The cache as it is then nobody asked for."""
        if isinstance(event, CacheView):
            self._guarded(self._refresh_view)
            event = replace(event, request_id=BY_ITSELF)
        if event is not None:
            self._requests.report(event)

    def _stop_idle_step(self) -> None:
        """Within a long step of idle work: a request goes first."""
        if self.is_closing or len(self._requests) > len(self._wishes):
            raise StoppedError

    def _stop_wish_step(self, wish: Wish) -> None:
        """The same while something is read ahead; it may not be wished any more."""
        self._stop_idle_step()
        if self._requests.is_cancelled(wish.request_id):
            raise StoppedError

    def _end_wishes(self, wishes: Sequence[Wish]) -> None:
        """Read these no further, nor what else may be under way."""
        for wish in list(wishes):
            self._stop_idle_work()
            self._wishes.remove(wish)
            self._requests.report(failure(wish.request_id, HeadstartError(NOT_READ)))

    def _stop_idle_work(self) -> None:
        """Before a request starts: idle work holds the lane. What is left of it is done when nobody waits again."""
        steps, self._idle_steps = self._idle_steps, None
        if steps is not None:
            self._guarded(partial(close_events, steps))


def close_events(events: Iterator[object]) -> None:
    """Let a half-way job give back what it holds."""
    if hasattr(events, "close"):
        events.close()


def failure(request_id: int, error: BaseException) -> Failed:
    """An error as the one event that ends a request."""
    if isinstance(error, HeadstartError):
        is_refused = isinstance(error, PromptTooLongError | InvalidRequestError)
        return Failed(request_id, str(error), error.detail, is_refused, isinstance(error, ModelGoneError))
    sentence = "Something went wrong inside the engine. The conversation is safe: try again, or restart Headstart."
    return Failed(request_id, sentence, "".join(traceback.format_exception(error)))


@contextmanager
def not_collected(is_first: bool) -> Iterator[None]:
    """During the first load Python's garbage collector is quiet: thousands of modules and classes are imported that all
    stay, and looking for garbage among them takes a tenth of the time and finds none. A later load has an earlier
    model's remains to collect."""
    was_enabled = is_first and gc.isenabled()
    if was_enabled:
        gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

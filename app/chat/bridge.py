"""From the engine's event queue to signals in the GUI thread, a few times a second and with fewer events."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal

from PySide6.QtCore import QObject, QTimer, Signal

from engine import (
    BY_ITSELF,
    CacheView,
    EnginePort,
    Event,
    Failed,
    Finished,
    Loaded,
    Loading,
    Matched,
    ModelSpec,
    Prefill,
    Preview,
    Request,
    TextDelta,
    TurnStats,
)

DRAIN_EVERY_MS = 60
REST_EVERY_MS = 500
"""While nothing is asked for: the engine works on, and says what it settled, wrote to disk, or could not."""
PREVIEW_TAKES_MS = 20
"""So long after it was asked for a preview is mostly there: whoever types quickly would see none that came later."""
SOON_EVERY_MS = 15
"""While a first word is foreseen at once."""
WAITED_S = 0.06
"""How long that word is waited for before anything else is done."""
HELD_S = 0.12
"""So long at most what comes before that word waits for it: nobody sees the difference."""
DRAIN_FOR_S = 0.008

CacheCommand = Literal[
    "set_cache_budget",
    "set_disk_budget",
    "clear_cache",
    "forget",
    "keep_only",
    "keep_prefix",
    "release_prefix",
    "drop_prefix",
]
"""The methods of EnginePort that answer with a CacheView instead of an id."""
_FROM_FIRST_WORD = (TextDelta, TurnStats, Finished, Failed)
"""What comes of an answer with its first word, or in place of it."""
_NEWEST_COUNTS = (Loading, Prefill, TurnStats)


class Bridge(QObject):
    """Owns the engine for the window: commands go in, events come out as signals.

    From the first command on events are taken, for at most 8 ms at a time: every 60 ms while anything is outstanding,
    else twice a second. What belongs to no outstanding request is dropped, so that each request, load or preview ends
    exactly once.

    Signals, each with one event of engine/events.py: loading, loaded, matched, prefill, text, stats, cache_view,
    preview, finished, failed. What a request brings that was submitted `aside` (its cache views apart) comes through
    the signal `aside` only, so that no conversation and no total hears of it.

    Where the first word of an answer is foreseen at once, what comes before it (what was matched, how far the prompt is
    read) waits for it, for a moment at most: to show it would take a processor from the engine, and put that word off.

    A choice of thinking that the loaded model does not know, because it was made for another one, is left out of what
    is asked of it.

    Attributes: `timer` runs from the first command on; each time, `drain` takes events. `server_of` says by the name of
    a conversation which server answers in it, "" for the model that is loaded.
    """

    loading = Signal(object)
    loaded = Signal(object)
    matched = Signal(object)
    prefill = Signal(object)
    text = Signal(object)
    stats = Signal(object)
    cache_view = Signal(object)
    preview = Signal(object)
    finished = Signal(object)
    failed = Signal(object)
    aside = Signal(object)

    def __init__(
        self, engine: EnginePort, parent: QObject | None = None, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        super().__init__(parent)
        self.server_of: Callable[[str], str] = lambda conversation: ""
        self._engine = engine
        self._clock = clock
        self._is_closed = False
        self._outstanding: set[int] = set()
        self._aside: set[int] = set()
        self._ahead: set[int] = set()
        self._unread_tokens = 0
        self._thinking: tuple[str, ...] = ()  # what the loaded model lets one choose
        self._told: deque[Callable[[CacheView], object] | None] = deque()
        self._ready: deque[Event] = deque()
        self._soon: tuple[int, float] | None = None  # whose first word is foreseen at once, and until when it holds
        self.timer = QTimer(self)
        self.timer.timeout.connect(self.drain)
        self._look = QTimer(self)
        self._look.setSingleShot(True)
        self._look.setInterval(PREVIEW_TAKES_MS)
        self._look.timeout.connect(self.drain)
        self._signals = {
            Loading: self.loading,
            Loaded: self.loaded,
            Matched: self.matched,
            Prefill: self.prefill,
            TextDelta: self.text,
            TurnStats: self.stats,
            CacheView: self.cache_view,
            Preview: self.preview,
            Finished: self.finished,
            Failed: self.failed,
        }

    @property
    def busy(self) -> bool:
        """True while something is outstanding that somebody waits for."""
        return bool(self._outstanding - self._ahead or self._told)

    @property
    def is_reading(self) -> bool:
        """True while the engine is to read what nobody waits for: ahead, or again, an answer that it wrote."""
        return self.is_reading_ahead or self._unread_tokens > 0

    @property
    def is_reading_ahead(self) -> bool:
        """True while something is to be read ahead."""
        return bool(self._ahead)

    def load(self, spec: ModelSpec) -> int:
        """Load a model; ends with `loaded` or `failed`."""
        return self._expect(self._engine.load(spec))

    def submit(self, request: Request, *, is_soon: bool = False) -> int:
        """Have a request answered; ends with `finished` or `failed`. `is_soon`: its first word is foreseen at once."""
        request_id = self._engine.submit(self._addressed(request))
        self._soon = (request_id, self._clock() + HELD_S) if is_soon else None
        return self._expect(request_id)

    def wait_for_word(self) -> None:
        """Let the engine have the processors, and Python's lock, until the first word is there that was foreseen at
        once, for the time of a few frames at most: by what this thread did meanwhile that word would be later."""
        until = time.perf_counter() + WAITED_S
        while self._soon is not None and not self._is_closed:
            self._ready.extend(merge(self._take()))
            if self._is_word_there(self._soon[0]):
                self.timer.start(0)
                return
            left = until - time.perf_counter()
            if left <= 0 or not self._engine.wait(left):
                return

    def submit_aside(self, request: Request) -> int:
        """As `submit`, for a request that is no turn of a conversation; all it brings comes through `aside`."""
        request_id = self._engine.submit(self._fitting(request))
        self._aside.add(request_id)
        return self._expect(request_id)

    def request_preview(self, request: Request) -> int:
        """Ask what a request would reuse and compute; ends with `preview` or `failed`."""
        if not (self._is_closed or self._look.isActive()):
            self._look.start()
        return self._expect(self._engine.preview(self._addressed(request)))

    def read_ahead(self, request: Request, *others: Request, keeps: bool = False) -> int:
        """Have what these requests begin with read while nothing is asked; where it `keeps`, their system prompt stays
        resident. Ends with `preview` of the first one, or `failed`."""
        fitting = [self._fitting(each) for each in (request, *others)]
        request_id = self._engine.read_ahead(fitting[0], fitting[1:], keeps=keeps)
        self._ahead.add(request_id)
        return self._expect(request_id)

    def cancel(self, request_id: int) -> None:
        """Stop a request, a load or a preview, which still has its end."""
        self._engine.cancel(request_id)

    def tell(self, command: CacheCommand, *values: object, then: Callable[[CacheView], object] | None = None) -> None:
        """Give the engine one of its commands about the cache; answered by `cache_view` or `failed` with id 0. `then`
        is called with the view that answers this very command."""
        getattr(self._engine, command)(*values)
        self._told.append(then)
        self._poll_every(DRAIN_EVERY_MS)

    def read_cache_view(self) -> CacheView:
        """The newest picture of the cache, with its nodes; never waits."""
        return self._engine.cache_view()

    def close(self) -> bool:
        """Stop the timer and the engine. True when the engine's thread has ended. Safe to call twice."""
        self._is_closed = True
        self.timer.stop()
        self._look.stop()
        self._outstanding.clear()
        self._aside.clear()
        self._ahead.clear()
        self._ready.clear()
        self._told.clear()
        self._soon = None
        return self._engine.close()

    def drain(self) -> None:
        """Take what the engine has to say now and emit it. The timer calls this; a test may."""
        # A slot may run an event loop of its own (a dialog): events then wait in `_ready`, and their order holds.
        self._ready.extend(merge(self._take()))
        if self._is_held():
            return
        while self._ready:
            self._emit(self._ready.popleft())
        if not (self.busy or self.is_reading_ahead) and self.timer.isActive():  # a slot may have closed us
            self._poll_every(REST_EVERY_MS)

    def _addressed(self, request: Request) -> Request:
        server = self.server_of(request.conversation)
        return replace(self._fitting(request), server=server) if server else self._fitting(request)

    def _fitting(self, request: Request) -> Request:
        chosen = request.template
        is_known = not chosen.thinking or chosen.thinking in self._thinking
        return request if is_known else replace(request, template=replace(chosen, thinking=""))

    def _take(self) -> list[Event]:
        taken: list[Event] = []
        until = self._clock() + DRAIN_FOR_S
        while batch := self._engine.poll():
            taken.extend(batch)
            if self._clock() >= until:
                break
        return taken

    def _is_held(self) -> bool:
        """Whether a first word is foreseen at once, and is not there yet."""
        if self._soon is None:
            return False
        request_id, until = self._soon
        if not self._is_word_there(request_id) and self._clock() < until:
            return True
        self._soon = None
        self._poll_every(DRAIN_EVERY_MS)
        return False

    def _is_word_there(self, request_id: int) -> bool:
        return any(event.request_id == request_id and isinstance(event, _FROM_FIRST_WORD) for event in self._ready)

    def _emit(self, event: Event) -> None:
        then = None
        if event.request_id == 0 and isinstance(event, CacheView | Failed):
            then = self._told.popleft() if self._told else None  # the engine answers in the order of the commands
        elif event.request_id != BY_ITSELF and event.request_id not in self._outstanding:
            return
        if isinstance(event, Loaded):
            self._thinking = event.model.thinking
        if isinstance(event, CacheView):
            self._unread_tokens = event.unread_tokens
        is_aside = event.request_id in self._aside and not isinstance(event, CacheView)
        if isinstance(event, Finished | Failed | Loaded | Preview):
            self._outstanding.discard(event.request_id)
            self._aside.discard(event.request_id)
            self._ahead.discard(event.request_id)
        (self.aside if is_aside else self._signals[type(event)]).emit(event)
        if then is not None and isinstance(event, CacheView):
            then(event)

    def _expect(self, request_id: int) -> int:
        self._outstanding.add(request_id)
        self._poll_every(DRAIN_EVERY_MS)
        return request_id

    def _poll_every(self, milliseconds: int) -> None:
        """At another pace only: to set the same again would put the next look off."""
        milliseconds = milliseconds if self._soon is None else SOON_EVERY_MS
        if not self._is_closed and (not self.timer.isActive() or self.timer.interval() != milliseconds):
            self.timer.start(milliseconds)


def merge(events: Iterable[Event]) -> list[Event]:
    """Make events fewer without loss: join the text of each request, and that of its thought, with its ids in the first
    of the two; keep the newest of its Loading, Prefill and TurnStats, and leave the rest as it was.

    What belongs to a request comes out before its end, and in the order in which each kind first appeared.
    """
    merged: list[Event] = []
    texts: dict[tuple[int, bool], list[str]] = {}
    ids: dict[int, tuple[int, ...]] = {}
    newest: dict[tuple[type, int], int] = {}
    for event in events:
        kind, request_id = type(event), event.request_id
        if isinstance(event, TextDelta) and event.token_ids:
            ids[request_id] = ids.get(request_id, ()) + event.token_ids
        if isinstance(event, TextDelta) and (request_id, event.is_thought) in texts:
            texts[request_id, event.is_thought].append(event.text)
        elif (kind, request_id) in newest:
            merged[newest[kind, request_id]] = event
        else:
            if isinstance(event, TextDelta):
                texts[request_id, event.is_thought] = [event.text]
            if isinstance(event, _NEWEST_COUNTS):
                newest[kind, request_id] = len(merged)
            merged.append(event)
    return [_joined(event, texts, ids) for event in merged]


def _joined(event: Event, texts: dict[tuple[int, bool], list[str]], ids: dict[int, tuple[int, ...]]) -> Event:
    if isinstance(event, TextDelta):
        text = "".join(texts[event.request_id, event.is_thought])
        return replace(event, text=text, token_ids=ids.pop(event.request_id, ()))
    return event

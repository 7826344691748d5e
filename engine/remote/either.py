"""One engine that is the local one or a server elsewhere, by what was loaded last: nobody who uses it needs to know."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from engine.events import BY_ITSELF, CacheView, Event, Failed, Loaded
from engine.port import EnginePort
from engine.remote.engine import RemoteEngine
from engine.types import ModelSpec, Request, is_server
from engine.worker.engine import Engine


@dataclass(slots=True)
class Side:
    """Which of the two answers now: shared by all who use them, so that a program follows what the window opens."""

    is_remote: bool = False


class EitherEngine:
    """Asks `local` or `remote`. A load whose path is the address of a server goes there; requests go to the server that
    they name, or else where the newest load that ended well was. `EnginePort` says what each method promises. `side` is
    for `beside`."""

    def __init__(
        self, local: EnginePort | None = None, remote: EnginePort | None = None, side: Side | None = None
    ) -> None:
        self._local: EnginePort = local or Engine()
        self._remote: EnginePort = remote or RemoteEngine()
        self._side = side or Side()
        self._loads: dict[int, EnginePort] = {}
        self._ordered: deque[EnginePort] = deque()
        """Whose turn it is to answer an order: they are answered in the order in which they were given."""
        self._answers: dict[int, deque[Event]] = {id(self._local): deque(), id(self._remote): deque()}

    @property
    def _present(self) -> EnginePort:
        return self._remote if self._side.is_remote else self._local

    def load(self, spec: ModelSpec) -> int:
        engine = self._remote if is_server(spec.path) else self._local
        request_id = engine.load(spec)
        self._loads[request_id] = engine
        return request_id

    def submit(self, request: Request) -> int:
        return self._asked(request).submit(request)

    def preview(self, request: Request) -> int:
        return self._asked(request).preview(request)

    def read_ahead(self, request: Request, others: Sequence[Request] = (), *, keeps: bool = False) -> int:
        return self._asked(request).read_ahead(request, others, keeps=keeps)

    def cancel(self, request_id: int) -> None:
        self._local.cancel(request_id)
        self._remote.cancel(request_id)

    def set_cache_budget(self, budget_bytes: int) -> None:
        self._order(self._present).set_cache_budget(budget_bytes)

    def set_disk_budget(self, budget_bytes: int | None) -> None:
        self._order(self._local).set_disk_budget(budget_bytes)

    def clear_cache(self) -> None:
        self._order(self._present).clear_cache()

    def forget(self, conversation: str) -> None:
        self._order(self._local).forget(conversation)

    def keep_only(self, conversations: Collection[str]) -> None:
        self._order(self._local).keep_only(conversations)

    def keep_prefix(self, block: int) -> None:
        self._order(self._present).keep_prefix(block)

    def release_prefix(self, block: int) -> None:
        self._order(self._present).release_prefix(block)

    def drop_prefix(self, block: int) -> None:
        self._order(self._present).drop_prefix(block)

    def cache_view(self) -> CacheView:
        return self._present.cache_view()

    def beside(self, wake: Callable[[], None] = lambda: None) -> EnginePort:
        return EitherEngine(self._local.beside(wake), self._remote.beside(wake), self._side)

    def poll(self, limit: int = 256) -> list[Event]:
        taken: list[Event] = []
        for engine in (self._local, self._remote):
            for event in engine.poll(limit - len(taken)):
                if event.request_id == 0:
                    self._answers[id(engine)].append(event)
                elif event.request_id != BY_ITSELF or engine is self._present:
                    taken.append(self._seen_here(self._noted(event)))
        while self._ordered and (answers := self._answers[id(self._ordered[0])]):
            self._ordered.popleft()
            taken.append(answers.popleft())
        return taken

    def wait(self, timeout_s: float) -> bool:
        return self._present.wait(timeout_s)

    def close(self, timeout_s: float = 6.0) -> bool:
        is_remote_over = self._remote.close(timeout_s)
        return self._local.close(timeout_s) and is_remote_over

    def _asked(self, request: Request) -> EnginePort:
        return self._remote if request.server else self._present

    def _seen_here(self, event: Event) -> Event:
        """A request that named a server leaves the cache of this computer as it is."""
        is_elsewhere = isinstance(event, CacheView) and event.budget_bytes == 0
        if is_elsewhere and not self._side.is_remote:
            return replace(self._local.cache_view(), request_id=event.request_id, nodes=())
        return event

    def _order(self, engine: EnginePort) -> EnginePort:
        self._ordered.append(engine)
        return engine

    def _noted(self, event: Event) -> Event:
        """An event that ends a load says who answers from now on."""
        if isinstance(event, Loaded | Failed):
            engine = self._loads.pop(event.request_id, self._present)
            if isinstance(event, Loaded):
                self._side.is_remote = engine is self._remote
        return event

"""The server as a thing that is started and stopped: uvicorn on a thread of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.server.access import Access
from app.server.api import build
from app.server.desk import Desk
from app.server.record import Asked
from engine import EnginePort, HeadstartError, ModelInfo

KEEP_ALIVE_S = 30
STOP_WITHIN_S = 5.0
NEEDS_KEY = "Other computers could use this server, so it needs a key. Give one, or listen on 127.0.0.1."
TAKEN = "The server cannot listen on {}: {}. Choose another port."


class Server:
    """Answers calls from the moment it is made until `stop`. `connect` gives the engine, whose events nobody else may
    take, and is told whom to wake when there are any. `heard` is told of each request that has ended, in the server's
    thread.

    Attributes: `address`, where it listens. Raises HeadstartError where it cannot, or may not.
    """

    def __init__(
        self,
        connect: Callable[[Callable[[], None]], EnginePort],
        access: Access,
        model: ModelInfo | None = None,
        heard: Callable[[Asked], None] = lambda asked: None,
    ) -> None:
        if not access.is_local and not access.key:
            raise HeadstartError(NEEDS_KEY)
        self._socket = _listen(access)
        host, port = self._socket.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        self.address = f"http://{shown}:{port}"
        self._connect, self._access, self._model, self._heard = connect, access, model, heard
        self._ready: Future[None] = Future()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="headstart-server", daemon=True)
        self._thread.start()
        self._ready.result()

    def set_model(self, model: ModelInfo | None) -> None:
        """Another model answers from now on; None while there is none."""
        self._loop.call_soon_threadsafe(self._set_model, model)

    def stop(self) -> None:
        """Stop what is open, and wait for the end of the thread. Safe to call twice."""
        if self._thread.is_alive():
            self._uvicorn.should_exit = True
            with suppress(RuntimeError):  # it has ended by itself meanwhile
                self._loop.call_soon_threadsafe(self._uvicorn.over.set)
            self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        limits = self._access.limits
        self.desk = Desk(self._connect, limits.open_requests, self._heard)
        self.desk.model = self._model
        config = uvicorn.Config(
            build(self.desk, self._access),
            http=partial(_Patient, patience_s=limits.headers_s),  # type: ignore[arg-type]
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=int(STOP_WITHIN_S),
            h11_max_incomplete_event_size=limits.header_bytes,
        )
        self._uvicorn = _Uvicorn(config, self.desk)
        self._ready.set_result(None)
        try:
            await self._uvicorn.serve(sockets=[self._socket])
        finally:
            await self.desk.close()

    def _set_model(self, model: ModelInfo | None) -> None:
        self.desk.model = model


class _Patient(H11Protocol):
    """Lets a connection go that brings no whole request within `patience_s`: it would be held open for nothing."""

    def __init__(self, *arguments: Any, patience_s: float, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._patience_s = patience_s

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._patience = self.loop.call_later(self._patience_s, self._let_go)

    def connection_lost(self, exc: Exception | None) -> None:
        self._patience.cancel()
        super().connection_lost(exc)

    def _let_go(self) -> None:
        if getattr(self, "scope", None) is None:  # it is set with the first whole request
            self.transport.close()


class _Uvicorn(uvicorn.Server):
    """Leaves signals to the program, and has what is open stopped before it waits for it."""

    def __init__(self, config: uvicorn.Config, desk: Desk) -> None:
        super().__init__(config)
        self._desk = desk
        self.over = asyncio.Event()

    async def main_loop(self) -> None:
        """As uvicorn's, which looks ten times a second whether it is over; this one is told."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self.over.wait()

    def install_signal_handlers(self) -> None:
        """None: the program has its own."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._desk.close()
        await super().shutdown(sockets)


def _listen(access: Access) -> socket.socket:
    family = socket.AF_INET6 if ":" in access.host else socket.AF_INET
    # Named as TCP, asyncio sends each piece at once; else one waits for the acknowledgement of the one before, 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((access.host, access.port))
        listening.listen(128)
    except (OSError, OverflowError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise HeadstartError(TAKEN.format(f"{access.host}:{access.port}", reason), str(error)) from error
    listening.setblocking(False)
    return listening

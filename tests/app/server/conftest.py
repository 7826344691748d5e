"""A server on a free port of this computer, with the clients that programs use."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import anthropic
import httpx2 as httpx
import openai
import pytest

from app.server.access import Access
from app.server.listening import Server
from engine import EnginePort
from tests.app.fake_engine import MODEL, FakeEngine
from tests.conftest import PATIENCE_S

Serve = Callable[..., "Caller"]


class Caller:
    """A server and those who call it. Attributes: server, address, engine; http without any header of its own."""

    def __init__(self, server: Server, engine: Any, key: str) -> None:
        self.server = server
        self.engine = engine
        self.address = server.address
        self.http = httpx.Client(base_url=server.address, timeout=PATIENCE_S, verify=False)
        self._given = {"api_key": key or "none", "max_retries": 0, "timeout": PATIENCE_S, "http_client": self.http}

    @cached_property
    def openai(self) -> openai.OpenAI:
        return openai.OpenAI(base_url=f"{self.address}/v1", **self._given)

    @cached_property
    def anthropic(self) -> anthropic.Anthropic:
        return anthropic.Anthropic(base_url=self.address, **self._given)

    def chat(self, question: str = "Where is my parcel?", **fields: Any) -> Any:
        messages = fields.pop("messages", [{"role": "user", "content": question}])
        return self.openai.chat.completions.create(model="default", messages=messages, **fields)

    def message(self, question: str = "Where is my parcel?", **fields: Any) -> Any:
        messages = fields.pop("messages", [{"role": "user", "content": question}])
        return self.anthropic.messages.create(model="default", max_tokens=20, messages=messages, **fields)

    def connection(self) -> socket.socket:
        """A bare connection to the server."""
        host, port = self.address.removeprefix("http://").rsplit(":", 1)
        return socket.create_connection((host, int(port)), PATIENCE_S)

    def close(self) -> None:
        self.http.close()
        self.server.stop()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts servers over a port of the engine, by itself a scripted one."""
    callers: list[Caller] = []

    def start(engine: EnginePort | None = None, **access: Any) -> Caller:
        engine = engine or FakeEngine()
        server = Server(access.pop("connect", lambda wake: engine), Access(port=0, **access), MODEL)
        callers.append(Caller(server, engine, access.get("key", "")))
        return callers[-1]

    yield start
    for caller in callers:
        caller.close()


@pytest.fixture
def caller(serve: Serve) -> Caller:
    """A server over an engine that answers "Hello from a fake."."""
    return serve()


def post(path: str, body: bytes, **headers: str) -> bytes:
    """A POST as it goes over the wire. Headers are named with _ for -."""
    given = {"host": "127.0.0.1", "content_type": "application/json", "content_length": str(len(body)), **headers}
    lines = [f"POST {path} HTTP/1.1", *(f"{name.replace('_', '-')}: {value}" for name, value in given.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


def until(is_so: Callable[[], object]) -> None:
    """Wait for what another thread does."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline
        threading.Event().wait(0.001)

"""An engine driven from a test: its events collected, its forward passes held where a test wants them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date

import pytest

from engine import Engine
from engine.events import Event, Failed, Finished, Loaded, Preview
from engine.models.loaded import LoadedModel
from engine.types import Message, Request, Sampling

PATIENCE_S = 60.0
GREEDY = Sampling(temperature=0.0, max_tokens=12)
SYSTEM = Message("system", "You answer questions about parcels and tents. Be brief, be kind, and never guess a price.")


def request(question: str = "Where is my parcel?", **changes: object) -> Request:
    base = Request((SYSTEM, Message("user", question)), GREEDY, "chat", day=date(2026, 12, 2))
    return replace(base, **changes)  # type: ignore[arg-type]


class Driver:
    """An engine and every event that it has reported so far."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.events: list[Event] = []

    def until(self, is_enough: Callable[[], object]) -> None:
        """Poll until a condition holds."""
        deadline = time.monotonic() + PATIENCE_S
        while not is_enough():
            self.events += self.engine.poll()
            assert time.monotonic() < deadline, f"nothing more came after {self.events[-3:]}"
            threading.Event().wait(0.001)

    def of(self, request_id: int) -> list[Event]:
        """The events of one request."""
        return [event for event in self.events if event.request_id == request_id]

    def end(self, request_id: int) -> Event:
        """Wait for the event that ends a request, a load or a preview."""
        ends = (Finished, Failed, Loaded, Preview)
        self.until(lambda: any(isinstance(event, ends) for event in self.of(request_id)))
        return self.of(request_id)[-1]

    def finished(self, request_id: int) -> Finished:
        end = self.end(request_id)
        assert isinstance(end, Finished), end
        return end

    def quiet(self) -> None:
        """Wait until the worker has nothing left to report."""
        marker = self.engine.preview(request())
        self.end(marker)
        self.events += self.engine.poll()


class Gate:
    """Holds a model's forward pass until it is opened, so that a test knows where the engine is."""

    def __init__(self, patch: pytest.MonkeyPatch, first: int = 1) -> None:
        self.reached, self.open, self.calls, self.first = threading.Event(), threading.Event(), 0, first
        forward = LoadedModel.forward

        def held(model: LoadedModel, *args: object, **options: object) -> object:
            self.calls += 1
            if self.calls >= self.first:
                self.reached.set()
                assert self.open.wait(PATIENCE_S)
            return forward(model, *args, **options)  # type: ignore[arg-type]

        patch.setattr(LoadedModel, "forward", held)

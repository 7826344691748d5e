"""A conversation with a long system prompt, played on the engine: 3,000 tokens resident, about 50 new ones a turn."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

from app.demo.script import read_script
from engine import (
    Engine,
    Event,
    Failed,
    Finished,
    Loaded,
    Message,
    ModelInfo,
    ModelSpec,
    Preview,
    Request,
    Sampling,
)

SCRIPT = read_script()
WRITTEN = 24


class Player:
    """The engine (a new one, or that of a window whose event loop does not run) with the default model, or the one
    named, loaded into it; every call waits for its answer."""

    def __init__(
        self,
        path: str = "",
        dtype: str = "auto",
        *,
        disk_bytes: int = 0,
        engine: Engine | None = None,
    ) -> None:
        self.engine = engine or Engine()
        self._spec = ModelSpec(path=path, dtype=dtype, disk_bytes=disk_bytes)  # type: ignore[arg-type]
        self.model = self.load()
        self._numbers = itertools.count()

    def load(self) -> ModelInfo:
        """Load the model, or load it anew: then nothing is cached in memory any more."""
        self.engine.load(self._spec)
        loaded = self._wait()
        assert isinstance(loaded, Loaded), loaded
        return loaded.model

    def ask(self, history: list[Message], question: str, *, use_cache: bool = True, written: int = 1) -> Finished:
        """Answer a question greedily on top of a history. No token is guessed, as in all rows but A5 and A6."""
        messages = (Message("system", SCRIPT.system_prompt), *history, Message("user", question))
        return self._answer(messages, use_cache, Sampling(temperature=0, max_tokens=written))

    def ask_plainly(self, system_prompt: str, question: str, sampling: Sampling) -> Finished:
        """Answer a question behind a short system prompt."""
        return self._answer((Message("system", system_prompt), Message("user", question)), True, sampling)

    def _answer(self, messages: tuple[Message, ...], use_cache: bool, sampling: Sampling) -> Finished:
        return self.answer(Request(messages, sampling, "bench", use_cache=use_cache, write_ahead=False))

    def answer(self, request: Request) -> Finished:
        """Answer a request."""
        self.engine.submit(request)
        finished = self._wait()
        assert isinstance(finished, Finished), finished
        return finished

    def preview(self, request: Request) -> Preview:
        """What a request would reuse and compute now."""
        self.engine.preview(request)
        preview = self._wait()
        assert isinstance(preview, Preview), preview
        return preview

    def new_question(self) -> str:
        """A question of about 50 tokens that was never asked before."""
        number = next(self._numbers)
        question = SCRIPT.questions[number % len(SCRIPT.questions)]
        return f"Case {number}: {question}"

    def ttft(self, *, use_cache: bool = True) -> float:
        """Time to first token of a new question right behind the system prompt."""
        finished = self.ask([], self.new_question(), use_cache=use_cache)
        assert finished.stats.ttft_s is not None
        return finished.stats.ttft_s

    def close(self) -> None:
        """End the engine."""
        self.engine.close(10)

    def _wait(self) -> Event:
        for event in self._events():
            if isinstance(event, Finished | Failed | Loaded | Preview):
                return event
        raise AssertionError("unreachable")

    def _events(self) -> Iterator[Event]:
        while True:
            yield from self.engine.poll()
            time.sleep(0.02)  # the times are the engine's own; a window looks every 60 ms

"""Requests played through a Responder with the tiny model, and the logits that were seen on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.cache.disk_tier import DiskTier
from engine.cache.prefix_cache import LANE_STEP, PrefixCache
from engine.cache.store import KVStore, Lane
from engine.events import Event, Finished, Matched, TextDelta
from engine.models.loaded import LoadedModel
from engine.turn.chunks import CHUNK_TOKENS
from engine.turn.last_turns import PAST_BYTES
from engine.turn.responder import Responder
from engine.types import Message, Request, Sampling
from tests.engine.inside import is_idle

GREEDY = Sampling(temperature=0.0, max_tokens=8)
NAN = float("nan")


class Ticks:
    """A clock that tests move: every look at it takes `step` seconds."""

    def __init__(self, step: float = 0.001) -> None:
        self.now = 100.0
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


class SpyModel:
    """A loaded model whose logits are noted, those that are used, and whose forward pass can be made to raise. It
    computes up to `at_once` tokens of an answer in a pass, of a model that cannot do so one after the other."""

    def __init__(self, model: LoadedModel, at_once: int = 1) -> None:
        self._model = model
        self.at_once = at_once
        self.logits: list[Tensor] = []
        self.calls: list[tuple[int, int]] = []
        self.before_forward: Callable[[int], None] = lambda call: None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def forward(self, ids: Sequence[int], lane: Lane, start: int, *, is_answer: bool = False) -> Tensor:
        """As in LoadedModel; `calls` notes where each piece began and how long it was."""
        self.calls.append((start, len(ids)))
        self.before_forward(len(self.calls))
        self.logits.append(self._model.forward(ids, lane, start, is_answer=is_answer))
        return self.logits[-1]

    def steps(self, ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        """As in LoadedModel."""
        self.calls.append((start, len(ids)))
        self.before_forward(len(self.calls))
        if self._model.at_once > 1:
            return self._model.steps(ids, lane, start)
        each = enumerate(ids, start)
        return torch.stack([self._model.forward([token], lane, at, is_answer=True).clone() for at, token in each])

    def checked(self, logits: Tensor, length: int) -> Tensor:
        """As in LoadedModel, which hears of each row of `steps` that is used."""
        self.logits.append(self._model.checked(logits, length))
        return self.logits[-1]


class Scripted(SpyModel):
    """A model that writes these tokens, whatever it reads."""

    def __init__(self, model: LoadedModel, script: Sequence[int]) -> None:
        super().__init__(model)
        self.script, self.written = script, 0

    def forward(self, ids: Sequence[int], lane: Lane, start: int, *, is_answer: bool = False) -> Tensor:
        """The true logits are noted; those that are given choose the next token of the script."""
        logits = super().forward(ids, lane, start, is_answer=is_answer)
        self.written = self.written + 1 if is_answer else 0
        return self._by_script(logits)

    def launch(self, token: Tensor, lane: Lane, position: int) -> Tensor:
        """The same, for tokens that are chosen on the device."""
        logits = self._model.launch(token, lane, position)
        self.written += 1
        return self._by_script(logits)

    def _by_script(self, logits: Tensor) -> Tensor:
        chosen = torch.full_like(logits, -1.0)
        chosen[self.script[self.written]] = 1.0
        return chosen


def make_responder(
    model: LoadedModel | SpyModel,
    *,
    tokens: int = 8192,
    near: str = "",
    context: int = 1024,
    clock: Callable[[], float] | None = None,
    folder: Path | None = None,
    namespace: str = "tiny",
    chunk_tokens: int = CHUNK_TOKENS,
    lane_step: int = LANE_STEP,
    past_bytes: int = PAST_BYTES,
) -> Responder:
    """A responder whose cache holds `tokens` tokens, lane included. Fresh lanes are full of NaN. What lies in `folder`
    for `namespace` is reused. Where answers are only `near`, what was written is reused as it is."""
    clock = clock or Ticks()
    store = KVStore(model.layout, tokens * model.layout.bytes_per_token, fill=NAN)
    disk = DiskTier(folder, namespace, model.layout, 10**8) if folder else None
    cache = PrefixCache(store, namespace, context, clock, lane_step=lane_step, decode=model.decode, disk=disk)
    responder = Responder(model, cache, clock, chunk_tokens=chunk_tokens, past_bytes=past_bytes)  # type: ignore[arg-type]
    responder.near = near
    responder.cache.disk.open()
    return responder


def events(
    responder: Responder, request: Request, *, request_id: int = 1, is_cancelled: Callable[[], bool] = lambda: False
) -> Iterator[Event]:
    """The events of one request, submitted now."""
    return responder.answer(request_id, request, responder._clock(), is_cancelled)


def finish(responder: Responder, request: Request) -> tuple[Matched, Finished]:
    """Play a request to its end; what was matched and what came of it."""
    seen = list(events(responder, request))
    matched = [event for event in seen if isinstance(event, Matched)]
    assert len(matched) == 1
    assert [type(event) for event in seen].count(Finished) == 1
    last = seen[-1]
    assert isinstance(last, Finished)
    shown = [event for event in seen if isinstance(event, TextDelta)]
    assert last.text == "".join(event.text for event in shown if not event.is_thought)
    assert last.thought == "".join(event.text for event in shown if event.is_thought)
    return matched[0], last


def cold_logits(model: LoadedModel, ids: Sequence[int]) -> Tensor:
    """The last token's logits, computed in a fresh lane in one piece."""
    return model.forward(ids, Lane(model.layout, len(ids), fill=NAN), 0)


def prompt_logits(cache: PrefixCache, model: LoadedModel, ids: Sequence[int], chunk: int = 512) -> tuple[int, Tensor]:
    """A prompt through the cache, without an answer: the reused tokens and the last token's logits."""
    run = cache.begin(ids, 1)
    try:
        cache.restore(run)
        logits = torch.empty(0)
        for start in range(run.reused, len(ids), chunk):
            piece = ids[start : start + chunk]
            logits = model.forward(piece, run.lane, start)
            cache.commit(run, piece, settled=True)
    finally:
        cache.finish(run)
    return run.reused, logits


short_chunks = partial(make_responder, chunk_tokens=32)
"""A responder that reads prompts in chunks so short that even these need several."""


@dataclass
class Chat:
    """A conversation as the window keeps it: messages with the ids that were generated."""

    responder: Responder
    system: str = ""
    name: str = "chat"
    sampling: Sampling = GREEDY
    options: dict[str, Any] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    matched: Matched | None = None

    def __post_init__(self) -> None:
        if self.system:
            self.messages.append(Message("system", self.system))

    def request(self, **changes: Any) -> Request:
        """The request for the next answer."""
        request = Request(tuple(self.messages), self.sampling, self.name, **self.options)
        return replace(request, **changes)

    def ask(self, question: str, **changes: Any) -> Finished:
        """Add a question, get the answer, keep both."""
        self.messages.append(Message("user", question))
        return self.answer(**changes)

    def answer(self, **changes: Any) -> Finished:
        """Answer the messages as they are, and keep the answer."""
        self.matched, finished = finish(self.responder, self.request(**changes))
        parts = finished.text, finished.token_ids, finished.thought, finished.tool_calls
        self.messages.append(Message("assistant", *parts))
        return finished

    @property
    def reused(self) -> int:
        """Tokens that the last turn reused."""
        assert self.matched is not None
        assert self.matched.reused_tokens + self.matched.computed_tokens == self.matched.prompt_tokens
        return self.matched.reused_tokens


def spy(chat: Chat) -> SpyModel:
    """The chat's model, with nothing noted yet."""
    model = chat.responder.model
    assert isinstance(model, SpyModel)
    model.calls.clear()
    return model


def check_sound(chat: Chat, expected: Finished) -> None:
    """Nothing is held, every invariant holds, and the same request now gives the answer of a cold run."""
    chat.responder.cache.check_integrity()
    assert is_idle(chat.responder.cache)
    again = finish(chat.responder, chat.request())[1]
    assert (again.text, again.token_ids) == (expected.text, expected.token_ids)


def cold_answer(chat: Chat, **changes: Any) -> Finished:
    """The answer of the same request without the cache."""
    return finish(chat.responder, chat.request(use_cache=False, **changes))[1]

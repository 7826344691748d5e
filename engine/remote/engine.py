"""A server elsewhere behind the port of the engine: one thread with an event loop, one task for each request."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.events import (
    CacheView,
    Event,
    Failed,
    Finished,
    FinishReason,
    Loaded,
    Loading,
    Matched,
    TextDelta,
    TtftParts,
    TurnStats,
)
from engine.keys import key_of
from engine.remote.counters import Counters, read_counters, reused_between
from engine.remote.counting import Counting
from engine.remote.wire import NOT_TOLD, Answer, NotThereError, Place, RemoteModel, body_of, notices_of, sentence_of
from engine.types import HeadstartError, InvalidRequestError, ModelError, ModelSpec, Request
from engine.worker.requests import Mailbox, OpenRequests

if TYPE_CHECKING:
    import httpx2 as httpx

FIRST_ID = 10**9
"""Ids of requests begin here, so that they are never those of the local engine."""

CONNECT_S, SILENT_S = 10.0, 300.0
"""How long it waits for a connection, and for the next piece of an answer: a long prompt may take minutes."""

TRIES = 3
PAUSE_S = 0.5
"""Before the second try; twice as long before each further one."""

CLOSED = "The engine is closed. Start Headstart again."
NO_SERVER = "No server is chosen. Open one first."
NOT_REACHED = "The server at {} cannot be reached. Check that it runs, and its address."
BROKEN_OFF = "The connection to the server broke in the middle of the answer, and again. Ask again."
OTHERWISE = "The connection broke, and the server began another answer. Ask again."
KEPT_THERE = "This prompt lies on the server, and is kept or dropped there."
NOTHING_HERE = CacheView(0, 0.0, 0, 0, 0, 0, 0, 0)


def _open_tokenizer(folder: Path) -> Any:
    """The tokenizer of a model on this computer, by what opens models here."""
    from engine.models.loaded import tokenizer_alone

    return tokenizer_alone(folder)


class LostError(Exception):
    """The connection broke."""


@dataclass(slots=True)
class Chosen:
    """The model that was loaded last, None before, those of the servers that requests named, by their addresses, until
    one refuses or fails, and what is known of servers by now."""

    model: RemoteModel | None = None
    named: dict[str, RemoteModel] = field(default_factory=dict)
    untold: set[str] = field(default_factory=set)
    """Addresses of servers whose answers do not say what was reused."""
    counting: Counting = field(default_factory=lambda: Counting(_open_tokenizer))


class RemoteEngine:
    """A server with OpenAI's chat completions; `EnginePort` says what each method promises. Nothing is cached here: the
    cache's figures are nothing, and what was reused is what the server says.

    The thread starts with the first request. `clock` gives seconds. `box` and `chosen` are for `beside`: whoever asks
    beside asks the model that was loaded last.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.perf_counter,
        box: Mailbox | None = None,
        chosen: Chosen | None = None,
    ) -> None:
        self._clock = clock
        self._requests = OpenRequests(FIRST_ID)
        self._box = box or self._requests.own
        self._own = chosen or Chosen()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._client: httpx.AsyncClient | None = None
        self._is_closed = False

    def load(self, spec: ModelSpec) -> int:
        return self._ask(lambda request_id: self._load(request_id, spec))

    def submit(self, request: Request) -> int:
        asked = self._clock() if request.asked_at is None else request.asked_at
        return self._ask(lambda request_id: self._answer(request_id, request, asked))

    def preview(self, request: Request) -> int:
        return self._ask(lambda request_id: self._preview(request_id, request))

    def read_ahead(self, request: Request, others: Sequence[Request] = (), *, keeps: bool = False) -> int:
        """Nothing is read: a server reads for an answer only."""
        return self.preview(request)

    def cancel(self, request_id: int) -> None:
        self._requests.cancel(request_id)
        if self._loop is not None:
            with suppress(RuntimeError):  # closed meanwhile
                self._loop.call_soon_threadsafe(self._stop, request_id)

    def set_cache_budget(self, budget_bytes: int) -> None:
        self._box.put(NOTHING_HERE)

    def set_disk_budget(self, budget_bytes: int | None) -> None:
        self._box.put(NOTHING_HERE)

    def clear_cache(self) -> None:
        self._box.put(NOTHING_HERE)

    def forget(self, conversation: str) -> None:
        self._box.put(NOTHING_HERE)

    def keep_only(self, conversations: Collection[str]) -> None:
        self._box.put(NOTHING_HERE)

    def keep_prefix(self, block: int) -> None:
        self._box.put(Failed(0, KEPT_THERE))

    def release_prefix(self, block: int) -> None:
        self._box.put(Failed(0, KEPT_THERE))

    def drop_prefix(self, block: int) -> None:
        self._box.put(Failed(0, KEPT_THERE))

    def cache_view(self) -> CacheView:
        return NOTHING_HERE

    def beside(self, wake: Callable[[], None] = lambda: None) -> RemoteEngine:
        return RemoteEngine(self._clock, Mailbox(wake), self._own)

    def poll(self, limit: int = 256) -> list[Event]:
        return self._box.take(limit)

    def wait(self, timeout_s: float) -> bool:
        return self._box.wait(timeout_s)

    def close(self, timeout_s: float = 6.0) -> bool:
        self._is_closed = True
        thread, loop = self._thread, self._loop
        if thread is not None and loop is not None and thread.is_alive():
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(loop.stop)
            thread.join(timeout_s)
        self._requests.end_all(CLOSED)
        return thread is None or not thread.is_alive()

    # the thread

    def _ask(self, work: Callable[[int], Coroutine[Any, Any, None]]) -> int:
        request_id = self._requests.begin(self._box)
        if self._is_closed:
            self._requests.report(Failed(request_id, CLOSED))
            return request_id
        loop = self._started()
        loop.call_soon_threadsafe(self._begin, request_id, work)
        return request_id

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._run, args=(self._loop,), name="headstart-remote", daemon=True)
            self._thread.start()
        return self._loop

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            for task in self._tasks.values():
                task.cancel()
            loop.run_until_complete(asyncio.gather(*self._tasks.values(), return_exceptions=True))
            if self._client is not None:
                loop.run_until_complete(self._client.aclose())
        finally:
            loop.close()

    def _begin(self, request_id: int, work: Callable[[int], Coroutine[Any, Any, None]]) -> None:
        assert self._loop is not None
        task = self._loop.create_task(self._guarded(request_id, work(request_id)))
        self._tasks[request_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(request_id, None))
        if self._requests.is_cancelled(request_id):
            task.cancel()

    def _stop(self, request_id: int) -> None:
        if request_id in self._tasks:
            self._tasks[request_id].cancel()

    async def _guarded(self, request_id: int, work: Coroutine[Any, Any, None]) -> None:
        """Whatever goes wrong ends the request with a sentence."""
        try:
            await work
        except asyncio.CancelledError:
            self._requests.report(Failed(request_id, CLOSED if self._is_closed else "That was stopped."))
        except HeadstartError as error:
            is_refused = isinstance(error, InvalidRequestError)
            self._requests.report(Failed(request_id, str(error), error.detail, is_refused))
        except Exception as error:
            sentence = "Something went wrong with the answer of the server. Ask again."
            self._requests.report(Failed(request_id, sentence, repr(error)))

    # what is asked

    async def _load(self, request_id: int, spec: ModelSpec) -> None:
        self._requests.report(Loading(request_id, "Asking the server"))
        place = Place.of(spec.path)
        listed = await self._get(place, "/models")
        self._own.counting.ask_again(place)
        self._own.model = model = RemoteModel.of(place, listed)
        self._requests.report(replace(NOTHING_HERE, request_id=request_id))
        self._requests.report(Loaded(request_id, model.info(spec.path)))

    async def _preview(self, request_id: int, request: Request) -> None:
        model = await self._chosen(request)

        async def ask(path: str, body: Mapping[str, Any]) -> Any:
            return await self._post(_root(model.place), path, dict(body))

        self._requests.report(await self._own.counting.preview(request_id, request, model, ask))

    async def _answer(self, request_id: int, request: Request, asked: float) -> None:
        model, answer = await self._chosen(request), Answer()
        first: float | None = None
        reason: FinishReason = "stopped"
        before = await self._counters(model.place)
        try:
            async for text, is_thought in self._texts(request, model, answer):
                if first is None:
                    first = self._clock()
                self._requests.report(TextDelta(request_id, text, is_thought))
            reason = answer.reason or "end"
        except HeadstartError:
            self._own.named.pop(request.server, None)  # perhaps it has another model by now: it is asked again
            raise
        except asyncio.CancelledError:
            if self._is_closed:
                raise
        if answer.cached_tokens is None and answer.prompt_tokens:
            self._own.untold.add(model.place.address)
            after = await self._counters(model.place) if before else {}
            answer.cached_tokens = reused_between(before, after, answer.prompt_tokens)
        stats = _stats(request_id, answer, asked, first, self._clock())
        told = () if answer.cached_tokens is not None or reason == "stopped" else (NOT_TOLD,)
        self._requests.report(
            Matched(
                request_id=request_id,
                prompt_tokens=stats.prompt_tokens,
                reused_tokens=stats.reused_tokens,
                computed_tokens=stats.prompt_tokens - stats.reused_tokens,
                divergence=answer.divergence,
                spans=(),
                notices=(*notices_of(request, model), *told),
            )
        )
        self._requests.report(replace(NOTHING_HERE, request_id=request_id))
        self._own.counting.answered(request, model, answer.prompt_tokens)
        self._requests.report(
            Finished(request_id, reason, answer.text, (), stats, thought=answer.thought, tool_calls=answer.tool_calls)
        )

    async def _counters(self, place: Place) -> Counters:
        """What a server counts, where its answers do not say what was reused; nothing for any other, or where it
        counts nothing."""
        if place.address not in self._own.untold:
            return {}
        import httpx2 as httpx

        with suppress(httpx.HTTPError, HeadstartError):
            response = await self._http().get(
                _root(place).address + "/metrics", headers=_headers(place), timeout=CONNECT_S
            )
            return read_counters(response.text) if response.status_code == 200 else {}
        return {}

    async def _texts(
        self, request: Request, model: RemoteModel, answer: Answer
    ) -> AsyncGenerator[tuple[str, bool], None]:
        """The texts of an answer as they come. A connection that breaks is made again; what the server then repeats of
        the answer is left out, and another answer is none. Raises HeadstartError."""
        body = body_of(request, model)
        for number in range(TRIES):
            again = Answer()
            try:
                async for chunk in self._chunks(model.place, body):
                    again.add(chunk)
                    for new in _news(answer, again):
                        yield new
                _take_over(answer, again)
                return
            except LostError as error:
                if number == TRIES - 1:
                    sentence = BROKEN_OFF if answer.pieces else self._not_reached(model.place)
                    raise ModelError(sentence, str(error)) from error
                await asyncio.sleep(PAUSE_S * 2**number)

    async def _chunks(self, place: Place, body: dict[str, Any]) -> AsyncGenerator[Any, None]:
        """The data of the events of an answer. Raises LostError, and HeadstartError where the server refuses."""
        import httpx2 as httpx

        client = self._http()
        is_whole = False
        try:
            async with client.stream(
                "POST", f"{place.address}/chat/completions", json=body, headers=_headers(place)
            ) as response:
                if response.status_code != 200:
                    raise _refusal(response.status_code, await response.aread())
                async for line in response.aiter_lines():
                    if line == "data: [DONE]":
                        is_whole = True
                    elif line.startswith("data:"):
                        with suppress(ValueError):
                            yield json.loads(line[5:])
        except httpx.HTTPError as error:
            raise LostError(str(error)) from error
        if not is_whole:
            raise LostError("the stream ended early")

    async def _get(self, place: Place, path: str) -> Any:
        return await self._call("GET", place, path)

    async def _post(self, place: Place, path: str, body: dict[str, Any]) -> Any:
        return await self._call("POST", place, path, json=body)

    async def _call(self, method: str, place: Place, path: str, **options: Any) -> Any:
        import httpx2 as httpx

        try:
            url = f"{place.address}{path}"
            response = await self._http().request(method, url, headers=_headers(place), **options)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ModelError(self._not_reached(place), str(error)) from error
        if response.status_code != 200:
            raise _refusal(response.status_code, response.content)
        try:
            return response.json()
        except ValueError as error:
            raise ModelError("What the server says is no JSON. Check its address: most end in /v1.") from error

    def _http(self) -> httpx.AsyncClient:
        import httpx2 as httpx

        if self._client is None:
            self._client = httpx.AsyncClient(timeout=httpx.Timeout(SILENT_S, connect=CONNECT_S))
        return self._client

    async def _chosen(self, request: Request) -> RemoteModel:
        """The model that is to answer: that of the server which the request names, asked for the first time and after
        an answer that failed, or the one that was loaded."""
        if not request.server:
            if self._own.model is None:
                raise ModelError(NO_SERVER)
            return self._own.model
        if request.server not in self._own.named:
            place = Place.of(request.server)
            self._own.named[request.server] = RemoteModel.of(place, await self._get(place, "/models"))
        return self._own.named[request.server]

    @staticmethod
    def _not_reached(place: Place) -> str:
        return NOT_REACHED.format(place.address)


def _root(place: Place) -> Place:
    """Where a server has what is not part of OpenAI's API."""
    return replace(place, address=place.address.removesuffix("/v1"))


def _headers(place: Place) -> dict[str, str]:
    key = key_of(place.address)
    return {"authorization": f"Bearer {key}"} if key else {}


def _refusal(status: int, body: bytes) -> HeadstartError:
    sentence = sentence_of(status, body)
    if status in (404, 405, 501):
        return NotThereError(sentence)
    return InvalidRequestError(sentence) if status in (400, 413, 422) else ModelError(sentence)


def _news(shown: Answer, now: Answer) -> list[tuple[str, bool]]:
    """What an answer has more than was shown of it, which is noted there. Raises ModelError where what was shown stands
    no more in it: then it is another answer."""
    found: list[tuple[str, bool]] = []
    for name in ("thought", "text"):
        before, whole = getattr(shown, name), getattr(now, name)
        if not whole.startswith(before[: len(whole)]):
            raise ModelError(OTHERWISE)
        if new := whole[len(before) :]:
            setattr(shown, name, whole)
            shown.pieces = max(shown.pieces, now.pieces)
            found.append((new, name == "thought"))
    return found


def _take_over(answer: Answer, now: Answer) -> None:
    for name in Answer.__slots__:
        setattr(answer, name, getattr(now, name))


def _stats(request_id: int, answer: Answer, asked: float, first: float | None, now: float) -> TurnStats:
    """The figures of an answer: what the server says of tokens, and the times as they were here. Where it does not say
    what it reused, neither the tokens that it reused nor those that it computed are known: both are 0."""
    prompt = answer.prompt_tokens or 0
    reused = min(answer.cached_tokens or 0, prompt)
    written = answer.written_tokens or answer.pieces
    ttft = None if first is None else first - asked
    prefill = min(answer.prefill_s, ttft or 0.0)
    is_several = first is not None and written > 1 and now > first
    return TurnStats(
        request_id=request_id,
        prompt_tokens=prompt,
        reused_tokens=reused,
        computed_tokens=0 if answer.cached_tokens is None else prompt - reused,
        written_tokens=written,
        ttft_s=ttft,
        parts=TtftParts(prefill=prefill, first_token=(ttft or 0.0) - prefill),
        tokens_per_s=(written - 1) / (now - first) if is_several and first is not None else 0.0,
        cold_ttft_s=answer.cold_ttft_s if answer.cold_ttft_s is not None else ttft or 0.0,
        cold_measured=False,
        cache_bytes=0,
    )

"""The one place of the server that asks the engine: requests go in, their events come out to whoever waits for them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import replace

from app.server.errors import ApiError, refusal
from app.server.record import Asked, Record
from engine import (
    CacheView,
    EnginePort,
    Event,
    Failed,
    Finished,
    Matched,
    Message,
    ModelInfo,
    Preview,
    Request,
    ToolCall,
    TurnStats,
)

LOOK_EVERY_S = 0.02
"""Between two looks at the engine's events while something is open and nothing has said that there are any."""

NO_MODEL = "No model is loaded yet. Try again in a moment."
CLOSING = "The server is closing."
FULL = "Too many requests wait here. Try again in a moment."
WRITTEN_ANSWERS = 2_000
"""Of how many answers the ids are remembered."""

Said = tuple[str, str, str, tuple[tuple[str, str], ...]]


class Desk:
    """Asks `engine`, whose events nobody else takes, from one event loop. `most_open` requests at most are under way or
    wait. `record` hears of every request, and `heard` of each that has ended, in the thread of the loop.

    `wake` may be called from any thread when there are events. `model` is None until one is loaded.
    """

    def __init__(
        self,
        connect: Callable[[Callable[[], None]], EnginePort],
        most_open: int,
        heard: Callable[[Asked], None] = lambda asked: None,
    ) -> None:
        self.record = Record(heard)
        self.model: ModelInfo | None = None
        self._most_open = most_open
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._engine = connect(self.wake)
        self._waiting: dict[int, asyncio.Queue[Event]] = {}
        self._ordered: deque[asyncio.Future[CacheView]] = deque()
        self._written: OrderedDict[Said, tuple[int, ...]] = OrderedDict()
        self._is_closed = False
        self._pump = asyncio.create_task(self._take_events())

    def wake(self) -> None:
        """There are events, or something was asked for."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._news.set)

    def loaded(self) -> ModelInfo:
        """The model that answers. Raises ApiError where there is none."""
        if self.model is None:
            raise ApiError(503, NO_MODEL, retry_s=2.0)
        return self.model

    async def events(self, request: Request, asked: Asked) -> AsyncGenerator[Event, None]:
        """The events of one request, the last being Finished. Whoever stops listening stops the request. Raises
        ApiError."""
        messages = tuple(self._with_ids(message, request.salt) for message in request.messages)
        try:
            request_id = self._submit(replace(request, messages=messages))
        except ApiError:
            asked.state = "failed"
            self.record.end(asked)
            raise
        try:
            while True:
                event = await self._waiting[request_id].get()
                self._note(event, asked)
                if isinstance(event, Failed):
                    raise refusal(event)
                if isinstance(event, Finished):
                    self._remember(event, request.salt)
                yield event
                if isinstance(event, Finished):
                    return
        finally:
            self._leave(request_id)
            self.record.end(asked)

    def _submit(self, request: Request) -> int:
        self.loaded()
        if self._is_closed:
            raise ApiError(503, CLOSING)
        if len(self._waiting) >= self._most_open:
            raise ApiError(429, FULL, code="queue_full", retry_s=5.0)
        return self._expect(self._engine.submit(request))

    async def preview(self, request: Request) -> Preview:
        """What a request would reuse and compute. Raises ApiError."""
        self.loaded()
        request_id = self._expect(self._engine.preview(request))
        try:
            event = await self._waiting[request_id].get()
        finally:
            self._leave(request_id)
        if isinstance(event, Failed):
            raise refusal(event)
        assert isinstance(event, Preview)
        return event

    async def clear_cache(self) -> CacheView:
        """Drop all that no running request needs; the cache then."""
        return await self._order(lambda: self._engine.clear_cache())

    async def drop(self, block: int) -> CacheView:
        """Drop one run of the tree and all behind it; the cache then."""
        return await self._order(lambda: self._engine.drop_prefix(block))

    def view(self) -> CacheView:
        """The newest picture of the cache."""
        return self._engine.cache_view()

    async def close(self) -> None:
        """Stop what is open and take no more."""
        self._is_closed = True
        for request_id in list(self._waiting):
            self._engine.cancel(request_id)
        self._pump.cancel()
        with suppress(asyncio.CancelledError):
            await self._pump
        for queue in self._waiting.values():
            queue.put_nowait(Failed(0, CLOSING))
        await asyncio.to_thread(self._engine.close)

    # events

    def _expect(self, request_id: int) -> int:
        self._waiting[request_id] = asyncio.Queue()
        self._news.set()
        return request_id

    def _leave(self, request_id: int) -> None:
        """Nobody waits for this one any more: it is stopped unless it has ended. What it still says is dropped."""
        if self._waiting.pop(request_id, None) is not None:
            self._engine.cancel(request_id)

    async def _order(self, give: Callable[[], None]) -> CacheView:
        answer: asyncio.Future[CacheView] = self._loop.create_future()
        self._ordered.append(answer)
        give()
        self._news.set()
        return await answer

    async def _take_events(self) -> None:
        while True:
            self._news.clear()
            while events := self._engine.poll():
                for event in events:
                    self._deliver(event)
            timeout = LOOK_EVERY_S if self._waiting or self._ordered else None
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await self._news.wait()

    def _deliver(self, event: Event) -> None:
        if event.request_id == 0 and self._ordered:
            answer = self._ordered.popleft()
            if not answer.done():
                if isinstance(event, CacheView):
                    answer.set_result(event)
                elif isinstance(event, Failed):
                    answer.set_exception(refusal(event))
        elif (queue := self._waiting.get(event.request_id)) is not None:
            queue.put_nowait(event)

    def _note(self, event: Event, asked: Asked) -> None:
        if isinstance(event, Matched):
            asked.match(event)
        elif isinstance(event, TurnStats):
            asked.measure(event)
        elif isinstance(event, Finished):
            asked.finish(event)
        elif isinstance(event, Failed):
            asked.fail(event)

    # Answers come back as text; their own ids stand for them, so that nothing of them is read again.

    def _remember(self, finished: Finished, salt: str) -> None:
        if finished.token_ids:
            said = _said(finished.text, finished.thought, finished.tool_calls, salt)
            self._written[said] = finished.token_ids
            self._written.move_to_end(said)
            if len(self._written) > WRITTEN_ANSWERS:
                self._written.popitem(last=False)

    def _with_ids(self, message: Message, salt: str) -> Message:
        if message.role != "assistant" or message.token_ids:
            return message
        ids = self._written.get(_said(message.content, message.thought, message.tool_calls, salt), ())
        return replace(message, token_ids=ids) if ids else message


def _said(text: str, thought: str, calls: tuple[ToolCall, ...], salt: str) -> Said:
    return salt, text, thought, tuple((call.name, call.arguments) for call in calls)

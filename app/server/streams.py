"""Answers as they are sent: whole, or piece by piece as server-sent events; and what happens when a caller leaves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from starlette.requests import Request as Call
from starlette.responses import JSONResponse, Response, StreamingResponse

from app.server.errors import ApiError

T = TypeVar("T")
Piece = tuple[str, Any]
"""The name of an event ("" for none) and its data."""


async def while_heard(call: Call, work: Awaitable[T]) -> T:
    """The result of `work`, which is broken off when the caller leaves."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_left(call))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ApiError(400, "The caller has left.")
        return task.result()
    finally:
        for one in (task, gone):
            if not one.done():
                one.cancel()
                with suppress(asyncio.CancelledError, ApiError):
                    await one


async def _left(call: Call) -> None:
    while (await call.receive())["type"] != "http.disconnect":
        pass


async def whole(call: Call, work: Awaitable[dict[str, Any]]) -> Response:
    """The answer at once."""
    return JSONResponse(await while_heard(call, work))


async def stream(
    call: Call, pieces: AsyncGenerator[Piece, None], last: str = "", error: Callable[[ApiError], Piece] | None = None
) -> Response:
    """The answer piece by piece. What is wrong before the first piece is an answer of its own; behind that it is the
    last piece. `last` is sent at the end."""
    first = await while_heard(call, anext(pieces))

    async def text() -> AsyncGenerator[bytes, None]:
        try:
            yield _event(first)
            async for piece in pieces:
                yield _event(piece)
        except ApiError as problem:
            yield _event(error(problem) if error else ("", problem.content(call.url.path)))
        else:
            if last:
                yield f"data: {last}\n\n".encode()
        finally:
            await pieces.aclose()

    return StreamingResponse(text(), media_type="text/event-stream")


def _event(piece: Piece) -> bytes:
    name, data = piece
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n".encode("utf-8", "replace")

"""OpenAI's responses, text only: nothing is stored, so the whole conversation comes with each request."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from starlette.requests import Request as Call
from starlette.responses import Response

from app.server.asking import (
    Body,
    check_model,
    client_of,
    conversation_of,
    made_id,
    make_request,
    sampling_of,
    text_of,
    thinking_of,
)
from app.server.desk import Desk
from app.server.errors import ApiError
from app.server.record import Asked
from app.server.streams import Piece, stream, whole
from app.server.usage import responses_usage
from engine import Finished, Message, ModelInfo, Request, TemplateSettings, TextDelta


async def answer(call: Call, desk: Desk, body: Body) -> Response:
    """POST /v1/responses."""
    model = desk.loaded()
    name = check_model(body, model)
    request = request_of(body, call, model)
    asked = desk.record.begin(request.conversation, call.url.path)
    head = _head(body, name, request)
    if body.get("stream"):
        return await stream(call, _pieces(desk, request, asked, head), error=_failed)
    return await whole(call, _whole(desk, request, asked, head))


def request_of(body: Body, call: Call, model: ModelInfo) -> Request:
    """The engine's request. Raises ApiError."""
    given = body["input"]
    first = [Message("system", body["instructions"])] if body.get("instructions") else []
    if isinstance(given, str):
        messages = (*first, Message("user", given))
    else:
        roles = {"developer": "system"}
        chat = [Message(roles.get(each["role"], each["role"]), text_of(each["content"])) for each in given]
        messages = (*first, *chat)
    client, salt = client_of(body, call), body.get("cache_salt") or ""
    return make_request(
        messages=messages,
        sampling=sampling_of(body, model, body.get("max_output_tokens")),
        conversation=conversation_of(client, salt, messages),
        pin_system=False,
        template=TemplateSettings(thinking_of((body.get("reasoning") or {}).get("effort"), model)),
        client=client,
        salt=salt,
    )


def _head(body: Body, name: str, request: Request) -> dict[str, Any]:
    """What a response says of itself before there is an answer."""
    return {
        "id": made_id("resp_"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress",
        "model": name,
        "output": [],
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "metadata": body.get("metadata") or {},
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "store": False,
        "temperature": request.sampling.temperature,
        "top_p": request.sampling.top_p,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "truncation": "disabled",
        "usage": None,
    }


def _message(item_id: str, text: str, status: str) -> dict[str, Any]:
    return {"id": item_id, "type": "message", "role": "assistant", "status": status, "content": [_part(text)]}


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _done(head: Body, item_id: str, end: Finished, asked: Asked) -> dict[str, Any]:
    is_cut = end.reason == "length"
    status = "incomplete" if is_cut else "completed"
    return {
        **head,
        "status": status,
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "output": [_message(item_id, end.text, status)],
        "usage": responses_usage(asked),
    }


async def _whole(desk: Desk, request: Request, asked: Asked, head: Body) -> dict[str, Any]:
    async with aclosing(desk.events(request, asked)) as events:
        async for event in events:
            if isinstance(event, Finished):
                return _done(head, made_id("msg_"), event, asked)
    raise AssertionError("a request ends with Finished")


async def _pieces(desk: Desk, request: Request, asked: Asked, head: Body) -> AsyncGenerator[Piece, None]:
    """The events of a response, each numbered."""
    number = -1
    item_id = made_id("msg_")
    place = {"item_id": item_id, "output_index": 0, "content_index": 0}

    def event(kind: str, **fields: Any) -> Piece:
        nonlocal number
        number += 1
        return kind, {"type": kind, "sequence_number": number, **fields}

    async with aclosing(desk.events(request, asked)) as events:
        has_begun = False
        async for each in events:
            if not has_begun:
                has_begun = True
                yield event("response.created", response=head)
                yield event("response.in_progress", response=head)
                item = {**_message(item_id, "", "in_progress"), "content": []}
                yield event("response.output_item.added", output_index=0, item=item)
                yield event("response.content_part.added", **place, part=_part(""))
            if isinstance(each, TextDelta) and not each.is_thought:
                yield event("response.output_text.delta", **place, delta=each.text, logprobs=[])
            elif isinstance(each, Finished):
                done = _done(head, item_id, each, asked)
                yield event("response.output_text.done", **place, text=each.text, logprobs=[])
                yield event("response.content_part.done", **place, part=_part(each.text))
                yield event("response.output_item.done", output_index=0, item=done["output"][0])
                yield event(f"response.{done['status']}", response=done)


def _failed(problem: ApiError) -> Piece:
    return "error", {"type": "error", "code": problem.code, "message": str(problem), "param": problem.param}

"""OpenAI's responses: nothing is stored, so the whole conversation comes with each request."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from starlette.requests import Request as Call
from starlette.responses import Response

from app.server.asking import (
    NO_TOOLS,
    Body,
    call_id,
    check_model,
    client_of,
    conversation_of,
    held_to,
    in_words,
    made_id,
    make_request,
    sampling_of,
    schema_text,
    text_of,
    thinking_of,
    tool_of,
)
from app.server.desk import Desk
from app.server.errors import ApiError
from app.server.record import Asked
from app.server.streams import Piece, stream, whole
from app.server.usage import responses_usage
from engine import Finished, Message, ModelInfo, Request, TemplateSettings, TextDelta, Tool, ToolCall


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
    messages = (*first, *([Message("user", given)] if isinstance(given, str) else messages_of(given)))
    client, salt = client_of(body, call), body.get("cache_salt") or ""
    form = (body.get("text") or {}).get("format") or {"type": "text"}
    return make_request(
        messages=messages,
        sampling=sampling_of(body, model, body.get("max_output_tokens")),
        conversation=conversation_of(client, salt, messages),
        pin_system=False,
        template=TemplateSettings(thinking_of((body.get("reasoning") or {}).get("effort"), model)),
        client=client,
        salt=salt,
        schema=schema_text(form, form.get("schema")),
        **_held(body),
    )


def messages_of(items: Sequence[Mapping[str, Any]]) -> list[Message]:
    """The messages that items make: a thought, a text and calls that follow each other are one answer. Raises
    ApiError."""
    messages: list[Message] = []
    answer: dict[str, Any] = {}

    def end_answer() -> None:
        if answer:
            messages.append(in_words(lambda: Message(**{"role": "assistant", "content": "", **answer})))
            answer.clear()

    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call":
            made = in_words(lambda item=item: ToolCall(item["name"], item["arguments"] or "{}", item["call_id"]))
            answer["tool_calls"] = (*answer.get("tool_calls", ()), made)
        elif kind == "reasoning":
            end_answer()
            answer["thought"] = text_of(item.get("content"))
        elif kind == "message" and item["role"] == "assistant":
            if answer.keys() & {"content", "tool_calls"}:
                end_answer()
            answer["content"] = text_of(item["content"])
        else:
            end_answer()
            messages.append(in_words(lambda item=item: _message(item)))
    end_answer()
    return messages


def _message(item: Mapping[str, Any]) -> Message:
    if item.get("type") == "function_call_output":
        return Message("tool", text_of(item["output"]), tool_call_id=item["call_id"])
    return Message("system" if item["role"] == "developer" else item["role"], text_of(item["content"]))


def _held(body: Body) -> dict[str, Any]:
    """The tools, and what holds the answer to calls of them."""
    choice, given = body.get("tool_choice"), body.get("tools") or ()
    if choice == "none":
        return {}
    tools: list[Tool] = [tool_of(each["name"], each.get("description"), each.get("parameters")) for each in given]
    must_call = [tool.name for tool in tools] if choice == "required" else []
    if choice == "required" and not tools:
        raise ApiError(400, NO_TOOLS, param="tool_choice")
    may_call = None
    if isinstance(choice, Mapping):
        named = [each["name"] for each in choice.get("tools", [choice])]
        must_call, may_call = ([], named) if choice.get("mode") == "auto" else (named, None)
    strict = [each["name"] for each in given if each.get("strict")]
    return held_to(tools, must_call, strict, is_one=body.get("parallel_tool_calls") is False, may_call=may_call)


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
        "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
        "previous_response_id": None,
        "store": False,
        "temperature": request.sampling.temperature,
        "top_p": request.sampling.top_p,
        "text": {"format": (body.get("text") or {}).get("format") or {"type": "text"}},
        "tool_choice": body.get("tool_choice") or "auto",
        "tools": body.get("tools") or [],
        "truncation": "disabled",
        "usage": None,
    }


def _thought(item_id: str, text: str, status: str) -> dict[str, Any]:
    content = [{"type": "reasoning_text", "text": text}]
    return {"id": item_id, "type": "reasoning", "status": status, "summary": [], "content": content}


def _said(item_id: str, text: str, status: str) -> dict[str, Any]:
    return {"id": item_id, "type": "message", "role": "assistant", "status": status, "content": [_part(text)]}


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _called(call: ToolCall) -> dict[str, Any]:
    return {
        "id": made_id("fc_"),
        "type": "function_call",
        "status": "completed",
        "call_id": call_id(call),
        "name": call.name,
        "arguments": call.arguments,
    }


def _output(end: Finished) -> list[dict[str, Any]]:
    """The items of an answer."""
    items = [_thought(made_id("rs_"), end.thought, "completed")] if end.thought else []
    if end.text or not end.tool_calls:
        items.append(_said(made_id("msg_"), end.text, "incomplete" if end.reason == "length" else "completed"))
    return items + [_called(each) for each in end.tool_calls]


def _done(head: Body, output: list[dict[str, Any]], end: Finished, asked: Asked) -> dict[str, Any]:
    is_cut = end.reason == "length"
    return {
        **head,
        "status": "incomplete" if is_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "output": output,
        "usage": responses_usage(asked),
    }


async def _whole(desk: Desk, request: Request, asked: Asked, head: Body) -> dict[str, Any]:
    async with aclosing(desk.events(request, asked)) as events:
        async for event in events:
            if isinstance(event, Finished):
                return _done(head, _output(event), event, asked)
    raise AssertionError("a request ends with Finished")


class _Stream:
    """The events of one response, each numbered, and the items that they make, one after the other."""

    def __init__(self, head: Body) -> None:
        self.output: list[dict[str, Any]] = []
        self._head = head
        self._number = -1
        self._kind = ""
        self._text = ""

    def event(self, kind: str, **fields: Any) -> Piece:
        """One event."""
        self._number += 1
        return kind, {"type": kind, "sequence_number": self._number, **fields}

    def begin(self) -> list[Piece]:
        """The first events."""
        return [self.event(f"response.{state}", response=self._head) for state in ("created", "in_progress")]

    def add(self, text: str, *, is_thought: bool) -> list[Piece]:
        """More of a thought, or of the text, each of which is an item."""
        kind = "reasoning" if is_thought else "message"
        pieces = [] if kind == self._kind else [*self.end_item(), *self._begin_item(kind)]
        self._text += text
        logprobs: dict[str, Any] = {} if is_thought else {"logprobs": []}
        name = "reasoning_text" if is_thought else "output_text"
        return [*pieces, self.event(f"response.{name}.delta", **self._place, delta=text, **logprobs)]

    def end_item(self, status: str = "completed") -> list[Piece]:
        """The end of the item that is written."""
        kind, self._kind = self._kind, ""
        if not kind:
            return []
        place, text, index = self._place, self._text, len(self.output)
        self._text = ""
        if kind == "reasoning":
            item, part = _thought(self._item_id, text, status), {"type": "reasoning_text", "text": text}
            done = self.event("response.reasoning_text.done", **place, text=text)
        else:
            item, part = _said(self._item_id, text, status), _part(text)
            done = self.event("response.output_text.done", **place, text=text, logprobs=[])
        ends = [done, self.event("response.content_part.done", **place, part=part)]
        self.output.append(item)
        return [*ends, self.event("response.output_item.done", output_index=index, item=item)]

    def call(self, call: ToolCall) -> list[Piece]:
        """A call, which comes whole."""
        item, index = _called(call), len(self.output)
        place = {"item_id": item["id"], "output_index": index}
        begun = {**item, "arguments": "", "status": "in_progress"}
        pieces = [
            self.event("response.output_item.added", output_index=index, item=begun),
            self.event("response.function_call_arguments.delta", **place, delta=call.arguments),
            self.event("response.function_call_arguments.done", **place, name=call.name, arguments=call.arguments),
            self.event("response.output_item.done", output_index=index, item=item),
        ]
        self.output.append(item)
        return pieces

    def end(self, end: Finished, asked: Asked) -> list[Piece]:
        """What is left at the end of the answer."""
        pieces: list[Piece] = []
        if not (end.text or end.tool_calls):
            pieces += [*self.end_item(), *self._begin_item("message")]
        pieces += self.end_item("incomplete" if end.reason == "length" else "completed")
        for call in end.tool_calls:
            pieces += self.call(call)
        done = _done(self._head, self.output, end, asked)
        return [*pieces, self.event(f"response.{done['status']}", response=done)]

    def _begin_item(self, kind: str) -> list[Piece]:
        self._kind = kind
        self._item_id = made_id("rs_" if kind == "reasoning" else "msg_")
        item = (_thought if kind == "reasoning" else _said)(self._item_id, "", "in_progress")
        part = {"type": "reasoning_text", "text": ""} if kind == "reasoning" else _part("")
        added = self.event("response.output_item.added", output_index=len(self.output), item={**item, "content": []})
        return [added, self.event("response.content_part.added", **self._place, part=part)]

    @property
    def _place(self) -> dict[str, Any]:
        return {"item_id": self._item_id, "output_index": len(self.output), "content_index": 0}


async def _pieces(desk: Desk, request: Request, asked: Asked, head: Body) -> AsyncGenerator[Piece, None]:
    """The events of a response as they come."""
    made = _Stream(head)
    has_begun = False
    async with aclosing(desk.events(request, asked)) as events:
        async for each in events:
            if not has_begun:
                has_begun = True
                for piece in made.begin():
                    yield piece
            if isinstance(each, TextDelta):
                for piece in made.add(each.text, is_thought=each.is_thought):
                    yield piece
            elif isinstance(each, Finished):
                for piece in made.end(each, asked):
                    yield piece


def _failed(problem: ApiError) -> Piece:
    return "error", {"type": "error", "code": problem.code, "message": str(problem), "param": problem.param}

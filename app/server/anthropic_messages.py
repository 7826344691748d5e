"""Anthropic's messages (docs.anthropic.com/en/api/messages), with breakpoints that keep starts of a prompt resident."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
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
    stops_of,
    text_of,
    tool_of,
)
from app.server.desk import Desk
from app.server.errors import ApiError
from app.server.record import Asked
from app.server.streams import Piece, stream, whole
from app.server.usage import anthropic_usage
from engine import (
    Finished,
    KeptStart,
    Matched,
    Message,
    ModelInfo,
    Request,
    Role,
    TemplateSettings,
    TextDelta,
    Tool,
    ToolCall,
)

SECONDS = {"5m": 300.0, "1h": 3600.0}
BETWEEN_TEXTS = "\n\n"
MOST_BREAKPOINTS = 4
REASONS = {"end": "end_turn", "length": "max_tokens", "stopped": "end_turn"}
NO_THINKING = "This model has no switch for thinking: leave thinking out."
TOO_MANY = f"There may be up to {MOST_BREAKPOINTS} blocks with cache_control in a request."
NO_RESULTS_FROM_ASSISTANT = "A tool_result belongs into a message of the user."
NO_CALLS_FROM_USER = "A block of the type tool_use or thinking belongs into a message of the assistant."


@dataclass(slots=True)
class Chat:
    """Messages in the engine's form, and where a breakpoint stands, with how long it keeps: behind so many of the
    messages, and so many characters of the next one."""

    messages: list[Message] = field(default_factory=list)
    breakpoints: dict[tuple[int, int], float] = field(default_factory=dict)
    count: int = 0

    def mark(self, block: Mapping[str, Any], before: int, characters: int = 0) -> None:
        """Note a breakpoint where the block has one, behind the first `before` messages and `characters`."""
        if (control := block.get("cache_control")) is not None:
            self.count += 1
            seconds = SECONDS[control.get("ttl") or "5m"]
            place = before, characters
            self.breakpoints[place] = max(seconds, self.breakpoints.get(place, 0.0))
            if self.count > MOST_BREAKPOINTS:
                raise ApiError(400, TOO_MANY)


async def answer(call: Call, desk: Desk, body: Body) -> Response:
    """POST /v1/messages."""
    model = desk.loaded()
    name = check_model(body, model)
    request = request_of(body, call, model)
    asked = desk.record.begin(request.conversation, call.url.path)
    head = {"id": made_id("msg_"), "type": "message", "role": "assistant", "model": name}
    if body.get("stream"):
        return await stream(call, _pieces(desk, request, asked, head), error=_failed)
    return await whole(call, _whole(desk, request, asked, head))


async def count(call: Call, desk: Desk, body: Body) -> dict[str, Any]:
    """POST /v1/messages/count_tokens."""
    model = desk.loaded()
    check_model(body, model)
    preview = await desk.preview(request_of({**body, "max_tokens": 1}, call, model))
    return {"input_tokens": preview.prompt_tokens}


def request_of(body: Body, call: Call, model: ModelInfo) -> Request:
    """The engine's request. Raises ApiError."""
    chat = Chat()
    choice = (body.get("tool_choice") or {"type": "auto"})["type"]
    tools = [] if choice == "none" else list(body.get("tools") or ())
    for tool in tools:
        chat.mark(tool, 0)
    _add_system(chat, body.get("system"))
    for given in body["messages"]:
        _add(chat, given)
    chat.mark(body, len(chat.messages))
    client, salt = client_of(body, call), body.get("cache_salt") or ""
    form = (body.get("output_config") or {}).get("format") or {"type": "text"}
    return make_request(
        messages=tuple(chat.messages),
        sampling=sampling_of(body, model, body["max_tokens"]),
        conversation=conversation_of(client, salt, chat.messages),
        pin_system=False,
        stop=stops_of(body.get("stop_sequences")),
        template=TemplateSettings(_thinking(body.get("thinking"), model)),
        client=client,
        salt=salt,
        kept=tuple(
            KeptStart(before, seconds, characters) for (before, characters), seconds in sorted(chat.breakpoints.items())
        ),
        schema=schema_text(form, form.get("schema")),
        **_held(body),
    )


def _held(body: Body) -> dict[str, Any]:
    """The tools, and what holds the answer to calls of them."""
    choice, given = body.get("tool_choice") or {"type": "auto"}, body.get("tools") or ()
    if choice["type"] == "none":
        return {}
    tools = [_tool(each) for each in given]
    must_call = [tool.name for tool in tools] if choice["type"] == "any" else []
    if choice["type"] == "any" and not tools:
        raise ApiError(400, NO_TOOLS)
    if choice["type"] == "tool":
        must_call = [choice["name"]]
    strict = [each["name"] for each in given if each.get("strict")]
    return held_to(tools, must_call, strict, is_one=bool(choice.get("disable_parallel_tool_use")))


def _thinking(wish: Mapping[str, Any] | None, model: ModelInfo) -> str:
    """Thinking is switched on or off where the model has a switch for that."""
    if wish is None or wish["type"] == "adaptive":
        return ""
    asked = "on" if wish["type"] == "enabled" else "off"
    if asked in model.thinking:
        return asked
    if asked == "off" and not model.thinking:
        return ""
    raise ApiError(400, NO_THINKING, param="thinking")


def _tool(given: Mapping[str, Any]) -> Tool:
    return tool_of(given["name"], given.get("description"), given["input_schema"])


def _add_system(chat: Chat, given: Any) -> None:
    blocks = [{"text": given}] if isinstance(given, str) else list(given or ())
    _add_texts(chat, "system", blocks)


def _add_texts(chat: Chat, role: Role, blocks: Sequence[Mapping[str, Any]]) -> None:
    """One message of several texts; behind each of them there may be a breakpoint."""
    at, before, text = 0, len(chat.messages), BETWEEN_TEXTS.join(block["text"] for block in blocks)
    if text:
        chat.messages.append(Message(role, text))
    for block in blocks:
        at += len(block["text"])
        is_whole = at == len(text)
        chat.mark(block, len(chat.messages) if is_whole else before, 0 if is_whole else at)
        at += len(BETWEEN_TEXTS)


def _add(chat: Chat, given: Mapping[str, Any]) -> None:
    """One message, which becomes several where it holds what tools returned."""
    content = given["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    (_add_answer if given["role"] == "assistant" else _add_question)(chat, blocks)


def _add_answer(chat: Chat, blocks: Sequence[Mapping[str, Any]]) -> None:
    if any(block["type"] == "tool_result" for block in blocks):
        raise ApiError(400, NO_RESULTS_FROM_ASSISTANT)
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    thought = "".join(block["thinking"] for block in blocks if block["type"] == "thinking")
    calls = tuple(
        ToolCall(block["name"], json.dumps(block["input"], ensure_ascii=False), block["id"])
        for block in blocks
        if block["type"] == "tool_use"
    )
    before = len(chat.messages)
    chat.messages.append(in_words(lambda: Message("assistant", text, thought=thought, tool_calls=calls)))
    at = 0
    for block in blocks:
        at += len(block["text"]) if block["type"] == "text" else 0
        is_inside = block["type"] == "text" and at < len(text)
        chat.mark(block, before if is_inside else len(chat.messages), at if is_inside else 0)


def _add_question(chat: Chat, blocks: Sequence[Mapping[str, Any]]) -> None:
    texts: list[Mapping[str, Any]] = []

    def end_text() -> None:
        _add_texts(chat, "user", texts)
        texts.clear()

    for block in blocks:
        if block["type"] == "text":
            texts.append(block)
        elif block["type"] == "tool_result":
            end_text()
            text = text_of(block.get("content"))
            chat.messages.append(Message("tool", text, tool_call_id=block["tool_use_id"]))
            chat.mark(block, len(chat.messages))
        else:
            raise ApiError(400, NO_CALLS_FROM_USER)
    end_text()


def _long_lived(request: Request) -> tuple[bool, ...]:
    return tuple(start.seconds > SECONDS["5m"] for start in request.kept)


def _reason(end: Finished, request: Request) -> str:
    if end.tool_calls:
        return "tool_use"
    return "stop_sequence" if _met(end, request) else REASONS[end.reason]


def _met(end: Finished, request: Request) -> bool:
    """Whether a stop string ended the answer: the engine keeps no ids of such an answer, because they say more."""
    return end.reason == "end" and bool(request.stop) and end.stats.written_tokens > 0 and not end.token_ids


def _blocks(end: Finished) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if end.thought:
        blocks.append({"type": "thinking", "thinking": end.thought, "signature": ""})
    if end.text or not end.tool_calls:
        blocks.append({"type": "text", "text": end.text})
    return blocks + [_called(each) for each in end.tool_calls]


def _called(call: ToolCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id(call), "name": call.name, "input": json.loads(call.arguments)}


async def _whole(desk: Desk, request: Request, asked: Asked, head: Body) -> dict[str, Any]:
    async with aclosing(desk.events(request, asked)) as events:
        async for event in events:
            if isinstance(event, Finished):
                usage = anthropic_usage(asked, _long_lived(request))
                reason = _reason(event, request)
                return {**head, "content": _blocks(event), "stop_reason": reason, "stop_sequence": None, "usage": usage}
    raise AssertionError("a request ends with Finished")


async def _pieces(desk: Desk, request: Request, asked: Asked, head: Body) -> AsyncGenerator[Piece, None]:
    """The events of a message: its start, each block with its changes, the reason why it ends, its end."""
    index, kind = -1, ""

    def begin(block: dict[str, Any]) -> Piece:
        nonlocal index, kind
        index, kind = index + 1, block["type"]
        return _event("content_block_start", index=index, content_block=block)

    async with aclosing(desk.events(request, asked)) as events:
        async for event in events:
            if isinstance(event, Matched):
                usage = anthropic_usage(asked, _long_lived(request))
                start = {**head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
                yield _event("message_start", message=start)
            elif isinstance(event, TextDelta):
                wanted = "thinking" if event.is_thought else "text"
                if kind != wanted:
                    if kind:
                        yield _event("content_block_stop", index=index)
                    extra = {"signature": ""} if event.is_thought else {}
                    yield begin({"type": wanted, wanted: "", **extra})
                yield _event("content_block_delta", index=index, delta={"type": f"{wanted}_delta", wanted: event.text})
            elif isinstance(event, Finished):
                if kind:
                    yield _event("content_block_stop", index=index)
                for call in event.tool_calls:
                    block = _called(call)
                    yield begin({**block, "input": {}})
                    change = {
                        "type": "input_json_delta",
                        "partial_json": json.dumps(block["input"], ensure_ascii=False),
                    }
                    yield _event("content_block_delta", index=index, delta=change)
                    yield _event("content_block_stop", index=index)
                end = {"stop_reason": _reason(event, request), "stop_sequence": None}
                yield _event("message_delta", delta=end, usage=anthropic_usage(asked, _long_lived(request)))
                yield _event("message_stop")


def _event(kind: str, **fields: Any) -> Piece:
    return kind, {"type": kind, **fields}


def _failed(problem: ApiError) -> Piece:
    return "error", problem.content("/v1/messages")

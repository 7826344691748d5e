"""OpenAI's chat completions (platform.openai.com/docs/api-reference/chat), whole and as a stream of chunks.

Thoughts go by `reasoning_content`, as vLLM has them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from starlette.requests import Request as Call
from starlette.responses import Response

from app.server.asking import (
    NO_TOOLS,
    Body,
    bias_of,
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
    seeds_of,
    stops_of,
    text_of,
    thinking_of,
    tool_of,
)
from app.server.desk import Desk
from app.server.errors import ApiError
from app.server.record import Asked
from app.server.streams import Piece, stream, whole
from app.server.usage import openai_usage
from engine import (
    Finished,
    Message,
    ModelInfo,
    Request,
    Scored,
    TemplateSettings,
    TextDelta,
    TokenScore,
    Tool,
    ToolCall,
)

END = "[DONE]"
REASONS = {"end": "stop", "length": "length", "stopped": "stop"}


async def answer(call: Call, desk: Desk, body: Body) -> Response:
    """POST /v1/chat/completions."""
    model = desk.loaded()
    name = check_model(body, model)
    request = request_of(body, call, model)
    choices = _choices(request, int(body.get("n") or 1))
    asked = [desk.record.begin(request.conversation, call.url.path) for _ in choices]
    head = {"id": made_id("chatcmpl-"), "created": int(time.time()), "model": name, "system_fingerprint": "headstart"}
    if body.get("stream"):
        is_counted = bool((body.get("stream_options") or {}).get("include_usage"))
        return await stream(call, _chunks(desk, choices, asked, head, is_counted), END)
    return await whole(call, _whole(desk, choices, asked, head))


def request_of(body: Body, call: Call, model: ModelInfo) -> Request:
    """The engine's request. Raises ApiError."""
    messages = messages_of(body["messages"])
    client, salt = client_of(body, call), body.get("cache_salt") or ""
    form = body.get("response_format") or {"type": "text"}
    scores = int(body.get("top_logprobs") or 0) if body.get("logprobs") else None
    return make_request(
        messages=messages,
        sampling=sampling_of(body, model, body.get("max_completion_tokens") or body.get("max_tokens")),
        conversation=conversation_of(client, salt, messages),
        pin_system=False,
        stop=stops_of(body.get("stop")),
        template=TemplateSettings(thinking_of(body.get("reasoning_effort"), model)),
        client=client,
        salt=salt,
        scores=scores,
        schema=schema_text(form, form.get("json_schema", {}).get("schema")),
        bias=bias_of(body.get("logit_bias")),
        **_held(body),
    )


def _held(body: Body) -> dict[str, Any]:
    """The tools, and what holds the answer to calls of them."""
    choice, given = body.get("tool_choice"), body.get("tools") or ()
    if choice == "none":
        return {}
    tools = tools_of(given)
    must_call = [tool.name for tool in tools] if choice == "required" else []
    if choice == "required" and not tools:
        raise ApiError(400, NO_TOOLS, param="tool_choice")
    may_call = None
    if isinstance(choice, Mapping):
        allowed: Mapping[str, Any] = choice.get("allowed_tools", {"mode": "required", "tools": [choice]})
        named = [each["function"]["name"] for each in allowed["tools"]]
        must_call, may_call = (named, None) if allowed["mode"] == "required" else ([], named)
    strict = [each["function"]["name"] for each in given if each["function"].get("strict")]
    return held_to(tools, must_call, strict, is_one=body.get("parallel_tool_calls") is False, may_call=may_call)


def messages_of(given: Sequence[Mapping[str, Any]]) -> tuple[Message, ...]:
    """The messages of a chat. Raises ApiError."""
    return tuple(in_words(lambda each=each: _message(each)) for each in given)


def _message(given: Mapping[str, Any]) -> Message:
    role, text = given["role"], text_of(given.get("content"))
    if role == "assistant":
        calls = tuple(
            ToolCall(call["function"]["name"], call["function"]["arguments"] or "{}", call["id"])
            for call in given.get("tool_calls") or ()
        )
        return Message("assistant", text, thought=given.get("reasoning_content") or "", tool_calls=calls)
    if role == "tool":
        return Message("tool", text, tool_call_id=given["tool_call_id"])
    return Message("system" if role == "developer" else role, text)


def tools_of(given: Sequence[Mapping[str, Any]] | None) -> tuple[Tool, ...]:
    """The tools of a chat. Raises ApiError."""
    functions = [tool["function"] for tool in given or ()]
    return tuple(tool_of(each["name"], each.get("description"), each.get("parameters")) for each in functions)


def _choices(request: Request, count: int) -> list[Request]:
    """The same request for each choice, with a seed of its own where one is given."""
    seeds = seeds_of(request.sampling.seed, count)
    return [replace(request, sampling=replace(request.sampling, seed=each)) for each in seeds]


async def _whole(desk: Desk, choices: Sequence[Request], asked: Sequence[Asked], head: Body) -> dict[str, Any]:
    made = await together([_choice(desk, one, asked[index], index) for index, one in enumerate(choices)])
    return {**head, "object": "chat.completion", "choices": made, "usage": usage_of(asked)}


async def together(work: Sequence[Any]) -> list[Any]:
    """The results of several; where one fails, the others are stopped and its error comes out."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def usage_of(asked: Sequence[Asked]) -> dict[str, Any]:
    """Of several choices of one prompt, which counts once."""
    return openai_usage(asked[0], sum(one.written_tokens for one in asked))


async def _choice(desk: Desk, request: Request, asked: Asked, index: int) -> dict[str, Any]:
    scores: list[dict[str, Any]] = []
    async with aclosing(desk.events(request, asked)) as events:
        async for event in events:
            if isinstance(event, Scored):
                scores.append(_scored(event))
            elif isinstance(event, Finished):
                end = event
    message: dict[str, Any] = {"role": "assistant", "content": end.text or None, "refusal": None}
    if end.tool_calls:
        message["tool_calls"] = [_called(each) for each in end.tool_calls]
    elif not end.text:
        message["content"] = ""
    if end.thought:
        message["reasoning_content"] = end.thought
    logprobs = None if request.scores is None else {"content": scores, "refusal": None}
    return {"index": index, "message": message, "logprobs": logprobs, "finish_reason": _reason(end)}


def _called(call: ToolCall) -> dict[str, Any]:
    return {"id": call_id(call), "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _reason(end: Finished) -> str:
    return "tool_calls" if end.tool_calls else REASONS[end.reason]


def _scored(event: Scored) -> dict[str, Any]:
    return {**_score(event.token), "top_logprobs": [_score(each) for each in event.best]}


def _score(score: TokenScore) -> dict[str, Any]:
    """A token with its log probability. The bytes of half a character are not known here."""
    is_whole = "\N{REPLACEMENT CHARACTER}" not in score.text
    return {"token": score.text, "logprob": score.logprob, "bytes": list(score.text.encode()) if is_whole else None}


async def _chunks(
    desk: Desk, choices: Sequence[Request], asked: Sequence[Asked], head: Body, is_counted: bool
) -> AsyncGenerator[Piece, None]:
    """The chunks of all choices as they come, and the usage at their end where it `is_counted`."""
    usage = {"usage": None} if is_counted else {}
    deltas = [_deltas(desk, one, asked[index], index) for index, one in enumerate(choices)]
    async with aclosing(merged(deltas)) as merging:
        async for delta in merging:
            yield "", {**head, "object": "chat.completion.chunk", "choices": [delta], **usage}
    if is_counted:
        yield "", {**head, "object": "chat.completion.chunk", "choices": [], "usage": usage_of(asked)}


async def merged(sources: Sequence[AsyncGenerator[Any, None]]) -> AsyncGenerator[Any, None]:
    """What several sources give, as it comes. Whoever stops listening closes them all."""
    if len(sources) == 1:
        async with aclosing(sources[0]) as only:
            async for each in only:
                yield each
        return
    found: asyncio.Queue[Any] = asyncio.Queue()
    done = object()

    async def forward(source: AsyncGenerator[Any, None]) -> None:
        async with aclosing(source) as given:
            async for each in given:
                found.put_nowait(each)

    async def follow() -> None:
        try:
            await together([forward(source) for source in sources])
        finally:
            found.put_nowait(done)

    task = asyncio.ensure_future(follow())
    try:
        while (each := await found.get()) is not done:
            yield each
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _deltas(desk: Desk, request: Request, asked: Asked, index: int) -> AsyncGenerator[dict[str, Any], None]:
    """The changes of one choice."""
    scores: list[dict[str, Any]] = []
    has_begun = False

    def delta(change: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        logprobs = {"content": list(scores), "refusal": None} if scores else None
        scores.clear()
        return {"index": index, "delta": change, "logprobs": logprobs, "finish_reason": reason}

    async with aclosing(desk.events(request, asked)) as events:
        async for event in events:
            if not has_begun and isinstance(event, Scored | TextDelta | Finished):
                has_begun = True
                yield {
                    "index": index,
                    "delta": {"role": "assistant", "content": ""},
                    "logprobs": None,
                    "finish_reason": None,
                }
            if isinstance(event, Scored):
                scores.append(_scored(event))
            elif isinstance(event, TextDelta):
                yield delta({"reasoning_content" if event.is_thought else "content": event.text})
            elif isinstance(event, Finished):
                if event.tool_calls:
                    calls = [{"index": number, **_called(each)} for number, each in enumerate(event.tool_calls)]
                    yield delta({"tool_calls": calls})
                yield delta({}, _reason(event))

"""OpenAI's completions: a text, or token ids, that the model goes on with, without a chat template."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from starlette.requests import Request as Call
from starlette.responses import Response

from app.server.asking import (
    Body,
    bias_of,
    check_model,
    client_of,
    conversation_of,
    made_id,
    make_request,
    sampling_of,
    seeds_of,
    stops_of,
)
from app.server.desk import Desk
from app.server.errors import ApiError
from app.server.openai_chat import END, REASONS, merged, together
from app.server.record import Asked
from app.server.streams import Piece, stream, whole
from app.server.usage import openai_usage
from engine import Finished, Matched, Message, ModelInfo, Request, Scored, TextDelta

MOST_ANSWERS = 8
NO_ECHO = "echo repeats a prompt that is a text, and without logprobs: the tokens of a prompt are not scored here."
USUAL_TOKENS = 16
"""OpenAI's own default for completions."""


async def answer(call: Call, desk: Desk, body: Body) -> Response:
    """POST /v1/completions."""
    model = desk.loaded()
    name = check_model(body, model)
    requests = requests_of(body, call, model)
    if body.get("echo") and (body.get("logprobs") is not None or any(one.messages[0].token_ids for one in requests)):
        raise ApiError(400, NO_ECHO, param="echo")
    is_echoed = bool(body.get("echo"))
    asked = [desk.record.begin(one.conversation, call.url.path) for one in requests]
    head = {"id": made_id("cmpl-"), "object": "text_completion", "created": int(time.time()), "model": name}
    if body.get("stream"):
        is_counted = bool((body.get("stream_options") or {}).get("include_usage"))
        return await stream(call, _chunks(desk, requests, asked, head, is_counted, is_echoed), END)
    return await whole(call, _whole(desk, requests, asked, head, is_echoed))


def requests_of(body: Body, call: Call, model: ModelInfo) -> list[Request]:
    """One request for each prompt and each choice. Raises ApiError."""
    client, salt = client_of(body, call), body.get("cache_salt") or ""
    count = int(body.get("n") or 1)
    prompts = prompts_of(body["prompt"])
    if len(prompts) * count > MOST_ANSWERS:
        raise ApiError(400, f"Ask for up to {MOST_ANSWERS} answers at once, over all prompts.", param="n")
    scores = body.get("logprobs")
    sampling = sampling_of(body, model, body.get("max_tokens") or USUAL_TOKENS)
    made = []
    for prompt in prompts:
        request = make_request(
            messages=(prompt,),
            sampling=sampling,
            conversation=conversation_of(client, salt, (prompt,)),
            pin_system=False,
            stop=stops_of(body.get("stop")),
            client=client,
            salt=salt,
            is_plain=True,
            scores=None if scores is None else int(scores),
            bias=bias_of(body.get("logit_bias")),
        )
        made += [replace(request, sampling=replace(sampling, seed=seed)) for seed in seeds_of(sampling.seed, count)]
    return made


def prompts_of(given: Any) -> list[Message]:
    """Each prompt as a message: one or several, texts or token ids."""
    is_one = isinstance(given, str) or (given and isinstance(given[0], int | float))
    prompts = [given] if is_one else given
    return [
        Message("user", one) if isinstance(one, str) else Message("user", "", tuple(int(token) for token in one))
        for one in prompts
    ]


def _usage(asked: Sequence[Asked], requests: Sequence[Request]) -> dict[str, Any]:
    """Each prompt counts once, however many answers it has."""
    first = {one.messages: number for number, one in reversed(list(enumerate(requests)))}
    usage = openai_usage(asked[0], sum(one.written_tokens for one in asked))
    prompts = [asked[number] for number in first.values()]
    usage["prompt_tokens"] = sum(one.prompt_tokens for one in prompts)
    usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
    usage["prompt_tokens_details"] = {"cached_tokens": sum(one.reused_tokens for one in prompts)}
    return usage


async def _whole(
    desk: Desk, requests: Sequence[Request], asked: Sequence[Asked], head: Body, is_echoed: bool
) -> dict[str, Any]:
    made = await together([_choice(desk, one, asked[index], index, is_echoed) for index, one in enumerate(requests)])
    return {**head, "choices": made, "usage": _usage(asked, requests)}


async def _choice(desk: Desk, request: Request, asked: Asked, index: int, is_echoed: bool) -> dict[str, Any]:
    pieces = [piece async for piece in _pieces(desk, request, asked, index, is_echoed)]
    text = "".join(piece["text"] for piece in pieces)
    scores = [piece["logprobs"] for piece in pieces if piece["logprobs"]]
    logprobs = {name: [value for each in scores for value in each[name]] for name in scores[0]} if scores else None
    return {"index": index, "text": text, "logprobs": logprobs, "finish_reason": pieces[-1]["finish_reason"]}


async def _chunks(
    desk: Desk, requests: Sequence[Request], asked: Sequence[Asked], head: Body, is_counted: bool, is_echoed: bool
) -> AsyncGenerator[Piece, None]:
    usage = {"usage": None} if is_counted else {}
    sources = [_pieces(desk, one, asked[index], index, is_echoed) for index, one in enumerate(requests)]
    async with aclosing(merged(sources)) as merging:
        async for piece in merging:
            yield "", {**head, "choices": [piece], **usage}
    if is_counted:
        yield "", {**head, "choices": [], "usage": _usage(asked, requests)}


async def _pieces(
    desk: Desk, request: Request, asked: Asked, index: int, is_echoed: bool
) -> AsyncGenerator[dict[str, Any], None]:
    """One answer piece by piece, behind its prompt where that `is_echoed`, with the scores of its tokens in OpenAI's
    older form: a list for each figure."""
    scores: list[Scored] = []
    at = 0

    def piece(text: str, reason: str | None = None) -> dict[str, Any]:
        nonlocal at
        logprobs = None
        if scores:
            offsets = []
            for each in scores:
                offsets.append(at)
                at += len(each.token.text)
            logprobs = {
                "tokens": [each.token.text for each in scores],
                "token_logprobs": [each.token.logprob for each in scores],
                "top_logprobs": [{one.text: one.logprob for one in each.best} for each in scores],
                "text_offset": offsets,
            }
            scores.clear()
        return {"index": index, "text": text, "logprobs": logprobs, "finish_reason": reason}

    async with aclosing(desk.events(request, asked)) as events:
        async for event in events:
            if isinstance(event, Matched) and is_echoed:
                yield piece(request.messages[0].content)
            elif isinstance(event, Scored):
                scores.append(event)
            elif isinstance(event, TextDelta):
                yield piece(event.text)
            elif isinstance(event, Finished):
                yield piece("", REASONS[event.reason])

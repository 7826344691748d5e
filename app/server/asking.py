"""What the shapes of all APIs have in common: from fields that openapi.json let through to a request of the engine."""

from __future__ import annotations

import hashlib
import json
import secrets
import string
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from starlette.requests import Request as Call

from app.server.clients import client_label
from app.server.errors import ApiError
from engine import InvalidRequestError, Message, ModelInfo, Request, Sampling, Tool, ToolCall

Body = Mapping[str, Any]

USUAL_TOKENS = 4096
"""The longest answer where a caller names no length."""

AS_IT_IS = Sampling(temperature=1.0, top_p=1.0, repetition_penalty=1.0)
"""How a model samples whose makers advise nothing: as both APIs do by themselves."""

NAME_CHARACTERS = 40
ID_CHARACTERS = string.ascii_letters + string.digits
ID_LENGTH = 9
"""Of the id of a tool call, which some chat templates accept in this length only."""

_SAMPLING = ("temperature", "top_p", "min_p", "repetition_penalty", "presence_penalty", "frequency_penalty", "seed")

SEEDS = 2**63
"""Seeds are below this."""

NO_TOOLS = "A tool has to be called, and there is none: send tools, or leave tool_choice out."
NO_SUCH_TOOL = "tool_choice names {}, which is none of the tools. Send it with them."
NO_SUCH_MODEL = "The model {} is not here. /v1/models says which is."
NO_THINKING = "This model has no such switch for thinking: {}. It knows: {}."


def check_model(body: Body, model: ModelInfo) -> str:
    """The name of the model that answers. Raises ApiError where another one is asked for."""
    asked = body.get("model", "default")
    if asked not in (model.name, "default"):
        raise ApiError(404, NO_SUCH_MODEL.format(asked[:80]), param="model", code="model_not_found")
    return model.name


def client_of(body: Body, call: Call) -> str:
    """What the program that asks calls itself, or is called by its library."""
    metadata = body.get("metadata") or {}
    named = body.get("prompt_cache_key") or body.get("user") or metadata.get("user_id")
    agent = call.headers.get("user-agent", "").partition(" ")[0]
    name = "".join(char for char in str(named or agent or "a program") if char.isprintable()).strip()
    return name[:NAME_CHARACTERS] or "a program"


def conversation_of(client: str, salt: str, messages: Sequence[Message]) -> str:
    """A name for what a program asks from one turn to the next: requests with the same first question are of one
    conversation, so that it can be said why a prompt left what was cached. A salt is never shown, but sets apart."""
    first = next((message.content for message in messages if message.role == "user"), "")
    digest = hashlib.sha256(json.dumps([salt, first]).encode("utf-8", "surrogatepass")).hexdigest()
    return client_label(client, digest[:8])


def sampling_of(body: Body, model: ModelInfo, longest: int | None) -> Sampling:
    """How tokens are chosen: as the model's makers advise, in what the caller leaves open. Raises ApiError."""
    given = {name: body[name] for name in _SAMPLING if body.get(name) is not None}
    if (top_k := body.get("top_k")) is not None:
        given["top_k"] = max(0, int(top_k))
    if "seed" in given:
        given["seed"] = int(given["seed"])
    most = min(USUAL_TOKENS, model.context_length) if longest is None else int(longest)
    return in_words(lambda: replace(model.advice or AS_IT_IS, max_tokens=most, **given))


def in_words(make: Any) -> Any:
    """What `make` gives. What the engine's values refuse becomes an ApiError."""
    try:
        return make()
    except InvalidRequestError as error:
        raise ApiError(400, str(error)) from error


def stops_of(value: Any) -> tuple[str, ...]:
    """Stop strings, given as one or as a list."""
    return (value,) if isinstance(value, str) else tuple(value or ())


def text_of(content: Any) -> str:
    """The text of a message that is given whole or in parts."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part["text"] for part in content)


def thinking_of(wish: str | None, model: ModelInfo) -> str:
    """A choice of thinking that this model knows, "" for none. Raises ApiError."""
    if not wish:
        return ""
    if wish not in model.thinking:
        known = ", ".join(model.thinking) or "nothing, so leave it out"
        raise ApiError(400, NO_THINKING.format(wish[:40], known))
    return wish


def tool_of(name: str, description: str | None, schema: Any) -> Tool:
    """A tool. Raises ApiError."""
    tool: Tool = in_words(lambda: Tool(name, description or "", json.dumps(schema or {}, ensure_ascii=False)))
    return tool


def held_to(
    tools: Sequence[Tool],
    must_call: Sequence[str],
    strict: Sequence[str],
    *,
    is_one: bool,
    may_call: Sequence[str] | None = None,
) -> dict[str, Any]:
    """The fields of a request that hold its answer to calls: `must_call` are the tools of which one has to be called,
    `may_call` those that can be, None where all can. Raises ApiError where one of them was not sent."""
    names = {tool.name for tool in tools}
    if unknown := [name for name in (*must_call, *(may_call or ())) if name not in names]:
        raise ApiError(400, NO_SUCH_TOOL.format(unknown[0][:80]), param="tool_choice")
    held = () if must_call else tuple(strict)
    only = () if may_call is None or names.issubset(may_call) else dict.fromkeys(may_call)
    return {
        "tools": tuple(tools),
        "must_call": tuple(dict.fromkeys(must_call)),
        "held_calls": held,
        "one_call": is_one,
        "may_call": tuple(only),
    }


def seeds_of(seed: int | None, count: int) -> list[int | None]:
    """A seed for each of several answers to one prompt: the first has that of the caller, None for any."""
    return [None if seed is None else (seed + number) % SEEDS for number in range(count)]


def bias_of(given: Mapping[str, float] | None) -> tuple[tuple[int, float], ...]:
    """What is added to the logits of tokens."""
    return tuple((int(token), float(value)) for token, value in (given or {}).items())


def schema_text(form: Mapping[str, Any] | None, schema: Any) -> str:
    """The JSON Schema that the answer has to fit, "" where it may be any text: `schema` is that of a `form` of the type
    json_schema."""
    if form is None or form["type"] == "text":
        return ""
    return json.dumps(schema if form["type"] == "json_schema" else {"type": "object"})


def call_id(call: ToolCall) -> str:
    """The id of a call as the model gave it, or one made up."""
    return call.id or "".join(secrets.choice(ID_CHARACTERS) for _ in range(ID_LENGTH))


def made_id(kind: str) -> str:
    """An id for an answer: "chatcmpl-…", "msg_…"."""
    return f"{kind}{secrets.token_hex(12)}"


def make_request(**fields: Any) -> Request:
    """A request of the engine. Raises ApiError where its fields do not fit together."""
    request: Request = in_words(lambda: Request(**fields))
    return request

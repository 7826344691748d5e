"""What goes to a server with OpenAI's chat completions, and what its answers say: of vLLM, SGLang, llama.cpp's server,
Headstart and others, each with the figures that it offers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args
from urllib.parse import urlsplit

from engine.events import Divergence, FinishReason
from engine.types import Cause, InvalidRequestError, Message, ModelError, ModelInfo, Request, Tool, ToolCall, is_server

TAKE_MORE = ("vllm", "sglang", "llamacpp", "headstart")
"""Servers, by what they call the owner of their models, that know more ways of sampling than OpenAI."""

LEFT_OUT = "This server knows only temperature and top-p, so the other ways of choosing tokens are left out."
NOT_TOLD = "This server does not say what it reused."
CHATS_ONLY = "The model is on another server, which is asked for chats only: no plain texts, scores, or kept prompts."
NO_BEGUN = "The model is on another server, which cannot go on with an answer. Ask it to go on, or answer again."
NO_SALT = "The model is on another server, which knows no cache_salt: leave it out."
USUAL_CONTEXT = 8192
"""Tokens, where a server does not say what its model reads."""

NO_ADDRESS = (
    "A server is named by its address, such as http://127.0.0.1:8000/v1, and a model of it by #NAME behind that."
)


@dataclass(frozen=True, slots=True)
class Place:
    """A server and one of its models: `address` is without a slash at its end, `model` "" for the first one."""

    address: str
    model: str = ""

    @classmethod
    def of(cls, path: str) -> Place:
        """From "http://host:port/v1#model". Raises ModelError."""
        try:
            parts = urlsplit(path)
            port = parts.port
        except ValueError as error:
            raise ModelError(NO_ADDRESS, str(error)) from error
        if not is_server(path) or not parts.hostname or parts.username or parts.query or port == 0:
            raise ModelError(NO_ADDRESS)
        return cls(f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}", parts.fragment)


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A model of a server, as its list of models has it."""

    place: Place
    name: str
    owner: str
    context_length: int

    @classmethod
    def of(cls, place: Place, listed: Any) -> RemoteModel:
        """The model that is wanted, in what /models gave. Raises ModelError where it is not there."""
        data = listed.get("data") if isinstance(listed, dict) else None
        models = {str(each["id"]): each for each in data or () if isinstance(each, dict) and each.get("id")}
        if not models:
            raise ModelError("This server lists no model. Load one there first.")
        name = place.model or next(iter(models))
        if name not in models:
            raise ModelError(f"This server has no model {name[:80]}. It has: {', '.join(list(models)[:5])}.")
        found, meta = models[name], models[name].get("meta")
        lengths = (found.get("max_model_len"), meta.get("n_ctx_train") if isinstance(meta, dict) else None)
        length = next((each for each in lengths if isinstance(each, int) and each > 0), USUAL_CONTEXT)
        return cls(place, name, str(found.get("owned_by") or ""), length)

    def info(self, path: str) -> ModelInfo:
        """The same for the window: what the server does not say is nothing."""
        return ModelInfo(
            name=self.name.replace("\\", "/").rpartition("/")[2].removesuffix(".gguf"),
            path=path,
            architecture="",
            device=urlsplit(self.place.address).netloc,
            dtype="server",
            near="it is computed on another server.",
            context_length=self.context_length,
            weights_bytes=0,
            kv_bytes_per_token=0,
            cached_bytes_per_token=0,
            cache_budget_bytes=0,
            prefill_tokens_per_s=0.0,
            has_tools=True,
        )


def body_of(request: Request, model: RemoteModel) -> dict[str, Any]:
    """The request as OpenAI's chat completions have it. Raises InvalidRequestError for what these cannot carry."""
    sampling = request.sampling
    if request.is_plain or request.scores is not None or request.kept:
        raise InvalidRequestError(CHATS_ONLY)
    if request.begun is not None:
        raise InvalidRequestError(NO_BEGUN)
    if request.salt and model.owner not in ("vllm", "headstart"):
        raise InvalidRequestError(NO_SALT)
    body: dict[str, Any] = {
        "model": model.name,
        "messages": [_message(message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
    }
    if sampling.presence_penalty or sampling.frequency_penalty:
        body |= {"presence_penalty": sampling.presence_penalty, "frequency_penalty": sampling.frequency_penalty}
    if request.bias:
        body["logit_bias"] = {str(token): value for token, value in request.bias}
    if sampling.seed is not None:
        body["seed"] = sampling.seed
    if request.salt:
        body["cache_salt"] = request.salt
    if request.schema:
        form = {"name": "answer", "schema": json.loads(request.schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    if request.stop:
        body["stop"] = list(request.stop)
    if request.tools:
        body["tools"] = [_tool(tool, is_strict=tool.name in request.held_calls) for tool in request.tools]
        body |= _choice_of_tools(request)
    if model.owner in TAKE_MORE:
        body |= {"top_k": sampling.top_k or -1, "min_p": sampling.min_p}
        body["repetition_penalty"] = sampling.repetition_penalty
        if model.owner == "llamacpp":
            body |= {"top_k": sampling.top_k, "cache_prompt": True, "repeat_penalty": body.pop("repetition_penalty")}
    return body


def notices_of(request: Request, model: RemoteModel) -> tuple[str, ...]:
    """What the user should know of how the request is sent."""
    sampling = request.sampling
    is_more = sampling.top_k or sampling.min_p or sampling.repetition_penalty != 1
    return (LEFT_OUT,) if is_more and model.owner not in TAKE_MORE else ()


def _message(message: Message) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        said["tool_calls"] = [
            {
                "id": call.id or call.name,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.role == "tool":
        said["tool_call_id"] = message.tool_call_id
    return said


def _tool(tool: Tool, *, is_strict: bool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": json.loads(tool.parameters)}
    return {"type": "function", "function": {**function, **({"strict": True} if is_strict else {})}}


def _choice_of_tools(request: Request) -> dict[str, Any]:
    """Which calls have to come, and how many may."""
    mode = "required" if request.must_call else "auto"
    names = dict.fromkeys(request.must_call or request.may_call)
    named = [{"type": "function", "function": {"name": name}} for name in names]
    choice: Any = {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": named}}
    if len(named) == len(request.tools):
        choice = mode
    elif len(named) == 1 and request.must_call:
        choice = named[0]
    chosen = {"tool_choice": choice} if named else {}
    return {**chosen, **({"parallel_tool_calls": False} if request.one_call else {})}


@dataclass(slots=True)
class Answer:
    """An answer as it comes. `prompt_tokens` is None until the server tells, `cached_tokens` where it never does."""

    text: str = ""
    thought: str = ""
    reason: FinishReason | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    written_tokens: int = 0
    pieces: int = 0
    prefill_s: float = 0.0
    cold_ttft_s: float | None = None
    divergence: Divergence | None = None
    _calls: dict[int, dict[str, str]] = field(default_factory=dict)

    def add(self, chunk: Any) -> None:
        """Take in one chunk. Raises ModelError for an error in the stream."""
        if not isinstance(chunk, dict):
            return
        if error := chunk.get("error"):
            raise ModelError(f"The server says: {_said(error)}")
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or {}
            text, thought = delta.get("content") or "", delta.get("reasoning_content") or delta.get("reasoning") or ""
            self.text += text
            self.thought += thought
            self.pieces += bool(text or thought)
            self._add_calls(delta.get("tool_calls") or ())
            if reason := choice.get("finish_reason"):
                self.reason = "length" if reason == "length" else "end"
        self._measure(chunk)

    def _add_calls(self, deltas: Any) -> None:
        for delta in deltas:
            call = self._calls.setdefault(int(delta.get("index") or 0), {"id": "", "name": "", "arguments": ""})
            function = delta.get("function") or {}
            call["id"] = delta.get("id") or call["id"]
            call["name"] += function.get("name") or ""
            call["arguments"] += function.get("arguments") or ""

    def _measure(self, chunk: Mapping[str, Any]) -> None:
        if usage := chunk.get("usage"):
            self.prompt_tokens = int(usage.get("prompt_tokens") or 0)
            self.written_tokens = int(usage.get("completion_tokens") or 0)
            cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
            self.cached_tokens = cached if isinstance(cached, int) else self.cached_tokens
            self._measure_ours(usage.get("headstart") or {})
        if timings := chunk.get("timings"):  # llama.cpp
            if isinstance(cached := timings.get("cache_n"), int):
                self.cached_tokens = cached
            self.prefill_s = float(timings.get("prompt_ms") or 0.0) / 1000

    def _measure_ours(self, told: Mapping[str, Any]) -> None:
        self.cold_ttft_s = told.get("cold_ttft_s")
        match = told.get("match")
        if match and match.get("cause") in get_args(Cause):
            self.divergence = Divergence(
                position=match["ended_at_token"],
                message_index=match["message_index"],
                cause=match["cause"],
                old_text=match["cached_text"],
                new_text=match["new_text"],
                recomputed_tokens=match["tokens_read_again"],
            )

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The functions that the model asked for."""
        called = [call for _, call in sorted(self._calls.items()) if call["name"]]
        return tuple(ToolCall(call["name"], call["arguments"] or "{}", call["id"]) for call in called)


class NotThereError(ModelError):
    """The server does not have what it was asked for."""


def sentence_of(status: int, body: bytes) -> str:
    """What a server says when it refuses, as one sentence."""
    try:
        said = _said(json.loads(body))
    except ValueError:
        said = ""
    if status in (401, 403):
        return "The server wants another key. Give it with the server's address."
    return f"The server refused the request ({status}){': ' + said if said else '. Try again later.'}"


def _said(error: Any) -> str:
    while isinstance(error, dict):
        error = error.get("error", error.get("message", error.get("detail", "")))
    return str(error)[:300]

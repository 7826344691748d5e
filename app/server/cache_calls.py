"""What neither of the big APIs has: the cache itself, prompts read ahead, figures for Prometheus, ids of a text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import asdict, replace
from typing import Any

from starlette.requests import Request as Call

from app.server.asking import (
    AS_IT_IS,
    Body,
    check_model,
    client_of,
    conversation_of,
    make_request,
)
from app.server.clients import CLIENT, client_name
from app.server.desk import Desk
from app.server.openai_chat import messages_of, tools_of
from app.server.record import TTFT_BOUNDS, Record
from app.server.usage import reuse
from engine import CacheView, Finished, KeptStart, Message, ModelInfo, NodeView, Request

USUAL_SECONDS = 300.0


def shown_cache(view: CacheView) -> dict[str, Any]:
    """The cache's memory in bytes, and its tree: each run with the number of its parent among the runs. How a run
    begins is told only where no chat of the window owns it."""
    figures = {name: value for name, value in asdict(replace(view, nodes=())).items() if name not in _NOT_SHOWN}
    tiers: dict[str, int] = {}
    for node in view.nodes:
        tiers[node.tier] = tiers.get(node.tier, 0) + node.bytes
    return {"object": "cache", **figures, "used_bytes": view.used_bytes, "tiers": tiers, "runs": _runs(view.nodes)}


_NOT_SHOWN = ("request_id", "time_s", "nodes", "disk_note")


def _runs(nodes: tuple[NodeView, ...]) -> list[dict[str, Any]]:
    runs = []
    for node in nodes:
        run = node._asdict()
        owners = run.pop("conversations")
        run["clients"] = sorted({client_name(owner) for owner in owners if owner.startswith(CLIENT)})
        run["is_of_window"] = any(not owner.startswith(CLIENT) for owner in owners)
        if run["is_of_window"] or not owners:
            run["text"] = ""
        runs.append(run)
    return runs


async def prewarm(call: Call, desk: Desk, body: Body) -> dict[str, Any]:
    """POST /v1/cache/prewarm: the prompt is read as for an answer, of which one token is written and thrown away. It
    stays resident for so many seconds."""
    model = desk.loaded()
    check_model(body, model)
    messages, client, salt = messages_of(body["messages"]), client_of(body, call), body.get("cache_salt") or ""
    kept = KeptStart(len(messages), float(body.get("seconds") or USUAL_SECONDS))
    request = make_request(
        messages=messages,
        sampling=replace(AS_IT_IS, temperature=0.0, max_tokens=1),
        conversation=conversation_of(client, salt, messages),
        pin_system=False,
        tools=tools_of(body.get("tools")),
        client=client,
        salt=salt,
        kept=(kept,),
    )
    asked = desk.record.begin(request.conversation, call.url.path)
    async with aclosing(desk.events(request, asked)) as events:
        async for event in events:
            if isinstance(event, Finished):
                break
    return {"object": "cache.prewarmed", "prompt_tokens": asked.prompt_tokens, "headstart": reuse(asked)}


async def tokenize(call: Call, desk: Desk, body: Body) -> dict[str, Any]:
    """POST /tokenize, in vLLM's shape: the ids of a text, or of a conversation with all that its template adds."""
    model = desk.loaded()
    check_model(body, model)
    preview = await desk.preview(_to_count(body))
    return {"count": preview.prompt_tokens, "max_model_len": preview.context_length, "tokens": list(preview.ids)}


def _to_count(body: Body) -> Request:
    if "prompt" in body:
        return make_request(messages=(Message("user", body["prompt"]),), is_plain=True, client="tokenize")
    return make_request(messages=messages_of(body["messages"]), tools=tools_of(body.get("tools")), client="tokenize")


def models(model: ModelInfo) -> dict[str, Any]:
    """One model, as /v1/models has it in a list; `max_model_len` is vLLM's name for the context."""
    return {
        "id": model.name,
        "object": "model",
        "created": 0,
        "owned_by": "headstart",
        "max_model_len": model.context_length,
    }


def metrics(record: Record, view: CacheView) -> str:
    """Figures in Prometheus' text format. What means the same as at vLLM has vLLM's name. Requests through this server
    are counted; bytes are of the whole cache."""
    return "\n".join(_lines(record, view)) + "\n"


def _lines(record: Record, view: CacheView) -> Iterator[str]:
    sums = record.sums
    counters = (
        ("vllm:prefix_cache_queries", "Tokens looked up in the cache.", sums["prompt"]),
        ("vllm:prefix_cache_hits", "Tokens found in the cache.", sums["reused"]),
        ("vllm:prompt_tokens", "Tokens of prompts.", sums["prompt"]),
        ("vllm:generation_tokens", "Tokens written.", sums["written"]),
        ("headstart:computed_tokens", "Tokens of prompts that were computed.", sums["computed"]),
        ("headstart:evicted_bytes", "Bytes that were evicted since the model was loaded.", view.evicted_bytes),
    )
    for name, about, value in counters:
        yield from (f"# HELP {name}_total {about}", f"# TYPE {name}_total counter", f"{name}_total {value}")
    yield from (
        "# HELP headstart:requests_total Requests by how they ended.",
        "# TYPE headstart:requests_total counter",
    )
    yield from (f'headstart:requests_total{{state="{state}"}} {count}' for state, count in sorted(record.ends.items()))
    yield from ("# HELP headstart:cache_bytes Bytes of the cache.", "# TYPE headstart:cache_bytes gauge")
    for kind in ("pinned", "live", "reusable", "disk", "budget"):
        yield f'headstart:cache_bytes{{kind="{kind}"}} {getattr(view, f"{kind}_bytes")}'
    yield from ("# HELP vllm:kv_cache_usage_perc Used share of the budget.", "# TYPE vllm:kv_cache_usage_perc gauge")
    yield f"vllm:kv_cache_usage_perc {view.used_bytes / view.budget_bytes if view.budget_bytes else 0.0:.6f}"
    yield from ("# HELP headstart:requests_open Requests under way or waiting.", "# TYPE headstart:requests_open gauge")
    yield f"headstart:requests_open {record.open}"
    yield from _histogram(record)


def _histogram(record: Record) -> Iterator[str]:
    name = "vllm:time_to_first_token_seconds"
    yield from (f"# HELP {name} Time to first token.", f"# TYPE {name} histogram")
    count = 0
    for bound, step in zip((*map(str, TTFT_BOUNDS), "+Inf"), record.ttft_steps, strict=True):
        count += step
        yield f'{name}_bucket{{le="{bound}"}} {count}'
    yield from (f"{name}_sum {record.ttft_s:.6f}", f"{name}_count {count}")

"""What a request took, as the APIs have it, and what neither has: where and why the match with the cache stopped."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.server.record import Asked


def openai_usage(asked: Asked, written: int) -> dict[str, Any]:
    """Of chat completions and completions. `cached_tokens` are among the `prompt_tokens`."""
    thought = asked.stats.thought_tokens if asked.stats else 0
    return {
        "prompt_tokens": asked.prompt_tokens,
        "completion_tokens": written,
        "total_tokens": asked.prompt_tokens + written,
        "prompt_tokens_details": {"cached_tokens": asked.reused_tokens},
        "completion_tokens_details": {"reasoning_tokens": thought},
        "headstart": reuse(asked),
    }


def responses_usage(asked: Asked) -> dict[str, Any]:
    """Of responses, which name the same figures otherwise."""
    usage = openai_usage(asked, asked.written_tokens)
    return {
        "input_tokens": usage["prompt_tokens"],
        "input_tokens_details": {"cached_tokens": asked.reused_tokens, "cache_write_tokens": 0},
        "output_tokens": usage["completion_tokens"],
        "output_tokens_details": usage["completion_tokens_details"],
        "total_tokens": usage["total_tokens"],
        "headstart": usage["headstart"],
    }


def anthropic_usage(asked: Asked, long_lived: tuple[bool, ...]) -> dict[str, Any]:
    """Of messages: what was read from the cache, what was computed up to the last breakpoint and so is kept, and the
    rest, which add up to the prompt. `long_lived` says of each breakpoint, in order, whether it is kept for an hour."""
    created = {False: 0, True: 0}
    at = asked.reused_tokens
    for end, is_long in sorted(zip(asked.kept_ends, long_lived, strict=True)):
        created[is_long] += max(0, end - at)
        at = max(at, end)
    whole = sum(created.values())
    return {
        "input_tokens": asked.prompt_tokens - asked.reused_tokens - whole,
        "cache_creation_input_tokens": whole,
        "cache_read_input_tokens": asked.reused_tokens,
        "cache_creation": {
            "ephemeral_5m_input_tokens": created[False],
            "ephemeral_1h_input_tokens": created[True],
        },
        "output_tokens": asked.written_tokens,
        "service_tier": "standard",
        "headstart": reuse(asked),
    }


def reuse(asked: Asked) -> dict[str, Any]:
    """Where the match ended and why, and what the wait for the first token was made of, in seconds."""
    found: dict[str, Any] = {
        "reused_tokens": asked.reused_tokens,
        "computed_tokens": asked.computed_tokens,
        "disk_tokens": asked.stats.disk_tokens if asked.stats else 0,
        "match": None,
    }
    if (parted := asked.divergence) is not None:
        found["match"] = {
            "ended_at_token": parted.position,
            "message_index": parted.message_index,
            "cause": parted.cause,
            "cached_text": parted.old_text,
            "new_text": parted.new_text,
            "tokens_read_again": parted.recomputed_tokens,
        }
    if (stats := asked.stats) is not None:
        found["ttft_s"] = stats.ttft_s
        found["ttft_parts_s"] = asdict(stats.parts)
        found["cold_ttft_s"] = stats.cold_ttft_s
        found["cold_is_measured"] = stats.cold_measured
        found["tokens_per_s"] = stats.tokens_per_s
    return found

"""Attention over a lane, registered with transformers under the name "headstart".

Grouped queries are computed without repeating K and V: the query heads that share a KV head become rows of one matrix.
A mask function is registered beside it: without one transformers hands over no mask at all and cuts K and V short.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention.bias import causal_lower_right
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import causal_mask_function, sdpa_mask

NAME = "headstart"
ROWS_AT_ONCE = 256
"""Query rows whose scores are held at a time when attention is written as matrix products: they stay in the cache."""


def register() -> None:
    """Make `attn_implementation="headstart"` known to transformers."""
    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, make_mask)


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """Attention of `[1, heads, q, dim]` queries over `[1, kv_heads, n, dim]`; returns `[1, q, heads, value_dim]`.

    `attention_mask` is additive `[1, 1, q, n]`, or None for plain causal attention of the last q of n tokens.
    `softcap` bounds the scores as in Gemma-2, `s_aux` holds a sink per head as in GPT-OSS.
    """
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    if softcap is not None or s_aux is not None:
        out = _attend_plainly(query, key, value, attention_mask, scale, softcap, s_aux)
    elif attention_mask is None:
        out = attend_causally(query, key, value, scale)
    else:
        out = _attend_packed(query, key, value, attention_mask, scale)
    return out.transpose(1, 2).contiguous(), None


def make_mask(
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: int = 0,
    kv_offset: int = 0,
    mask_function: Callable[..., Any] = causal_mask_function,
    dtype: torch.dtype = torch.float32,
    device: torch.device | None = None,
    **kwargs: Any,
) -> Tensor | None:
    """An additive mask `[1, 1, q, n]`; None for plain causal attention, which `attend` does without one."""
    if mask_function is causal_mask_function and kwargs.get("attention_mask") is None:
        return None
    kwargs["allow_is_causal_skip"] = False
    seen = sdpa_mask(
        batch_size=batch_size,
        q_length=q_length,
        kv_length=kv_length,
        q_offset=q_offset,
        kv_offset=kv_offset,
        mask_function=mask_function,
        device=device,
        **kwargs,
    )
    assert seen is not None
    return torch.zeros((), dtype=dtype, device=device).masked_fill(~seen, float("-inf"))


def attend_causally(query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
    """Causal attention of the last q of n tokens; `[1, heads, q, value_dim]`. Chosen by shape and device."""
    q, n = query.shape[2], key.shape[2]
    if q == 1:
        return _attend_packed(query, key, value, None, scale)
    if query.device.type == "cpu" and matmul_is_faster(query.dtype):
        return _attend_by_products(query, key, value, scale)
    grouped = query.shape[1] != key.shape[1]
    if q == n:
        return functional.scaled_dot_product_attention(
            query, key, value, is_causal=True, scale=scale, enable_gqa=grouped
        )
    if query.device.type == "cpu":
        return _attend_packed(query, key, value, causal_mask(q, n, query.dtype, query.device), scale)
    bias = causal_lower_right(q, n)
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=bias, scale=scale, enable_gqa=grouped)


@lru_cache(maxsize=4)
def causal_mask(q: int, n: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Additive mask `[q, n]` for the last q of n tokens. Layers ask for the same one in turn."""
    hidden = torch.ones(q, n, dtype=torch.bool, device=device).triu(n - q + 1)
    return torch.zeros(q, n, dtype=dtype, device=device).masked_fill(hidden, float("-inf"))


@lru_cache(maxsize=1)
def matmul_is_faster(dtype: torch.dtype) -> bool:
    """Whether attention as two matrix products beats the fused kernel on this CPU, measured once.

    In bf16 it does where matrix products use bf16 instructions that the fused kernel does not; never in fp32.
    """
    if dtype is not torch.bfloat16:
        return False
    query, key = torch.ones(1, 4, 64, 64, dtype=dtype), torch.ones(1, 2, 1024, 64, dtype=dtype)
    mask = causal_mask(64, 1024, dtype, query.device)
    times: dict[bool, float] = {True: float("inf"), False: float("inf")}
    for _ in range(10):
        for by_products in times:
            start = time.perf_counter()
            if by_products:
                _attend_by_products(query, key, key, 0.125)
            else:
                _attend_packed(query, key, key, mask, 0.125)
            times[by_products] = min(times[by_products], time.perf_counter() - start)
    return times[True] < times[False]


def _attend_packed(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """The query heads of one KV head as rows: `[1, kv_heads, group * q, dim]`."""
    _, heads, q, dim = query.shape
    kv_heads = key.shape[1]
    rows = query.reshape(1, kv_heads, heads // kv_heads * q, dim)
    if mask is not None and heads != kv_heads:
        mask = mask.repeat(*[1] * (mask.dim() - 2), heads // kv_heads, 1)
    out = functional.scaled_dot_product_attention(rows, key, value, attn_mask=mask, scale=scale)
    return out.reshape(1, heads, q, value.shape[-1])


def _attend_by_products(query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
    """Scores, softmax and sum as matrix products, a KV head and some rows at a time. Only the newest q columns are
    masked: every query sees all tokens before them."""
    _, heads, q, dim = query.shape
    kv_heads, n = key.shape[1], key.shape[2]
    rows = (query * scale).reshape(kv_heads, heads // kv_heads * q, dim)
    tail = causal_mask(q, q, query.dtype, query.device).repeat(heads // kv_heads, 1)
    out = torch.empty(kv_heads, rows.shape[1], value.shape[-1], dtype=query.dtype)
    for head in range(kv_heads):
        for first in range(0, rows.shape[1], ROWS_AT_ONCE):
            some = slice(first, first + ROWS_AT_ONCE)
            scores = functional.linear(rows[head, some], key[0, head])
            scores[:, n - q :] += tail[some]
            torch.mm(torch.softmax(scores, dim=-1), value[0, head], out=out[head, some])
    return out.reshape(1, heads, q, value.shape[-1])


def _attend_plainly(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    scale: float,
    softcap: float | None,
    sinks: Tensor | None,
) -> Tensor:
    """Attention written out in fp32, for soft-capped scores (Gemma-2) and attention sinks (GPT-OSS)."""
    _, heads, q, dim = query.shape
    kv_heads, n = key.shape[1], key.shape[2]
    rows = query.reshape(1, kv_heads, heads // kv_heads * q, dim)
    scores = ((rows @ key.transpose(2, 3)).float() * scale).reshape(1, heads, q, n)
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    scores = scores + (causal_mask(q, n, torch.float32, query.device) if mask is None else mask)
    if sinks is not None:
        scores = torch.cat([scores, sinks.float().reshape(1, heads, 1, 1).expand(1, heads, q, 1)], dim=-1)
    weights = torch.softmax(scores, dim=-1)[..., :n].to(value.dtype)
    out = weights.reshape(1, kv_heads, heads // kv_heads * q, n) @ value
    return out.reshape(1, heads, q, value.shape[-1])

"""Causal attention over a lane, in plain torch, in several ways: shape, number type and device decide which is taken.

Grouped queries are computed without repeating K and V: the query heads that share a KV head become rows of one matrix.
Everywhere, q is the number of query tokens and n that of all tokens up to the last of them.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional

from engine.weights.fastest import fastest

ROWS_AT_ONCE = 256
"""Query rows whose scores are held at a time when attention is written as matrix products, so that they stay in the
processor's cache."""

MANY_BEFORE = 1024
"""From so many earlier tokens on, a mask over all of them costs more than attending in two parts, and is large."""


def attend_causally(query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
    """Causal attention of the last q of n tokens; returns `[1, heads, q, value_dim]`."""
    q, n = query.shape[2], key.shape[2]
    if q == 1:
        return attend_packed(query, key, value, None, scale)
    if query.device.type == "cpu" and matmul_is_faster(query.dtype):
        return _attend_by_products(query, key, value, scale)
    grouped = query.shape[1] != key.shape[1]
    if q == n:
        return functional.scaled_dot_product_attention(
            query, key, value, is_causal=True, scale=scale, enable_gqa=grouped
        )
    if query.device.type == "cpu":
        if n - q >= MANY_BEFORE and query.shape[-1] == value.shape[-1]:  # the kernel knows no other sizes
            return _attend_in_two(query, key, value, scale)
        mask = causal_mask(q, n, query.dtype, query.device, query.shape[1] // key.shape[1])
        return attend_packed(query, key, value, mask, scale)
    from torch.nn.attention.bias import causal_lower_right  # only here: it brings torch's compiler along

    bias = causal_lower_right(q, n)
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=bias, scale=scale, enable_gqa=grouped)


@lru_cache(maxsize=1)
def causal_mask(q: int, n: int, dtype: torch.dtype, device: torch.device, times: int = 1) -> Tensor:
    """Additive mask `[times * q, n]` for the last q of n tokens; `times` heads stand one below the other.

    All layers ask for the same mask in turn, so the newest is kept. Only that one: the cache's budget of bytes does not
    count it.
    """
    hidden = torch.ones(q, n, dtype=torch.bool, device=device).triu(n - q + 1)
    mask = torch.zeros(q, n, dtype=dtype, device=device).masked_fill(hidden, float("-inf"))
    return mask.repeat(times, 1) if times > 1 else mask


@lru_cache
def matmul_is_faster(dtype: torch.dtype) -> bool:
    """Whether attention as two matrix products beats the fused kernel on this CPU, measured once.

    In bf16 it does where matrix products use bf16 instructions that the fused kernel does not; never in fp32.
    """
    if dtype is not torch.bfloat16:
        return False
    query, key = torch.ones(1, 4, 64, 64, dtype=dtype), torch.ones(1, 2, 1024, 64, dtype=dtype)
    mask = causal_mask(64, 1024, dtype, query.device)
    return fastest(
        {
            True: lambda: _attend_by_products(query, key, key, 0.125),
            False: lambda: attend_packed(query, key, key, mask, 0.125),
        },
        rounds=10,
    )


def attend_packed(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """torch's fused kernel, with the query heads that share a KV head as rows `[1, kv_heads, group * q, dim]`.

    `mask` is added to the scores. It has q rows, or one for every row of the packed queries.
    """
    _, heads, q, dim = query.shape
    kv_heads = key.shape[1]
    rows = query.reshape(1, kv_heads, heads // kv_heads * q, dim)
    if mask is not None and mask.shape[-2] != rows.shape[2]:
        mask = mask.repeat(*[1] * (mask.dim() - 2), heads // kv_heads, 1)
    out = functional.scaled_dot_product_attention(rows, key, value, attn_mask=mask, scale=scale)
    return out.reshape(1, heads, q, value.shape[-1])


def _attend_in_two(query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
    """torch's fused kernel twice: over the tokens before the newest q, which needs no mask, and over the newest q.

    The two results are joined by the logarithms of their sums (https://arxiv.org/abs/2205.14135). One mask over all
    columns would cost a tenth of the time.
    """
    _, heads, q, dim = query.shape
    kv_heads, before = key.shape[1], key.shape[2] - q
    rows = query.reshape(1, kv_heads, heads // kv_heads * q, dim)
    mask = causal_mask(q, q, query.dtype, query.device, heads // kv_heads)
    kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    old, old_sum = kernel(rows, key[:, :, :before], value[:, :, :before], scale=scale)
    new, new_sum = kernel(rows, key[:, :, before:], value[:, :, before:], attn_mask=mask, scale=scale)
    share = torch.sigmoid(new_sum - old_sum)[..., None].to(query.dtype)
    return torch.lerp(old, new, share).reshape(1, heads, q, value.shape[-1])


def _attend_by_products(query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
    """Scores, softmax and sum as matrix products, for one KV head and ROWS_AT_ONCE rows at a time.

    Only the newest q columns are masked: every query sees all tokens before them. Columns that none of the rows sees
    are left out.
    """
    _, heads, q, dim = query.shape
    kv_heads, n = key.shape[1], key.shape[2]
    rows = (query * scale).reshape(kv_heads, heads // kv_heads * q, dim)
    tail = causal_mask(q, q, query.dtype, query.device, heads // kv_heads)
    out = torch.empty(kv_heads, rows.shape[1], value.shape[-1], dtype=query.dtype)
    for head in range(kv_heads):
        for first in range(0, rows.shape[1], ROWS_AT_ONCE):
            last = min(first + ROWS_AT_ONCE, rows.shape[1])
            some = slice(first, last)
            is_one_head = first // q == (last - 1) // q
            new = (last - 1) % q + 1 if is_one_head else q
            end = n - q + new
            scores = functional.linear(rows[head, some], key[0, head, :end])
            scores[:, n - q :] += tail[some, :new]
            torch.mm(torch.softmax(scores, dim=-1), value[0, head, :end], out=out[head, some])
    return out.reshape(1, heads, q, value.shape[-1])

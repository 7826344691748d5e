"""Causal attention over a lane: `attend` for reading on the CPU, where a token's numbers hang on that token and those
before it alone; torch's kernels for tokens that are being written, and on other devices.

Grouped queries are computed without repeating K and V: the query heads that share a KV head become rows of one matrix.
Everywhere, q is the number of query tokens and n that of all tokens up to the last of them.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from engine.llama import compiled_attention, gpu_kernels
from engine.llama.block_attention import attend_in_blocks


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale: float,
    *,
    seen: Tensor | None = None,
    softcap: float | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """Attention of the last q of n tokens on the CPU, the same bits for a token however many are computed with it.

    `query` is `[1, heads, q, dim]`, `key` and `value` are `[1, kv_heads, n, dim]` each with a dim of its own; returns
    `[1, heads, q, value_dim]`. Every token sees those up to itself, or, of these, the ones that `seen` `[q, n]` (bool)
    says. `softcap` bounds the scores as in Gemma-2. `sinks` `[heads]` are scores that take a share of the softmax and
    add nothing, as in GPT-OSS.
    """
    if compiled_attention.can_attend(query):
        way = compiled_attention.way(query.dtype)
        return compiled_attention.attend(query, key, value, scale, way, seen, softcap, sinks)
    return attend_in_blocks(query, key, value, scale, seen, softcap, sinks)


def way(dtype: torch.dtype) -> str:
    """How `attend` computes numbers of this type, in a word: different ways give different last bits."""
    if compiled_attention.can_attend(torch.empty(0, dtype=dtype)):
        return compiled_attention.WAYS[compiled_attention.way(dtype)]
    return "blocks"


BLOCK = 512
"""Keys before a window are left out in steps of so many tokens: a multiple of the blocks that `attend` takes keys in,
so that those of a window are the same blocks whatever stands before it."""


def in_window(window: int | None, q: int, n: int, device: torch.device) -> tuple[int, Tensor | None]:
    """From which key on the last q of n tokens see any, and which of these each of them sees: `[q, n - first]` (bool),
    or None where that is all before it. `window` is how many tokens one sees, itself among them."""
    if window is None or n <= window:
        return 0, None
    first = max(0, n - q + 1 - window) // BLOCK * BLOCK
    newest = torch.arange(n - q, n, device=device)[:, None]
    keys = torch.arange(first, n, device=device)
    return first, (keys > newest - window) & (keys <= newest)


def attend_by_torch(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale: float,
    *,
    seen: Tensor | None = None,
    softcap: float | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """What `attend` computes by torch's kernels, whose last bits hang on q: for one token, and on other devices."""
    if softcap is not None or sinks is not None:
        return _attend_plainly(query, key, value, seen, scale, softcap, sinks)
    if seen is not None:
        added = torch.zeros((), dtype=query.dtype, device=seen.device).masked_fill(~seen, float("-inf"))
        return _attend_packed(query, key, value, added, scale)
    q, n = query.shape[2], key.shape[2]
    if q == 1:
        return _attend_packed(query, key, value, None, scale)
    heads = gpu_kernels.Heads(query.shape[1], key.shape[1], key.shape[3], value.shape[3], query.dtype)
    if gpu_kernels.form(gpu_kernels.card_of(query.device), heads) == "rows":
        return _attend_packed(query, key, value, _causal_mask(q, n, query), scale)
    grouped = heads.heads != heads.kv_heads
    if q == n:
        return functional.scaled_dot_product_attention(
            query, key, value, is_causal=True, scale=scale, enable_gqa=grouped
        )
    from torch.nn.attention.bias import causal_lower_right  # only here: it brings torch's compiler along

    bias = causal_lower_right(q, n)
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=bias, scale=scale, enable_gqa=grouped)


def _attend_packed(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """torch's fused kernel, with the query heads that share a KV head as rows `[1, kv_heads, group * q, dim]`.

    `mask` `[q, n]` is added to the scores.
    """
    _, heads, q, dim = query.shape
    kv_heads = key.shape[1]
    group = heads // kv_heads
    if query.device.type == "mps" and mask is not None and group * q > gpu_kernels.MPS_ROWS:
        most = max(1, gpu_kernels.MPS_ROWS // group)
        parts = zip(torch.split(query, most, 2), torch.split(mask, most), strict=True)
        return torch.cat([_attend_packed(part, key, value, own, scale) for part, own in parts], 2)
    rows = query.reshape(1, kv_heads, group * q, dim)
    if mask is not None:
        mask = mask.repeat(group, 1)
    out = functional.scaled_dot_product_attention(rows, key, value, attn_mask=mask, scale=scale)
    return out.reshape(1, heads, q, value.shape[-1])


def _causal_mask(q: int, n: int, like: Tensor) -> Tensor:
    """What is added to the scores `[q, n]` of the last q of n tokens, so that each sees none behind itself."""
    return torch.full((q, n), float("-inf"), dtype=like.dtype, device=like.device).triu(n - q + 1)


def _attend_plainly(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    seen: Tensor | None,
    scale: float,
    softcap: float | None,
    sinks: Tensor | None,
) -> Tensor:
    """Attention with every step written out, for soft-capped scores (Gemma-2) and attention sinks (GPT-OSS)."""
    _, heads, q, dim = query.shape
    kv_heads, n = key.shape[1], key.shape[2]
    rows = query.reshape(1, kv_heads, heads // kv_heads * q, dim)
    scores = ((rows @ key.transpose(2, 3)).float() * scale).reshape(1, heads, q, n)
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    if seen is None:
        seen = torch.ones(q, n, dtype=torch.bool, device=query.device).tril(n - q)
    scores = scores.masked_fill(~seen, float("-inf"))
    if sinks is not None:
        scores = torch.cat([scores, sinks.float().reshape(1, heads, 1, 1).expand(1, heads, q, 1)], dim=-1)
    weights = torch.softmax(scores, dim=-1)[..., :n].to(value.dtype)
    out = weights.reshape(1, kv_heads, heads // kv_heads * q, n) @ value
    return out.reshape(1, heads, q, value.shape[-1])

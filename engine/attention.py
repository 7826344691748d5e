"""Attention over a lane, registered with transformers under the name "headstart".

Grouped queries are computed without repeating K and V: the query heads that share a KV head become rows of one matrix.
A mask function is registered beside it: without one transformers hands over no mask at all and cuts K and V short.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.bias import causal_lower_right
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import causal_mask_function, sdpa_mask

NAME = "headstart"


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

    `attention_mask` is additive `[1, 1, q, n]`, or None for plain causal attention. `softcap` bounds the scores as in
    Gemma-2, `s_aux` holds a sink per head as in GPT-OSS.
    """
    if softcap is not None or s_aux is not None:
        out = _attend_plainly(query, key, value, attention_mask, scaling, softcap, s_aux)
    elif attention_mask is None:
        out = _attend_causally(query, key, value, scaling)
    else:
        out = _attend_packed(query, key, value, attention_mask, scaling)
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
    """An additive mask `[1, 1, q, n]`; None where plain causal attention needs none, given the shapes."""
    kwargs["allow_is_causal_skip"] = False
    if mask_function is causal_mask_function and kwargs.get("attention_mask") is None:
        on_cuda = device is not None and device.type == "cuda"
        if q_length == 1 or q_offset == 0 or on_cuda:
            return None
        steps = torch.arange(kv_length, device=device)
        hidden = steps[None, :] > (steps[:q_length, None] + q_offset)
        return torch.zeros((), dtype=dtype, device=device).masked_fill(hidden, float("-inf"))[None, None]
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


def register() -> None:
    """Make `attn_implementation="headstart"` known to transformers."""
    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, make_mask)


def _attend_causally(query: Tensor, key: Tensor, value: Tensor, scaling: float | None) -> Tensor:
    """Plain causal attention in the three shapes that need no mask tensor."""
    q, n = query.shape[2], key.shape[2]
    if q == 1:
        return _attend_packed(query, key, value, None, scaling)
    grouped = query.shape[1] != key.shape[1]
    if q == n:
        return F.scaled_dot_product_attention(query, key, value, is_causal=True, scale=scaling, enable_gqa=grouped)
    bias = causal_lower_right(q, n)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=bias, scale=scaling, enable_gqa=grouped)


def _attend_packed(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scaling: float | None) -> Tensor:
    """The query heads of one KV head as rows: `[1, kv_heads, group * q, dim]`."""
    _, heads, q, dim = query.shape
    kv_heads = key.shape[1]
    rows = query.reshape(1, kv_heads, heads // kv_heads * q, dim)
    if mask is not None and heads != kv_heads:
        mask = mask.repeat(1, 1, heads // kv_heads, 1)
    out = F.scaled_dot_product_attention(rows, key, value, attn_mask=mask, scale=scaling)
    return out.reshape(1, heads, q, value.shape[-1])


def _attend_plainly(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    scaling: float | None,
    softcap: float | None,
    sinks: Tensor | None,
) -> Tensor:
    """Attention written out, for soft-capped scores (Gemma-2) and attention sinks (GPT-OSS)."""
    _, heads, q, dim = query.shape
    kv_heads, n = key.shape[1], key.shape[2]
    rows = query.reshape(1, kv_heads, heads // kv_heads * q, dim)
    scores = (rows @ key.transpose(2, 3)).float() * (dim**-0.5 if scaling is None else scaling)
    scores = scores.reshape(1, heads, q, n)
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    if mask is None and q > 1:
        mask = torch.full((q, n), float("-inf"), device=query.device).triu(n - q + 1)
    if mask is not None:
        scores = scores + mask
    if sinks is not None:
        scores = torch.cat([scores, sinks.float().reshape(1, heads, 1, 1).expand(1, heads, q, 1)], dim=-1)
    weights = torch.softmax(scores, dim=-1)[..., :n].to(value.dtype)
    out = weights.reshape(1, kv_heads, heads // kv_heads * q, n) @ value
    return out.reshape(1, heads, q, value.shape[-1])

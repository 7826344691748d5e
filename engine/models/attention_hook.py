"""Our attention (`engine.llama.attention`) for models of any class, registered with transformers as "headstart".

A function for masks is registered, too. Without one transformers gives no mask at all, and cuts keys and values short.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import causal_mask_function, sdpa_mask

from engine.llama.attention import attend as attend_exactly
from engine.llama.attention import attend_by_torch
from engine.models.row_by_row import is_reading
from engine.stopping import between_layers

NAME = "headstart"


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

    `attention_mask` `[1, 1, q, n]` says which token sees which, None: all up to itself, of the last q of n tokens.
    `softcap` bounds the scores as in Gemma-2, `s_aux` holds a sink per head as in GPT-OSS.
    """
    between_layers()
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    seen = None if attention_mask is None else attention_mask[0, 0]
    attention = attend_exactly if is_reading() and query.device.type == "cpu" else attend_by_torch
    out = attention(query, key, value, scale, seen=seen, softcap=softcap, sinks=s_aux)
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
    """The mask `[1, 1, q, n]` of a layer (bool); None for plain causal attention, which needs none in `attend`."""
    if mask_function is causal_mask_function and kwargs.get("attention_mask") is None:
        return None
    kwargs["allow_is_causal_skip"] = False
    seen: Tensor | None = sdpa_mask(
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
    return seen

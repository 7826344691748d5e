"""Attention of many tokens by `engine/native/prompt.c`."""

from __future__ import annotations

from ctypes import byref
from functools import lru_cache, partial

import torch
from torch import Tensor

from engine.native import library as native_library
from engine.weights.fastest import fastest

WAYS = ("by eights", "AVX-512", "AVX-512 BF16", "AMX")
"""How products are computed, as in `engine/native/tiles.h`."""

BY_EIGHTS, AMX = WAYS.index("by eights"), WAYS.index("AMX")
NUMBERS = (torch.float32, torch.bfloat16)


def can_attend(query: Tensor) -> bool:
    """Whether the compiled part is here and knows such numbers."""
    return query.device.type == "cpu" and query.dtype in NUMBERS and native_library.library() is not None


@lru_cache
def way(dtype: torch.dtype) -> int:
    """The way that is the fastest here for a number type, measured once: not every processor that can multiply bf16 is
    faster at it. What it gives differs from what another way gives, in the last bits."""
    library = native_library.library()
    assert library is not None
    widest = library.headstart_widest(dtype is torch.bfloat16)
    if widest == BY_EIGHTS or torch.backends.cpu.get_cpu_capability() == "AVX2":
        return BY_EIGHTS
    if widest == AMX:
        return AMX  # faster than all others wherever it is
    query, key = torch.ones(1, 4, 96, 64, dtype=dtype), torch.ones(1, 2, 1024, 64, dtype=dtype)
    return fastest({each: partial(attend, query, key, key, 0.125, each) for each in range(widest + 1)}, rounds=5)


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale: float,
    kind: int,
    seen: Tensor | None = None,
    softcap: float | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """What `engine.llama.attention.attend` says, in one of the WAYS."""
    library = native_library.library()
    assert library is not None
    heads, q = query.shape[1:3]
    query, key, value = (part if part.stride(3) == 1 else part.contiguous() for part in (query, key, value))
    value = value.to(query.dtype)
    out = query.new_empty(q, heads, value.shape[3])
    if seen is not None:
        seen = seen.contiguous()
    if sinks is not None:
        sinks = sinks.float().contiguous()
    call = native_library.Attention(
        queries=query.data_ptr(),
        keys=key.data_ptr(),
        values=value.data_ptr(),
        seen=None if seen is None else seen.data_ptr(),
        sinks=None if sinks is None else sinks.data_ptr(),
        out=out.data_ptr(),
        query_row=query.stride(2),
        query_head=query.stride(1),
        key_row=key.stride(2),
        key_head=key.stride(1),
        value_row=value.stride(2),
        value_head=value.stride(1),
        seen_row=0 if seen is None else seen.stride(0),
        heads=heads,
        kv_heads=key.shape[1],
        key_dim=query.shape[3],
        value_dim=value.shape[3],
        rows=q,
        end=key.shape[2],
        is_bf16=query.dtype is torch.bfloat16,
        kind=kind,
        scale=scale,
        softcap=softcap or 0.0,
    )
    scratch = torch.empty(library.headstart_attention_scratch(byref(call)), dtype=torch.uint8)
    call.scratch = scratch.data_ptr()
    library.headstart_attend(byref(call))
    return out.transpose(0, 1)[None]

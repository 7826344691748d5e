"""Attention for reading, in every way it is computed here: what it gives, and on what a token's numbers hang."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.llama import compiled_attention
from engine.llama.attention import attend_by_torch
from engine.llama.block_attention import attend_in_blocks
from engine.native import library as native_library

FP32, BF16 = torch.float32, torch.bfloat16


def ways() -> dict[str, tuple[Any, torch.dtype]]:
    """A name for each way with the function and the number type."""
    found: dict[str, tuple[Any, torch.dtype]] = {
        "blocks fp32": (attend_in_blocks, FP32),
        "blocks bf16": (attend_in_blocks, BF16),
    }
    if (library := native_library.library()) is not None:
        for dtype in (FP32, BF16):
            for kind in range(library.headstart_widest(dtype is BF16) + 1):
                name = f"{compiled_attention.WAYS[kind]} {str(dtype).removeprefix('torch.')}"
                found[name] = partial(_compiled, kind), dtype
    return found


def _compiled(kind: int, query: Tensor, key: Tensor, value: Tensor, scale: float, **options: Any) -> Tensor:
    return compiled_attention.attend(query, key, value, scale, kind, **options)


SHAPES = {
    "three to a KV head, far behind": (9, 3, 64, 64, 57, 1500),
    "one KV head, odd sizes": (5, 1, 7, 9, 33, 200),
    "values of another size": (4, 2, 72, 40, 130, 300),
    "alone": (4, 4, 12, 6, 1, 129),
    "from the start": (4, 2, 8, 8, 300, 300),
}


def make(shape: str, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values, each inside of a larger buffer as they are in a lane."""
    heads, kv_heads, dim, value_dim, q, n = SHAPES[shape]
    chance = torch.Generator().manual_seed(q)
    query = torch.randn(q, heads, dim, generator=chance).transpose(0, 1)[None]
    key = torch.randn(1, kv_heads, n + 16, dim, generator=chance)[:, :, :n]
    value = torch.randn(1, kv_heads, n + 16, value_dim, generator=chance)[:, :, :n]
    return query.to(dtype), key.to(dtype), value.to(dtype)


def options(query: Tensor, key: Tensor) -> dict[str, dict[str, Any]]:
    """What else attention can be asked for: a window of 40, some rows that see nothing at first, all at once."""
    q, n = query.shape[2], key.shape[2]
    place = torch.arange(n - q, n)[:, None] - torch.arange(n)
    window, sinks = {"seen": (place >= 0) & (place < 40)}, {"sinks": torch.linspace(-2, 3, query.shape[1])}
    return {
        "plain": {},
        "window": window,
        "sinks": sinks,
        "soft cap": {"softcap": 3.0},
        "all": {**window, **sinks, "softcap": 3.0},
    }


def written_out(query: Tensor, key: Tensor, value: Tensor, scale: float, **more: Any) -> Tensor:
    """The same in fp64, step by step."""
    group, (q, n) = query.shape[1] // key.shape[1], (query.shape[2], key.shape[2])
    query, key, value = query.double(), *(part.double().repeat_interleave(group, 1) for part in (key, value))
    scores = query @ key.transpose(2, 3) * scale
    if "softcap" in more:
        scores = torch.tanh(scores / more["softcap"]) * more["softcap"]
    seen = torch.ones(q, n, dtype=torch.bool).tril(n - q) & more.get("seen", torch.tensor(True))
    scores = scores.masked_fill(~seen, float("-inf"))
    if "sinks" in more:
        scores = torch.cat([scores, more["sinks"].double().view(1, -1, 1, 1).expand(1, -1, q, 1)], -1)
    return torch.softmax(scores, -1)[..., :n] @ value


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("way", ways())
@torch.inference_mode()
def test_it_is_the_softmax_written_out(way: str, shape: str) -> None:
    attend, dtype = ways()[way]
    query, key, value = make(shape, dtype)
    for more in options(query, key).values():
        found = attend(query, key, value, 0.2, **more).double()
        close = {"atol": 2e-6, "rtol": 1e-5} if dtype is FP32 else {"atol": 0.02, "rtol": 0.02}
        torch.testing.assert_close(found, written_out(query, key, value, 0.2, **more), **close)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("way", ways())
@torch.inference_mode()
def test_a_token_has_the_same_bits_with_whomever_it_is_computed(way: str, shape: str) -> None:
    attend, dtype = ways()[way]
    query, key, value = make(shape, dtype)
    q, before, chance = query.shape[2], key.shape[2] - query.shape[2], random.Random(1)
    for more in options(query, key).values():
        whole = attend(query, key, value, 0.2, **more)
        for _ in range(6):
            first, last = sorted(chance.choices(range(q + 1), k=2))
            if first == last:
                continue
            end = before + last
            own = dict(more, seen=more["seen"][first:last, :end]) if "seen" in more else more
            part = attend(query[:, :, first:last], key[:, :, :end], value[:, :, :end], 0.2, **own)
            assert torch.equal(part, whole[:, :, first:last])


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("way", ways())
@torch.inference_mode()
def test_threads_that_share_a_head_change_no_bit(way: str) -> None:
    attend, dtype = ways()[way]
    chance = torch.Generator().manual_seed(3)
    for kv_heads, q, n in ((3, 1, 1), (3, 10, 700), (5, 3, 1000), (1, 2, 600), (4, 7, 130)):
        query = torch.randn(1, 2 * kv_heads, q, 16, generator=chance).to(dtype)
        key, value = (torch.randn(1, kv_heads, n, 16, generator=chance).to(dtype) for _ in range(2))
        found = []
        for count in (1, 2, 3, 4):
            torch.set_num_threads(count)
            found.append(attend(query, key, value, 0.25))
        assert all(torch.equal(each, found[0]) for each in found[1:])


@pytest.mark.parametrize("way", ways())
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@torch.inference_mode()
def test_what_is_no_number_does_not_get_lost(way: str, number: float) -> None:
    attend, dtype = ways()[way]
    query, key, value = make("three to a KV head, far behind", dtype)
    for part in (key, value):
        kept = part[0, 0, 700].clone()
        part[0, 0, 700] = number
        assert not attend(query, key, value, 0.2)[0, :3].isfinite().all(-1).any()
        part[0, 0, 700] = kept
    assert attend(query, key, value, 0.2).isfinite().all()


@pytest.mark.parametrize("way", ways())
@torch.inference_mode()
def test_many_keys_are_taken_a_part_of_the_heads_at_a_time(way: str) -> None:
    """Packed keys and values are bounded in bytes, but for one KV head at least."""
    attend, dtype = ways()[way]
    query, key, value = torch.randn(1, 8, 3, 64), *(torch.randn(1, 8, 20_000, 64) for _ in range(2))
    parts = query.to(dtype), key.to(dtype), value.to(dtype)
    close = {"atol": 1e-5, "rtol": 1e-4} if dtype is FP32 else {"atol": 0.01, "rtol": 0.02}
    torch.testing.assert_close(attend(*parts, 0.125).double(), written_out(*parts, 0.125), **close)


@pytest.mark.parametrize("q", [1, 5])
@torch.inference_mode()
def test_torchs_kernels_give_the_same_but_for_the_last_bits(q: int) -> None:
    query, key, value = torch.randn(1, 6, q, 16), *(torch.randn(1, 2, 40, 16) for _ in range(2))
    found = attend_by_torch(query, key, value, 0.25).double()
    torch.testing.assert_close(found, written_out(query, key, value, 0.25), atol=1e-5, rtol=1e-5)

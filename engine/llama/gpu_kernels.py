"""Which kernels of torch a GPU has for attention, what they take, and which form of attention is chosen for it.

Sources are PyTorch's own checks: aten/src/ATen/native/transformers/cuda/sdp_utils.cpp for CUDA, and
aten/src/ATen/native/mps/operations/Attention.mm for Apple's GPUs. What is said there of training and of nested tensors
is left out. ROCm's kernels are other ones: a GPU of AMD is treated as one without flash attention, which always works.

Products of matrices take fp32 and fp16 on every card, and bf16 in hardware from compute capability 8.0 on, and on MPS
from macOS 14 on (`engine.models.choice` chooses fp16 elsewhere). Kernels for weights of 4 or 8 bits are not used on a
GPU: packed weights are widened there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import torch

Kernel = Literal["flash", "efficient", "math", "mps"]
Form = Literal["causal", "rows"]
"""How causal attention of many tokens is asked for: as such, the kernel sharing KV heads among query heads; or with the
query heads that share a KV head as rows, and a mask."""

FLASH = ((8, 0), (12, 1))
EFFICIENT = ((5, 0), (12, 1))
"""The compute capabilities that have a kernel, the first and the last."""

FLASH_WIDEST = 256
"""Numbers of a head."""

MPS_ROWS = 3068
"""More rows of queries in 16 bits are cut by MPS's kernel, which does not cut the mask with them (kChunkSize)."""

HALVES = (torch.float16, torch.bfloat16)


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU: `kind` is "cuda" or "mps", `capability` CUDA's compute capability, (0, 0) where there is none."""

    kind: str
    capability: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Heads:
    """What attention is over: query heads, KV heads, numbers of a key and of a value, their type."""

    heads: int
    kv_heads: int
    key_dim: int
    value_dim: int
    dtype: torch.dtype


@cache
def card_of(device: torch.device) -> Card:
    """The GPU that a device is."""
    if device.type == "cuda" and torch.version.hip is None:
        return Card("cuda", torch.cuda.get_device_capability(device))
    return Card(device.type)


def kernel(card: Card, heads: Heads, *, is_masked: bool) -> Kernel:
    """The kernel that torch takes. `heads` as they are handed to it, `is_masked`: with a mask in memory. "math" is
    always there: it writes all scores into memory, and copies keys and values that are shared, or in 16 bits."""
    if card.kind == "mps":
        return "mps"
    if _has(card, FLASH) and not is_masked and _fits_flash(heads):
        return "flash"
    if _has(card, EFFICIENT) and heads.heads == heads.kv_heads and _fits_efficient(card, heads):
        return "efficient"
    return "math"


def form(card: Card, heads: Heads) -> Form:
    """The form that gets the best kernel. Apple's GPUs get rows: until torch 2.13 a mask over shared heads is refused
    there, and shared keys and values are copied for more than a few queries."""
    if card.kind == "cpu" or kernel(card, heads, is_masked=False) in ("flash", "efficient"):
        return "causal"
    return "rows"


def _has(card: Card, span: tuple[tuple[int, int], tuple[int, int]]) -> bool:
    return card.kind == "cuda" and span[0] <= card.capability <= span[1]


def _fits_flash(heads: Heads) -> bool:
    """Heads of another width than a multiple of 8 are filled up by torch."""
    return heads.dtype in HALVES and heads.key_dim == heads.value_dim <= FLASH_WIDEST


def _fits_efficient(card: Card, heads: Heads) -> bool:
    """Widths must be what the products of a card can read at once (minimum_gemm_alignment)."""
    is_half, is_new = heads.dtype in HALVES, card.capability >= (8, 0)
    if heads.dtype is torch.bfloat16 and not is_new:
        return False
    has_tensor_cores = is_new or (is_half and card.capability >= (7, 0))
    alignment = (8 if is_half else 4) if has_tensor_cores else 1
    return not heads.key_dim % alignment and not heads.value_dim % alignment

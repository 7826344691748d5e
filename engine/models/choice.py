"""On which device a model computes, in which number type, and how much memory its cache gets by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import psutil
import torch
from torch import Tensor

from engine.library.check import weight_files
from engine.types import BLOCK_TOKENS, LEAST_CONTEXT, Device, Dtype, ModelError, ModelFit, OutOfMemoryError
from engine.weights.compiled_matrix import can_read
from engine.weights.fastest import fastest
from engine.weights.few_bits import few_bits_are_faster
from engine.weights.quantise import Bits

NUMBER_TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
NAMES = {dtype: name for name, dtype in NUMBER_TYPES.items()}

FP32_SHARE, COPIES_SHARE = 1 / 3, 1 / 2
"""fp32 weights may take this share of the computer's memory, and weights with few-bit copies that one: the cache and
other programs need the rest. What is free at the moment decides nothing that changes an answer."""

CPU_FULL_SHARE, GPU_FULL_SHARE = 0.05, 0.5
"""Packed weights may be kept in full as well up to this share of the free memory. On a GPU, where torch widens them,
that makes a large difference."""

CONTEXT_SHARE = 1 / 8
"""A conversation may grow to this share of the device's memory by itself; a user may ask for more."""

WIDEST_MEASURED = 1024
"""The measurement of number types uses a layer of at most this width. Wider ones take long, up to seconds, and do not
change which type is faster."""

SEGMENT_BYTES, LARGE_BYTES = 2 << 20, 10 << 20
"""Of torch's allocator for GPUs: its smallest segment, and from how many bytes on a tensor has one of its own."""

DEFAULT_CACHE_LIMIT = 8 * 1024**3
"""The most that the cache takes by itself; a user may ask for more."""


def choose_device(wish: Device) -> torch.device:
    """The device asked for, or CUDA, then MPS, then CPU. Raises ModelError where the wish is not there."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wish == "auto":
        return torch.device(next(name for name, is_there in there.items() if is_there))
    if not there[wish]:
        raise ModelError(f"This computer has no usable {wish.upper()} device. Choose the device 'auto' or 'cpu'.")
    return torch.device(wish)


def choose_dtype(
    wish: Dtype, device: torch.device, width: int, own: torch.dtype, checkpoint_bytes: int = 0
) -> tuple[torch.dtype, Bits | None]:
    """The number type of the weights, and in how many bits they are copied for decoding (None: not at all).

    What was asked for counts. Otherwise a GPU gets the checkpoint's `own` type as far as it can compute in it. A CPU
    gets the type that multiplies faster and fits, and few-bit copies where those are faster. `width` is the model's
    hidden size. Raises ModelError where few-bit weights are asked for elsewhere than on the CPU.
    """
    if wish == "int4" or wish == "int8":
        if device.type != "cpu":
            raise ModelError(f"{wish} weights are for the CPU only. Choose 'auto' or bf16 on {device.type.upper()}.")
        return cpu_dtype(width, own, checkpoint_bytes), wish
    if wish != "auto":
        return NUMBER_TYPES[wish], None
    if device.type != "cpu":
        return own if own is torch.float16 else torch.bfloat16 if _has_bf16(device) else torch.float16, None
    number = cpu_dtype(width, own, checkpoint_bytes)
    with_copies = checkpoint_bytes // own.itemsize * (number.itemsize + 1)
    if with_copies > COPIES_SHARE * total_bytes(device):
        return number, None
    # "fitting" chooses int4 or int8 for each matrix: see engine/weights/quantise.py.
    return number, "fitting" if few_bits_are_faster(number) else None


def _has_bf16(device: torch.device) -> bool:
    """Whether a GPU computes in bf16: NVIDIA's from compute capability 8.0 on, Apple's from macOS 14 on."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return bool(torch.backends.mps.is_macos_or_newer(14, 0))


def cpu_dtype(width: int, own: torch.dtype, checkpoint_bytes: int) -> torch.dtype:
    """bf16 or fp32, whichever multiplies faster here; bf16 where fp32 weights would take much of the memory."""
    in_fp32 = checkpoint_bytes * torch.float32.itemsize // own.itemsize
    if in_fp32 > FP32_SHARE * psutil.virtual_memory().total:
        return torch.bfloat16
    return _fastest_dtype(width)


def default_cache_bytes(device: torch.device, block_bytes: int) -> int:
    """What the cache takes by itself of the memory that is free now: a quarter of the computer's, half of a GPU's own;
    at most 8 GiB. The other half is for what is computed with, and what torch's allocator cannot fill with blocks of
    `block_bytes`."""
    share = free_bytes(device) * block_bytes // taken_for_block(block_bytes, device)
    return int(min(share // 2 if device.type == "cuda" else share // 4, DEFAULT_CACHE_LIMIT))


def bytes_behind(device: torch.device) -> int:
    """What blocks that leave a device may take of the computer's memory: a quarter of what is free, at most 8 GiB.
    Apple's GPUs share that memory, so nothing is behind them."""
    return int(min(psutil.virtual_memory().available // 4, DEFAULT_CACHE_LIMIT)) if device.type == "cuda" else 0


def cache_sizes(
    device: torch.device, token_bytes: int, longest: int, wish: int | None, context: int | None = None
) -> tuple[int, int]:
    """The budget of the cache in bytes, `wish` where there is one, and how many tokens a conversation may have
    (`context_of`), each of `token_bytes`. On a GPU no more than there is room for beside the model, unless a context
    was asked for."""
    own = default_cache_bytes(device, token_bytes * BLOCK_TOKENS)
    length = context_of(longest, context, token_bytes, device)
    if device.type != "cpu" and context is None:
        length = min(length, max(own // token_bytes, LEAST_CONTEXT))
    return own if wish is None else wish, length


def taken_for_block(nbytes: int, device: torch.device) -> int:
    """Bytes of a GPU that a tensor takes which is one of many of its size: torch's allocator puts those of up to 1 MiB
    into segments of 2 MiB, and those of up to 10 MiB into segments of 20 MiB (c10/core/AllocatorConfig.h)."""
    whole = -(-nbytes // 512) * 512
    if device.type == "cpu" or not nbytes:
        return max(1, nbytes)
    if whole >= LARGE_BYTES:
        return -(-whole // SEGMENT_BYTES) * SEGMENT_BYTES
    segment = SEGMENT_BYTES if whole <= SEGMENT_BYTES // 2 else 2 * LARGE_BYTES
    return segment // (segment // whole)


def free_bytes(device: torch.device) -> int:
    """Memory that is free on a device now, after torch has given back what it keeps for later: loading leaves as much
    as the largest half of the weights there. Apple's GPUs share the computer's, and may have a part of it."""
    there = int(psutil.virtual_memory().available)
    if device.type == "cuda":
        torch.cuda.empty_cache()
        return int(torch.cuda.mem_get_info(device)[0])
    if device.type == "mps":
        torch.mps.empty_cache()
        return max(0, min(there, int(torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory())))
    return there


def full_is_cheap(nbytes: int, device: torch.device) -> bool:
    """Whether packed weights may be there in full, too, for faster reading: a small share of the free memory. What is
    computed is the same in either case."""
    return nbytes <= (CPU_FULL_SHARE if device.type == "cpu" else GPU_FULL_SHARE) * free_bytes(device)


@dataclass(frozen=True, slots=True)
class Need:
    """What a model takes in bytes: its weights, room to compute in, and keys and values of one token."""

    weights: int
    scratch: int
    token: int


def context_of(longest: int, wish: int | None, token: int, device: torch.device) -> int:
    """How many tokens a conversation may have with a model that reads up to `longest`, of `token` bytes each: as many
    as were asked for, else as take a share of the device's memory. The same at every start."""
    room = int(CONTEXT_SHARE * total_bytes(device)) // max(token, 1)
    if room < longest:
        room = max(room // LEAST_CONTEXT, 1) * LEAST_CONTEXT
    return min(longest, room if wish is None else wish)


def fit_of(need: Need, name: str, number: str, longest: int, wish: int | None, device: torch.device) -> ModelFit:
    """What a model takes, of what there is. `number` names its number type, `wish` is the context asked for."""
    return ModelFit(
        name=name,
        dtype=number,
        weights=need.weights,
        scratch=need.scratch,
        token=need.token,
        context=context_of(longest, wish, need.token, device),
        longest=longest,
        free=free_bytes(device),
        total=total_bytes(device),
    )


def require_memory(fit: ModelFit) -> None:
    """Raise OutOfMemoryError where a model does not fit into the memory that is free now, and ModelError where it would
    not even if all of it was: then there is no use in closing another model for it."""
    if not fit.fits:
        raise (ModelError if fit.whole > fit.total else OutOfMemoryError)(fit.refusal)


def total_bytes(device: torch.device) -> int:
    """The memory of a device. Apple's GPUs may have a part of the computer's."""
    if device.type == "mps":
        return int(torch.mps.recommended_max_memory())
    return int(torch.cuda.mem_get_info(device)[1] if device.type == "cuda" else psutil.virtual_memory().total)


def checkpoint_bytes(folder: Path) -> int:
    """The size on disk of the weights that a model is loaded from."""
    return sum(file.stat().st_size for file in weight_files(folder))


@lru_cache
def _fastest_dtype(width: int) -> torch.dtype:
    """bf16 or fp32, whichever multiplies faster here: products as prefill does them, 256 tokens through one layer. With
    AMX there is nothing to measure."""
    if can_read(torch.bfloat16):
        return torch.bfloat16
    width = min(width, WIDEST_MEASURED)

    def product(dtype: torch.dtype) -> Callable[[], Tensor]:
        return partial(torch.mm, torch.ones(256, width, dtype=dtype), torch.ones(width, width, dtype=dtype))

    return fastest({dtype: product(dtype) for dtype in (torch.bfloat16, torch.float32)}, rounds=10)

"""Weights of a few bits for the one-row products of decoding, with torch's own CPU kernels.

int4: groups of 32 with scale and zero point, `w = scale * (q - 8) + zero`, the layout of `_weight_int4pack_mm_for_cpu`.
int8: a scale for each output, `w = scale * q`, for `_weight_int8pack_mm`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, Protocol

import torch
from torch import Tensor

from engine.race import fastest

GROUP = 32
LOSSLESS = 0.1
"""int4 counts as lossless where the error stays below this share of a quantisation step (root mean square)."""

Bits = Literal["int4", "int8", "fitting"]
"""`fitting`: int4 where the weights were four-bit before and lose nothing, int8 elsewhere."""


class Packed(Protocol):
    """A weight matrix in few bits."""

    nbytes: int

    def __call__(self, rows: Tensor) -> Tensor:
        """`rows @ weight.T` for a few bf16 rows `[m, in]`; returns `[m, out]`."""


class Int4:
    """Four bits a weight. `weight` is `[out, in]`; `in` a multiple of 32, `out` of 16."""

    def __init__(self, weight: Tensor) -> None:
        quantised, scale, zero = quantise_int4(weight)
        self._packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(quantised, 1)
        self._scales = torch.stack([scale.t(), zero.t()], dim=-1).to(torch.bfloat16).contiguous()
        self.nbytes = self._packed.nbytes + self._scales.nbytes

    def __call__(self, rows: Tensor) -> Tensor:
        """See `Packed`."""
        out: Tensor = torch.ops.aten._weight_int4pack_mm_for_cpu(rows, self._packed, GROUP, self._scales)
        return out


class Int8:
    """Eight bits a weight."""

    def __init__(self, weight: Tensor) -> None:
        scale = weight.float().abs().amax(dim=1).clamp_min(1e-8) / 127
        self._quantised = (weight.float() / scale[:, None]).round().to(torch.int8)
        self._scale = scale.to(torch.bfloat16)
        self.nbytes = self._quantised.nbytes + self._scale.nbytes

    def __call__(self, rows: Tensor) -> Tensor:
        """See `Packed`."""
        out: Tensor = torch.ops.aten._weight_int8pack_mm(rows, self._quantised, self._scale)
        return out


def pack(weight: Tensor, bits: Bits) -> Packed:
    """Pack a weight matrix `[out, in]`."""
    fits = weight.shape[1] % GROUP == 0 and weight.shape[0] % 16 == 0
    if fits and (bits == "int4" or (bits == "fitting" and int4_error(weight) < LOSSLESS)):
        return Int4(weight)
    return Int8(weight)


@lru_cache(maxsize=2)
def few_bits_are_faster(dtype: torch.dtype) -> bool:
    """Whether a product of one row with few-bit weights beats full ones on this CPU, measured once.

    The matrix is too large for most caches, as a model's weights are: reading it is what few bits save. Processors
    that torch has no kernels for take the slow way through each weight.
    """
    weight = torch.ones(1024, 4096, dtype=dtype)
    packed, row = Int8(weight), torch.ones(1, 4096, dtype=dtype)
    return fastest(
        {
            True: lambda: packed(row.to(torch.bfloat16)),
            False: lambda: torch.nn.functional.linear(row, weight),
        },
        rounds=10,
    )


def quantise_int4(weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """int32 codes 0..15 `[out, in]`, and scale and zero `[out, in / 32]`, rounding to nearest between the extremes."""
    groups = weight.reshape(weight.shape[0], -1, GROUP).to(torch.float32, copy=True)
    low, high = torch.aminmax(groups, dim=2)
    scale = ((high - low) / 15).clamp_min(1e-8)
    codes = groups.sub_(low[..., None]).mul_((1 / scale)[..., None]).round_().clamp_(0, 15)
    return codes.to(torch.int32).reshape(weight.shape), scale, low + 8 * scale


def int4_error(weight: Tensor) -> float:
    """Root mean square error of int4 in units of a step; about 0.29 for weights that never were four-bit.

    Looks at 64 rows, spread over the whole.
    """
    rows = weight[:: max(1, weight.shape[0] // 64)]
    codes, scale, zero = quantise_int4(rows)
    groups = rows.float().reshape(rows.shape[0], -1, GROUP)
    back = (codes.reshape(groups.shape) - 8) * scale[..., None] + zero[..., None]
    return float((((back - groups) / scale[..., None]) ** 2).mean().sqrt())

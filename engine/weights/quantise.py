"""Quantisation: the codes and scales that stand for a weight matrix in few bits, and what is lost by them.

int4: each group of 32 weights has a scale and a zero, and a weight is `scale * (code - 8) + zero`.
int8: each output (row of the matrix) has a scale, and a weight is `scale * code`.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

GROUP = 32
ROWS_AT_ONCE = 1024
"""Matrices are quantised in parts of this many rows. An output matrix has 100 MB and more, and its fp32 copy would need
new memory; small parts use the same memory again."""
LOSSLESS = 0.1
"""int4 counts as lossless where the root mean square error is below this share of a quantisation step."""

Bits = Literal["int4", "int8", "fitting"]
"""`fitting` is int4 for weights that were stored in four bits before, and so lose nothing, and int8 for all others."""


def takes_int4(weight: Tensor, bits: Bits) -> bool:
    """Whether a matrix `[out, in]` becomes int4; otherwise it becomes int8. Only rows of whole groups can be int4."""
    return weight.shape[1] % GROUP == 0 and (bits == "int4" or (bits == "fitting" and int4_error(weight) < LOSSLESS))


def quantise_int4(weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """int32 codes 0..15 `[out, in]`, and scale and zero `[out, in / 32]`.

    The smallest weight of a group gets code 0, the largest 15, and those between the nearest code.
    """
    groups = weight.reshape(weight.shape[0], -1, GROUP).to(torch.float32, copy=True)
    low, high = torch.aminmax(groups, dim=2)
    scale = ((high - low) / 15).clamp_min(1e-8)
    codes = groups.sub_(low[..., None]).mul_((1 / scale)[..., None]).round_().clamp_(0, 15)
    return codes.to(torch.int32).reshape(weight.shape), scale, low + 8 * scale


def quantise_int8(weight: Tensor) -> tuple[Tensor, Tensor]:
    """int8 codes `[out, in]` and fp32 scales `[out]`: the largest weight of a row gets code 127 or -127."""
    codes = torch.empty(weight.shape, dtype=torch.int8)
    scale = torch.empty(len(weight), dtype=torch.float32)
    for start in range(0, len(weight), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        rows = weight[part].float()
        scale[part] = torch.linalg.vector_norm(rows, float("inf"), dim=1).clamp_min(1e-8) / 127
        codes[part] = (rows / scale[part, None]).round_()
    return codes, scale


def int4_error(weight: Tensor) -> float:
    """Root mean square error of int4 in units of a quantisation step, measured on 64 rows spread over the matrix.

    It is about 0.29 for weights that never were four-bit: the error of rounding anything to whole numbers.
    """
    rows = weight[:: max(1, weight.shape[0] // 64)]
    codes, scale, zero = quantise_int4(rows)
    groups = rows.float().reshape(rows.shape[0], -1, GROUP)
    back = (codes.reshape(groups.shape) - 8) * scale[..., None] + zero[..., None]
    return float((((back - groups) / scale[..., None]) ** 2).mean().sqrt())

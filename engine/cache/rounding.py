"""Keys and values in 8 bits: of each token and head a row of whole numbers from -127 to 127, times a power of two.

What a lane holds is rounded when it is read into it, so that every later token sees the same numbers, whether they were
computed just now or come from a block; a block keeps the whole numbers and the exponents. As the factor is a power of
two, a rounded row is exact in every number type here, and rounding it again changes nothing.
"""

from __future__ import annotations

import torch
from torch import Tensor

MOST = 127
LEAST_EXPONENT, LARGEST_EXPONENT = -24, 120
"""Between these a power of two is exact in fp16, too, as far as fp16 reaches."""


def exponents_of(rows: Tensor) -> Tensor:
    """The exponents `[..., 1]` (int32) of rows `[..., dim]`: the least with which no number is above MOST."""
    mantissa, exponent = torch.frexp(rows.float().abs().amax(-1, keepdim=True))
    return (exponent - 7 + (mantissa > MOST / 128).int()).clamp(LEAST_EXPONENT, LARGEST_EXPONENT)


def codes_of(rows: Tensor, exponents: Tensor) -> Tensor:
    """The whole numbers that rows are, in fp32."""
    return (rows.float() * _power(-exponents)).round().clamp(-MOST, MOST)


def rows_of(codes: Tensor, exponents: Tensor, dtype: torch.dtype) -> Tensor:
    """The rows that whole numbers and exponents stand for."""
    return (codes.float() * _power(exponents.int())).to(dtype)


def rounded(rows: Tensor) -> Tensor:
    """Rows as 8 bits have them. What is no number stays none."""
    exponents = exponents_of(rows)
    return torch.where(rows.isfinite(), rows_of(codes_of(rows, exponents), exponents, rows.dtype), rows)


def _power(exponents: Tensor) -> Tensor:
    """Two to the power of whole numbers (int32), exactly: made of the bits of an fp32 number."""
    return ((exponents + 127) << 23).view(torch.float32)

"""The blocks of a quantised GGUF tensor taken apart: codes, and the scales that turn them into weights.

A weight is `scale * (code - offset) + minimum`, with a scale and a minimum for each group of 16 or 32 weights. In the K
types and IQ4_XS both are small whole numbers times an fp16 number for each 256 weights. Nothing is computed anew: the
weights are those that `engine.gguf.dequantise` gives, bit for bit. The types:
https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h. `engine/native/repack.c` does the same, faster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Codes = NDArray[np.int8]
Halves = NDArray[np.float16]

SUPER = 256
"""Weights that share an fp16 scale where scales are nested."""


@dataclass(frozen=True, slots=True)
class BlockFormat:
    """How the weights of a type lie when they are taken apart: 4 or 8 `bits` for a code, and so on. `wider` says that
    the file has them in fewer bits."""

    bits: int
    group: int
    offset: int
    is_nested: bool
    has_minimums: bool
    wider: bool = False

    def bytes_for(self, weights: int) -> int:
        """How much memory so many weights take."""
        numbers = 2 if self.has_minimums else 1
        scales = weights // self.group + weights // SUPER * 2 if self.is_nested else weights // self.group * 2
        return weights * self.bits // 8 + scales * numbers


@dataclass(frozen=True, slots=True)
class Blocks:
    """Some rows: codes `[rows, columns]`, scales and minimums `[rows, columns / group]`, fp16 or, where they are
    nested, whole numbers that count times `supers` and `super_mins` `[rows, columns / 256]`."""

    codes: Codes
    scales: Halves | Codes
    mins: Halves | Codes | None = None
    supers: Halves | None = None
    super_mins: Halves | None = None


_TYPE = GGMLQuantizationType
FORMATS: dict[int, BlockFormat] = {
    _TYPE.Q4_0: BlockFormat(4, 32, 8, False, False),
    _TYPE.Q4_1: BlockFormat(4, 32, 0, False, True),
    _TYPE.Q5_0: BlockFormat(8, 32, 0, False, False, wider=True),
    _TYPE.Q5_1: BlockFormat(8, 32, 0, False, True, wider=True),
    _TYPE.Q8_0: BlockFormat(8, 32, 0, False, False),
    _TYPE.Q2_K: BlockFormat(4, 16, 0, True, True, wider=True),
    _TYPE.Q3_K: BlockFormat(4, 16, 4, True, False, wider=True),
    _TYPE.Q4_K: BlockFormat(4, 32, 0, True, True),
    _TYPE.Q5_K: BlockFormat(8, 32, 0, True, True, wider=True),
    _TYPE.Q6_K: BlockFormat(8, 16, 0, True, False, wider=True),
    _TYPE.IQ4_NL: BlockFormat(8, 32, 0, False, False, wider=True),
    _TYPE.IQ4_XS: BlockFormat(8, 32, 0, True, False, wider=True),
}
"""The types that are kept packed. Those with codes of another size take the next wider one."""

_UNEVEN = np.array((-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113), np.int8)
"""What the codes of the IQ4 types stand for."""


def take_apart(rows: Bytes, kind: int) -> Blocks:
    """The rows `[rows, bytes]` of a tensor of the type `kind`, one of FORMATS."""
    size = GGML_QUANT_SIZES[_TYPE(kind)][1]
    blocks = rows.reshape(-1, size)
    parts: Parts = _READERS[kind](blocks)
    return Blocks(*(_of_rows(part, len(rows)) for part in parts))


def _of_rows(part: Any, rows: int) -> Any:
    return None if part is None else np.ascontiguousarray(part).reshape(rows, -1)


Parts = tuple[Any, ...]


def _half(some: Bytes) -> Halves:
    return np.ascontiguousarray(some).view(np.float16)


def _nibbles(some: Bytes, half: int) -> Codes:
    """Codes of four bits: of each `half` bytes first all lower halves, then all upper ones."""
    parts = some.reshape(len(some), -1, 1, half) >> np.array([0, 4], np.uint8)[:, None] & 15
    return parts.reshape(len(some), -1).view(np.int8)


def _bits(some: Bytes, shifts: range, mask: int) -> Bytes:
    """From each 32 bytes the bits at each of these places: `[blocks, 32 * places]` for every 32 bytes."""
    parts: Bytes = some.reshape(len(some), -1, 1, 32) >> np.array(shifts, np.uint8)[:, None] & np.uint8(mask)
    return parts.reshape(len(some), -1)


def _fifth(some: Bytes) -> Codes:
    return np.unpackbits(some, axis=1, bitorder="little").view(np.int8) << 4


def _six_bits(some: Bytes) -> tuple[Codes, Codes]:
    """Eight scales and minimums of six bits in twelve bytes."""
    d, m, high = np.split(some, 3, axis=1)
    scales = np.concatenate([d & 63, high & 15 | d >> 2 & 48], axis=1)
    mins = np.concatenate([m & 63, high >> 4 | m >> 2 & 48], axis=1)
    return scales.view(np.int8), mins.view(np.int8)


def _q4_0(blocks: Bytes) -> Parts:
    return _nibbles(blocks[:, 2:], 16), _half(blocks[:, :2])


def _q4_1(blocks: Bytes) -> Parts:
    return _nibbles(blocks[:, 4:], 16), _half(blocks[:, :2]), _half(blocks[:, 2:4])


def _q5_0(blocks: Bytes) -> Parts:
    return (_nibbles(blocks[:, 6:], 16) | _fifth(blocks[:, 2:6])) - 16, _half(blocks[:, :2])


def _q5_1(blocks: Bytes) -> Parts:
    codes = _nibbles(blocks[:, 8:], 16) | _fifth(blocks[:, 4:8])
    return codes, _half(blocks[:, :2]), _half(blocks[:, 2:4])


def _q8_0(blocks: Bytes) -> Parts:
    return blocks[:, 2:].view(np.int8), _half(blocks[:, :2])


def _q2_k(blocks: Bytes) -> Parts:
    both, codes = blocks[:, :16], _bits(blocks[:, 16:80], range(0, 8, 2), 3)
    return codes.view(np.int8), both & 15, both >> 4, _half(blocks[:, 80:82]), -_half(blocks[:, 82:])


def _q3_k(blocks: Bytes) -> Parts:
    codes = _bits(blocks[:, 32:96], range(0, 8, 2), 3) | _bits(blocks[:, :32], range(8), 1) << 2
    low, high = blocks[:, 96:104], blocks[:, 104:108]
    upper = np.concatenate([high >> shift & 3 for shift in range(0, 8, 2)], axis=1)
    scales = (np.concatenate([low & 15, low >> 4], axis=1) | upper << 4).view(np.int8) - 32
    return codes.view(np.int8), scales, None, _half(blocks[:, 108:])


def _q4_k(blocks: Bytes) -> Parts:
    scales, mins = _six_bits(blocks[:, 4:16])
    return _nibbles(blocks[:, 16:], 32), scales, mins, _half(blocks[:, :2]), -_half(blocks[:, 2:4])


def _q5_k(blocks: Bytes) -> Parts:
    scales, mins = _six_bits(blocks[:, 4:16])
    codes = _nibbles(blocks[:, 48:], 32) | _bits(blocks[:, 16:48], range(8), 1).view(np.int8) << 4
    return codes, scales, mins, _half(blocks[:, :2]), -_half(blocks[:, 2:4])


def _q6_k(blocks: Bytes) -> Parts:
    high = _bits(blocks[:, 128:192], range(0, 8, 2), 3).view(np.int8) << 4
    return (_nibbles(blocks[:, :128], 64) | high) - 32, blocks[:, 192:208].view(np.int8), None, _half(blocks[:, 208:])


def _iq4_nl(blocks: Bytes) -> Parts:
    return _UNEVEN[_nibbles(blocks[:, 2:], 16)], _half(blocks[:, :2])


def _iq4_xs(blocks: Bytes) -> Parts:
    low = blocks[:, 4:8].repeat(2, axis=1) >> np.tile(np.array([0, 4], np.uint8), 4) & 15
    high = np.ascontiguousarray(blocks[:, 2:4]).view(np.uint16) >> np.arange(0, 16, 2, dtype=np.uint16) & 3
    scales = (low | high.astype(np.uint8) << 4).view(np.int8) - 32
    return _UNEVEN[_nibbles(blocks[:, 8:], 16)], scales, None, _half(blocks[:, :2])


_READERS: dict[int, Callable[[Bytes], Parts]] = {
    _TYPE.Q4_0: _q4_0,
    _TYPE.Q4_1: _q4_1,
    _TYPE.Q5_0: _q5_0,
    _TYPE.Q5_1: _q5_1,
    _TYPE.Q8_0: _q8_0,
    _TYPE.Q2_K: _q2_k,
    _TYPE.Q3_K: _q3_k,
    _TYPE.Q4_K: _q4_k,
    _TYPE.Q5_K: _q5_k,
    _TYPE.Q6_K: _q6_k,
    _TYPE.IQ4_NL: _iq4_nl,
    _TYPE.IQ4_XS: _iq4_xs,
}

"""Weight matrices that stay in few bits: codes, and for each group of columns a scale and what code 0 stands for.

`PackedMatrix` has them in an order of our own; `engine.weights.blocks` has them as a GGUF file does. Either gives back
its numbers (`widened`) by torch; the compiled part does the same faster, and multiplies single rows with the codes.
`engine/native/model.h` says how they lie.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, Self

import torch
from torch import Tensor
from torch.nn import functional

from engine.weights.arena import Arena

STRETCH = 64
"""Columns whose 4-bit codes lie together, in eight words of 32 bits. Rows are padded to a multiple of it."""
PLACES = (0, 16, 4, 20, 8, 24, 12, 28)
"""Where in a word the codes of each eight columns of a stretch begin."""
SUPER = 256
"""Columns that share an fp16 number where scales are nested."""

Bits = Literal[4, 8]


class CodedMatrix(ABC):
    """Weights `[rows, columns]` as codes of 4 or 8 `bits`. `exact` says that no other form of these weights tells more:
    they were stored so."""

    __slots__ = ()

    rows: int
    columns: int
    bits: Bits
    exact: bool

    @property
    def kind(self) -> str:
        """ "int4" or "int8"."""
        return f"int{self.bits}"

    @property
    @abstractmethod
    def parts(self) -> Iterator[Tensor]:
        """All tensors."""

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)

    @property
    def device(self) -> torch.device:
        return next(iter(self.parts)).device

    @abstractmethod
    def select(self, rows: Tensor) -> Self:
        """These rows, in this order."""

    @abstractmethod
    def between(self, first: int, last: int) -> Self:
        """The rows `first` to `last`, as views."""

    @abstractmethod
    def to(self, device: torch.device) -> Self:
        """The same matrix on a device."""

    @abstractmethod
    def widened(self, dtype: torch.dtype) -> Tensor:
        """All numbers `[rows, columns]` by torch, on any device: computed in fp32, rounded to `dtype`."""


@dataclass(frozen=True, slots=True)
class PackedMatrix(CodedMatrix):
    """Weights in an order of our own, each `scale * (code - offset) + minimum`.

    `codes` are int32 words `[rows, stretches, 8]` for 4 `bits`, whose word j has column 8 k + j of a stretch from bit
    `PLACES[k]` on, else int8 `[rows, padded columns]`. `scales` and `mins` are `[rows, groups]`, with a multiple of 8
    of groups: fp16 or bf16; or int8, which count times the fp16 `supers` and `super_mins` `[rows, columns / 256]`;
    or fp32 `[rows, 1]`, one scale for the whole row."""

    rows: int
    columns: int
    bits: Bits
    group: int
    offset: int
    exact: bool
    codes: Tensor
    scales: Tensor
    mins: Tensor | None = None
    supers: Tensor | None = None
    super_mins: Tensor | None = None

    @property
    def parts(self) -> Iterator[Tensor]:
        """All tensors."""
        every = (self.codes, self.scales, self.mins, self.supers, self.super_mins)
        return (each for each in every if each is not None)

    def select(self, rows: Tensor) -> PackedMatrix:
        """As of every matrix."""
        return self._with(len(rows), lambda part: part.index_select(0, rows))

    def between(self, first: int, last: int) -> PackedMatrix:
        """As of every matrix."""
        return self._with(last - first, lambda part: part[first:last])

    def to(self, device: torch.device) -> PackedMatrix:
        """As of every matrix."""
        return self._with(self.rows, lambda part: part.to(device))

    def _with(self, rows: int, change: Callable[[Tensor], Tensor]) -> PackedMatrix:
        changed = [None if part is None else change(part) for part in (self.mins, self.supers, self.super_mins)]
        return PackedMatrix(
            rows, self.columns, self.bits, self.group, self.offset, self.exact,
            change(self.codes), change(self.scales), *changed,
        )  # fmt: skip

    def widened(self, dtype: torch.dtype) -> Tensor:
        """All numbers `[rows, columns]` by torch, on any device: computed in fp32, rounded to `dtype`."""
        scale, least = self._groups()
        codes = self.plain_codes().float()
        if self.scales.dtype is torch.float32:
            return (codes * scale).to(dtype)
        shape = (self.rows, -1, self.group)
        codes = functional.pad(codes, (0, -self.columns % self.group)).view(shape)
        scale, least = (part[:, : codes.shape[1], None] for part in (scale, least))
        # An addition of products that are exact: a fused one gives the same bits.
        return (codes * scale + least).view(self.rows, -1)[:, : self.columns].to(dtype)

    def plain_codes(self) -> Tensor:
        """The codes as whole numbers `[rows, columns]`."""
        if self.bits == 8:
            return self.codes[:, : self.columns]
        eight = torch.arange(
            8, dtype=torch.int32, device=self.device
        )  # made there: PLACES would be copied, and waited for
        shifts = (eight // 2 * 4 + eight % 2 * 16)[:, None]
        nibbles = self.codes[:, :, None] >> shifts & 15
        return nibbles.reshape(self.rows, -1)[:, : self.columns]

    def _groups(self) -> tuple[Tensor, Tensor]:
        """Of each group the scale, and what code 0 stands for, in fp32."""
        scale = self._numbers(self.scales, self.supers)
        least = -self.offset * scale
        return scale, least if self.mins is None else least + self._numbers(self.mins, self.super_mins)

    def _numbers(self, scales: Tensor, supers: Tensor | None) -> Tensor:
        if supers is None:
            return scales.float()
        return scales.float() * supers.float().repeat_interleave(SUPER // self.group, 1)


def pack_codes(codes: Tensor) -> Tensor:
    """4-bit codes `[rows, columns]` as words `[rows, stretches, 8]`."""
    stretches = functional.pad(codes.to(torch.int32), (0, -codes.shape[1] % STRETCH)).view(len(codes), -1, 8, 8)
    words = torch.zeros(len(codes), stretches.shape[1], 8, dtype=torch.int32)
    for k in range(8):
        words |= stretches[:, :, k] << PLACES[k]
    return words


def padded_bytes(codes: Tensor) -> Tensor:
    """8-bit codes `[rows, columns]` with rows of whole stretches."""
    return functional.pad(codes.to(torch.int8), (0, -codes.shape[1] % STRETCH)).contiguous()


def padded_groups(scales: Tensor) -> Tensor:
    """Scales `[rows, groups]`, with zeros up to a multiple of 8 of them."""
    return functional.pad(scales, (0, -scales.shape[1] % 8)).contiguous()


def rooms(shapes: Sequence[tuple[torch.dtype, tuple[int, ...]]], arena: Arena) -> Iterator[Tensor]:
    """Tensors of these types and shapes, full of zeros."""
    for dtype, shape in shapes:
        yield arena.room(prod(shape) * dtype.itemsize).view(dtype).view(shape)

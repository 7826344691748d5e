"""Weight matrices as the blocks of a GGUF file: computed with as they lie there, or taken apart into our own order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from gguf.constants import GGMLQuantizationType
from torch import Tensor

from engine.gguf.blocks import FORMATS, SUPER, BlockFormat, Bytes, take_apart
from engine.weights.arena import Arena
from engine.weights.mapped_file import MappedFile
from engine.weights.packed import (
    STRETCH,
    Bits,
    CodedMatrix,
    PackedMatrix,
    pack_codes,
    padded_bytes,
    padded_groups,
    rooms,
)

COMPUTED = (GGMLQuantizationType.Q4_0, GGMLQuantizationType.Q4_K, GGMLQuantizationType.Q8_0)
"""Types that the compiled part computes with as they are, in the order of `model.h`."""


@dataclass(frozen=True, slots=True)
class BlockMatrix(CodedMatrix):
    """Weights as a GGUF file has them: `blocks` `[n, bytes of a row]` (uint8) of the type `form`. Row i is row i of
    these, or row `order[i]` (int32). `file` keeps a mapped file open that they lie in; copies need none."""

    columns: int
    form: int
    blocks: Tensor
    order: Tensor | None = None
    file: MappedFile | None = None

    @property
    def rows(self) -> int:  # type: ignore[override]
        return len(self.blocks if self.order is None else self.order)

    @property
    def bits(self) -> Bits:  # type: ignore[override]
        return 4 if FORMATS[self.form].bits == 4 else 8

    @property
    def exact(self) -> bool:  # type: ignore[override]
        return True

    @property
    def parts(self) -> Iterator[Tensor]:
        """All tensors."""
        return iter((self.blocks,) if self.order is None else (self.blocks, self.order))

    def select(self, rows: Tensor) -> BlockMatrix:
        """As of every matrix."""
        chosen = rows if self.order is None else self.order.index_select(0, rows)
        return BlockMatrix(self.columns, self.form, self.blocks.index_select(0, chosen))

    def between(self, first: int, last: int) -> BlockMatrix:
        """As of every matrix."""
        if self.order is None:
            return BlockMatrix(self.columns, self.form, self.blocks[first:last], file=self.file)
        return BlockMatrix(self.columns, self.form, self.blocks, self.order[first:last], self.file)

    def to(self, device: torch.device) -> BlockMatrix:
        """As of every matrix."""
        if device == self.device:
            return self
        order = None if self.order is None else self.order.to(device)
        return BlockMatrix(self.columns, self.form, self.blocks.to(device), order)

    def widened(self, dtype: torch.dtype) -> Tensor:
        """As of every matrix."""
        blocks = self.blocks if self.order is None else self.blocks.index_select(0, self.order)
        taken = unwritten(FORMATS[self.form], len(blocks), self.columns)
        repack_by_numpy(self.form, blocks.cpu().numpy(), taken)
        return taken.widened(dtype).to(self.device)


def unwritten(form: BlockFormat, rows: int, columns: int, arena: Arena | None = None) -> PackedMatrix:
    """A matrix whose codes and scales are yet to be written, in memory of `arena` or of its own; only what no block
    writes is there: zeros behind them."""
    groups, stretches = -(-columns // form.group // 8) * 8, -(-columns // STRETCH)
    bits: Literal[4, 8] = 4 if form.bits == 4 else 8
    codes = (torch.int32, (rows, stretches, 8)) if bits == 4 else (torch.int8, (rows, stretches * STRETCH))
    scales = (torch.int8 if form.is_nested else torch.float16, (rows, groups))
    supers = (torch.float16, (rows, columns // SUPER))
    wanted = {"codes": codes, "scales": scales}
    wanted |= {"mins": scales} if form.has_minimums else {}
    wanted |= {"supers": supers} if form.is_nested else {}
    wanted |= {"super_mins": supers} if form.is_nested and form.has_minimums else {}
    parts = dict(zip(wanted, rooms(list(wanted.values()), arena or Arena(0)), strict=True))
    return PackedMatrix(rows, columns, bits, form.group, form.offset, exact=True, **parts)


def repack_by_numpy(kind: int, blocks: Bytes, into: PackedMatrix) -> None:
    """What `engine.weights.compiled_matrix.repack` does, on every computer."""
    taken = take_apart(blocks, kind)
    codes = torch.from_numpy(taken.codes)
    into.codes.copy_(pack_codes(codes) if into.bits == 4 else padded_bytes(codes))
    for target, source in (
        (into.scales, taken.scales),
        (into.mins, taken.mins),
        (into.supers, taken.supers),
        (into.super_mins, taken.super_mins),
    ):
        if target is not None and source is not None:
            numbers = torch.from_numpy(source.view(np.int8) if source.dtype == np.uint8 else source)
            target.copy_(padded_groups(numbers) if target.shape != numbers.shape else numbers)

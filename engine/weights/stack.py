"""Several matrices below each other as one: those that have one input, and are packed each in its own way."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from engine.weights.compiled_matrix import CompiledStack, can_compile
from engine.weights.packed import CodedMatrix
from engine.weights.row_products import tiles

Part = CodedMatrix | Tensor
"""A matrix in few bits, or in full."""


class Stack:
    """Matrices `[rows, in]`, read as one `[out, in]`.

    `exact` says that its numbers are the model's own, and not a copy in fewer bits.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)
        packed = [part for part in parts if isinstance(part, CodedMatrix)]
        self.kind = max(packed, key=lambda part: part.nbytes).kind if packed else ""
        self.exact = all(part.exact for part in packed)
        self.nbytes = sum(part.nbytes for part in packed)
        first = parts[0]
        self.columns = first.columns if isinstance(first, CodedMatrix) else first.shape[1]
        self.rows = sum(map(_rows, parts))
        self._compiled = CompiledStack(parts) if can_compile(parts) else None

    @property
    def is_compiled(self) -> bool:
        """Whether the compiled part computes with it."""
        return self._compiled is not None

    def __call__(self, rows: Tensor) -> Tensor:
        """`rows @ weights.T` for a few rows `[m, in]`, by the codes where the compiled part is. Returns `[m, out]`."""
        if self._compiled is not None:
            return self._compiled.multiply(rows)
        found = [
            functional.linear(rows, self.widened(first, last, rows.dtype))
            for first, last in tiles(self.rows, self.columns)
        ]
        return torch.cat(found, dim=-1)

    def widened(self, first: int, last: int, dtype: torch.dtype, scratch: Tensor | None = None) -> Tensor:
        """The rows `first` to `last` in full, in a number type: in `scratch`, numbers of that type, where the compiled
        part writes them, else in new memory."""
        if self._compiled is not None and dtype in (torch.bfloat16, torch.float32):
            size = (last - first) * self.columns
            out = torch.empty(size, dtype=dtype) if scratch is None else scratch[:size]
            self._compiled.widen(first, out.view(-1, self.columns))
            return out.view(-1, self.columns)
        found, above = [], 0
        for part in self.parts:
            begin, end = max(first - above, 0), min(last - above, _rows(part))
            if begin < end:
                found.append(_numbers(part, begin, end, dtype))
            above += _rows(part)
        return found[0] if len(found) == 1 else torch.cat(found)

    def rows_at(self, ids: Tensor, dtype: torch.dtype) -> Tensor:
        """Some rows in full, in this order: what an embedding is asked for."""
        if self._compiled is not None and dtype in (torch.bfloat16, torch.float32):
            return self._compiled.rows_at(ids, dtype)
        (part,) = self.parts
        if isinstance(part, Tensor):
            return functional.embedding(ids, part).to(dtype)
        chosen = Stack([part.select(ids)])
        return chosen.widened(0, len(ids), dtype)


def _rows(part: Part) -> int:
    return part.rows if isinstance(part, CodedMatrix) else len(part)


def _numbers(part: Part, first: int, last: int, dtype: torch.dtype) -> Tensor:
    if isinstance(part, CodedMatrix):
        return part.between(first, last).widened(dtype)
    return part[first:last].to(dtype)

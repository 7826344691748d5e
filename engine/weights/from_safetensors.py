"""Reads the weights of a safetensors folder one tensor at a time, so that beside what is done there is one at most.

A file begins with the length of its header (8 bytes, little-endian) and the header, a JSON object that gives for each
tensor its type, its shape, and where its bytes lie behind the header
(https://huggingface.co/docs/safetensors/index#format). They are read, not mapped: a file that is written to later
changes nothing, and pages of a mapping would count as memory, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import torch
from torch import Tensor

from engine.types import ModelError
from engine.weights.few_bits import quantised
from engine.weights.packed import PackedMatrix
from engine.weights.quantise import Bits

TYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
"""Number types that weights are stored in, by their names in a header. All others stand for codes of some kind."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A tensor of a file: its number type, None where that is none of TYPES, its shape, and where its bytes begin."""

    path: Path
    dtype: torch.dtype | None
    shape: tuple[int, ...]
    start: int

    @property
    def numbers(self) -> int:
        return prod(self.shape)

    def read(self) -> Tensor:
        """The tensor in memory. Raises ModelError where the file ends before it, OSError."""
        assert self.dtype is not None
        out = torch.empty(self.shape, dtype=self.dtype)
        with self.path.open("rb", buffering=0) as file:
            file.seek(self.start)
            into = memoryview(out.reshape(-1).view(torch.uint8).numpy()) if out.numel() else memoryview(b"")  # type: ignore[arg-type]
            while into:
                count = file.readinto(into)
                if not count:
                    raise ModelError(f"{self.path.name} is cut short: download it again.", str(self.path))
                into = into[count:]
        return out


def stored(files: Sequence[Path]) -> dict[str, Stored]:
    """The tensors of checked safetensors files by their names. Raises ModelError where a header makes no sense."""
    found: dict[str, Stored] = {}
    for file in files:
        try:
            found |= _of(file)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ModelError(
                f"{file.name} is not a readable safetensors file: download it again.", str(error)
            ) from error
    return found


def _of(path: Path) -> Iterator[tuple[str, Stored]]:
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    for name, entry in header.items():
        if name != "__metadata__":
            kind, shape = TYPES.get(str(entry["dtype"])), tuple(map(int, entry["shape"]))
            start, end = entry["data_offsets"]
            if kind is not None and prod(shape) * kind.itemsize != end - start:
                raise ValueError(f"{name} has {end - start} bytes")
            yield name, Stored(path, kind, shape, 8 + length + start)


def read_packed(tensor: Stored, bits: Bits) -> PackedMatrix:
    """A matrix in few bits. Raises ModelError where a weight is no number."""
    matrix = quantised(tensor.read(), bits)
    if not all(torch.isfinite(part).all() for part in matrix.parts if part.is_floating_point()):
        raise ModelError(f"{tensor.path.name} has weights that are no numbers: download it again.")
    return matrix

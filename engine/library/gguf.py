"""Reads the header of a GGUF file: enough to know the model, its size, and whether the file is whole.

The gguf package reads headers too, but takes seconds for a large vocabulary and reports damage as numpy errors.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

MAGIC = b"GGUF"
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


class GgufDamagedError(ValueError):
    """The file is not a readable GGUF header. For `modelfiles`, which turns it into a sentence."""


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a GGUF file says about itself. `metadata` holds scalars and strings; arrays are left out.

    `end` is where the last tensor ends, in bytes: a shorter file is cut off. `parts` counts the files it is split into.
    """

    metadata: dict[str, Any]
    parameters: int
    end: int
    parts: int

    @property
    def architecture(self) -> str:
        """The model family, such as "llama"."""
        return str(self.metadata.get("general.architecture", ""))

    @property
    def dtype(self) -> str:
        """The type that loses nothing worth keeping: the file's own where it is a float type, else bf16."""
        return {0: "fp32", 1: "fp16"}.get(self.metadata.get("general.file_type", -1), "bf16")


def read_header(path: Path) -> GgufHeader:
    """Read the header of `path`. Raises GgufDamagedError, or OSError."""
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            raise GgufDamagedError("the file does not begin with GGUF")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _Reader(data).header()
            except GgufDamagedError:
                raise
            except (struct.error, LookupError, ValueError, TypeError, ArithmeticError, RecursionError) as error:
                raise GgufDamagedError(f"the header ends early or is garbled ({error})") from error


class _Reader:
    def __init__(self, data: mmap.mmap) -> None:
        self.data, self.position = data, 4

    def header(self) -> GgufHeader:
        version = self.number("I")
        if version not in (2, 3):
            raise GgufDamagedError(f"GGUF version {version} is not one of 2 and 3")
        tensors, entries = self.number("Q"), self.number("Q")
        metadata = {}
        for _ in range(entries):
            key = self.string()
            value = self.value(self.number("I"))
            if value is not None:
                metadata[key] = value
        sizes = [self.tensor() for _ in range(tensors)]
        alignment = int(metadata.get("general.alignment", 32))
        start = -(-self.position // alignment) * alignment
        end = max((start + offset + size for _, offset, size in sizes), default=start)
        return GgufHeader(metadata, sum(count for count, _, _ in sizes), end, int(metadata.get("split.count", 1)))

    def number(self, code: str) -> Any:
        value = struct.unpack_from("<" + code, self.data, self.position)[0]
        self.position += struct.calcsize("<" + code)
        return value

    def string(self) -> str:
        length = self.number("Q")
        end = self.position + length
        if end > len(self.data):
            raise IndexError("a string reaches past the end of the file")
        text = self.data[self.position : end].decode("utf-8")
        self.position = end
        return text

    def value(self, kind: int) -> Any:
        """The value, or None for an array, which is skipped."""
        if kind == _STRING:
            return self.string()
        if kind != _ARRAY:
            return self.number(_SCALARS[kind])
        of, count = self.number("I"), self.number("Q")
        if of in _SCALARS:
            self.position += count * struct.calcsize("<" + _SCALARS[of])
        else:
            for _ in range(count):
                self.skip(of)
        return None

    def skip(self, kind: int) -> None:
        if kind == _STRING:
            length = self.number("Q")
            self.position += length
        else:
            self.value(kind)

    def tensor(self) -> tuple[int, int, int]:
        """(number of values, offset behind the header, bytes)"""
        from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

        self.string()
        shape = [self.number("Q") for _ in range(self.number("I"))]
        kind, offset = self.number("I"), self.number("Q")
        count = prod(shape)
        try:
            values, size = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
        except ValueError as error:
            raise GgufDamagedError(f"tensor type {kind} is not known") from error
        return count, offset, count // values * size

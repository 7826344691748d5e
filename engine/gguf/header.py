"""Reads the header of a GGUF file: what the model is, where its tensors lie, and whether the file is whole.

The gguf package reads headers too, but takes seconds for a large vocabulary and reports damage as numpy errors. The
format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import mmap
import struct
from collections import Counter
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from engine.gguf.fields import ARRAY, SCALARS, STRING, FieldReader

MAGIC = b"GGUF"
_MOST_DIMENSIONS = 4
_MOST_TENSORS, _MOST_ENTRIES, _MOST_STEPS = 100_000, 10_000, 2_000_000
"""More than any model has: tensors, entries of metadata, and strings in its lists (a vocabulary and its merges)."""

_LONGEST_KEPT = 65_536
"""Longer strings of metadata are skipped, as lists of strings are: nothing that is asked for here is so long."""

_MOST_KEPT = 10_000
"""Longer lists of numbers are skipped, too: those that are asked for have a number for each layer."""

_REMOVED = {
    **dict.fromkeys((31, 32, 33), "Q4_0"),
    **dict.fromkeys((36, 37, 38), "IQ4_NL"),
}
"""Types that were arranged for one kind of ARM processor, in 2024 only, and what they were made from."""

_PLAUSIBLE_TYPES = 128
"""A tensor type below this number is a newer one; a larger one is damage."""


class GgufForeignError(ValueError):
    """A whole GGUF file of a sort that is not read here.

    The text continues a sentence that begins with the file's name. It says what sort that is, and what to get instead.
    """


class GgufDamagedError(ValueError):
    """The file is not what a GGUF file must be. `engine.library.check` turns it into a sentence."""


@dataclass(frozen=True, slots=True)
class GgufTensor:
    """Where a tensor lies: `size` bytes of the file `path` from byte `offset` on, numbers of the ggml type `kind`.

    `shape` has the outermost dimension first, as in torch; the format itself lists them the other way round.
    """

    path: Path
    shape: tuple[int, ...]
    kind: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a GGUF file says about itself.

    `paths` are the files that it stands for. `metadata` holds scalars, strings and short lists of numbers (as tuples);
    `lengths` says how long each list is, also of those that are left out. `end` is where the last tensor of the file
    ends, in bytes: a shorter file is cut off.
    """

    paths: tuple[Path, ...]
    metadata: dict[str, Any]
    lengths: dict[str, int]
    tensors: dict[str, GgufTensor]
    end: int

    @property
    def architecture(self) -> str:
        """The model family, such as "llama"."""
        return str(self.metadata.get("general.architecture", ""))

    @property
    def sort(self) -> str:
        """What the file holds: "model", or "mmproj", "imatrix", "adapter". Files of 2023 do not say."""
        return str(self.metadata.get("general.type", "model"))

    @property
    def parameters(self) -> int:
        """How many numbers all tensors have together."""
        return sum(prod(tensor.shape) for tensor in self.tensors.values())

    @property
    def parts(self) -> int:
        """How many files the model is split into."""
        return int(self.metadata.get("split.count", 1)) or 1

    @property
    def dtype(self) -> str:
        """The type that loses nothing worth keeping: that of most numbers where it is a float type, else bf16."""
        kinds: Counter[int] = Counter()
        for tensor in self.tensors.values():
            kinds[tensor.kind] += prod(tensor.shape)
        most = kinds.most_common(1)
        return {0: "fp32", 1: "fp16"}.get(most[0][0] if most else -1, "bf16")


def read_header(path: Path) -> GgufHeader:
    """Read the header of `path`. Raises GgufDamagedError, GgufForeignError, or OSError."""
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            raise GgufDamagedError("the file does not begin with GGUF")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _Reader(data, path).header()
            except (GgufDamagedError, GgufForeignError):
                raise
            except (struct.error, LookupError, ValueError, TypeError, ArithmeticError, RecursionError) as error:
                raise GgufDamagedError(f"the header ends early or is garbled ({error})") from error


class _Reader:
    """Reads the parts of a header one after the other. `steps` counts strings in lists."""

    def __init__(self, data: mmap.mmap, path: Path) -> None:
        self.path, self.steps = path, 0
        self.fields = FieldReader(data, position=len(MAGIC))
        self.lengths: dict[str, int] = {}

    def header(self) -> GgufHeader:
        self.check_version(self.fields.number("I"))
        tensors, entries = self.fields.number("Q"), self.fields.number("Q")
        if tensors > _MOST_TENSORS or entries > _MOST_ENTRIES:
            raise GgufDamagedError(f"{tensors} tensors and {entries} entries are more than any model has")
        metadata: dict[str, Any] = {}
        for _ in range(entries):
            key = self.string() or ""
            value = self.value(self.fields.number("I"), key)
            if key and value is not None:
                metadata[key] = value
        found = [self.tensor() for _ in range(tensors)]
        alignment = int(metadata.get("general.alignment", 32))
        start = -(-self.fields.position // alignment) * alignment
        named = {
            name: GgufTensor(self.path, shape, kind, start + offset, size) for name, shape, kind, offset, size in found
        }
        if len(named) < tensors:
            raise GgufDamagedError("two tensors have one name")
        int(metadata.get("split.count", 1))
        end = max((tensor.offset + tensor.size for tensor in named.values()), default=start)
        return GgufHeader((self.path,), metadata, self.lengths, named, end)

    @staticmethod
    def check_version(version: int) -> None:
        if version and version % 2**16 == 0:  # the bytes of a small number, the other way round
            raise GgufForeignError(
                "is a GGUF file for big-endian computers: get the usual, little-endian file of this model."
            )
        if version == 1:
            raise GgufForeignError(
                "is a GGUF file of version 1, from August 2023, which is no longer read: get a newer GGUF file of this "
                "model."
            )
        if version not in (2, 3):
            raise GgufDamagedError(f"GGUF version {version} is not one of 2 and 3")

    def string(self) -> str | None:
        """The string, or None for a very long one, which is skipped."""
        place = self.fields.skip(self.fields.number("Q"))
        return self.fields.data[place].decode("utf-8") if place.stop - place.start <= _LONGEST_KEPT else None

    def value(self, kind: int, key: str) -> Any:
        """The value, or None for a list that is skipped."""
        if kind == STRING:
            return self.string()
        if kind != ARRAY:
            return self.fields.number(SCALARS[kind])
        of, count = self.fields.number("I"), self.fields.number("Q")
        self.lengths[key] = count
        if of in SCALARS:
            return self.numbers(SCALARS[of], count)
        self.steps += count
        if self.steps > _MOST_STEPS:
            raise GgufDamagedError("its lists hold more than any vocabulary")
        if of == STRING:
            self.fields.skip_strings(count)
        else:
            for _ in range(count):
                self.value(of, "")
        return None

    def numbers(self, code: str, count: int) -> tuple[Any, ...] | None:
        """A short list of numbers; None for a long one, which is skipped."""
        if count <= _MOST_KEPT:
            return self.fields.numbers(code, count)
        self.fields.skip(count * struct.calcsize("<" + code))
        return None

    def tensor(self) -> tuple[str, tuple[int, ...], int, int, int]:
        """(name, shape, type, offset behind the header, bytes)"""
        name = self.string() or ""
        dimensions = self.fields.number("I")
        if dimensions > _MOST_DIMENSIONS:
            raise GgufDamagedError(f"a tensor has {dimensions} dimensions")
        innermost_first = [self.fields.number("Q") for _ in range(dimensions)]
        kind, offset = self.fields.number("I"), self.fields.number("Q")
        values, size = self.sizes(kind)
        if dimensions and innermost_first[0] % values:
            raise GgufDamagedError(f"rows of {innermost_first[0]} numbers are no whole blocks of {values}")
        return name, tuple(reversed(innermost_first)), kind, offset, prod(innermost_first) // values * size

    @staticmethod
    def sizes(kind: int) -> tuple[int, int]:
        """How many values a block of this tensor type has, and how many bytes."""
        from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

        if kind in _REMOVED:
            raise GgufForeignError(
                "is arranged for ARM processors in a way of 2024 that is no longer read: get this model as "
                f"{_REMOVED[kind]}."
            )
        try:
            values, size = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
        except (ValueError, KeyError) as error:
            if kind < _PLAUSIBLE_TYPES:
                raise GgufForeignError(
                    f"has weights of a type that is not known here (number {kind}): get this model as Q8_0 or Q4_K_M."
                ) from error
            raise GgufDamagedError(f"tensor type {kind} is not known") from error
        return values, size

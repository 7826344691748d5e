"""The fields that a GGUF file begins with, read one after the other: numbers, lists of numbers, strings."""

from __future__ import annotations

import mmap
import struct
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""The kinds of values that are one number, as the struct module spells them."""

STRING, ARRAY = 8, 9

_LENGTH = struct.Struct("<Q")
"""What stands before a string."""


class FieldReader:
    """Reads the fields of `data` from byte `position` on. Raises struct.error or ValueError where the file ends before
    a field does, and where a string is no text."""

    def __init__(self, data: mmap.mmap, position: int) -> None:
        self.data, self.position = data, position

    def skip(self, size: int) -> slice:
        """Go on behind the next `size` bytes; returns where they lie."""
        place = slice(self.position, self.position + size)
        if place.stop > len(self.data):
            raise ValueError("a string or list reaches past the end of the file")
        self.position = place.stop
        return place

    def number(self, code: str) -> Any:
        """One number."""
        value = struct.unpack_from("<" + code, self.data, self.position)[0]
        self.position += struct.calcsize("<" + code)
        return value

    def numbers(self, code: str, count: int) -> tuple[Any, ...]:
        """So many numbers."""
        place = self.skip(count * struct.calcsize("<" + code))
        return struct.unpack_from(f"<{count}{code}", self.data, place.start)

    def string(self) -> str:
        """A string, which has its length before it."""
        return self.data[self.skip(self.number("Q"))].decode("utf-8")

    def strings(self, count: int) -> tuple[list[str], bytes]:
        """So many strings, and the same in UTF-8 with a zero between them. A vocabulary and its merges have 100,000 and
        more: hence as few calls as can be."""
        compiled = compiled_strings()
        found = None if compiled is None else compiled.read_strings(self.data, self.position, count)
        if found is None:
            strings = self._strings_one_by_one(count)
            return strings, "\0".join(strings).encode("utf-8")
        strings, text, self.position = found
        return strings, text

    def skip_strings(self, count: int) -> StringList:
        """Go on behind so many strings; returns what reads them later."""
        found = StringList(self.data, self.position, count)
        compiled = compiled_strings()
        end = None if compiled is None else compiled.end_of_strings(self.data, self.position, count)
        if end is None:
            self._skip_one_by_one(count)
        else:
            self.position = end
        return found

    def _strings_one_by_one(self, count: int) -> list[str]:
        data, at, length = self.data, self.position, _LENGTH.unpack_from
        found = []
        for _ in range(count):
            end = at + _LENGTH.size + length(data, at)[0]
            found.append(data[at + _LENGTH.size : end].decode("utf-8"))
            at = end
        self.skip(at - self.position)
        return found

    def _skip_one_by_one(self, count: int) -> None:
        data, at, length = self.data, self.position, _LENGTH.unpack_from
        for _ in range(count):
            at += _LENGTH.size + length(data, at)[0]
        self.skip(at - self.position)


@dataclass(frozen=True, slots=True)
class StringList:
    """So many strings, which begin at byte `position`."""

    data: mmap.mmap
    position: int
    count: int

    def read(self) -> tuple[list[str], bytes]:
        """The strings, and the same in UTF-8 with a zero between them."""
        return FieldReader(self.data, self.position).strings(self.count)


def compiled_strings() -> ModuleType | None:
    """What walks lists of strings faster, in a process that has the compiled part: to load it takes torch."""
    if "engine.native.library" not in sys.modules:
        return None
    from engine.native import strings

    return strings

"""Lists of strings in a mapped file, walked by the compiled part: a vocabulary and its merges have 100,000 and more."""

from __future__ import annotations

import mmap

import numpy as np

from engine.native import library as native_library

_LENGTH = 8
"""Bytes before a string."""


def end_of_strings(data: mmap.mmap, at: int, count: int) -> int | None:
    """Where `count` strings end that begin at byte `at`. None where they reach past the end of the file, and where the
    compiled part is not in use."""
    return _walk(data, at, count, None)


def read_strings(data: mmap.mmap, at: int, count: int) -> tuple[list[str], int] | None:
    """The strings, and where they end. None also where a string has a zero in it, or is no text."""
    end = end_of_strings(data, at, count)
    if end is None:
        return None
    joined = np.empty(end - at - (_LENGTH - 1) * count, np.uint8)  # with a zero behind each, in place of its length
    if _walk(data, at, count, joined) != end:
        return None
    try:
        found = str(joined.data, "utf-8").split("\0")
    except UnicodeDecodeError:
        return None
    found.pop()
    return (found, end) if len(found) == count else None


def _walk(data: mmap.mmap, at: int, count: int, out: np.ndarray[tuple[int], np.dtype[np.uint8]] | None) -> int | None:
    """The map stays open for as long as an array shows its bytes: no error may leave here with it."""
    library = native_library.library()
    if library is None or max(at, count) > len(data):
        return None
    whole = np.frombuffer(data, np.uint8)
    room, address = (0, None) if out is None else (out.size, out.ctypes.data)
    end = int(library.headstart_strings(whole.ctypes.data, whole.size, at, count, address, room))
    return None if end < 0 else end

"""Lists of strings in a mapped file, walked by the compiled part: a vocabulary and its merges have 100,000 and more."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.native import library as native_library

_LENGTH = 8
"""Bytes before a string."""

Array = np.ndarray[Any, Any]


class Tokens(NamedTuple):
    """A vocabulary, and the same as UTF-8 with a zero between them: no token is empty, has a zero in it or is there
    twice."""

    names: Sequence[str]
    text: bytes


def end_of_strings(data: mmap.mmap, at: int, count: int) -> int | None:
    """Where `count` strings end that begin at byte `at`. None where they reach past the end of the file, and where the
    compiled part is not in use."""
    return _walk(data, at, count, None)


def read_strings(data: mmap.mmap, at: int, count: int) -> tuple[list[str], bytes, int] | None:
    """The strings, the same in UTF-8 with a zero between them, and where they end. None also where a string has a zero
    in it, or is no text."""
    end = end_of_strings(data, at, count)
    if end is None:
        return None
    joined = np.empty(end - at - (_LENGTH - 1) * count, np.uint8)  # with a zero behind each, in place of its length
    if _walk(data, at, count, joined) != end:
        return None
    text = joined[:-1].tobytes()
    try:
        found = text.decode("utf-8").split("\0")
    except UnicodeDecodeError:
        return None
    return (found, text, end) if len(found) == count else None


def read_merges(data: mmap.mmap, at: int, count: int, tokens: Tokens) -> list[str] | None:
    """The two tokens of each of so many merges, all behind each other. None where a merge is there twice, is not two
    tokens with a blank between them, or makes no token, and as above."""
    library = native_library.library()
    if library is None or max(at, count) > len(data):
        return None
    ids = np.empty(2 * count, np.int32)
    whole = np.frombuffer(data, np.uint8)
    is_sound = library.headstart_merges(whole.ctypes.data, whole.size, at, count, *_told(tokens), ids.ctypes.data)
    return _named(tokens, ids) if is_sound else None


def find_cuts(tokens: Tokens, made: Sequence[int]) -> list[str] | None:
    """All pairs of tokens that make a token, behind each other: for each of `made`, which alone count, the longest
    first token first. None where the compiled part is not in use."""
    library = native_library.library()
    if library is None:
        return None
    order, ids = np.array(made, np.int32), np.empty(2 * len(tokens.text), np.int32)  # a cut is between two bytes
    count = library.headstart_cuts(*_told(tokens), order.ctypes.data, order.size, ids.ctypes.data, ids.size)
    return None if count < 0 else _named(tokens, ids[: 2 * count])


def _told(tokens: Tokens) -> tuple[bytes, int, int]:
    return tokens.text, len(tokens.text), len(tokens.names)


def _named(tokens: Tokens, ids: Array) -> list[str]:
    found: list[str] = np.array(tokens.names, object)[ids].tolist()
    return found


def _walk(data: mmap.mmap, at: int, count: int, out: Array | None) -> int | None:
    """The map stays open for as long as an array shows its bytes: no error may leave here with it."""
    library = native_library.library()
    if library is None or max(at, count) > len(data):
        return None
    whole = np.frombuffer(data, np.uint8)
    room, address = (0, None) if out is None else (out.size, out.ctypes.data)
    end = int(library.headstart_strings(whole.ctypes.data, whole.size, at, count, address, room))
    return None if end < 0 else end

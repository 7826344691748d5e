"""Texts of blocks, kept for the next picture as far as they fit into a number of bytes."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable


class KeptTexts:
    """The texts that were asked for last, within `most_bytes`. What a key takes is counted too."""

    def __init__(self, most_bytes: int) -> None:
        self.used_bytes = 0
        self._most_bytes = most_bytes
        self._texts: OrderedDict[Hashable, str] = OrderedDict()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._texts

    def get(self, key: Hashable, make: Callable[[], str]) -> str:
        """The text of a key, made where it is not kept. An empty one is made anew: it could not be read."""
        if key in self._texts:
            self._texts.move_to_end(key)
            return self._texts[key]
        if not (text := make()):
            return ""
        self._texts[key] = text
        self.used_bytes += _size(key, text)
        while self.used_bytes > self._most_bytes:
            self.used_bytes -= _size(*self._texts.popitem(last=False))
        return text


def _size(key: Hashable, text: str) -> int:
    """About what an entry takes: the objects themselves, and 100 bytes for its place in the table."""
    parts = key if isinstance(key, tuple) else ()
    return sys.getsizeof(text) + sys.getsizeof(key) + sum(sys.getsizeof(part) for part in parts) + 100

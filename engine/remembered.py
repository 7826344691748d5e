"""A function that remembers its newest results within a budget of bytes."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Result = TypeVar("Result")

ENTRY_BYTES = 200
"""What one entry takes beside its key and its result."""

INT_BYTES = 28


class Remembered(Generic[Result]):
    """`function` with a memory: what was asked before is not computed again. Keys and results together take at most
    `budget_bytes`; what was not asked for the longest time goes first. One result that alone is larger is not kept. Any
    thread may ask."""

    def __init__(self, function: Callable[..., Result], budget_bytes: int) -> None:
        self._function = function
        self._budget_bytes = budget_bytes
        self._results: dict[Hashable, Result] = {}
        self._lock = threading.Lock()
        self.nbytes = 0

    def __contains__(self, key: tuple[Hashable, ...]) -> bool:
        """Whether the result for these arguments is known."""
        return key in self._results

    def __call__(self, *key: Hashable) -> Result:
        """The result for these arguments."""
        with self._lock:
            if key in self._results:
                self._results[key] = result = self._results.pop(key)  # the newest are at the end
                return result
        result = self._function(*key)
        if (size := _entry_bytes(key, result)) <= self._budget_bytes:
            with self._lock:
                if key not in self._results:  # else another thread computed it meanwhile
                    self._results[key] = result
                    self.nbytes += size
                    self._drop_oldest()
        return result

    def forget(self) -> None:
        """Remember nothing of what was asked so far."""
        with self._lock:
            self._results.clear()
            self.nbytes = 0

    def _drop_oldest(self) -> None:
        while self.nbytes > self._budget_bytes:
            key = next(iter(self._results))
            self.nbytes -= _entry_bytes(key, self._results.pop(key))


def size_of(value: object) -> int:
    """Bytes of a text, of a number, of what says so itself (`nbytes`), or of nested tuples of them; as if nothing else
    held the numbers."""
    if not isinstance(value, tuple):
        return int(getattr(value, "nbytes", 0) or sys.getsizeof(value))
    inside = INT_BYTES * len(value) if value and isinstance(value[0], int) else sum(map(size_of, value))
    return sys.getsizeof(value) + inside


def _entry_bytes(key: Hashable, result: object) -> int:
    return ENTRY_BYTES + size_of(key) + size_of(result)

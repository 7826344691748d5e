"""llama.cpp on a large model, for `large_rows`. Nothing of ours is imported, so that any Python with llama-cpp-python
can run it: LLAMA_PYTHON names one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any


class LargeLlama:
    """A model of llama.cpp, with two threads as torch has them."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._model: Any = None

    def load(self, path: str, context: int) -> float:
        """Seconds to load it, with a first token, which sets everything up."""
        from llama_cpp import Llama

        self._model = None
        start = time.perf_counter()
        self._model = Llama(
            path, n_ctx=context, n_batch=512, n_threads=self._threads, n_threads_batch=self._threads, verbose=False
        )
        self._model.eval([1])
        return time.perf_counter() - start

    def read(self, ids: Sequence[int], kept: int) -> float:
        """Seconds to read ids behind the first `kept` of what was read before."""
        self._model.n_tokens = kept
        start = time.perf_counter()
        self._model.eval(list(ids)[kept:])
        return time.perf_counter() - start

    def write(self, count: int) -> float:
        """Tokens a second, greedy, behind what was read."""
        before, start = self._model.n_tokens, time.perf_counter()
        for _ in range(count):
            self._model.eval([self._model.sample(temp=0.0)])
        spent = time.perf_counter() - start
        self._model.n_tokens = before
        return count / spent

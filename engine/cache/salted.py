"""A part of a prefix cache that is of use under one salt only."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from engine.cache.contract import Reuse, Run, salted
from engine.cache.prefix_cache import PrefixCache


class SaltedCache:
    """What was computed under `salt` in the memory of `cache`. Requests under another salt, or none, neither find
    anything of it nor leave anything in it; budget and lanes are shared."""

    def __init__(self, cache: PrefixCache, salt: str) -> None:
        self._cache = cache
        self._salt = salt
        self.context_length = cache.context_length

    @property
    def regime(self) -> Callable[[int], str]:
        """How a sequence of so many tokens is computed, with the salt."""
        return lambda length: salted(self._cache.regime(length), self._salt)

    def peek(self, ids: Sequence[int], new_tokens: int = 0, length: int = 0) -> int:
        """Tokens that `begin` would reuse."""
        return self.estimate(ids, new_tokens, length).tokens

    def estimate(self, ids: Sequence[int], new_tokens: int = 0, length: int = 0) -> Reuse:
        """What `begin` would reuse, without touching anything."""
        return self._cache.estimate(ids, new_tokens, length, self._salt)

    def begin(self, ids: Sequence[int], new_tokens: int, owner: str = "", length: int = 0) -> Run:
        return self._cache.begin(ids, new_tokens, owner, length, self._salt)

    def begin_ahead(self, ids: Sequence[int], new_tokens: int, owner: str, length: int) -> Run | None:
        """As `begin`, to read what nobody asked for yet; None where there is no room for it."""
        return self._cache.begin_ahead(ids, new_tokens, owner, length, self._salt)

    def restore(self, run: Run) -> None:
        self._cache.restore(run)

    def commit(self, run: Run, ids: Sequence[int], *, settled: bool) -> None:
        self._cache.commit(run, ids, settled=settled)

    def keep_logits(self, run: Run, logits: Tensor) -> None:
        self._cache.keep_logits(run, logits)

    def enter_regime(self, run: Run, regime: str) -> None:
        self._cache.enter_regime(run, regime)

    def finish(self, run: Run) -> None:
        self._cache.finish(run)

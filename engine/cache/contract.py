"""What a request needs of a cache, whether it reuses (`PrefixCache`) or not (`NullCache`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from torch import Tensor

from engine.cache.store import Lane
from engine.cache.tree import Match
from engine.types import BLOCK_TOKENS


@dataclass(slots=True)
class Run:
    """A request that holds a lane. The first `reused` tokens of its prompt need not be computed; the last
    `disk_tokens` of these come from disk, and the last `memory_tokens` before those from the computer's memory behind a
    GPU's. `is_forgotten`: its owner was deleted meanwhile. `logits` are those after the prompt where all of it is
    reused: then nothing is left to compute. `is_ahead`: nobody asked for it, it is read in case somebody will."""

    lane: Lane
    match: Match
    prefix: list[int]
    owner: str
    disk_tokens: int = 0
    memory_tokens: int = 0
    is_forgotten: bool = False
    logits: Tensor | None = None
    is_ahead: bool = False

    @property
    def reused(self) -> int:
        """Tokens of the prompt that are in the lane or in pinned blocks."""
        return len(self.prefix)


class Reuse(NamedTuple):
    """How much of a prompt need not be computed: `tokens` in all, of which the last `disk_tokens` come from disk, and
    the last `memory_tokens` before those from the computer's memory behind a GPU's."""

    tokens: int
    disk_tokens: int = 0
    memory_tokens: int = 0


class Cache(Protocol):
    """What a request needs of a cache, be it one that reuses or one that does not. `regime` names how a sequence of so
    many tokens is computed."""

    @property
    def regime(self) -> Callable[[int], str]: ...

    def estimate(self, ids: Sequence[int], new_tokens: int = 0, length: int = 0) -> Reuse:
        """What `begin` would reuse, without touching anything."""

    def begin(self, ids: Sequence[int], new_tokens: int, owner: str = "", length: int = 0) -> Run:
        """Look up, pin, and hold a lane with room for `ids` and `new_tokens` more. All or nothing.

        The position code is chosen for a sequence of max(len(ids), length) tokens; `new_tokens` does not count.

        Raises MemoryError where the lane cannot be had.
        """

    def restore(self, run: Run) -> None:
        """Bring the reusable start of the prompt into the lane. Comes right after `begin`.

        Where a file on disk is no good, less is reused than `begin` said.
        """

    def commit(self, run: Run, ids: Sequence[int], *, settled: bool) -> None:
        """Note that keys and values of `ids` were written behind the lane's tokens. They are `settled` where they are
        those that a cold run has there, and so may be reused."""

    def keep_logits(self, run: Run, logits: Tensor) -> None:
        """Keep the logits after the whole prompt with the lane, where there is room, for `Run.logits` of the same
        prompt asked again."""

    def enter_regime(self, run: Run, regime: str) -> None:
        """Make what the lane holds reusable, then begin it anew, empty, in another regime of the position code."""

    def finish(self, run: Run) -> None:
        """Make the full settled blocks of the lane reusable, as far as the budget allows, and hold nothing any more.
        Every `begin` is followed by one `finish`."""


SALT_MARK = "\x1f"
"""Between the name of a regime and the salt in the name of a space."""


def salted(regime: str, salt: str) -> str:
    """The name of what is computed in a regime under a salt: nothing is reused from another one. Without a salt it is
    the regime's own."""
    return f"{regime}{SALT_MARK}{salt}" if salt else regime


def without_salt(name: str) -> str:
    """The regime in what `salted` made."""
    return name.partition(SALT_MARK)[0]


def lane_capacity(tokens: int) -> int:
    """A whole number of blocks that holds so many tokens. Then every head of a lane begins at an even address, whatever
    its length: the order in which a kernel adds up hangs on that, and with it the last bit of a number."""
    return -(-tokens // BLOCK_TOKENS) * BLOCK_TOKENS

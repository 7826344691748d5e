"""Reading ahead: what of a prompt is certain is read before anybody asks for it, while nobody waits.

Whoever writes a question will send one of many prompts, which all begin alike. That start is read. What was read so is
told from what an earlier turn left: a turn says how much of either it reused, and the user how much was read in vain.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from engine.cache.prefix_cache import PrefixCache
from engine.cache.salted import SaltedCache
from engine.models.loaded import LoadedModel
from engine.prompt.comparing import common_length
from engine.stopping import Listen
from engine.turn.chunks import AHEAD_S
from engine.turn.settle import read_pieces

MOST_STRETCHES = 64
"""So many of the newest readings are known by their tokens; older ones nobody will ask for any more."""


def common_start(prompts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The ids that all these prompts begin with."""
    shared = prompts[0]
    for other in prompts[1:]:
        shared = shared[: common_length(shared, other)]
    return shared


@dataclass(slots=True)
class Stretch:
    """The tokens of `ids` from number `start` on, which were read ahead, and of which no request came for any."""

    ids: tuple[int, ...]
    start: int

    def end_in(self, ids: tuple[int, ...], reused: int) -> int:
        """Where the part of it ends that is among the first `reused` tokens of a prompt; `start` where none is."""
        begins_alike = ids[: self.start + 1] == self.ids[: self.start + 1]
        agreed = self.start + common_length(ids[self.start :], self.ids[self.start :]) if begins_alike else 0
        return max(self.start, min(reused, agreed))


class ReadTokens:
    """Which tokens were read ahead. `count` is how many since the model was loaded, `asked` how many of them a request
    came for."""

    def __init__(self) -> None:
        self.count = self.asked = 0
        self._stretches: list[Stretch] = []

    @property
    def nbytes(self) -> int:
        """About what it takes in memory: 8 bytes an id."""
        return sum(8 * len(stretch.ids) for stretch in self._stretches)

    def note(self, ids: tuple[int, ...], start: int) -> None:
        """The tokens of `ids` from `start` on were just read."""
        self.count += len(ids) - start
        newest = self._stretches[-1] if self._stretches else None
        if newest is not None and newest.ids == ids[:start]:
            newest.ids = ids
        else:
            self._stretches = [*self._stretches, Stretch(ids, start)][-MOST_STRETCHES:]

    def among(self, ids: tuple[int, ...], reused: int) -> int:
        """How many of the first `reused` tokens of a prompt were read ahead, for this prompt alone."""
        return sum(end - start for start, end in self._parts(ids, reused))

    def ask(self, ids: tuple[int, ...], reused: int) -> int:
        """The same for a prompt that is sent now: from here on all of its tokens are those of a turn. One that was read
        ahead and has to be computed nevertheless was read in vain."""
        found = self.among(ids, reused)
        self.asked += found
        for stretch in self._stretches:
            stretch.start = stretch.end_in(ids, len(ids))
        self._stretches = [stretch for stretch in self._stretches if stretch.start < len(stretch.ids)]
        return found

    def _parts(self, ids: tuple[int, ...], reused: int) -> list[tuple[int, int]]:
        """The stretches of a prompt that were read ahead, none of them twice."""
        parts, furthest = [], 0
        for start, end in sorted((stretch.start, stretch.end_in(ids, reused)) for stretch in self._stretches):
            parts.append((max(start, furthest), max(end, furthest)))
            furthest = parts[-1][1]
        return parts


def read_ahead(
    model: LoadedModel,
    cache: PrefixCache | SaltedCache,
    ids: tuple[int, ...],
    new_tokens: int,
    length: int,
    owner: str,
    note: Callable[[int, int], None],
    listen: Listen,
    most_tokens: int,
    estimate: Callable[[int, int], float],
) -> Generator[int, None, None]:
    """Read what is not cached of `ids`, which a prompt of `length` tokens begins with, a piece at a time; yields how
    many of them are ready, first those that are cached. `note` hears of each piece where it begins and ends. `listen`
    is called within a piece, and may raise to end it.

    `new_tokens` is the room that the prompt will need behind itself, so that the lane is as large as it will have to
    be. Nothing is read where there is no room for it but that of others.

    A last id is put behind `ids` that is never computed: `begin_ahead` leaves one over, as a request needs the logits
    after its last token.
    """
    run = cache.begin_ahead((*ids, 0), new_tokens, owner, length)
    if run is None:
        return
    try:
        cache.restore(run)
        yield run.reused
        for start, end in read_pieces(model, cache, run, ids, listen, most_tokens, estimate, AHEAD_S):
            note(start, end)
            yield end
    finally:
        cache.finish(run)

"""Passes of the model over the newest token of an answer and what may follow it.

A pass over several tokens takes less time than one over each. What was guessed and does not come is thrown away; the
tokens are chosen as ever, each from the numbers that it would have been chosen from without any guess.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from itertools import takewhile
from typing import Protocol

from torch import Tensor

from engine.cache.store import Lane
from engine.models.loaded import LoadedModel


class Guesser(Protocol):
    """Says what may follow in one answer."""

    def see(self, token: int) -> None:
        """One more token was written."""

    def guess(self, most: int) -> list[int]:
        """The tokens that may follow the newest one, at most so many."""


class Passes:
    """The logits behind each token of one answer. `begin` makes what guesses in it; None where nothing is guessed.
    `step` computes a single token, where the model itself is not to: it gets the token, the lane, and behind how many
    of its tokens.
    `count` passes were made, and `guessed` tokens checked in them.

    What a pass writes into the lane for guesses lies behind the lane's tokens, where nobody reads it: the caller
    commits a token when it was chosen. The next pass writes over what did not hold.
    """

    def __init__(
        self,
        model: LoadedModel,
        begin: Callable[[], Guesser] | None,
        end_ids: Collection[int] = frozenset(),
        step: Callable[[int, Lane, int], Tensor] | None = None,
    ) -> None:
        self._step = step
        self._model, self._end_ids = model, end_ids
        self._begin = begin if model.at_once > 1 else None
        self._guesser: Guesser | None = None
        self._checked: deque[tuple[int, Tensor]] = deque()  # guesses, each with the logits behind it
        self.count = self.guessed = 0

    def is_guessed(self, token: int) -> bool:
        """Whether the newest pass has computed this token, which was chosen just now."""
        return bool(self._checked) and self._checked[0][0] == token

    def see(self, token: int) -> None:
        """This token was written."""
        if self._begin is None:
            return
        if self._guesser is None:  # with the second token: nobody waits for the first one because of it
            self._guesser = self._begin()
        self._guesser.see(token)

    def logits(self, token: int, lane: Lane, most: int) -> Tensor:
        """The logits `[vocabulary]` behind the token that comes behind the lane's. A pass that has to be made may have
        `most` tokens. Raises as `LoadedModel.forward` does."""
        position = len(lane.ids)
        if self.is_guessed(token):
            return self._model.checked(self._checked.popleft()[1], position + 1)
        self._checked.clear()
        guesses = self._guesses(min(most, self._model.at_once) - 1)
        if guesses:
            first, *others = self._model.steps([token, *guesses], lane, position)
            self._checked.extend(zip(guesses, others, strict=True))
            first = self._model.checked(first, position + 1)
        else:
            first = self._single(token, lane, position)
        self.count, self.guessed = self.count + 1, self.guessed + len(guesses)
        return first

    def _single(self, token: int, lane: Lane, position: int) -> Tensor:
        if self._step is not None:
            return self._step(token, lane, position)
        return self._model.forward([token], lane, position, is_answer=True)

    def _guesses(self, most: int) -> list[int]:
        """What may follow, up to the end of the answer: nothing behind that would be used."""
        found = self._guesser.guess(most) if self._guesser is not None and most > 0 else []
        return list(takewhile(lambda token: token not in self._end_ids, found))

"""Guesses by a small model of the same tokenizer: what it would write, a large one often writes, too.

Speculative decoding (https://arxiv.org/abs/2211.17192) with a guess that is the small model's likeliest token: how an
answer is chosen hangs on the large model alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat, takewhile

import torch
from torch import Tensor

from engine.cache.contract import lane_capacity, salted
from engine.cache.lanes import common_tokens
from engine.cache.store import Lane, is_out_of_memory
from engine.models.loaded import LoadedModel
from engine.stopping import Listen, StoppedError, listening
from engine.turn.lookup import Lookup, most_worth
from engine.types import ModelError

PIECE = 128
"""Tokens of a prompt that the small model reads for one token of the answer, until it has read all of it, so that the
answer does not stand still."""
FIRST_ODDS, MEMORY = 0.6, 16
"""How likely a guess is to hold before any was seen, and among how many of the last ones the share is that."""
REST = 32
"""Tokens without a guess, where guesses were not worth what they take, before one is tried again."""


class Draft:
    """A small model, and one lane with what it has read. `cost` is what a token of it takes, in parts of the large
    model's.

    It writes ahead for one answer at a time: two that are written side by side would each cut off what it has read for
    the other. Where it has no memory, or its numbers are none, it guesses nothing any more: answers go on without it.
    """

    def __init__(self, model: LoadedModel, cost: float) -> None:
        self.model, self.cost = model, cost
        self._lane = Lane(model.layout, 0)
        self._has_failed = False
        self._answer: object = None
        self._salt = ""
        self._listen: Listen = lambda: None

    def begin(self, answer: object, salt: str, listen: Listen) -> bool:
        """Write ahead for this answer, up to its `end`. False where another one is not at its end yet. What was read
        under another `salt` is read anew: the time would tell what it was. `listen` is called while something is read,
        and may raise StoppedError to end that."""
        if self._answer is None:
            self._answer, self._salt, self._listen = answer, salt, listen
        return self._answer is answer

    def end(self, answer: object) -> None:
        """This answer is written, if it was the one."""
        if self._answer is answer:
            self._answer, self._listen = None, lambda: None

    def forget(self) -> None:
        """Give the lane back, with all that was read."""
        self._lane = Lane(self.model.layout, 0)

    @property
    def nbytes(self) -> int:
        """Bytes of its lane."""
        return self._lane.nbytes

    @torch.inference_mode()
    def go_on(self, ids: Sequence[int], count: int) -> list[int]:
        """The `count` likeliest tokens behind these, each behind the ones before. None while there is more to read than
        one piece, which is read."""
        if self._has_failed or len(ids) + count > self.model.context_length:
            return []
        try:
            with listening(self._listen):
                return self._go_on(ids, count)
        except StoppedError:  # what it wrote stands behind the lane's tokens
            return []
        except (MemoryError, RuntimeError, ModelError) as error:
            if not isinstance(error, ModelError) and not is_out_of_memory(error):
                raise
            self._has_failed = True
            return []

    def _go_on(self, ids: Sequence[int], count: int) -> list[int]:
        lane = self._lane_for(len(ids) + count)
        lane.cut(min(common_tokens(lane, ids, lane.regime), len(ids) - 1))
        missing = ids[len(lane.ids) :]
        if max(missing) >= self.model.vocabulary:
            return []
        if len(missing) > PIECE:
            self._read(missing[:PIECE])
            return []
        guesses = [int(self._read(missing).argmax())]
        while len(guesses) < count:
            guesses.append(int(self._read(guesses[-1:]).argmax()))
        return guesses

    def _read(self, ids: Sequence[int]) -> Tensor:
        """The logits behind more tokens."""
        lane = self._lane
        if 1 < len(ids) <= self.model.at_once:
            logits = self.model.checked(self.model.steps(ids, lane, len(lane.ids))[-1], len(lane.ids) + len(ids))
        else:
            logits = self.model.forward(ids, lane, len(lane.ids), is_answer=len(ids) == 1)
        lane.ids.extend(ids)
        lane.settled = len(lane.ids)
        return logits

    def _lane_for(self, tokens: int) -> Lane:
        """The lane, large enough; what it holds is kept unless its positions are coded otherwise now, or the salt is
        another one."""
        regime = salted(self.model.reuse.regime(tokens), self._salt)
        if self._lane.capacity < tokens:
            capacity = lane_capacity(min(2 * tokens, self.model.context_length))
            larger = Lane(self.model.layout, max(capacity, lane_capacity(tokens)))
            larger.take_over(self._lane)
            self._lane = larger
        if self._lane.regime != regime:
            self._lane.cut(0)
            self._lane.regime = regime
        return self._lane


class DraftedAnswer:
    """Guesses in one answer: what stood in the conversation before, and where that says nothing, the small model. `ids`
    are the prompt and what is written of the answer. The large model has tokens below `vocabulary`."""

    def __init__(self, draft: Draft, lookup: Lookup, ids: Sequence[int], vocabulary: int) -> None:
        self._draft, self._lookup = draft, lookup
        self._ids = list(ids)
        self._vocabulary = vocabulary
        self._open: list[int] = []  # guesses of the small model that are yet to be seen
        self._odds, self._rested = FIRST_ODDS, 0

    def see(self, token: int) -> None:
        """One more token was written."""
        self._lookup.see(token)
        self._ids.append(token)
        self._rested += 1
        if self._open:
            is_held = self._open.pop(0) == token
            self._odds += (is_held - self._odds) / MEMORY
            if not is_held:
                self._open = []

    def guess(self, most: int) -> list[int]:
        """The tokens that may follow, at most so many."""
        if found := self._lookup.guess(most):
            self._open = []
            return found
        count = most_worth(repeat(self._odds, most), self._draft.cost)
        if not count and self._rested >= REST:
            count = 1
        if not count:
            return []
        self._rested = 0
        guesses = self._draft.go_on(self._ids, min(count, most))
        self._open = list(takewhile(lambda token: token < self._vocabulary, guesses))
        return list(self._open)

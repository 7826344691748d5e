"""How each token of an answer is chosen: by sampling, within what the request of a program may hold it to."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from torch import Tensor

from engine.events import Scored, TokenScore
from engine.models.loaded import LoadedModel
from engine.prompt.marks import AnswerFormat
from engine.turn.sampling import KnownTokens, Penalty, best_scores, make_generator, margin, sample
from engine.types import Request

if TYPE_CHECKING:
    from engine.turn.constrained import Constraint, Schemas


class Choices:
    """Makes a `Choice` for each answer of one model. `end_ids` are the tokens that end its answers, `form` says which
    are the marks in them."""

    def __init__(self, model: LoadedModel, end_ids: Collection[int], form: AnswerFormat) -> None:
        self._model, self._end_ids = model, end_ids
        self._spared = model.special_ids | frozenset(end_ids) | form.ids
        self._known = KnownTokens(model.vocabulary, model.unknown_ids)
        self._schemas: Schemas | None = None

    def of(self, request: Request) -> Choice:
        """How the answer to a request is chosen. Raises HeadstartError where it cannot be held to what is asked."""
        return Choice(self._model, request, self._known, self._spared, self._constraint(request))

    def _constraint(self, request: Request) -> Constraint | None:
        """What holds the answer to the schema of a request. llguidance is imported where one is asked for."""
        if not request.schema:
            return None
        if self._schemas is None:
            from engine.turn.constrained import Schemas

            own = self._model.tokenizer.eos_token_id
            end = own if own in self._end_ids else min(self._end_ids)
            self._schemas = Schemas(self._model.tokenizer, self._model.vocabulary, end)
        return self._schemas.constraint(request.schema)


class Choice:
    """Chooses the tokens of one answer, one after the other: `next`, and `see` for each that was written.

    `margin` is the distance between the two best tokens at the last choice, where the request records it.
    """

    def __init__(
        self,
        model: LoadedModel,
        request: Request,
        known: KnownTokens,
        spared: Collection[int],
        constraint: Constraint | None,
    ) -> None:
        self._model, self._request, self._known = model, request, known
        self._generator = make_generator(request.sampling)
        self._penalise = Penalty(request.sampling.repetition_penalty, spared)
        self._constraint = constraint
        self._logits: Tensor | None = None
        self.margin = 0.0

    @property
    def is_full(self) -> bool:
        """Whether nothing may follow on what was written."""
        return self._constraint is not None and self._constraint.is_over

    def next(self, logits: Tensor) -> int:
        """The token that follows, from logits `[vocabulary]`. Raises ModelError where none may."""
        self._logits = known = self._known(logits)
        logits = self._penalise(known)
        if self._constraint is not None:
            logits = self._constraint(logits)
        if self._request.record_margins:
            self.margin = margin(logits)
        return sample(logits, self._request.sampling, self._generator)

    def see(self, token: int) -> None:
        """This token was written."""
        self._penalise.see(token)
        if self._constraint is not None:
            self._constraint.see(token)

    def scored(self, request_id: int, token: int) -> Scored:
        """The score of the token that was chosen last, as the model gave it."""
        assert self._logits is not None
        own, best = best_scores(self._logits, token, self._request.scores or 0)
        decode = self._model.decode
        texts = tuple(TokenScore(decode([other]), score) for other, score in best)
        return Scored(request_id, TokenScore(decode([token]), own), texts)

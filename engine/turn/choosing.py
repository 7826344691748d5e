"""How each token of an answer is chosen: by sampling, within what the request of a program may hold it to."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine.cache.store import Lane
from engine.events import Scored, TokenScore
from engine.models.graphs import Steps
from engine.models.loaded import LoadedModel
from engine.prompt.call_form import CallForm
from engine.prompt.marks import AnswerFormat
from engine.turn.pipelined import PipelinedChoice, can_be_pipelined
from engine.turn.sampling import KnownTokens, Penalty, best_scores, biased, draw, make_generator, margin, sample
from engine.types import InvalidRequestError, Request

if TYPE_CHECKING:
    from engine.turn.constrained import Constraint, Constraints


NO_TOKEN = "The bias names the token {}; this model has {:,} tokens. Leave it out."
NO_FORM = (
    "No answer of this model can be held to a call: its chat template writes calls in a form of its own. Leave the "
    "choice of tools to the model, or choose another one."
)


class Choices:
    """Makes a `Choice` for each answer of one model. `end_ids` are the tokens that end its answers, `form` says which
    are the marks in them. `find_call_form` says how it writes calls of tools, which is asked for once."""

    def __init__(
        self,
        model: LoadedModel,
        end_ids: Collection[int],
        form: AnswerFormat,
        find_call_form: Callable[[Collection[str]], CallForm | None],
    ) -> None:
        self._model, self._end_ids = model, end_ids
        self._spared = model.special_ids | frozenset(end_ids) | form.ids
        self._known = KnownTokens(model.vocabulary, model.unknown_ids)
        self.steps: Steps | None = None
        """Where there are any, tokens are chosen on the model's device, and nothing is waited for but the token."""
        self._find_call_form = find_call_form

    def of(self, request: Request) -> Choice | PipelinedChoice:
        """How the answer to a request is chosen. Raises HeadstartError where it cannot be held to what is asked."""
        unknown = [token for token, _ in request.bias if token >= self._model.vocabulary]
        if unknown:
            raise InvalidRequestError(NO_TOKEN.format(unknown[0], self._model.vocabulary))
        constraint = self._constraint(request)
        if self.steps is not None and constraint is None and can_be_pipelined(request):
            return PipelinedChoice(self.steps, request, self._known, self._spared)
        return Choice(self._model, request, self._known, self._spared, self._end_ids, constraint)

    def _constraint(self, request: Request) -> Constraint | None:
        """What holds the answer to a request to its schema, or to a call of its tools."""
        if request.schema:
            return self._constraints.schema(request.schema)
        if not request.must_call and not request.held_calls and not request.may_call:
            return None
        if self._call_form is None:
            raise InvalidRequestError(NO_FORM)
        if request.must_call:
            offered = [tool for tool in request.tools if tool.name in request.must_call]
            return self._constraints.call(self._call_form, offered, is_one=request.one_call)
        allowed = [tool for tool in request.tools if not request.may_call or tool.name in request.may_call]
        return self._constraints.calls_in_text(self._call_form, allowed, request.held_calls)

    @cached_property
    def _constraints(self) -> Constraints:
        """llguidance is imported where something is asked for that needs it."""
        from engine.turn.constrained import Constraints

        own = self._model.tokenizer.eos_token_id
        end = own if own in self._end_ids else min(self._end_ids)
        return Constraints(self._model.tokenizer, self._model.vocabulary, end)

    @cached_property
    def _call_form(self) -> CallForm | None:
        names = self._model.tokenizer.convert_ids_to_tokens(sorted(self._end_ids))
        return self._find_call_form([name for name in names if name is not None])


class Choice:
    """Chooses the tokens of one answer, one after the other: `next`, and `see` for each that was written.

    `margin` is the distance between the two best tokens at the last choice, where the request records it.
    `sees_logits`: what several tokens were computed with at once may be given to it one by one.
    """

    sees_logits = True

    def __init__(
        self,
        model: LoadedModel,
        request: Request,
        known: KnownTokens,
        spared: Collection[int],
        end_ids: Collection[int],
        constraint: Constraint | None,
    ) -> None:
        self._model, self._request, self._known = model, request, known
        self._generator = make_generator(request.sampling)
        self._penalise = Penalty(request.sampling, spared)
        self._end_ids = end_ids
        self._constraint = constraint
        self._logits: Tensor | None = None
        self.margin = 0.0

    @property
    def is_full(self) -> bool:
        """Whether nothing may follow on what was written."""
        return self._constraint is not None and self._constraint.is_over

    def next(self, logits: Tensor, *, is_thought: bool = False) -> int:
        """The token that follows, from logits `[vocabulary]`. `is_thought`: it stands in a thought, which is held to
        nothing but that it must not be the end where the answer is yet to come. Raises ModelError where no token is
        left."""
        self._logits = known = self._known(logits)
        logits = biased(self._penalise(known), self._request.bias)
        if self._constraint is not None:
            logits = self._without_end(logits) if is_thought else self._constraint(logits)
        if self._request.record_margins:
            self.margin = margin(logits)
        return sample(logits, self._request.sampling, self._generator)

    def step(self, token: int, lane: Lane, position: int) -> Tensor:
        """The logits behind this token, which is computed behind the lane's first `position`."""
        return self._model.forward([token], lane, position, is_answer=True)

    def see(self, token: int, *, is_thought: bool = False) -> None:
        """This token was written."""
        self._penalise.see(token)
        if self._constraint is not None and not is_thought:
            self._constraint.see(token)

    def go_on(self, token: int, *, is_thought: bool = False) -> None:
        """This token was written before the answer was cut off: what follows is as if it had been written now."""
        draw(self._generator)
        self.see(token, is_thought=is_thought)

    def _without_end(self, logits: Tensor) -> Tensor:
        ends = torch.tensor([each for each in self._end_ids if each < len(logits)])
        return logits.index_fill(0, ends.to(logits.device), -math.inf)

    def scored(self, request_id: int, token: int) -> Scored:
        """The score of the token that was chosen last, as the model gave it."""
        assert self._logits is not None
        own, best = best_scores(self._logits, token, self._request.scores or 0)
        decode = self._model.decode
        texts = tuple(TokenScore(decode([other]), score) for other, score in best)
        return Scored(request_id, TokenScore(decode([token]), own), texts)

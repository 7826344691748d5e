"""Tokens that are chosen on the model's device, the next one computed before the processor knows the one before it.

What `engine.turn.choosing.Choice` does on the CPU with logits that were waited for is told to the device here, in
shapes that hang on no number. So the token stays there as what is computed with next, and while its number is on its
way to the processor, and text is made of it, the device is at work already. The price is one token at the end of an
answer that is computed in vain: it stands in the lane behind all that the lane vouches for, as if it had never been.

The same logits and the same seed give the same token as on the CPU, where no two logits are equal.
"""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor

from engine.cache.contract import without_salt
from engine.cache.store import Lane, is_out_of_memory
from engine.events import Scored
from engine.models.graphs import Steps
from engine.models.support import NO_NUMBERS
from engine.turn.sampling import KnownTokens, draw, make_generator
from engine.types import ModelError, Request, Sampling

FAULT = -1
"""What the processor gets in place of a token where the logits are no numbers."""


def can_be_pipelined(request: Request) -> bool:
    """Whether the processor need not see the logits of an answer that is held to nothing."""
    return request.scores is None and not request.record_margins


class PipelinedChoice:
    """Chooses the tokens of one answer as `Choice` does: `next`, `see` for each that was written, and `step` for what
    follows on it. Nothing but the token itself is waited for, and only once the next one is being computed."""

    margin = 0.0
    is_full = False
    sees_logits = False

    def __init__(self, steps: Steps, request: Request, known: KnownTokens, spared: Collection[int]) -> None:
        device = steps.model.device
        self._steps, self._sampling = steps, request.sampling
        self._known = known.on(device)
        self._generator = make_generator(request.sampling)
        self._penalty = _Penalty(request.sampling, spared, steps.model.vocabulary, device)
        self._bias = _Bias([(token, value) for token, value in request.bias if token < known.count], device)
        self._count = 0
        self._told = FAULT
        self._next: tuple[Lane, int] | None = None
        """Where the token goes that is chosen next; None where only `step` will know."""
        self._ahead: tuple[Tensor, Lane, int] | None = None
        """The logits behind the token that was chosen last, and where it was computed."""
        steps.begin()

    @torch.inference_mode()
    def next(self, logits: Tensor, *, is_thought: bool = False) -> int:
        """The token that follows, from logits `[vocabulary]`. Raises ModelError where they are no numbers."""
        logits = logits.to(self._steps.model.device, torch.float32, non_blocking=True)
        token = self._chosen(logits)
        self._penalty.see(token)
        told = self._steps.copies.leave(torch.where(logits.max().isfinite(), token, FAULT))
        self._count += 1
        self._ahead = self._launched(token)
        told.wait()
        self._told = int(told.tensor)
        if self._told == FAULT:
            raise ModelError(NO_NUMBERS, f"{self._steps.model.architecture}, token {self._count} of an answer")
        return self._told

    @torch.inference_mode()
    def step(self, token: int, lane: Lane, position: int) -> Tensor:
        """The logits behind this token, which is computed behind the lane's first `position`, or was already."""
        ahead, self._ahead, self._next = self._ahead, None, (lane, position + 1)
        if ahead is not None and ahead[1:] == (lane, position) and token == self._told:
            return ahead[0]
        return self._steps.launch(torch.full((1,), token, device=self._steps.model.device), lane, position)

    def see(self, token: int, *, is_thought: bool = False) -> None:
        """This token was written. It was counted where it was chosen."""

    def go_on(self, token: int, *, is_thought: bool = False) -> None:
        """This token was written before the answer was cut off: what follows is as if it had been written now."""
        draw(self._generator)
        self._penalty.see(torch.full((1,), token, device=self._steps.model.device))

    def scored(self, request_id: int, token: int) -> Scored:
        """Never asked for: such a request is answered by `Choice`."""
        raise NotImplementedError

    def _chosen(self, logits: Tensor) -> Tensor:
        return choose(self._bias(self._penalty(self._known(logits))), self._sampling, float(draw(self._generator)))

    def _launched(self, token: Tensor) -> tuple[Tensor, Lane, int] | None:
        """Have the token computed with, where it can only go on as it did: each place is good for one token, since what
        follows on it may be read anew elsewhere. Where memory lacks, it is done later, when there is a way to make
        room."""
        place, self._next = self._next, None
        if place is None or self._count >= self._sampling.max_tokens:
            return None
        lane, position = place
        is_other = self._steps.model.reuse.regime(position + 1) != without_salt(lane.regime)
        if is_other or position >= lane.capacity:
            return None
        try:
            return self._steps.launch(token, lane, position), lane, position
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            return None


def choose(logits: Tensor, sampling: Sampling, point: float) -> Tensor:
    """A token `[1]` by logits `[vocabulary]` on their device, as `engine.turn.sampling.sample` chooses it where it
    draws the number `point`, between 0 and 1."""
    if sampling.temperature == 0 or sampling.top_k == 1:
        return logits.argmax().view(1)
    logits, tokens = logits / max(sampling.temperature, 1e-4), None
    if 0 < sampling.top_k < len(logits):
        logits, tokens = logits.topk(sampling.top_k)
    shares = torch.softmax(logits, 0)
    if tokens is None and (sampling.top_p < 1 or sampling.min_p > 0):
        shares, tokens = shares.sort(descending=True, stable=True)
    if sampling.top_p < 1:
        left_out = shares.cumsum(0) - shares >= sampling.top_p
        shares = torch.cat([shares[:1], shares[1:].masked_fill(left_out[1:], 0.0)])
    if sampling.min_p > 0:
        shares = shares.masked_fill(shares < sampling.min_p * shares.max(), 0.0)
    # Apple's GPUs have no numbers of 64 bits with a point.
    ladder = (shares if shares.device.type == "mps" else shares.double()).cumsum(0)
    place = torch.searchsorted(ladder, ladder[-1:] * point, right=True)
    place = torch.minimum(place, (ladder < ladder[-1]).sum())
    return place if tokens is None else tokens.index_select(0, place)


class _Penalty:
    """What `engine.turn.sampling.Penalty` does, over all tokens at once: how often each was written stands on the
    device, and is counted there."""

    def __init__(self, sampling: Sampling, spared: Collection[int], vocabulary: int, device: torch.device) -> None:
        self._factor = sampling.repetition_penalty
        self._once, self._each = sampling.presence_penalty, sampling.frequency_penalty
        self._is_on = (self._factor, self._once, self._each) != (1, 0, 0)
        if self._is_on:
            counted = torch.ones(vocabulary)
            counted[[token for token in spared if token < vocabulary]] = 0
            self._counted, self._counts = counted.to(device), torch.zeros(vocabulary, device=device)

    def see(self, token: Tensor) -> None:
        """One more token `[1]`."""
        if self._is_on:
            self._counts.index_add_(0, token, self._counted.index_select(0, token))

    def __call__(self, logits: Tensor) -> Tensor:
        if not self._is_on:
            return logits
        counts, scores = self._counts[: len(logits)], logits
        if self._factor != 1:
            scores = torch.where(scores > 0, scores / self._factor, scores * self._factor)
        if self._once or self._each:
            scores = scores - (self._once + self._each * counts)
        return torch.where(counts > 0, scores, logits)


class _Bias:
    """What `engine.turn.sampling.biased` does, with what is added on the device."""

    def __init__(self, bias: Collection[tuple[int, float]], device: torch.device) -> None:
        self._tokens = torch.tensor([token for token, _ in bias], dtype=torch.long).to(device)
        self._added = torch.tensor([value for _, value in bias], dtype=torch.float32).to(device)

    def __call__(self, logits: Tensor) -> Tensor:
        return logits.index_add(0, self._tokens, self._added) if len(self._tokens) else logits

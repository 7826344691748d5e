"""Logits -> token. Pure functions; the rules apply in the usual order: penalties, bias, temperature, top-k, top-p,
min-p."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from copy import copy

import torch
from torch import Tensor

from engine.types import Sampling

UNLIKELY = 1 / 3000
"""Tokens below this share of the best one's probability are looked at only where top-p is not reached without them."""


class KnownTokens:
    """Leaves out the rows of logits that stand for no token: vocabularies are padded to round numbers, and a row that
    was never trained can win. `vocabulary` is the number of rows, `unknown` those that the tokenizer does not know."""

    def __init__(self, vocabulary: int, unknown: Collection[int]) -> None:
        self._end = vocabulary
        while self._end - 1 in unknown:
            self._end -= 1
        self._holes = torch.tensor(sorted(row for row in unknown if row < self._end), dtype=torch.long)

    @property
    def count(self) -> int:
        """Rows that are left."""
        return self._end

    def on(self, device: torch.device) -> KnownTokens:
        """The same for logits on a device, where nothing is copied there for each of them."""
        found = copy(self)
        found._holes = self._holes.to(device)
        return found

    def __call__(self, logits: Tensor) -> Tensor:
        """`[vocabulary]` -> `[known rows]`, a view where only rows at the end are unknown."""
        logits = logits[: self._end]
        return logits if not len(self._holes) else logits.index_fill(0, self._holes, -math.inf)


def make_generator(sampling: Sampling) -> torch.Generator:
    """A random stream for one request: the same seed gives the same answer."""
    generator = torch.Generator()
    if sampling.seed is None:
        generator.seed()
    else:
        generator.manual_seed(sampling.seed)
    return generator


def sample(logits: Tensor, sampling: Sampling, generator: torch.Generator) -> int:
    """The next token from penalised logits `[vocabulary]`."""
    if sampling.temperature == 0 or sampling.top_k == 1:
        return int(logits.argmax())
    tokens, shares = _kept(logits, sampling)
    ladder = shares.double().cumsum(0)
    point = draw(generator) * ladder[-1]
    return int(tokens[torch.searchsorted(ladder, point, right=True).clamp_max(len(tokens) - 1)])


def draw(generator: torch.Generator) -> Tensor:
    """A number `[1]` between 0 and 1: each token takes one."""
    return torch.rand(1, generator=generator, dtype=torch.float64)


def candidates(logits: Tensor, sampling: Sampling) -> tuple[Tensor, Tensor]:
    """The tokens `[n]` that one is drawn from and their probabilities `[n]`, on the CPU."""
    tokens, shares = _kept(logits, sampling)
    return tokens, shares / shares.sum()


def _kept(logits: Tensor, sampling: Sampling) -> tuple[Tensor, Tensor]:
    """The tokens `[n]` that one is drawn from and what they had of the probability before the others were left out.

    Top-p keeps the fewest that together reach it, at least one (Holtzman et al., 1904.09751); min-p is relative to the
    most likely token.
    """
    logits = logits.float().cpu() / max(sampling.temperature, 1e-4)
    if 0 < sampling.top_k < len(logits):
        values, tokens = logits.topk(sampling.top_k)
        probabilities = torch.softmax(values, 0)
    else:
        probabilities, tokens = _likely(torch.softmax(logits, 0), sampling)
    if sampling.top_p < 1:
        keep = probabilities.cumsum(0) - probabilities < sampling.top_p
        keep[0] = True
        tokens, probabilities = tokens[keep], probabilities[keep]
    if sampling.min_p > 0:
        keep = probabilities >= sampling.min_p * probabilities.max()
        tokens, probabilities = tokens[keep], probabilities[keep]
    return tokens, probabilities


class Penalty:
    """Makes tokens that the answer has written less likely: by the repetition penalty (CTRL, 1909.05858) positive
    logits are divided and negative ones multiplied; then, as in OpenAI's API, the presence penalty is taken off once,
    and the frequency penalty for each time the token was written.

    It looks at the answer alone: a question's own words are what an answer needs. `spared` tokens never count: an end
    that was made less likely with every turn would leave answers without one.
    """

    def __init__(self, sampling: Sampling, spared: Collection[int] = ()) -> None:
        self._factor = sampling.repetition_penalty
        self._once, self._each = sampling.presence_penalty, sampling.frequency_penalty
        self._spared = frozenset(spared)
        self._places: dict[int, int] = {}
        self._tokens = torch.empty(0, dtype=torch.long)
        self._counts = torch.empty(0)

    def see(self, token: int) -> None:
        """One more token."""
        if token in self._spared:
            return
        if token not in self._places:
            self._places[token] = len(self._places)
            self._tokens = torch.cat([self._tokens, torch.tensor([token])])
            self._counts = torch.cat([self._counts, torch.zeros(1)])
        self._counts[self._places[token]] += 1

    def __call__(self, logits: Tensor) -> Tensor:
        """`[vocabulary]` -> `[vocabulary]`; what is given is left as it is."""
        if not self._places or (self._factor, self._once, self._each) == (1, 0, 0):
            return logits
        tokens = self._tokens.to(logits.device)
        scores = logits[tokens]
        if self._factor != 1:
            scores = torch.where(scores > 0, scores / self._factor, scores * self._factor)
        if self._once or self._each:
            scores = scores - (self._once + self._each * self._counts.to(logits.device)).to(scores.dtype)
        return logits.index_copy(0, tokens, scores)


def biased(logits: Tensor, bias: Sequence[tuple[int, float]]) -> Tensor:
    """Logits `[vocabulary]` with so much added to those of some tokens. Rows that stand for no token have none."""
    known = [(token, value) for token, value in bias if token < len(logits)]
    if not known:
        return logits
    tokens = torch.tensor([token for token, _ in known], device=logits.device)
    added = torch.tensor([value for _, value in known], dtype=logits.dtype, device=logits.device)
    return logits.index_add(0, tokens, added)


def margin(logits: Tensor) -> float:
    """Distance between the two best logits: how near another token was to being chosen."""
    best, *others = logits.float().topk(min(2, len(logits))).values.tolist()
    return float(best - others[0]) if others else math.inf


def _likely(probabilities: Tensor, sampling: Sampling) -> tuple[Tensor, Tensor]:
    """Probabilities and tokens: all that top-p and min-p can keep, the most likely first where top-p needs an order.

    To order a whole vocabulary takes a third as long as a small model does: only likely tokens are, if they are enough.
    """
    if sampling.top_p == 1 and sampling.min_p == 0:
        return probabilities, torch.arange(len(probabilities))
    tokens = torch.nonzero(probabilities >= probabilities.max() * (sampling.min_p or UNLIKELY)).flatten()
    values, order = probabilities[tokens].sort(descending=True)
    if sampling.min_p > 0 or values.sum() > sampling.top_p:
        return values, tokens[order]
    return probabilities.sort(descending=True)


def best_scores(logits: Tensor, token: int, count: int) -> tuple[float, list[tuple[int, float]]]:
    """The log probability of `token` under logits `[vocabulary]`, and the `count` likeliest tokens with theirs."""
    scores = torch.log_softmax(logits.float(), 0)
    values, tokens = scores.topk(min(count, len(scores)))
    return float(scores[token]), list(zip(tokens.tolist(), values.tolist(), strict=True))

"""Logits -> token. Pure functions; the rules apply in the usual order: penalty, temperature, top-k, top-p, min-p."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.types import Sampling


def make_generator(sampling: Sampling) -> torch.Generator:
    """A random stream for one request: the same seed gives the same answer."""
    generator = torch.Generator()
    if sampling.seed is None:
        generator.seed()
    else:
        generator.manual_seed(sampling.seed)
    return generator


def sample(logits: Tensor, sampling: Sampling, generator: torch.Generator) -> int:
    """The next token from penalised fp32 logits `[vocabulary]`."""
    if sampling.temperature == 0 or sampling.top_k == 1:
        return int(logits.argmax())
    probabilities = distribution(logits, sampling)
    return int(torch.multinomial(probabilities, 1, generator=generator))


def distribution(logits: Tensor, sampling: Sampling) -> Tensor:
    """The probabilities `[vocabulary]` that a token is drawn from, on the CPU."""
    logits = logits.float().cpu() / max(sampling.temperature, 1e-4)
    if 0 < sampling.top_k < logits.numel():
        logits = logits.masked_fill(logits < logits.topk(sampling.top_k).values[-1], float("-inf"))
    probabilities = torch.softmax(logits, dim=-1)
    if sampling.top_p < 1:
        probabilities = _nucleus(probabilities, sampling.top_p)
    if sampling.min_p > 0:
        probabilities = probabilities.masked_fill(probabilities < sampling.min_p * probabilities.max(), 0.0)
    return probabilities / probabilities.sum()


def penalise(logits: Tensor, seen: Sequence[int], penalty: float) -> Tensor:
    """Make seen tokens less likely: positive logits are divided, negative ones multiplied (CTRL, 1909.05858)."""
    if penalty == 1 or not seen:
        return logits
    index = torch.tensor(sorted(set(seen)), device=logits.device)
    scores = logits[index]
    return logits.index_copy(0, index, torch.where(scores > 0, scores / penalty, scores * penalty))


def margin(logits: Tensor) -> float:
    """Distance between the two best logits: how near another token was to being chosen."""
    best, second = logits.float().topk(2).values.tolist()
    return float(best - second)


def _nucleus(probabilities: Tensor, top_p: float) -> Tensor:
    """Keep the most likely tokens that together reach `top_p`, at least one (Holtzman et al., 1904.09751)."""
    ordered, index = probabilities.sort(descending=True)
    drop = ordered.cumsum(0) - ordered >= top_p
    drop[0] = False
    return probabilities.index_fill(0, index[drop], 0.0)

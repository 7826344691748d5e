"""The parts of a forward pass that treat each token for itself: norms, rotary positions, the gate. In torch.

A decoder layer consists of matrix products, attention, and what stands between these. The latter works on one row of
numbers for each token, hence the name. `engine.llama.compiled_rows` does the same in C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from engine.cache.store import Lane
from engine.llama.weights import Layer, Rotary, Weights
from engine.weights.row_products import in_vectors

ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "silu": functional.silu,
    "gelu": functional.gelu,
    "gelu_pytorch_tanh": partial(functional.gelu, approximate="tanh"),
}
"""By the names that configurations have for them."""

Angles = tuple[Tensor, Tensor]
"""Cosines and sines of some tokens' positions, for the rotary position code."""


class Rows(Protocol):
    """What a decoder layer does between its matrix products, for `n` tokens at a time.

    `width` is the size of the residual stream, `inner` that of the feed-forward layers, `dim` that of a head.
    """

    def angles(self, rotary: Rotary, start: int, n: int, *, is_long: bool = False) -> Angles:
        """The angles of the positions `start` to `start + n`, in the shape that `place` wants them in."""

    def normalise(self, hidden: Tensor, added: Tensor | None, weight: Tensor | None) -> Tensor:
        """Add `added` to `hidden` in place (both `[n, width]`), and return its root-mean-square norm with `weight`;
        without a weight, `hidden` itself."""

    def place(self, index: int, layer: Layer, fused: Tensor, lane: Lane, start: int, angles: Angles | None) -> Tensor:
        """Take queries, keys and values of layer `index` apart, and give queries and keys their rotary positions, if
        there are angles.

        Keys and values are written into the lane from token `start` on; the queries `[n, heads, dim]` are returned.
        `fused` `[n, (heads + 2 * kv_heads) * dim]` is the product that holds all three. It may be overwritten.
        """

    def gate(self, gate_up: Tensor) -> Tensor:
        """`[n, 2 * inner]` -> `[n, inner]`: the model's activation of the first half times the second."""


class TorchRows:
    """The steps of `Rows` on every device and in every number type."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._like = torch.zeros(1, 1, 1, dtype=weights.dtype, device=weights.device)

    def angles(self, rotary: Rotary, start: int, n: int, *, is_long: bool = False) -> Angles:
        """`[n, 1, turned numbers]` each, in the number type of the weights."""
        return self.angles_at(rotary, torch.arange(start, start + n, device=self._like.device), is_long=is_long)

    def angles_at(self, rotary: Rotary, positions: Tensor, *, is_long: bool = False) -> Angles:
        """The same for positions `[n]` on the device."""
        cos, sin = (part[0, :, None] for part in rotary(self._like, positions[None], is_long=is_long))
        return cos, sin

    def normalise(self, hidden: Tensor, added: Tensor | None, weight: Tensor | None) -> Tensor:
        if added is not None:
            hidden += added
        return hidden if weight is None else normalised(hidden, weight, self._weights.sizes.epsilon)

    def place(self, index: int, layer: Layer, fused: Tensor, lane: Lane, start: int, angles: Angles | None) -> Tensor:
        query, keys, values = self.turned(layer, fused, angles)
        lane.write(index, start, keys, values)
        return query

    def turned(self, layer: Layer, fused: Tensor, angles: Angles | None) -> tuple[Tensor, Tensor, Tensor]:
        """What `place` takes apart, with the rotary positions: queries `[n, heads, dim]`, keys and values as a lane has
        them, `[1, kv_heads, n, dim]`."""
        w = self._weights.sizes
        heads = fused.view(len(fused), -1, w.dim)
        query, key, value = torch.split(heads, [w.heads, w.kv_heads, w.kv_heads], dim=1)
        turning = heads[:, : w.heads + w.kv_heads]
        if layer.query_norm is not None and layer.key_norm is not None:
            norms = (query, layer.query_norm), (key, layer.key_norm)
            turning = torch.cat([normalised_heads(part, norm, w.epsilon) for part, norm in norms], dim=1)
        turned = turning if angles is None else _rotate(turning, *angles)
        return turned[:, : w.heads], turned[:, w.heads :].transpose(0, 1)[None], value.transpose(0, 1)[None]

    def gate(self, gate_up: Tensor) -> Tensor:
        gate, up = gate_up.chunk(2, dim=-1)
        return in_vectors(ACTIVATIONS[self._weights.decoder.activation], gate) * up


def normalised(numbers: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """Root-mean-square norm over the last dimension, in the numbers' type; in fp32 where the weight is."""
    if weight.dtype is numbers.dtype:
        return functional.rms_norm(numbers, weight.shape, weight, epsilon)
    return functional.rms_norm(numbers.float(), weight.shape, weight, epsilon).to(numbers.dtype)


def normalised_heads(heads: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """The norm of each head of `[n, heads, dim]`, or of all heads of a token together, as long as the weight is."""
    return normalised(heads.reshape(len(heads), -1, len(weight)), weight, epsilon).view(heads.shape)


def _rotate(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """The rotary position code on heads `[n, heads, dim]`, whose halves are paired as in transformers' Llama. Numbers
    past those that have angles stay as they are."""
    turning, kept = heads[..., : cos.shape[-1]], heads[..., cos.shape[-1] :]
    first, second = turning.chunk(2, dim=-1)
    turned = turning * cos + torch.cat([-second, first], dim=-1) * sin
    return torch.cat([turned, kept], dim=-1) if kept.shape[-1] else turned


def grown(
    growth: tuple[float, int] | None, start: int, count: int, device: torch.device | None = None
) -> Tensor | None:
    """What the queries of `count` tokens from `start` on are multiplied with, `[count]` in fp32, where a model has them
    grow with their position; None where it has not."""
    if growth is None:
        return None
    return grown_at(growth, torch.arange(start, start + count, device=device))


def grown_at(growth: tuple[float, int], positions: Tensor) -> Tensor:
    """The same for positions `[n]` on the device."""
    beta, length = growth
    return 1 + beta * in_vectors(torch.log, 1 + torch.floor(positions / length))

"""What a forward pass of many tokens does between its products: norms, heads and their places, the gate. In torch."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from engine.cache.store import Lane
from engine.llama.weights import Layer, Weights

Angles = tuple[Tensor, Tensor]
"""Cosines and sines of the positions of a piece."""


class Rows(Protocol):
    """The steps between the products, for `n` tokens."""

    def angles(self, start: int, n: int) -> Angles:
        """Of positions from `start` on."""

    def normalise(self, hidden: Tensor, added: Tensor | None, weight: Tensor) -> Tensor:
        """Add to `hidden` `[n, width]` in place, and return its norm."""

    def place(self, index: int, layer: Layer, fused: Tensor, lane: Lane, start: int, angles: Angles) -> Tensor:
        """Write keys and values of layer `index` into the lane from `start` on; the queries `[n, heads, dim]`.

        `fused` is the product `[n, (heads + 2 * kv_heads) * dim]`, which may be overwritten.
        """

    def gate(self, gate_up: Tensor) -> Tensor:
        """`[n, 2 * inner]` -> `[n, inner]`: SiLU of the first half times the second."""


class TorchRows:
    """`Rows` on every device and in every number type."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._like = weights.embedding[:1, None]

    def angles(self, start: int, n: int) -> Angles:
        """See `Rows`; `[n, 1, dim]` in the number type of the weights."""
        positions = torch.arange(start, start + n, device=self._like.device)[None]
        cos, sin = (part[0, :, None] for part in self._weights.rotary(self._like, positions))
        return cos, sin

    def normalise(self, hidden: Tensor, added: Tensor | None, weight: Tensor) -> Tensor:
        """See `Rows`."""
        if added is not None:
            hidden += added
        return functional.rms_norm(hidden, weight.shape, weight, self._weights.sizes.epsilon)

    def place(self, index: int, layer: Layer, fused: Tensor, lane: Lane, start: int, angles: Angles) -> Tensor:
        """See `Rows`."""
        w = self._weights.sizes
        heads = fused.view(len(fused), -1, w.dim)
        query, key, value = torch.split(heads, [w.heads, w.kv_heads, w.kv_heads], dim=1)
        if layer.query_norm is not None and layer.key_norm is not None:
            query, key = self.normalise(query, None, layer.query_norm), self.normalise(key, None, layer.key_norm)
            turned = _rotate(torch.cat([query, key], dim=1), *angles)
        else:
            turned = _rotate(heads[:, : w.heads + w.kv_heads], *angles)
        lane.write(index, start, turned[:, w.heads :].transpose(0, 1)[None], value.transpose(0, 1)[None])
        return turned[:, : w.heads]

    def gate(self, gate_up: Tensor) -> Tensor:
        """See `Rows`."""
        gate, up = gate_up.chunk(2, dim=-1)
        return functional.silu(gate) * up


def _rotate(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position code on `[n, heads, dim]`, halves paired as in transformers' Llama."""
    first, second = heads.chunk(2, dim=-1)
    return heads * cos + torch.cat([-second, first], dim=-1) * sin

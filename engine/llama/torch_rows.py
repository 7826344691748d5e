"""The parts of a forward pass that treat each token for itself: norms, rotary positions, the gate. In torch.

A decoder layer consists of matrix products, attention, and what stands between these. The latter works on one row of
numbers for each token, hence the name. `engine.llama.compiled_rows` does the same in C.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from engine.cache.store import Lane
from engine.llama.weights import Layer, Weights
from engine.weights.row_products import in_vectors

Angles = tuple[Tensor, Tensor]
"""Cosines and sines of some tokens' positions, for the rotary position code."""


class Rows(Protocol):
    """What a decoder layer does between its matrix products, for `n` tokens at a time.

    `width` is the size of the residual stream, `inner` that of the feed-forward layers, `dim` that of a head.
    """

    def angles(self, start: int, n: int) -> Angles:
        """The angles of the positions `start` to `start + n`, in the shape that `place` wants them in."""

    def normalise(self, hidden: Tensor, added: Tensor | None, weight: Tensor) -> Tensor:
        """Add `added` to `hidden` in place (both `[n, width]`), and return its root-mean-square norm with `weight`."""

    def place(self, index: int, layer: Layer, fused: Tensor, lane: Lane, start: int, angles: Angles) -> Tensor:
        """Take queries, keys and values of layer `index` apart, and give queries and keys their rotary positions.

        Keys and values are written into the lane from token `start` on; the queries `[n, heads, dim]` are returned.
        `fused` `[n, (heads + 2 * kv_heads) * dim]` is the product that holds all three. It may be overwritten.
        """

    def gate(self, gate_up: Tensor) -> Tensor:
        """SwiGLU, `[n, 2 * inner]` -> `[n, inner]`: SiLU of the first half times the second."""


class TorchRows:
    """The steps of `Rows` on every device and in every number type."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._like = torch.zeros(1, 1, 1, dtype=weights.dtype, device=weights.device)

    def angles(self, start: int, n: int) -> Angles:
        """`[n, 1, dim]` each, in the number type of the weights."""
        positions = torch.arange(start, start + n, device=self._like.device)[None]
        cos, sin = (part[0, :, None] for part in self._weights.rotary(self._like, positions))
        return cos, sin

    def normalise(self, hidden: Tensor, added: Tensor | None, weight: Tensor) -> Tensor:
        if added is not None:
            hidden += added
        return functional.rms_norm(hidden, weight.shape, weight, self._weights.sizes.epsilon)

    def place(self, index: int, layer: Layer, fused: Tensor, lane: Lane, start: int, angles: Angles) -> Tensor:
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
        gate, up = gate_up.chunk(2, dim=-1)
        return in_vectors(functional.silu, gate) * up


def _rotate(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """The rotary position code on heads `[n, heads, dim]`, whose halves are paired as in transformers' Llama."""
    first, second = heads.chunk(2, dim=-1)
    return heads * cos + torch.cat([-second, first], dim=-1) * sin

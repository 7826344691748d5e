"""A lean forward pass for the plain Llama family: fused projections, no mask tensors, few-bit weights for decoding.

Same mathematics as transformers' classes, fewer and larger products.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from engine.attention import attend_causally
from engine.decode import DecodeStep
from engine.layers import FEW_ROWS, Layer, Weights
from engine.nativestep import NativeStep
from engine.store import Lane


class LeanForward:
    """The forward pass over the weights of a plain Llama-like model."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        on_cpu = weights.embedding.device.type == "cpu"
        self._native = NativeStep(weights) if weights.is_native else None
        self._step = DecodeStep(weights) if on_cpu and not weights.is_native else None

    def __call__(self, ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        """Logits `[vocabulary]` after the last of `ids`, which stand behind the lane's first `start`."""
        if self._native is not None and len(ids) <= FEW_ROWS:
            for position, token in enumerate(ids[:-1], start):
                self._native(token, lane, position, wants_logits=False)
            return self._native(ids[-1], lane, start + len(ids) - 1)
        if self._step is not None and len(ids) == 1:
            return self._step(ids[0], lane, start)
        weights = self.weights
        tokens = torch.tensor(ids, device=weights.embedding.device)
        hidden = functional.embedding(tokens, weights.embedding)
        positions = torch.arange(start, start + len(tokens), device=tokens.device)[None]
        cos, sin = (part[0, :, None] for part in weights.rotary(hidden[None], positions))
        for index, layer in enumerate(weights.layers):
            is_last = index == len(weights.layers) - 1
            mixed = self._attend(index, layer, hidden, cos, sin, lane, start, is_last)
            hidden = (hidden[-1:] if is_last else hidden) + mixed
            gate, up = layer.gate_up(self._normed(hidden, layer.post_norm)).chunk(2, dim=-1)
            hidden = hidden + layer.down(functional.silu(gate) * up)
        return weights.head(self._normed(hidden, weights.norm))[0]

    def _attend(
        self,
        index: int,
        layer: Layer,
        hidden: Tensor,
        cos: Tensor,
        sin: Tensor,
        lane: Lane,
        start: int,
        is_last: bool,
    ) -> Tensor:
        """Write the layer's keys and values into the lane and attend. Only the last row of the last layer is needed."""
        w = self.weights.sizes
        fused = layer.qkv(self._normed(hidden, layer.input_norm)).view(len(hidden), -1, w.dim)
        query, key, value = torch.split(fused, [w.heads, w.kv_heads, w.kv_heads], dim=1)
        if layer.query_norm is not None and layer.key_norm is not None:
            query, key = self._normed(query, layer.query_norm), self._normed(key, layer.key_norm)
            turned = _rotate(torch.cat([query, key], dim=1), cos, sin)
        else:
            turned = _rotate(fused[:, : w.heads + w.kv_heads], cos, sin)
        query, key = turned[:, : w.heads], turned[:, w.heads :]
        keys, values = lane.write(index, start, key.transpose(0, 1)[None], value.transpose(0, 1)[None])
        if is_last:
            query = query[-1:]
        out = attend_causally(query.transpose(0, 1)[None].to(keys.dtype), keys, values, w.dim**-0.5)
        return layer.output(out[0].transpose(0, 1).reshape(len(query), -1))

    def _normed(self, rows: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(rows, weight.shape, weight, self.weights.sizes.epsilon)


def _rotate(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position code on `[n, heads, dim]`, halves paired as in transformers' Llama."""
    first, second = heads.chunk(2, dim=-1)
    return heads * cos + torch.cat([-second, first], dim=-1) * sin

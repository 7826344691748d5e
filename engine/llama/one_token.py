"""Decoding on the CPU in torch: one token through all layers of a model, in as few calls of torch as possible.

It is used where the compiled step (`engine.llama.compiled_step`) is not: for full weights, and on computers that the
compiled part does not run on. For a single token, calling torch takes as long as computing, so norms, rotary positions
and attention are written with the fewest calls. Activations are fp32 vectors.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from engine.cache.contract import without_salt
from engine.cache.store import Lane
from engine.llama.attention import attend
from engine.llama.torch_rows import ACTIVATIONS, normalised_heads
from engine.llama.weights import Layer, Rotary, Weights
from engine.types import LONG


class DecodeStep:
    """The forward pass of one token."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._zeros = torch.zeros(weights.width)
        self._norms = [
            tuple(None if norm is None else norm.float() for norm in norms)
            for norms in (
                (layer.input_norm, layer.mixed_norm, layer.post_norm, layer.added_norm) for layer in weights.layers
            )
        ]
        self._last_norm = weights.norm.float()
        self._activation = ACTIVATIONS[weights.decoder.activation]

    def __call__(self, token: int, lane: Lane, position: int) -> Tensor:
        """Compute a token that stands behind the lane's first `position`; what the output matrix makes of it,
        `[vocabulary]`."""
        weights = self._weights
        hidden = weights.embed([token])[0].to(torch.float32, copy=True)
        is_long = without_salt(lane.regime) == LONG
        turns = {name: self._turn(rotary, position, is_long) for name, rotary in weights.rotaries.items()}
        scale = weights.decoder.residual_scale
        for index, (layer, norms) in enumerate(zip(weights.layers, self._norms, strict=True)):
            before, mixed, after, added = norms
            turn = None if layer.kind.rope is None else turns[layer.kind.rope]
            attended = self._attend(layer, self._normed(hidden, before), turn, *lane.layers[index], position)
            hidden.add_(self._normed(attended, mixed), alpha=scale)
            gate, up = layer.gate_up.in_few_bits(self._normed(hidden, after)[None]).chunk(2, dim=1)
            fed = layer.down.in_few_bits(self._activation(gate).mul_(up))[0]
            hidden.add_(self._normed(fed, added), alpha=scale)
        return weights.head.in_few_bits(self._normed(hidden, self._last_norm)[None])[0]

    def _attend(
        self,
        layer: Layer,
        normed: Tensor,
        turn: tuple[Tensor, Tensor] | None,
        keys: Tensor,
        values: Tensor,
        position: int,
    ) -> Tensor:
        """Write the token's key and value into a layer's `keys` and `values`, and attend. Returns `[width]`."""
        w = self._weights.sizes
        heads = layer.qkv.in_few_bits(normed[None]).view(-1, w.dim)
        turning = heads.narrow(0, 0, w.heads + w.kv_heads)
        if layer.query_norm is not None and layer.key_norm is not None:
            turning = self._head_norms(turning.float(), layer.query_norm, layer.key_norm)
        turned = turning if turn is None else _turned(turning, *turn)
        keys.select(2, position).copy_(turned.narrow(0, w.heads, w.kv_heads))
        values.select(2, position).copy_(heads.narrow(0, w.heads + w.kv_heads, w.kv_heads))
        query = self._grown(turned.narrow(0, 0, w.heads), position).to(keys.dtype)
        out = self._over(query, layer.kind.window, keys, values, position + 1)
        return layer.output.in_few_bits(out.reshape(1, -1))[0]

    def _over(self, query: Tensor, window: int | None, keys: Tensor, values: Tensor, end: int) -> Tensor:
        """Attention of `[heads, dim]` over the last `window` of the lane's first `end` tokens."""
        w, decoder = self._weights.sizes, self._weights.decoder
        first = 0 if window is None else max(0, end - window)
        keys, values = (part.narrow(2, first, end - first) for part in (keys, values))
        if decoder.softcap is not None:
            return attend(query[None, :, None], keys, values, decoder.attention_scale, softcap=decoder.softcap)
        rows = query.view(1, w.kv_heads, w.heads // w.kv_heads, w.dim)
        return functional.scaled_dot_product_attention(rows, keys, values, scale=decoder.attention_scale)

    def _turn(self, rotary: Rotary, position: int, is_long: bool) -> tuple[Tensor, Tensor]:
        """Cosines and sines of a position.

        The first half of the sines is negated, so that a head's halves need only be swapped for the rotation.
        """
        where = torch.tensor([[position]])
        cos, sin = (part[0, 0].float() for part in rotary(self._zeros[None, None], where, is_long=is_long))
        half = len(sin) // 2
        return cos, torch.cat([-sin[:half], sin[half:]])

    def _grown(self, query: Tensor, position: int) -> Tensor:
        """Queries as they grow with their position, where a model has them grow."""
        growth = self._weights.decoder.query_growth
        return query if growth is None else query * (1 + growth[0] * math.log(1 + position // growth[1]))

    def _normed(self, vector: Tensor, weight: Tensor | None) -> Tensor:
        """Root-mean-square norm of a vector `[width]`; without a weight, the vector."""
        if weight is None:
            return vector
        mean = float(torch.dot(vector, vector)) / len(vector)
        return torch.addcmul(self._zeros, vector, weight, value=(mean + self._weights.sizes.epsilon) ** -0.5)

    def _head_norms(self, heads: Tensor, query_norm: Tensor, key_norm: Tensor) -> Tensor:
        """Root-mean-square norm of each head `[heads + kv_heads, dim]`, or of all of a kind together."""
        w = self._weights.sizes
        queries, keys = torch.split(heads, [w.heads, w.kv_heads])
        parts = ((queries, query_norm), (keys, key_norm))
        return torch.cat([normalised_heads(part[None], norm.float(), w.epsilon)[0] for part, norm in parts])


def _turned(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Heads `[heads, dim]` with the rotary position code on as many of their numbers as have angles."""
    count = len(cos)
    if count == heads.shape[1]:
        return torch.addcmul(heads * cos, heads.roll(count // 2, -1), sin)
    turning, kept = heads[:, :count], heads[:, count:]
    return torch.cat([torch.addcmul(turning * cos, turning.roll(count // 2, -1), sin), kept], dim=1)

"""Decoding on the CPU in torch: one token through all layers of a model, in as few calls of torch as possible.

It is used where the compiled step (`engine.llama.compiled_step`) is not: for full weights, and on computers that the
compiled part does not run on. For a single token, calling torch takes as long as computing, so norms, rotary positions
and attention are written with the fewest calls. Activations are fp32 vectors.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from engine.cache.store import Lane
from engine.llama.weights import Layer, Weights


class DecodeStep:
    """The forward pass of one token."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._zeros = torch.zeros(weights.width)
        self._norms = [(layer.input_norm.float(), layer.post_norm.float()) for layer in weights.layers]
        self._last_norm = weights.norm.float()

    def __call__(self, token: int, lane: Lane, position: int) -> Tensor:
        """Compute a token that stands behind the lane's first `position`; the logits `[vocabulary]` after it."""
        weights = self._weights
        hidden = weights.embed([token])[0].to(torch.float32, copy=True)
        cos, sin = self._turn(position)
        for index, (layer, (input_norm, post_norm)) in enumerate(zip(weights.layers, self._norms, strict=True)):
            hidden += self._attend(layer, self._normed(hidden, input_norm), cos, sin, *lane.layers[index], position)
            gate, up = layer.gate_up.in_few_bits(self._normed(hidden, post_norm)[None]).chunk(2, dim=1)
            hidden += layer.down.in_few_bits(functional.silu(gate).mul_(up))[0]
        return weights.head.in_few_bits(self._normed(hidden, self._last_norm)[None])[0]

    def _attend(
        self, layer: Layer, normed: Tensor, cos: Tensor, sin: Tensor, keys: Tensor, values: Tensor, position: int
    ) -> Tensor:
        """Write the token's key and value into a layer's `keys` and `values`, and attend. Returns `[width]`."""
        w = self._weights.sizes
        heads = layer.qkv.in_few_bits(normed[None]).view(-1, w.dim)
        turning = heads.narrow(0, 0, w.heads + w.kv_heads)
        if layer.query_norm is not None and layer.key_norm is not None:
            turning = self._head_norms(turning.float(), layer.query_norm, layer.key_norm)
        turned = torch.addcmul(turning * cos, turning.roll(w.dim // 2, -1), sin)
        keys.select(2, position).copy_(turned.narrow(0, w.heads, w.kv_heads))
        values.select(2, position).copy_(heads.narrow(0, w.heads + w.kv_heads, w.kv_heads))
        query = turned.narrow(0, 0, w.heads).to(keys.dtype).view(1, w.kv_heads, w.heads // w.kv_heads, w.dim)
        end = position + 1
        out = functional.scaled_dot_product_attention(
            query, keys.narrow(2, 0, end), values.narrow(2, 0, end), scale=w.dim**-0.5
        )
        return layer.output.in_few_bits(out.reshape(1, -1))[0]

    def _turn(self, position: int) -> tuple[Tensor, Tensor]:
        """Cosines and sines `[dim]` of a position.

        The first half of the sines is negated, so that a head's halves need only be swapped for the rotation.
        """
        where = torch.tensor([[position]])
        cos, sin = (part[0, 0].float() for part in self._weights.rotary(self._zeros[None, None], where))
        half = len(sin) // 2
        return cos, torch.cat([-sin[:half], sin[half:]])

    def _normed(self, vector: Tensor, weight: Tensor) -> Tensor:
        """Root-mean-square norm of a vector `[width]`."""
        mean = float(torch.dot(vector, vector)) / len(vector)
        return torch.addcmul(self._zeros, vector, weight, value=(mean + self._weights.sizes.epsilon) ** -0.5)

    def _head_norms(self, heads: Tensor, query_norm: Tensor, key_norm: Tensor) -> Tensor:
        """Root-mean-square norm of each head `[heads + kv_heads, dim]`."""
        queries, keys = torch.split(heads, [self._weights.sizes.heads, self._weights.sizes.kv_heads])
        epsilon = self._weights.sizes.epsilon
        return torch.cat(
            [
                functional.rms_norm(part, norm.shape, norm.float(), epsilon)
                for part, norm in ((queries, query_norm), (keys, key_norm))
            ]
        )

"""Reading a prompt on the CPU: all its tokens through some layers in one call of `engine/native/layers.c`."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref
from math import prod

import torch
from torch import Tensor

from engine.cache.store import Lane
from engine.llama import compiled_attention
from engine.llama.compiled_model import CompiledModel
from engine.llama.weights import Projection, Weights
from engine.native import library as native_library
from engine.stopping import between_layers
from engine.weights.compiled_matrix import CompiledStack

AT_ONCE = 1_500_000_000
"""Multiplications of one call, at most, but for a layer that has more: about 10 ms, in which no stop is heard. Behind
each call Python waits for its lock, up to 5 ms where another thread computes, such as the window's."""

LEAST_ROWS = 16
"""Fewer rows take as long as so many."""


def can_pass(weights: Weights) -> bool:
    """Whether the layers are plain, and the compiled part computes all of their products with many rows."""
    matrices = (matrix for layer in weights.layers for matrix in (layer.qkv, layer.output, layer.gate_up, layer.down))
    return weights.decoder.is_plain and all(matrix.reader is not None for matrix in matrices)


class NativePass:
    """The forward pass of a prompt's tokens in bf16: bit for bit the numbers of `LlamaForward` with `NativeRows`."""

    def __init__(self, weights: Weights) -> None:
        library = native_library.library()
        assert library is not None
        self._library = library
        self._weights = weights
        self._compiled = CompiledModel(weights, _reader)
        self._model = byref(self._compiled.structure)

    def __call__(self, ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        """Compute `ids` behind the first `start` of the lane: what the last is behind the last norm, `[1, width]`."""
        weights, (keys,), (values,) = self._weights, lane.keys, lane.values
        hidden = weights.embed(ids)
        out = hidden.new_empty(1, weights.width)
        cos, sin = weights.rotary.between(start, start + len(ids))
        prompt = native_library.Prompt(
            keys=keys.data_ptr(),
            values=values.data_ptr(),
            cos=cos.data_ptr(),
            sin=sin.data_ptr(),
            hidden=hidden.data_ptr(),
            out=out.data_ptr(),
            position=start,
            capacity=lane.capacity,
            count=len(ids),
            kind=compiled_attention.way(torch.bfloat16),
            scale=weights.decoder.attention_scale,
        )
        call = byref(prompt)
        scratch = torch.empty(self._library.headstart_read_layers_scratch(self._model, call), dtype=torch.uint8)
        prompt.scratch = scratch.data_ptr()  # of this call: threads share none
        count = self._layers_at_once(len(ids), start + len(ids))
        for first in range(0, weights.sizes.num_layers, count):
            between_layers()
            last = min(first + count, weights.sizes.num_layers)
            self._library.headstart_read_layers(self._model, call, first, last)
        return out

    def _layers_at_once(self, count: int, end: int) -> int:
        """How many layers a call computes `count` tokens in, the last of them the `end`th: one where it is long."""
        sizes, layer = self._weights.sizes, self._weights.layers[0]
        products = sum(prod(matrix.shape) for matrix in (layer.qkv, layer.output, layer.gate_up, layer.down))
        attention = 2 * sizes.heads * sizes.dim * end
        return max(1, AT_ONCE // (max(count, LEAST_ROWS) * (products + attention)))


def _reader(projection: Projection) -> CompiledStack:
    """The weights that rows are multiplied with; the output matrix, which has none, is not asked for."""
    return projection.reader or CompiledStack(projection.parts, projection.bias)

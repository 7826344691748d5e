"""Decoding on the CPU: a token, or a few, through all layers of a model in one call of `engine/native/step.c`."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref

import torch
from torch import Tensor

from engine.cache.store import Lane
from engine.llama.weights import Layer, Projection, Weights
from engine.native import library as native_library
from engine.native.library import MOST_TOKENS
from engine.weights.compiled_matrix import CompiledStack
from engine.weights.packed import PackedMatrix


class NativeStep:
    """The forward pass of a few tokens over weights that the compiled part can read.

    The mathematics is that of `LlamaForward`, all of it in fp32 but for the keys and values in the lane.
    """

    def __init__(self, weights: Weights) -> None:
        library = native_library.library()
        assert library is not None
        self._library = library
        self._weights = weights
        self._addresses = native_library.Addresses()
        self._stacks: list[CompiledStack] = []
        """They keep what the structures point to."""
        self._like = torch.zeros(1, 1, 1, dtype=torch.float32)
        sizes = weights.sizes
        self._layers = (native_library.Layer * sizes.num_layers)(*(self._layer(layer) for layer in weights.layers))
        self._model = native_library.Model(
            layers=self._layers,
            head=self._matrix(weights.head),
            norm=self._addresses.of(weights.norm),
            num_layers=sizes.num_layers,
            width=weights.width,
            heads=sizes.heads,
            kv_heads=sizes.kv_heads,
            dim=sizes.dim,
            inner=weights.layers[0].down.shape[1],
            is_bf16=weights.dtype is torch.bfloat16,
            epsilon=sizes.epsilon,
        )

    def __call__(self, ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        """Compute `ids` behind the lane's first `start`, a few at a time; the logits `[n, vocabulary]` after each.
        Every token has the numbers, to the last bit, that it has where it is computed alone."""
        logits = torch.empty(len(ids), self._weights.head.shape[0], dtype=torch.float32)
        for first in range(0, len(ids), MOST_TOKENS):
            some = slice(first, first + MOST_TOKENS)
            self._step(ids[some], lane, start + first, logits[some])
        return logits

    def _step(self, ids: Sequence[int], lane: Lane, position: int, logits: Tensor) -> None:
        """Write the keys and values of at most MOST_TOKENS tokens, and the logits after each."""
        (keys,), (values,) = lane.keys, lane.values
        hidden = self._weights.embed(ids).to(torch.float32, copy=True)
        where = torch.arange(position, position + len(ids))[None]
        cos, sin = (part[0].float().contiguous() for part in self._weights.rotary(self._like, where))
        needed = self._library.headstart_scratch(byref(self._model), position + len(ids), len(ids))
        scratch = torch.empty(needed, dtype=torch.float32)  # of this call: threads share none
        call = native_library.Tokens(
            keys=keys.data_ptr(),
            values=values.data_ptr(),
            cos=cos.data_ptr(),
            sin=sin.data_ptr(),
            hidden=hidden.data_ptr(),
            scratch=scratch.data_ptr(),
            logits=logits.data_ptr(),
            position=position,
            capacity=lane.capacity,
            count=len(ids),
        )
        self._library.headstart_step(byref(self._model), byref(call))

    def _layer(self, layer: Layer) -> native_library.Layer:
        return native_library.Layer(
            qkv=self._matrix(layer.qkv),
            output=self._matrix(layer.output),
            gate_up=self._matrix(layer.gate_up),
            down=self._matrix(layer.down),
            input_norm=self._addresses.of(layer.input_norm),
            post_norm=self._addresses.of(layer.post_norm),
            query_norm=self._addresses.of(layer.query_norm),
            key_norm=self._addresses.of(layer.key_norm),
        )

    def _matrix(self, projection: Projection) -> native_library.Matrix:
        parts, bias = projection.parts, projection.bias
        biases: list[int | None] = []
        if bias is not None:
            sizes = [part.rows if isinstance(part, PackedMatrix) else len(part) for part in parts]
            biases = [self._addresses.of(some) for some in torch.split(bias, sizes)]
        stack = CompiledStack(parts, biases)
        self._stacks.append(stack)
        return stack.matrix

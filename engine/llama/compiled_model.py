"""A model as the compiled part sees it (`Model` in `engine/native/model.h` describes it)."""

from __future__ import annotations

from collections.abc import Callable

import torch

from engine.llama.weights import Layer, Projection, Weights
from engine.native import library as native_library
from engine.native.library import ACTIVATIONS
from engine.weights.compiled_matrix import CompiledStack


class CompiledModel:
    """The structures of a whole model, made once. `stack_of` says with which numbers a product is computed: there may
    be full ones and such in few bits."""

    def __init__(self, weights: Weights, stack_of: Callable[[Projection], CompiledStack]) -> None:
        self._weights = weights
        self._stack_of = stack_of
        self._addresses = native_library.Addresses()
        self._stacks: list[CompiledStack] = []
        """They keep what the structures point to."""
        sizes, decoder = weights.sizes, weights.decoder
        self._ropes = tuple(weights.rotaries)
        self._layers = (native_library.Layer * sizes.num_layers)(*(self._layer(layer) for layer in weights.layers))
        self.structure = native_library.Model(
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
            activation=ACTIVATIONS.index(decoder.activation),
            norms_together=decoder.family.head_norms == "all",
            epsilon=sizes.epsilon,
            residual_scale=decoder.residual_scale,
            softcap=decoder.softcap or 0.0,
        )

    def _layer(self, layer: Layer) -> native_library.Layer:
        rope = layer.kind.rope
        turned = 0 if rope is None else 2 * len(self._weights.decoder.ropes[rope].frequencies)
        return native_library.Layer(
            qkv=self._matrix(layer.qkv),
            output=self._matrix(layer.output),
            gate_up=self._matrix(layer.gate_up),
            down=self._matrix(layer.down),
            input_norm=self._addresses.of(layer.input_norm),
            mixed_norm=self._addresses.of(layer.mixed_norm),
            post_norm=self._addresses.of(layer.post_norm),
            added_norm=self._addresses.of(layer.added_norm),
            query_norm=self._addresses.of(layer.query_norm),
            key_norm=self._addresses.of(layer.key_norm),
            rope=0 if rope is None else self._ropes.index(rope),
            turned=turned,
            window=layer.kind.window or 0,
        )

    def _matrix(self, projection: Projection) -> native_library.Matrix:
        stack = self._stack_of(projection)
        self._stacks.append(stack)
        return stack.matrix

"""Decoding on the CPU: a token, or a few, through all layers of a model in one call of `engine/native/step.c`."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref

import torch
from torch import Tensor

from engine.cache.contract import without_salt
from engine.cache.store import Lane
from engine.llama.torch_rows import grown
from engine.llama.weights import Layer, Projection, Weights
from engine.native import library as native_library
from engine.native.library import ACTIVATIONS, MOST_TOKENS
from engine.types import LONG
from engine.weights.compiled_matrix import CompiledStack


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
        sizes, decoder = weights.sizes, weights.decoder
        self._ropes = tuple(weights.rotaries)
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
            activation=ACTIVATIONS.index(decoder.activation),
            norms_together=decoder.family.head_norms == "all",
            epsilon=sizes.epsilon,
            residual_scale=decoder.residual_scale,
            softcap=decoder.softcap or 0.0,
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
        cos, sin = self._angles(lane, position, len(ids))
        scales = self._scales(position, len(ids))
        needed = self._library.headstart_scratch(byref(self._model), position + len(ids), len(ids))
        scratch = torch.empty(needed, dtype=torch.float32)  # of this call: threads share none
        call = native_library.Tokens(
            keys=keys.data_ptr(),
            values=values.data_ptr(),
            cos=cos.data_ptr(),
            sin=sin.data_ptr(),
            scales=scales.data_ptr(),
            hidden=hidden.data_ptr(),
            scratch=scratch.data_ptr(),
            logits=logits.data_ptr(),
            position=position,
            capacity=lane.capacity,
            count=len(ids),
        )
        self._library.headstart_step(byref(self._model), byref(call))

    def _angles(self, lane: Lane, position: int, count: int) -> tuple[Tensor, Tensor]:
        """Cosines and sines of `count` positions for each of the model's ropes, `[ropes, count, dim]`: as many of a
        head as that rope turns."""
        where = torch.arange(position, position + count)[None]
        is_long = without_salt(lane.regime) == LONG
        cos, sin = torch.zeros(2, len(self._ropes), count, self._weights.sizes.dim)
        for index, rotary in enumerate(self._weights.rotaries.values()):
            for to, part in zip((cos, sin), rotary(self._like, where, is_long=is_long), strict=True):
                to[index, :, : part.shape[-1]] = part[0]
        return cos, sin

    def _scales(self, position: int, count: int) -> Tensor:
        """What the scores of each token are multiplied with, `[count]`: growing queries are the same."""
        decoder = self._weights.decoder
        scales = torch.full((count,), decoder.attention_scale)
        growth = grown(decoder.query_growth, position, count)
        return scales if growth is None else scales * growth

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
        stack = CompiledStack(projection.parts, projection.bias)
        self._stacks.append(stack)
        return stack.matrix

"""Decoding on the CPU: a token, or a few, through all layers of a model in one call of `engine/native/step.c`."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref

import torch
from torch import Tensor

from engine.cache.contract import without_salt
from engine.cache.store import Lane
from engine.llama.compiled_model import CompiledModel
from engine.llama.torch_rows import grown
from engine.llama.weights import Weights
from engine.native import library as native_library
from engine.native.library import MOST_TOKENS
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
        self._compiled = CompiledModel(weights, lambda projection: CompiledStack(projection.parts, projection.bias))
        self._model = byref(self._compiled.structure)

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
        needed = self._library.headstart_scratch(self._model, position + len(ids), len(ids))
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
        self._library.headstart_step(self._model, byref(call))

    def _angles(self, lane: Lane, position: int, count: int) -> tuple[Tensor, Tensor]:
        """Cosines and sines of `count` positions for each of the model's ropes, `[ropes, count, dim]`: as many of a
        head as that rope turns."""
        is_long = without_salt(lane.regime) == LONG
        cos, sin = torch.zeros(2, len(self._weights.rotaries), count, self._weights.sizes.dim)
        for index, rotary in enumerate(self._weights.rotaries.values()):
            for to, part in zip((cos, sin), rotary.between(position, position + count, is_long=is_long), strict=True):
                to[index, :, : part.shape[-1]] = part
        return cos, sin

    def _scales(self, position: int, count: int) -> Tensor:
        """What the scores of each token are multiplied with, `[count]`: growing queries are the same."""
        decoder = self._weights.decoder
        scales = torch.full((count,), decoder.attention_scale)
        growth = grown(decoder.query_growth, position, count)
        return scales if growth is None else scales * growth

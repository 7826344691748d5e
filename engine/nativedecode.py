"""One token at a time through the layers of a lean model, in one call of the compiled step (`engine/native`)."""

from __future__ import annotations

from ctypes import byref

import torch
from torch import Tensor

from engine import nativelib
from engine.layers import Layer, Projection, Weights
from engine.nativepack import NativeMatrix
from engine.store import Lane


class NativeStep:
    """The forward pass of one token over weights that were packed for it. Same mathematics as `LeanForward`, all of it
    in fp32 but for the cached keys and values."""

    def __init__(self, weights: Weights) -> None:
        library = nativelib.library()
        assert library is not None
        self._library = library
        self._weights = weights
        self._keep: list[Tensor] = []
        self._zeros = torch.zeros(1, 1, weights.embedding.shape[1], dtype=torch.float32)
        sizes = weights.sizes
        self._layers = (nativelib.Layer * sizes.num_layers)(*(self._layer(layer) for layer in weights.layers))
        self._model = nativelib.Model(
            layers=self._layers,
            head=self._matrix(weights.head),
            norm=self._vector(weights.norm),
            num_layers=sizes.num_layers,
            width=weights.embedding.shape[1],
            heads=sizes.heads,
            kv_heads=sizes.kv_heads,
            dim=sizes.dim,
            inner=weights.layers[0].down.weight.shape[1],
            is_bf16=weights.embedding.dtype is torch.bfloat16,
            epsilon=sizes.epsilon,
        )

    def __call__(self, token: int, lane: Lane, position: int, *, wants_logits: bool = True) -> Tensor:
        """Logits `[vocabulary]` after a token that stands behind the lane's first `position`; without `wants_logits`
        only its keys and values are computed."""
        (keys,), (values,) = lane.keys, lane.values
        hidden = self._weights.embedding[token].to(torch.float32, copy=True)
        cos, sin = (
            part[0, 0].float().contiguous() for part in self._weights.rotary(self._zeros, torch.tensor([[position]]))
        )
        logits = torch.empty(self._weights.head.weight.shape[0] if wants_logits else 0, dtype=torch.float32)
        needed = self._library.headstart_scratch(byref(self._model), position)
        scratch = torch.empty(needed, dtype=torch.float32)  # of this call: threads share none
        call = nativelib.Token(
            keys=keys.data_ptr(),
            values=values.data_ptr(),
            cos=cos.data_ptr(),
            sin=sin.data_ptr(),
            hidden=hidden.data_ptr(),
            scratch=scratch.data_ptr(),
            logits=logits.data_ptr() if wants_logits else None,
            position=position,
            capacity=lane.capacity,
        )
        self._library.headstart_step(byref(self._model), byref(call))
        return logits

    def _layer(self, layer: Layer) -> nativelib.Layer:
        return nativelib.Layer(
            qkv=self._matrix(layer.qkv),
            output=self._matrix(layer.output),
            gate_up=self._matrix(layer.gate_up),
            down=self._matrix(layer.down),
            input_norm=self._vector(layer.input_norm),
            post_norm=self._vector(layer.post_norm),
            query_norm=self._vector(layer.query_norm),
            key_norm=self._vector(layer.key_norm),
        )

    def _matrix(self, projection: Projection) -> nativelib.Matrix:
        assert isinstance(projection.packed, NativeMatrix)
        matrix = nativelib.Matrix.from_buffer_copy(projection.packed.matrix)
        matrix.bias = self._vector(projection.bias)
        return matrix

    def _vector(self, tensor: Tensor | None) -> int | None:
        """The address of a tensor's fp32 numbers; they live as long as this object."""
        if tensor is None:
            return None
        self._keep.append(tensor.float().contiguous())
        return self._keep[-1].data_ptr()

"""The parts of a forward pass that treat each token for itself, computed by `engine/native/rows.c`."""

from __future__ import annotations

from ctypes import byref

import torch
from torch import Tensor

from engine.cache.store import Lane
from engine.llama.torch_rows import Angles
from engine.llama.weights import Layer, Rotary, Weights
from engine.native import library as native_library


class NativeRows:
    """The steps of `Rows` (`engine.llama.torch_rows`) on the CPU, for weights in fp32 or bf16; computed in fp32."""

    def __init__(self, weights: Weights) -> None:
        library = native_library.library()
        assert library is not None
        self._library = library
        self._weights = weights
        self._is_bf16 = weights.dtype is torch.bfloat16
        self._addresses = native_library.Addresses()

    def angles(self, rotary: Rotary, start: int, n: int, *, is_long: bool = False) -> Angles:
        """`[n, dim]` each, in fp32."""
        return rotary.between(start, start + n, is_long=is_long)

    def normalise(self, hidden: Tensor, added: Tensor | None, weight: Tensor | None) -> Tensor:
        assert weight is not None  # the layers are plain
        normed = torch.empty_like(hidden)
        self._library.headstart_normalise(
            hidden.data_ptr(),
            None if added is None else added.data_ptr(),
            self._addresses.of(weight),
            normed.data_ptr(),
            *hidden.shape,
            self._weights.sizes.epsilon,
            self._is_bf16,
        )
        return normed

    def place(self, index: int, layer: Layer, fused: Tensor, lane: Lane, start: int, angles: Angles | None) -> Tensor:
        assert angles is not None
        sizes = self._weights.sizes
        keys, values = lane.layers[index]
        heads = native_library.Heads(
            keys=keys.data_ptr(),
            values=values.data_ptr(),
            query_norm=self._addresses.of(layer.query_norm),
            key_norm=self._addresses.of(layer.key_norm),
            heads=sizes.heads,
            kv_heads=sizes.kv_heads,
            dim=sizes.dim,
            turned=sizes.dim,
            capacity=lane.capacity,
            is_bf16=self._is_bf16,
            epsilon=sizes.epsilon,
        )
        cos, sin = angles
        self._library.headstart_place(byref(heads), fused.data_ptr(), cos.data_ptr(), sin.data_ptr(), len(fused), start)
        return fused.view(len(fused), -1, sizes.dim)[:, : sizes.heads]

    def gate(self, gate_up: Tensor) -> Tensor:
        rows, inner = gate_up.shape[0], gate_up.shape[1] // 2
        out = gate_up.new_empty(rows, inner)
        self._library.headstart_gate(gate_up.data_ptr(), out.data_ptr(), rows, inner, self._is_bf16)
        return out

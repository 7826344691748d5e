"""The forward pass for Llama-like models: what transformers' classes compute, in fewer and larger products.

`LlamaForward` chooses between the compiled part and torch, and between one token at a time and many at once. Prompts
are read with the full weights, however many tokens a piece has: the same prompt must not be answered otherwise because
more or less of it was in the cache. Only the product with the output matrix, one row over the whole vocabulary, uses
few-bit weights in any case. Where few bits are what the model's file has, they are its full weights.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from engine.cache.store import KVLayout, Lane, LayerGroup
from engine.llama.attention import attend, attend_by_torch
from engine.llama.compiled_rows import NativeRows
from engine.llama.compiled_step import NativeStep
from engine.llama.one_token import DecodeStep
from engine.llama.torch_rows import Rows, TorchRows
from engine.llama.weights import Weights
from engine.stopping import between_layers


class LlamaForward:
    """The forward pass over the weights of a Llama-like model. `layout` is that of the lanes it writes to."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self._on_cpu = weights.device.type == "cpu"
        self._native = NativeStep(weights) if weights.is_native else None
        self._step = DecodeStep(weights) if self._on_cpu and not weights.is_native else None
        self._rows: Rows = NativeRows(weights) if weights.is_native else TorchRows(weights)
        sizes = weights.sizes
        group = LayerGroup(tuple(range(sizes.num_layers)), sizes.kv_heads, sizes.dim, sizes.dim)
        self.layout = KVLayout((group,), weights.dtype, weights.device)

    def __call__(self, ids: Sequence[int], lane: Lane, start: int, *, is_answer: bool = False) -> Tensor:
        """Compute `ids` behind the lane's first `start`; the logits `[vocabulary]` after the last.

        Tokens of an answer, which come one at a time, are computed with few-bit weights where there are any.
        """
        if self._native is not None:
            self._check(lane, start, len(ids))
            if is_answer:
                return self._native(ids, lane, start)
        if self._step is not None and is_answer and len(ids) == 1:
            return self._step(ids[0], lane, start)
        return self._read(ids, lane, start)

    def _check(self, lane: Lane, start: int, count: int) -> None:
        """Refuse what does not fit into the lane: the compiled part writes to addresses, and sees no bounds."""
        if lane.layout != self.layout:
            raise ValueError(f"the lane's layout is not this model's: {lane.layout}")
        if not 0 <= start <= lane.capacity - count:
            raise IndexError(f"{count} tokens from {start} on do not fit into a lane of {lane.capacity}")

    def _read(self, ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        """All tokens at once, each with the same numbers whatever others are computed with it. Of the last layer, every
        token's key and value is needed, and only the last token's output: there it is always a single row."""
        weights, rows = self.weights, self._rows
        hidden = weights.embed(ids)
        angles = rows.angles(start, len(ids))
        added: Tensor | None = None
        for index, layer in enumerate(weights.layers):
            between_layers()
            fused = layer.qkv.of_each(rows.normalise(hidden, added, layer.input_norm))
            query = rows.place(index, layer, fused, lane, start, angles)
            output, gate_up, down = layer.output.of_each, layer.gate_up.of_each, layer.down.of_each
            if index == len(weights.layers) - 1:
                query, hidden = query[-1:], hidden[-1:]
                output, gate_up, down = layer.output, layer.gate_up, layer.down
            mixed = output(self._attend(query, index, lane, start + len(ids)))
            added = down(rows.gate(gate_up(rows.normalise(hidden, mixed, layer.post_norm))))
        return weights.head.in_few_bits(rows.normalise(hidden, added, weights.norm))[0]

    def _attend(self, query: Tensor, index: int, lane: Lane, end: int) -> Tensor:
        """Attention of the newest tokens' queries `[n, heads, dim]` over the lane's first `end`; `[n, heads * dim]`."""
        keys, values = (part.narrow(2, 0, end) for part in lane.layers[index])
        scale = self.weights.sizes.dim**-0.5
        attention = attend if self._on_cpu else attend_by_torch
        out = attention(query.transpose(0, 1)[None].to(keys.dtype), keys, values, scale)
        return out[0].transpose(0, 1).reshape(len(query), -1)

"""The forward pass of a decoder: what transformers' classes compute, in fewer and larger products.

`LlamaForward` chooses between the compiled part and torch, and between one token at a time and many at once. Prompts
are read with the full weights, however many tokens a piece has: the same prompt must not be answered otherwise because
more or less of it was in the cache. Only the product with the output matrix, one row over the whole vocabulary, uses
few-bit weights in any case. Where few bits are what the model's file has, they are its full weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.cache.contract import without_salt
from engine.cache.store import KVLayout, Lane, LayerGroup
from engine.llama.attention import attend, attend_by_torch, in_window
from engine.llama.compiled_pass import NativePass, can_pass
from engine.llama.compiled_rows import NativeRows
from engine.llama.compiled_step import NativeStep
from engine.llama.one_token import DecodeStep
from engine.llama.torch_rows import Rows, TorchRows, grown, grown_at
from engine.llama.weights import Weights
from engine.native.library import MOST_TOKENS
from engine.stopping import between_layers
from engine.types import LONG


class LlamaForward:
    """The forward pass over the weights of a decoder. `layout` is that of the lanes it writes to."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self._on_cpu = weights.device.type == "cpu"
        self._native = NativeStep(weights) if weights.is_native else None
        self._step = DecodeStep(weights) if self._on_cpu and not weights.is_native else None
        has_rows = weights.is_native and weights.decoder.is_plain
        self._pass = NativePass(weights) if has_rows and can_pass(weights) else None
        self._torch_rows = TorchRows(weights)
        self._rows: Rows = NativeRows(weights) if has_rows else self._torch_rows
        sizes = weights.sizes
        group = LayerGroup(tuple(range(sizes.num_layers)), sizes.kv_heads, sizes.dim, sizes.dim)
        self.layout = KVLayout((group,), weights.dtype, weights.device)

    def __call__(self, ids: Sequence[int] | Tensor, lane: Lane, start: int, *, is_answer: bool = False) -> Tensor:
        """Compute `ids` behind the lane's first `start`; the logits `[vocabulary]` after the last. A tensor of them is
        on the device, which is not the CPU.

        Tokens of an answer, which come one at a time, are computed with few-bit weights where there are any.
        """
        if isinstance(ids, Tensor):
            return self._read(ids, lane, start)
        if self._native is not None:
            self._check(lane, start, len(ids))
            if is_answer:
                return self._logits(self._native(ids, lane, start)[-1])
        if self._step is not None and is_answer and len(ids) == 1:
            return self._logits(self._step(ids[0], lane, start))
        return self._read(ids, lane, start)

    def at(self, token: Tensor, position: Tensor, lane: Lane, size: int) -> Tensor:
        """One token `[1]` of an answer at a position `[1]`, both on the device, over the lane's first `size` tokens;
        the logits `[vocabulary]` behind it.

        Every shape and every address is the same wherever the token stands, so that a device may repeat what it was
        told for another one (`engine.models.graphs`). What lies in the lane between the token and `size` is left out
        of attention, but must be finite numbers. In torch and with the full weights on every device.
        """
        weights, rows, decoder = self.weights, self._torch_rows, self.weights.decoder
        hidden = weights.embed(token)
        is_long = without_salt(lane.regime) == LONG
        angles = {name: rows.angles_at(rotary, position, is_long=is_long) for name, rotary in weights.rotaries.items()}
        seen = {kind.window: _seen(kind.window, position, size) for kind in decoder.layers}
        growth = None
        if decoder.query_growth is not None:
            growth = grown_at(decoder.query_growth, position).to(hidden.dtype)[:, None, None]
        added: Tensor | None = None
        for index, layer in enumerate(weights.layers):
            fused = layer.qkv(rows.normalise(hidden, added, layer.input_norm))
            rope = layer.kind.rope
            query, keys, values = rows.turned(layer, fused, None if rope is None else angles[rope])
            lane.write_at(index, position, keys, values)
            query = query if growth is None else query * growth
            keys, values = (part.narrow(2, 0, size) for part in lane.layers[index])
            asked = query.transpose(0, 1)[None].to(lane.layout.dtype)
            mask = seen[layer.kind.window]
            out = attend_by_torch(asked, keys, values, decoder.attention_scale, seen=mask, softcap=decoder.softcap)
            mixed = self._ready(layer.output(out.reshape(1, -1)), layer.mixed_norm)
            fed = layer.down(rows.gate(layer.gate_up(rows.normalise(hidden, mixed, layer.post_norm))))
            added = self._ready(fed, layer.added_norm)
        return self._logits(weights.head(rows.normalise(hidden, added, weights.norm))[0])

    @property
    def at_once(self) -> int:
        """As in `Network`."""
        return 1 if self._native is None else MOST_TOKENS

    def steps(self, ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        """As in `Network`, where `at_once` is more than 1."""
        assert self._native is not None
        self._check(lane, start, len(ids))
        # Row by row: how torch's loops round a number hangs on where it lies among all.
        return torch.stack([self._logits(row) for row in self._native(ids, lane, start)])

    def _check(self, lane: Lane, start: int, count: int) -> None:
        """Refuse what does not fit into the lane: the compiled part writes to addresses, and sees no bounds."""
        if lane.layout != self.layout:
            raise ValueError(f"the lane's layout is not this model's: {lane.layout}")
        if not 0 <= start <= lane.capacity - count:
            raise IndexError(f"{count} tokens from {start} on do not fit into a lane of {lane.capacity}")

    def _read(self, ids: Sequence[int] | Tensor, lane: Lane, start: int) -> Tensor:
        """All tokens at once, each with the same numbers whatever others are computed with it. Of the last layer, every
        token's key and value is needed, and only the last token's output: there it is always a single row."""
        if self._pass is not None and not isinstance(ids, Tensor) and not lane.layout.is_rounded:
            last = self._pass(ids, lane, start)
        else:
            last = self._read_in_steps(ids, lane, start)
        return self._logits(self.weights.head.in_few_bits(last)[0])

    def _read_in_steps(self, ids: Sequence[int] | Tensor, lane: Lane, start: int) -> Tensor:
        """What the last of all tokens is behind the last norm, `[1, width]`."""
        weights, rows = self.weights, self._rows
        hidden = weights.embed(ids)
        is_long = without_salt(lane.regime) == LONG
        angles = {
            name: rows.angles(rotary, start, len(ids), is_long=is_long) for name, rotary in weights.rotaries.items()
        }
        growth = grown(weights.decoder.query_growth, start, len(ids), hidden.device)
        growth = None if growth is None else growth.to(hidden.dtype)[:, None, None]
        added: Tensor | None = None
        for index, layer in enumerate(weights.layers):
            between_layers()
            fused = layer.qkv.of_each(rows.normalise(hidden, added, layer.input_norm))
            rope = layer.kind.rope
            query = rows.place(index, layer, fused, lane, start, None if rope is None else angles[rope])
            lane.round(index, start, len(ids))
            query = query if growth is None else query * growth
            output, gate_up, down = layer.output.of_each, layer.gate_up.of_each, layer.down.of_each
            if index == len(weights.layers) - 1:
                query, hidden = query[-1:], hidden[-1:]
                if layer.output.reader is None:
                    output, gate_up, down = layer.output, layer.gate_up, layer.down
            mixed = self._ready(output(self._attend(query, index, lane, start + len(ids))), layer.mixed_norm)
            fed = down(rows.gate(gate_up(rows.normalise(hidden, mixed, layer.post_norm))))
            added = self._ready(fed, layer.added_norm)
        return rows.normalise(hidden, added, weights.norm)

    def _ready(self, part: Tensor, norm: Tensor | None) -> Tensor:
        """What half of a layer gives, `[n, width]`, as it is added to the stream."""
        part = part if norm is None else self._rows.normalise(part, None, norm)
        scale = self.weights.decoder.residual_scale
        return part if scale == 1 else part * scale

    def _logits(self, logits: Tensor) -> Tensor:
        decoder = self.weights.decoder
        logits = logits if decoder.logits_scale == 1 else logits / decoder.logits_scale
        cap = decoder.final_softcap
        return logits if cap is None else torch.tanh(logits / cap) * cap

    def _attend(self, query: Tensor, index: int, lane: Lane, end: int) -> Tensor:
        """Attention of the newest tokens' queries `[n, heads, dim]` over the lane's first `end`; `[n, heads * dim]`."""
        decoder = self.weights.decoder
        first, seen = in_window(decoder.layers[index].window, len(query), end, query.device)
        keys, values = (part.narrow(2, first, end - first) for part in lane.layers[index])
        attention = attend if self._on_cpu else attend_by_torch
        rows = query.transpose(0, 1)[None].to(keys.dtype)
        out = attention(rows, keys, values, decoder.attention_scale, seen=seen, softcap=decoder.softcap)
        return out[0].transpose(0, 1).reshape(len(query), -1)


def _seen(window: int | None, position: Tensor, size: int) -> Tensor:
    """Which of `size` tokens the one at a position `[1]` sees, itself among them: `[1, size]` (bool)."""
    keys = torch.arange(size, device=position.device)
    seen = keys <= position
    return (seen if window is None else seen & (keys > position - window))[None]

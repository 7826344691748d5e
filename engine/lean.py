"""A lean forward pass for the plain Llama family: fused projections, no mask tensors, few-bit weights for decoding.

Same mathematics as transformers' classes, fewer and larger products. Which models it fits is `fits`; all others take
transformers' own forward pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel

from engine.attention import attend_causally
from engine.quant import Bits, Packed, pack
from engine.store import Lane

CLASSES = {"LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM"}
FEW_ROWS = 4
"""Up to this many rows the few-bit kernels are used; above, the full weights are faster."""


@dataclass(frozen=True, slots=True)
class Projection:
    """One matrix product. `packed` holds the same weights in few bits."""

    weight: Tensor
    bias: Tensor | None
    packed: Packed | None

    def __call__(self, rows: Tensor) -> Tensor:
        """`[n, in]` -> `[n, out]`."""
        if self.packed is None or rows.shape[0] > FEW_ROWS:
            return functional.linear(rows, self.weight, self.bias)
        out = self.packed(rows)
        return out if self.bias is None else out + self.bias


@dataclass(frozen=True, slots=True)
class _Layer:
    qkv: Projection
    output: Projection
    gate_up: Projection
    down: Projection
    input_norm: Tensor
    post_norm: Tensor
    query_norm: Tensor | None
    key_norm: Tensor | None


def fits(model: PreTrainedModel) -> bool:
    """Whether this forward pass computes what the model's own does."""
    config = model.config
    layer_types = getattr(config, "layer_types", None) or ["full_attention"]
    return (
        type(model).__name__ in CLASSES
        and config.hidden_act == "silu"
        and set(layer_types) == {"full_attention"}
        and (getattr(config, "sliding_window", None) is None or not getattr(config, "use_sliding_window", True))
    )


class LeanForward:
    """The forward pass over fused weights, which replace the model's own; `bits` adds few-bit copies for decoding."""

    def __init__(self, model: Any, bits: Bits | None) -> None:
        config = model.config
        self._heads = config.num_attention_heads
        self._kv_heads = config.num_key_value_heads
        self._dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        self._epsilon = config.rms_norm_eps
        self._embedding = model.get_input_embeddings().weight
        self._rotary = model.model.rotary_emb
        self._norm = model.model.norm.weight
        self._layers = [_fuse(layer, bits) for layer in model.model.layers]
        head = model.get_output_embeddings().weight
        self._head = Projection(head, None, pack(head, bits) if bits else None)

    @property
    def bits(self) -> str:
        """What most of the few-bit copies are: "int4", "int8", or "" without them."""
        kinds = [type(packed).__name__.lower() for packed in self._packed()]
        return max(set(kinds), key=kinds.count, default="")

    @property
    def packed_bytes(self) -> int:
        """Bytes of the few-bit copies."""
        return sum(packed.nbytes for packed in self._packed())

    def _packed(self) -> list[Packed]:
        per_layer = [(layer.qkv, layer.output, layer.gate_up, layer.down) for layer in self._layers]
        projections = [projection for layer in per_layer for projection in layer]
        return [projection.packed for projection in [*projections, self._head] if projection.packed is not None]

    def __call__(self, tokens: Tensor, lane: Lane, start: int) -> Tensor:
        """Logits `[vocabulary]` after the last of `tokens` `[n]`, which stand behind the lane's first `start`."""
        hidden = functional.embedding(tokens, self._embedding)
        positions = torch.arange(start, start + len(tokens), device=tokens.device)[None]
        cos, sin = (part[0, :, None] for part in self._rotary(hidden[None], positions))
        for index, layer in enumerate(self._layers):
            is_last = index == len(self._layers) - 1
            mixed = self._attend(index, layer, hidden, cos, sin, lane, start, is_last)
            hidden = (hidden[-1:] if is_last else hidden) + mixed
            gate, up = layer.gate_up(self._normed(hidden, layer.post_norm)).chunk(2, dim=-1)
            hidden = hidden + layer.down(functional.silu(gate) * up)
        return self._head(self._normed(hidden, self._norm))[0]

    def _attend(
        self,
        index: int,
        layer: _Layer,
        hidden: Tensor,
        cos: Tensor,
        sin: Tensor,
        lane: Lane,
        start: int,
        is_last: bool,
    ) -> Tensor:
        """Write the layer's keys and values into the lane and attend. Only the last row of the last layer is needed."""
        fused = layer.qkv(self._normed(hidden, layer.input_norm)).view(len(hidden), -1, self._dim)
        query, key, value = torch.split(fused, [self._heads, self._kv_heads, self._kv_heads], dim=1)
        if layer.query_norm is not None and layer.key_norm is not None:
            query, key = self._normed(query, layer.query_norm), self._normed(key, layer.key_norm)
            turned = _rotate(torch.cat([query, key], dim=1), cos, sin)
        else:
            turned = _rotate(fused[:, : self._heads + self._kv_heads], cos, sin)
        query, key = turned[:, : self._heads], turned[:, self._heads :]
        keys, values = lane.write(index, start, key.transpose(0, 1)[None], value.transpose(0, 1)[None])
        if is_last:
            query = query[-1:]
        out = attend_causally(query.transpose(0, 1)[None], keys, values, self._dim**-0.5)
        return layer.output(out[0].transpose(0, 1).reshape(len(query), -1))

    def _normed(self, rows: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(rows, weight.shape, weight, self._epsilon)


def _rotate(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position code on `[n, heads, dim]`, halves paired as in transformers' Llama."""
    first, second = heads.chunk(2, dim=-1)
    return heads * cos + torch.cat([-second, first], dim=-1) * sin


def _fuse(layer: Any, bits: Bits | None) -> _Layer:
    attention, mlp = layer.self_attn, layer.mlp
    return _Layer(
        qkv=_projection([attention.q_proj, attention.k_proj, attention.v_proj], bits),
        output=_projection([attention.o_proj], bits),
        gate_up=_projection([mlp.gate_proj, mlp.up_proj], bits),
        down=_projection([mlp.down_proj], bits),
        input_norm=layer.input_layernorm.weight,
        post_norm=layer.post_attention_layernorm.weight,
        query_norm=attention.q_norm.weight if hasattr(attention, "q_norm") else None,
        key_norm=attention.k_norm.weight if hasattr(attention, "k_norm") else None,
    )


def _projection(parts: list[nn.Linear], bits: Bits | None) -> Projection:
    """Several linear layers of one input as one. Their own weights become views of the fused one: no second copy."""
    weight = torch.cat([part.weight.data for part in parts]) if len(parts) > 1 else parts[0].weight.data
    biases = [part.bias.data for part in parts if part.bias is not None]
    at = 0
    for part in parts:
        part.weight.data = weight[at : at + part.out_features]
        at += part.out_features
    return Projection(weight, torch.cat(biases) if biases else None, pack(weight, bits) if bits else None)

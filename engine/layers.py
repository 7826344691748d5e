"""The weights of a Llama-like model as the lean forward pass uses them: fused projections, few-bit copies beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.quant import Bits, Packed, pack

FEW_ROWS = 4
"""Up to this many rows the few-bit kernels are used; above, the full weights are faster."""


@dataclass(frozen=True, slots=True)
class Projection:
    """One matrix product. `packed` holds the same weights in few bits."""

    weight: Tensor
    bias: Tensor | None
    packed: Packed | None

    def __call__(self, rows: Tensor) -> Tensor:
        """`[n, in]` -> `[n, out]`, in the number type of the weights; few-bit products are in bf16."""
        if self.packed is None or rows.shape[0] > FEW_ROWS:
            return functional.linear(rows.to(self.weight.dtype), self.weight, self.bias)
        out = self.packed(rows.to(torch.bfloat16))
        return out if self.bias is None else out + self.bias


@dataclass(frozen=True, slots=True)
class Layer:
    """One decoder layer. The norms are weights `[hidden]`; `query_norm` and `key_norm` `[dim]` are Qwen3's."""

    qkv: Projection
    output: Projection
    gate_up: Projection
    down: Projection
    input_norm: Tensor
    post_norm: Tensor
    query_norm: Tensor | None
    key_norm: Tensor | None


class Weights:
    """A whole model: embedding `[vocabulary, hidden]`, layers, last norm, output matrix, and its sizes.

    The fused weights replace the model's own; `bits` adds few-bit copies for decoding. `rotary` is the model's own
    module: positions -> cosines and sines.
    """

    def __init__(self, model: Any, bits: Bits | None) -> None:
        config = model.config
        self.heads: int = config.num_attention_heads
        self.kv_heads: int = config.num_key_value_heads
        self.dim: int = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        self.epsilon: float = config.rms_norm_eps
        self.rotary = model.model.rotary_emb
        self.embedding: Tensor = model.get_input_embeddings().weight
        self.norm: Tensor = model.model.norm.weight
        self.layers = [_fuse(layer, bits) for layer in model.model.layers]
        head = model.get_output_embeddings().weight
        self.head = Projection(head, None, pack(head, bits) if bits else None)

    @property
    def packed(self) -> Iterator[Packed]:
        """All few-bit copies."""
        for layer in self.layers:
            for projection in (layer.qkv, layer.output, layer.gate_up, layer.down):
                if projection.packed is not None:
                    yield projection.packed
        if self.head.packed is not None:
            yield self.head.packed


def _fuse(layer: Any, bits: Bits | None) -> Layer:
    attention, mlp = layer.self_attn, layer.mlp
    return Layer(
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

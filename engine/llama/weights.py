"""The weights of a Llama-like model: matrices that have one input are fused, and few-bit copies stand beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from engine.native import library as native_library
from engine.weights.few_bits import Packed, pack
from engine.weights.quantise import Bits
from engine.weights.row_products import in_vectors, multiply


@dataclass(frozen=True, slots=True)
class Projection:
    """One matrix product with weights `[out, in]`, or several of one input fused into one.

    `packed` holds the same weights in few bits. Which of the two computes is the caller's choice, never that of the
    number of rows.
    """

    weight: Tensor
    bias: Tensor | None
    packed: Packed | None

    def __call__(self, rows: Tensor) -> Tensor:
        """`[n, in]` -> `[n, out]` with the full weights, in their number type. The last bits of a row hang on n."""
        return functional.linear(rows.to(self.weight.dtype), self.weight, self.bias)

    def of_each(self, rows: Tensor) -> Tensor:
        """The same, but each row is the same bits whatever n is: see `engine.weights.row_products`."""
        return multiply(rows, self.weight.t(), self.bias)

    def in_few_bits(self, rows: Tensor) -> Tensor:
        """`[n, in]` -> `[n, out]` with the few-bit weights, in their number type; without them, with the full."""
        if self.packed is None:
            return self(rows)
        out = self.packed(rows)
        return out if self.bias is None else out + self.bias


@dataclass(frozen=True, slots=True)
class Layer:
    """One decoder layer. The norms' weights are `[width]`; `query_norm` and `key_norm` `[dim]` are Qwen3's only."""

    qkv: Projection
    output: Projection
    gate_up: Projection
    down: Projection
    input_norm: Tensor
    post_norm: Tensor
    query_norm: Tensor | None
    key_norm: Tensor | None


@dataclass(frozen=True, slots=True)
class Sizes:
    """A model's query heads and KV heads, the size `dim` of each, the epsilon of its norms, and its layers."""

    heads: int
    kv_heads: int
    dim: int
    epsilon: float
    num_layers: int


Rotary = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""Positions `[1, n]` to cosines and sines `[1, n, dim]`, in the number type of the first argument."""


class PlainRotary:
    """Rotary position codes (https://arxiv.org/abs/2104.09864) with frequencies `theta ** (-2 i / dim)`, the same at
    every length. The halves of a head are paired, as in Llama."""

    def __init__(self, dim: int, theta: float, device: torch.device) -> None:
        self._frequencies = (1.0 / theta ** (torch.arange(0, dim, 2, dtype=torch.int64).float() / dim)).to(device)

    def __call__(self, like: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Cosines and sines `[1, n, dim]` of positions `[1, n]`, in the number type of `like`."""
        angles = positions[..., None].float() * self._frequencies
        both = torch.cat([angles, angles], dim=-1)
        cos, sin = (in_vectors(function, both) for function in (torch.cos, torch.sin))
        return cos.to(like.dtype), sin.to(like.dtype)


Packer = Callable[[Tensor], Packed | None]
"""Makes the few-bit copy of a matrix, where there is to be one."""


class Weights:
    """A whole model: the embedding `[vocabulary, width]`, the layers, the last norm and the output matrix.

    `tensors` are named as in the checkpoints of the Llama family; one that is missing raises KeyError. Those that are
    fused become views of the fused one, so that there is no second copy. `bits` adds few-bit copies for decoding. With
    them the compiled part is in use where it can run the model (`is_native`), and the copies are packed for it.
    """

    def __init__(self, sizes: Sizes, tensors: Mapping[str, Tensor], rotary: Rotary, bits: Bits | None) -> None:
        self.sizes = sizes
        self.rotary = rotary
        self.embedding = tensors["model.embed_tokens.weight"].data
        self.is_native = bits is not None and _runs_compiled(sizes, tensors, rotary)
        packer = partial(pack, bits=bits, is_native=self.is_native) if bits else _unpacked
        self.norm = tensors["model.norm.weight"].data
        self.layers = [_layer(tensors, f"model.layers.{index}", packer) for index in range(sizes.num_layers)]
        head = tensors.get("lm_head.weight", self.embedding).data
        self.head = Projection(head, None, packer(head))

    @property
    def packed(self) -> Iterator[Packed]:
        """All few-bit copies."""
        return (each.packed for each in self._projections() if each.packed is not None)

    @property
    def bits(self) -> str:
        """What most of the few-bit copies are: "int4", "int8", or "" without them."""
        kinds = [packed.kind for packed in self.packed]
        return max(set(kinds), key=kinds.count, default="")

    @property
    def nbytes(self) -> int:
        """Bytes of all weights and few-bit copies; tied tensors count once."""
        parts: list[Tensor | None] = [self.embedding, self.norm]
        for layer in self.layers:
            parts += [layer.input_norm, layer.post_norm, layer.query_norm, layer.key_norm]
        for projection in self._projections():
            parts += [projection.weight, projection.bias]
        full = [part.untyped_storage() for part in parts if part is not None]
        storages = {storage.data_ptr(): storage.nbytes() for storage in full}
        return sum(storages.values()) + sum(packed.nbytes for packed in self.packed)

    def _projections(self) -> Iterator[Projection]:
        for layer in self.layers:
            yield from (layer.qkv, layer.output, layer.gate_up, layer.down)
        yield self.head


def _runs_compiled(sizes: Sizes, tensors: Mapping[str, Tensor], rotary: Rotary) -> bool:
    """Whether the compiled part is here and can run a model.

    It needs weights of one type, fp32 or bf16, on the CPU. It reads eight numbers at a time, so every width is a
    multiple of eight. And it knows rotary positions over the whole of a head only, not over a part of it.
    """
    kinds = {(tensor.device.type, tensor.dtype) for tensor in tensors.values()}
    if native_library.library() is None or kinds not in ({("cpu", torch.float32)}, {("cpu", torch.bfloat16)}):
        return False
    widths = (sizes.dim, *tensors["model.layers.0.mlp.gate_proj.weight"].shape)
    fits = not any(width % 8 for width in widths) and sizes.heads % sizes.kv_heads == 0
    cos, _ = rotary(torch.zeros(1, 1, 1), torch.tensor([[0]]))
    return fits and cos.shape[-1] == sizes.dim <= native_library.WIDEST_HEAD


def _unpacked(weight: Tensor) -> None:
    return None


def _layer(tensors: Mapping[str, Tensor], name: str, packer: Packer) -> Layer:
    def projection(part: str, *names: str) -> Projection:
        return _projection(tensors, [f"{name}.{part}.{each}_proj" for each in names], packer)

    def norm(part: str) -> Tensor | None:
        tensor = tensors.get(f"{name}.{part}.weight")
        return None if tensor is None else tensor.data

    return Layer(
        qkv=projection("self_attn", "q", "k", "v"),
        output=projection("self_attn", "o"),
        gate_up=projection("mlp", "gate", "up"),
        down=projection("mlp", "down"),
        input_norm=tensors[f"{name}.input_layernorm.weight"].data,
        post_norm=tensors[f"{name}.post_attention_layernorm.weight"].data,
        query_norm=norm("self_attn.q_norm"),
        key_norm=norm("self_attn.k_norm"),
    )


def _projection(tensors: Mapping[str, Tensor], names: list[str], packer: Packer) -> Projection:
    """Several linear layers that have one input, as one. The tensors become views of the fused one."""
    parts = [tensors[f"{name}.weight"] for name in names]
    weight = torch.cat([part.data for part in parts]) if len(parts) > 1 else parts[0].data
    at = 0
    for part in parts:
        part.data = weight[at : at + len(part)]
        at += len(part)
    biases = [tensors[f"{name}.bias"].data for name in names if f"{name}.bias" in tensors]
    return Projection(weight, torch.cat(biases) if biases else None, packer(weight))

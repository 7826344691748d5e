"""Opens a plain Llama-like checkpoint without transformers' model classes, whose import alone takes seconds.

What is plain is decided from config.json: full attention, plain rotary positions, every number written out. Whatever
else a config holds goes the way through transformers (`engine.network`), which knows all classes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from engine.layers import Sizes, Weights
from engine.lean import LeanForward
from engine.quant import Bits
from engine.reuse import FULL
from engine.rotary import PlainRotary
from engine.store import KVLayout, Lane, LayerGroup
from engine.types import ModelError

CLASSES = {
    "llama": "LlamaForCausalLM",
    "mistral": "MistralForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
}
NUMBERS = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


@dataclass(frozen=True, slots=True)
class PlainConfig:
    """What of a config.json the lean forward pass needs: `width` of the residual stream, `inner` of the feed-forward
    layers, `vocabulary` in tokens. `dtype` is the checkpoint's own number type."""

    architecture: str
    sizes: Sizes
    width: int
    inner: int
    vocabulary: int
    theta: float
    context_length: int
    dtype: torch.dtype
    is_tied: bool
    end_ids: frozenset[int]


def read_config(folder: Path) -> PlainConfig | None:
    """The configuration of a plain model; None for every other, and for a file that leaves something open."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        generation = folder / "generation_config.json"
        ends = _ids(config) | (_ids(json.loads(generation.read_text("utf-8"))) if generation.is_file() else frozenset())
        return _parsed(config, ends) if _is_plain(config) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _is_plain(config: Mapping[str, Any]) -> bool:
    rope = config.get("rope_parameters") or {"rope_theta": config["rope_theta"], "rope_type": "default"}
    return (
        config["architectures"] == [CLASSES.get(config["model_type"])]
        and config["hidden_act"] == "silu"
        and set(config.get("layer_types") or ["full_attention"]) == {"full_attention"}
        and (config.get("sliding_window") is None or config.get("use_sliding_window") is False)
        and set(rope) == {"rope_theta", "rope_type"}
        and rope["rope_type"] == "default"
        and not any(config.get(key) for key in ("rope_scaling", "quantization_config", "adapter_path", "auto_map"))
        and config.get("partial_rotary_factor", 1) == 1
    )


def _parsed(config: Mapping[str, Any], ends: frozenset[int]) -> PlainConfig:
    rope = config.get("rope_parameters") or config
    heads, width = int(config["num_attention_heads"]), int(config["hidden_size"])
    dim = int(config.get("head_dim") or width // heads)
    layers = int(config["num_hidden_layers"])
    return PlainConfig(
        architecture=config["architectures"][0],
        sizes=Sizes(heads, int(config["num_key_value_heads"]), dim, float(config["rms_norm_eps"]), layers),
        width=width,
        inner=int(config["intermediate_size"]),
        vocabulary=int(config["vocab_size"]),
        theta=float(rope["rope_theta"]),
        context_length=int(config["max_position_embeddings"]),
        dtype=NUMBERS[config.get("dtype") or config["torch_dtype"]],
        is_tied=bool(config["tie_word_embeddings"]),
        end_ids=ends,
    )


def _ids(config: Mapping[str, Any]) -> frozenset[int]:
    value = config.get("eos_token_id")
    return frozenset(value if isinstance(value, list) else [] if value is None else [value])


class PlainNetwork:
    """The lean forward pass over a folder's weights. Raises ModelError where some are missing."""

    reuse = FULL

    def __init__(
        self, config: PlainConfig, folder: Path, dtype: torch.dtype, device: torch.device, bits: Bits | None
    ) -> None:
        self.architecture = config.architecture
        self.context_length = config.context_length
        self.end_ids = config.end_ids
        sizes = config.sizes
        tensors = _read_tensors(folder, dtype, device)
        if config.is_tied:
            tensors.pop("lm_head.weight", None)
        _check_shapes(tensors, config, folder.name)
        self._forward = LeanForward(Weights(sizes, tensors, PlainRotary(sizes.dim, config.theta, device), bits))
        group = LayerGroup(tuple(range(sizes.num_layers)), sizes.kv_heads, sizes.dim, sizes.dim)
        self.layout = KVLayout((group,), dtype, device)

    @property
    def bits(self) -> str:
        """See `Network.bits`."""
        return self._forward.weights.bits

    @property
    def weights_bytes(self) -> int:
        """See `Network.weights_bytes`."""
        return self._forward.weights.nbytes

    def forward(self, ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        """See `Network.forward`."""
        return self._forward(ids, lane, start)


def weight_files(folder: Path) -> list[Path]:
    """The files that make up the checkpoint: those its index names, or its only one."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        names: set[str] = set(json.loads(index.read_text("utf-8"))["weight_map"].values())
        return [folder / name for name in sorted(names)]
    return [folder / "model.safetensors"]


def _read_tensors(folder: Path, dtype: torch.dtype, device: torch.device) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for file in weight_files(folder):
        tensors |= {name: tensor.to(device, dtype) for name, tensor in load_file(file).items()}
    return tensors


def _check_shapes(tensors: Mapping[str, Tensor], config: PlainConfig, name: str) -> None:
    """Raise ModelError where a matrix or norm is missing or has not the shape that the configuration gives it."""
    expected = dict(_shapes(config))
    if missing := sorted(set(expected) - set(tensors)):
        raise ModelError(f"{name} lacks some of its weights. Download it again.", ", ".join(missing))
    wrong = [each for each, shape in expected.items() if tuple(tensors[each].shape) != shape]
    if wrong:
        raise ModelError(f"{name} cannot be opened as a chat model. Choose another model.", ", ".join(wrong))


def _shapes(config: PlainConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    sizes, width = config.sizes, config.width
    queries, keys = sizes.heads * sizes.dim, sizes.kv_heads * sizes.dim
    yield "model.embed_tokens.weight", (config.vocabulary, width)
    yield "model.norm.weight", (width,)
    if not config.is_tied:
        yield "lm_head.weight", (config.vocabulary, width)
    for index in range(sizes.num_layers):
        layer = f"model.layers.{index}"
        yield f"{layer}.input_layernorm.weight", (width,)
        yield f"{layer}.post_attention_layernorm.weight", (width,)
        yield f"{layer}.self_attn.q_proj.weight", (queries, width)
        yield f"{layer}.self_attn.k_proj.weight", (keys, width)
        yield f"{layer}.self_attn.v_proj.weight", (keys, width)
        yield f"{layer}.self_attn.o_proj.weight", (width, queries)
        yield f"{layer}.mlp.gate_proj.weight", (config.inner, width)
        yield f"{layer}.mlp.up_proj.weight", (config.inner, width)
        yield f"{layer}.mlp.down_proj.weight", (width, config.inner)

"""Opens a plain Llama-like checkpoint without transformers' model classes, whose import alone takes seconds.

Whether a checkpoint is plain is decided from its config.json: full attention, plain rotary positions, and every number
written out. All others are opened through transformers (`engine.models.from_transformers`), which knows every class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from engine.cache.store import Lane
from engine.library.check import read_json, weight_files
from engine.llama.forward import LlamaForward
from engine.llama.weights import PlainRotary, Rotary, Sizes, Tensors, Weights, plain_frequencies
from engine.types import ModelError, ReuseClass
from engine.weights.quantise import Bits

CLASSES = {
    "llama": "LlamaForCausalLM",
    "mistral": "MistralForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
}
NUMBERS = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


class NotPlainError(Exception):
    """The weights are not what a plain configuration promises: transformers may know what to make of them."""


@dataclass(frozen=True, slots=True)
class PlainConfig:
    """What our forward pass needs of a config.json.

    `width` is the size of the residual stream, `inner` that of the feed-forward layers, `vocabulary` the number of
    tokens. `theta` is the base of the rotary frequencies. `dtype` is the checkpoint's own number type.
    """

    architecture: str
    sizes: Sizes
    width: int
    inner: int
    vocabulary: int
    theta: float
    context_length: int
    dtype: torch.dtype
    is_tied: bool
    has_attention_bias: bool
    has_mlp_bias: bool
    end_ids: frozenset[int]


def read_config(folder: Path) -> PlainConfig | None:
    """The configuration of a plain model, or None for every other model.

    None also stands for a file that leaves something open or makes no sense: transformers then says what is wrong.
    """
    try:
        config = read_json(folder / "config.json")
        generation = folder / "generation_config.json"
        sources = [config, read_json(generation)] if generation.is_file() else [config]
        ends = frozenset().union(*(end_ids(source.get("eos_token_id")) for source in sources))
        return parsed(config, ends) if _is_plain(config) else None
    except (ModelError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError):
        return None


def _is_plain(config: Mapping[str, Any]) -> bool:
    rope = config.get("rope_parameters") or {"rope_theta": config["rope_theta"], "rope_type": "default"}
    return (
        has_plain_layers(config)
        and config["architectures"] == [CLASSES[config["model_type"]]]
        and config.get("is_causal", True) is True
        and not any(config.get(key) for key in ("is_encoder_decoder", "use_bidirectional_attention"))
        and set(rope) == {"rope_theta", "rope_type"}
        and rope["rope_type"] == "default"
        and not any(config.get(key) for key in ("rope_scaling", "quantization_config", "adapter_path", "auto_map"))
        and not config.get("transformers_weights")
        and config.get("partial_rotary_factor", 1) == 1
    )


def has_plain_layers(config: Mapping[str, Any]) -> bool:
    """Whether a configuration describes decoder layers as our forward pass computes them: of one of the four classes,
    with SiLU, and with attention to all earlier tokens in every layer."""
    return (
        config.get("model_type") in CLASSES
        and config.get("hidden_act") == "silu"
        and set(config.get("layer_types") or ["full_attention"]) == {"full_attention"}
        and _looks_back_without_end(config)
    )


def _looks_back_without_end(config: Mapping[str, Any]) -> bool:
    """Whether no layer has a window. Mistral's class has one unless told otherwise, the Qwens' only on request."""
    if "sliding_window" in config and config["sliding_window"] is None:
        return True
    return config["model_type"] != "mistral" and not config.get("use_sliding_window")


def parsed(config: Mapping[str, Any], ends: frozenset[int]) -> PlainConfig:
    """What a configuration with plain layers says. Raises KeyError, ValueError or TypeError where it leaves something
    open or makes no sense."""
    rope = config.get("rope_parameters") or config
    heads, width = int(config["num_attention_heads"]), int(config["hidden_size"])
    dim = int(config["head_dim"] if config["model_type"] == "qwen3" else config.get("head_dim") or width // heads)
    layers, kv_heads = int(config["num_hidden_layers"]), int(config["num_key_value_heads"])
    if heads % kv_heads or dim % 2:
        raise ValueError(f"{heads} heads cannot share {kv_heads} of {dim} numbers")
    return PlainConfig(
        architecture=config["architectures"][0],
        sizes=Sizes(heads, kv_heads, dim, float(config["rms_norm_eps"]), layers),
        width=width,
        inner=int(config["intermediate_size"]),
        vocabulary=int(config["vocab_size"]),
        theta=float(rope["rope_theta"]),
        context_length=int(config["max_position_embeddings"]),
        dtype=NUMBERS[config.get("dtype") or config["torch_dtype"]],
        is_tied=bool(config["tie_word_embeddings"]),
        has_attention_bias=bool(config.get("attention_bias")),
        has_mlp_bias=bool(config.get("mlp_bias")),
        end_ids=ends,
    )


def end_ids(value: object) -> frozenset[int]:
    """The tokens that end an answer, as a configuration gives them: none, one or several. What is no number is none."""
    return frozenset(each for each in (value if isinstance(value, list) else [value]) if type(each) is int)


class PlainNetwork:
    """A plain model as a `Network`: our own forward pass over its weights. `rotary` is None for plain positions."""

    reuse = ReuseClass()

    def __init__(
        self,
        config: PlainConfig,
        tensors: Tensors,
        bits: Bits | None,
        rotary: Rotary | None = None,
        *,
        keeps_full: bool = False,
    ) -> None:
        self.architecture = config.architecture
        self.context_length = config.context_length
        self.vocabulary = config.vocabulary
        self.end_ids = config.end_ids
        sizes, device = config.sizes, tensors["model.norm.weight"].device
        rotary = rotary or PlainRotary(plain_frequencies(sizes.dim, config.theta), device)
        self._forward = LlamaForward(Weights(sizes, tensors, rotary, bits, keeps_full=keeps_full))
        self.layout = self._forward.layout

    @property
    def bits(self) -> str:
        return self._forward.weights.bits

    @property
    def weights_bytes(self) -> int:
        return self._forward.weights.nbytes

    def forward(self, ids: Sequence[int], lane: Lane, start: int, *, is_answer: bool = False) -> Tensor:
        return self._forward(ids, lane, start, is_answer=is_answer)


def open_folder(
    config: PlainConfig, folder: Path, dtype: torch.dtype, device: torch.device, bits: Bits | None
) -> PlainNetwork:
    """The plain model in a folder. Raises NotPlainError where the weights do not fit the configuration."""
    return PlainNetwork(config, _checked(_read_tensors(folder, dtype, device), config), bits)


def _read_tensors(folder: Path, dtype: torch.dtype, device: torch.device) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for file in weight_files(folder):
        # A copy: the file may be written to while the model is in use.
        tensors |= {name: tensor.to(device, dtype, copy=True) for name, tensor in load_file(file).items()}
    return tensors


def _checked(tensors: Mapping[str, Tensor], config: PlainConfig) -> dict[str, Tensor]:
    """The tensors that the configuration asks for, and no others: a bias it does not know is not used.

    Raises NotPlainError where one is missing or has another shape, or where tied matrices are stored as two.
    """
    expected = dict(shapes(config))
    if missing := sorted(set(expected) - set(tensors)):
        raise NotPlainError("missing: " + ", ".join(missing))
    if wrong := [each for each, shape in expected.items() if tuple(tensors[each].shape) != shape]:
        raise NotPlainError("of another shape: " + ", ".join(wrong))
    own_head = tensors.get("lm_head.weight")
    if config.is_tied and own_head is not None and not torch.equal(own_head, tensors["model.embed_tokens.weight"]):
        raise NotPlainError("tied, with two matrices")
    return {each: tensors[each] for each in expected}


def shapes(config: PlainConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The tensors of a plain model by their names, tied ones once, and their shapes."""
    yield "model.embed_tokens.weight", (config.vocabulary, config.width)
    yield "model.norm.weight", (config.width,)
    if not config.is_tied:
        yield "lm_head.weight", (config.vocabulary, config.width)
    for index in range(config.sizes.num_layers):
        for name, shape in _layer_shapes(config):
            yield f"model.layers.{index}.{name}", shape


def _layer_shapes(config: PlainConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    sizes, width, inner = config.sizes, config.width, config.inner
    kind = config.architecture
    attention_bias = config.has_attention_bias and kind in (CLASSES["llama"], CLASSES["qwen3"])
    mlp_bias = config.has_mlp_bias and kind == CLASSES["llama"]
    yield "input_layernorm.weight", (width,)
    yield "post_attention_layernorm.weight", (width,)
    for name, outputs in (("q", sizes.heads), ("k", sizes.kv_heads), ("v", sizes.kv_heads)):
        yield f"self_attn.{name}_proj.weight", (outputs * sizes.dim, width)
        if attention_bias or kind == CLASSES["qwen2"]:
            yield f"self_attn.{name}_proj.bias", (outputs * sizes.dim,)
    for name, rows, columns, has_bias in (
        ("self_attn.o", width, sizes.heads * sizes.dim, attention_bias),
        ("mlp.gate", inner, width, mlp_bias),
        ("mlp.up", inner, width, mlp_bias),
        ("mlp.down", width, inner, mlp_bias),
    ):
        yield f"{name}_proj.weight", (rows, columns)
        if has_bias:
            yield f"{name}_proj.bias", (rows,)
    if kind == CLASSES["qwen3"]:
        yield "self_attn.q_norm.weight", (sizes.dim,)
        yield "self_attn.k_norm.weight", (sizes.dim,)

"""Writes a model of transformers as a GGUF file, as llama.cpp's converter does: names, order of rows, sums, stacks.

The names come from the gguf package's own table. What the converter does to numbers is done here once more, so that
nothing of what is tested is used to make the test.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from tests.engine.model_files import add_metadata, add_tokenizer, write_out

PERMUTED = {"llama", "mistral3", "granite", "smollm3", "arcee"}
SUM_NORMS = {"gemma", "gemma2", "gemma3", "nemotron"}


def write_model(
    path: Path,
    model: PreTrainedModel,
    architecture: str,
    metadata: Mapping[str, Any],
    kind: gguf.GGMLQuantizationType = gguf.GGMLQuantizationType.F32,
) -> Path:
    """Write `model` as a file of this architecture, matrices as `kind`. `metadata` comes on top of the sizes."""
    writer = gguf.GGUFWriter(path, architecture)
    add_metadata(writer, {f"{architecture}.{key}": value for key, value in (_sizes(model.config) | metadata).items()})
    add_tokenizer(writer)
    for name, tensor in _renamed(model, architecture):
        values = tensor.float().contiguous().numpy()
        if values.ndim == 1 or "ffn_gate_inp" in name:
            writer.add_tensor(name, values)
        else:
            writer.add_tensor(name, gguf.quantize(values, kind), raw_dtype=kind)
    return write_out(writer, path)


def _sizes(config: Any) -> dict[str, Any]:
    """What the converter writes for every model."""
    rope = getattr(config, "rope_parameters", None) or {}
    rope = rope.get("full_attention", rope)
    sizes = {
        "block_count": config.num_hidden_layers,
        "context_length": config.max_position_embeddings,
        "embedding_length": config.hidden_size,
        "feed_forward_length": getattr(config, "intermediate_size", 4 * config.hidden_size),
        "attention.head_count": config.num_attention_heads,
        "attention.head_count_kv": getattr(config, "num_key_value_heads", config.num_attention_heads),
        "attention.key_length": getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads,
        "attention.layer_norm_rms_epsilon": getattr(config, "rms_norm_eps", 1e-5),
        "attention.layer_norm_epsilon": 1e-5,
        "expert_count": getattr(config, "num_local_experts", 0),
        "expert_used_count": getattr(config, "num_experts_per_tok", 0),
    }
    return sizes | ({"rope.freq_base": rope["rope_theta"]} if rope else {})


def _renamed(model: PreTrainedModel, architecture: str) -> Iterator[tuple[str, Tensor]]:
    names = gguf.get_tensor_name_map(
        next(key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture), model.config.num_hidden_layers
    )
    tied = model.all_tied_weights_keys
    for name, tensor in model.state_dict().items():
        if name in tied:
            continue
        for part, values in _parts(name, tensor, architecture):
            stored = names.get_name(part, try_suffixes=(".weight", ".bias"))
            assert stored, part
            yield stored, _stored(stored, values, architecture, model.config)
    yield from _frequencies(model)


def _parts(name: str, tensor: Tensor, architecture: str) -> Iterator[tuple[str, Tensor]]:
    """The tensors that one is taken apart into: the two matrices of each expert are stored by themselves."""
    if "experts." not in name and not name.endswith("sinks"):
        yield name, tensor
        return
    is_oss = architecture == "gpt-oss"
    whole = f"{name.removesuffix('_bias')}.{'bias' if name.endswith('_bias') else 'weight'}"
    rows = tensor.transpose(1, 2) if is_oss and tensor.ndim == 3 else tensor
    if "gate_up_proj" not in name:
        yield whole, rows
        return
    gate, up = (rows[:, ::2], rows[:, 1::2]) if is_oss else rows.chunk(2, dim=1)
    yield whole.replace("gate_up_proj", "gate_proj"), gate
    yield whole.replace("gate_up_proj", "up_proj"), up


def _stored(name: str, tensor: Tensor, architecture: str, config: Any) -> Tensor:
    """What the converter does to the numbers of one tensor."""
    if architecture in PERMUTED and (".attn_q." in name or ".attn_k." in name):
        heads = config.num_attention_heads if ".attn_q." in name else config.num_key_value_heads
        return tensor.reshape(heads, 2, -1, *tensor.shape[1:]).transpose(1, 2).reshape(tensor.shape)
    if architecture in SUM_NORMS and name.endswith("norm.weight"):
        return tensor + 1
    if architecture == "gpt2" and tensor.ndim == 2 and name.startswith("blk."):
        return tensor.T
    return tensor


def _frequencies(model: PreTrainedModel) -> Iterator[tuple[str, Tensor]]:
    """The tensors that hold divisors of the rotary frequencies."""
    rope = getattr(model.config, "rope_parameters", None) or {}
    if rope.get("rope_type") == "llama3":
        yield "rope_freqs.weight", torch.tensor(llama3_divisors(rope, model.config.head_dim), dtype=torch.float32)
    if rope.get("rope_type") == "longrope":
        yield "rope_factors_long.weight", torch.tensor(rope["long_factor"])
        yield "rope_factors_short.weight", torch.tensor(rope["short_factor"])


def llama3_divisors(rope: Mapping[str, Any], dim: int) -> list[float]:
    """Llama 3.1's scaling, frequency by frequency."""
    found = []
    for index in range(0, dim, 2):
        length = 2 * math.pi * rope["rope_theta"] ** (index / dim)
        turns = rope["original_max_position_embeddings"] / length
        low, high = rope["low_freq_factor"], rope["high_freq_factor"]
        smooth = (turns - low) / (high - low)
        blended = 1 / ((1 - smooth) / rope["factor"] + smooth)
        found.append(rope["factor"] if turns < low else 1.0 if turns > high else blended)
    return found


def random_model(model: PreTrainedModel, seed: int = 0) -> PreTrainedModel:
    """The model with other numbers everywhere, also in norms, biases and what the class leaves at zero."""
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for tensor in model.parameters():
            tensor.add_(0.2 * torch.randn(tensor.shape, generator=random))
    return model.eval().requires_grad_(False)


def correlation(one: Tensor, other: Tensor) -> float:
    """How alike two sets of logits are: 1 where they are equal up to a factor."""
    return float(np.corrcoef(one.double().flatten(), other.double().flatten())[0, 1])

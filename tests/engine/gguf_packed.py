"""Writes GGUF files of Llamas with random weights in any type, and reads them as transformers' model in full.

Both are made without the engine: codes are random bits, names and the order of rows are llama.cpp's. Also for large
shapes: `python -m tests.engine.gguf_packed OUT.gguf --shape 7b --type Q4_K` takes half a minute.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Type
from numpy.typing import NDArray
from transformers import LlamaConfig, LlamaForCausalLM

from tests.engine.model_files import add_metadata, add_tokenizer

HALVES: Mapping[str, tuple[tuple[int, float], ...]] = {
    "Q4_0": ((0, 4.3e-3),),
    "Q4_1": ((0, 4.3e-3), (2, -7.5 * 4.3e-3)),
    "Q5_0": ((0, 2.2e-3),),
    "Q5_1": ((0, 2.2e-3), (2, -15.5 * 2.2e-3)),
    "Q8_0": ((0, 2.7e-4),),
    "Q2_K": ((80, 2.4e-3), (82, 3.6e-3)),
    "Q3_K": ((108, 4.6e-4),),
    "Q4_K": ((0, 7.8e-5), (2, 7.5 * 7.8e-5)),
    "Q5_K": ((0, 3.9e-5), (2, 15.5 * 3.9e-5)),
    "Q6_K": ((208, 1.5e-5),),
    "IQ4_NL": ((0, 3.0e-4),),
    "IQ4_XS": ((0, 1.6e-5),),
}
"""Where in a block fp16 numbers stand, and what they are so that weights have a standard deviation of about 0.02."""


@dataclass(frozen=True)
class Shape:
    """The sizes of a Llama."""

    width: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    dim: int
    vocabulary: int = 261


SHAPES = {
    "tiny": Shape(256, 512, 2, 4, 2, 64),
    "135m": Shape(576, 1536, 30, 9, 3, 64, 49152),
    "1b": Shape(2048, 5632, 22, 32, 4, 64, 49152),
    "3b": Shape(3072, 8192, 28, 24, 8, 128, 128256),
    "7b": Shape(3584, 18944, 28, 28, 4, 128, 152064),
    "8b": Shape(4096, 14336, 32, 32, 8, 128, 128256),
}


def random_rows(random: np.random.Generator, kind: Type, rows: int, columns: int) -> NDArray[np.uint8]:
    """Random rows of a matrix of a type, as bytes `[rows, bytes of a row]`."""
    weights, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = random.integers(0, 256, (rows * columns // weights, size), dtype=np.uint8)
    for at, number in HALVES.get(kind.name, ()):
        blocks[:, at : at + 2] = np.frombuffer(np.float16(number).tobytes(), np.uint8)
    if kind.name in ("F32", "F16", "BF16"):
        numbers = random.standard_normal((rows, columns), np.float32) / 50
        return np.ascontiguousarray(gguf.quantize(numbers, kind)).view(np.uint8).reshape(rows, -1)
    return blocks.reshape(rows, -1)


def matrices(shape: Shape) -> Iterator[tuple[str, int, int]]:
    """The names, outputs and inputs of all matrices."""
    yield "token_embd", shape.vocabulary, shape.width
    for index in range(shape.layers):
        for name, rows, columns in (
            ("attn_q", shape.heads * shape.dim, shape.width),
            ("attn_k", shape.kv_heads * shape.dim, shape.width),
            ("attn_v", shape.kv_heads * shape.dim, shape.width),
            ("attn_output", shape.width, shape.heads * shape.dim),
            ("ffn_gate", shape.inner, shape.width),
            ("ffn_up", shape.inner, shape.width),
            ("ffn_down", shape.width, shape.inner),
        ):
            yield f"blk.{index}.{name}", rows, columns


def write_packed(
    path: Path, kind: str, shape: Shape = SHAPES["tiny"], others: Mapping[str, str] | None = None, seed: int = 0,
    vocabulary: Path | None = None,
) -> Path:  # fmt: skip
    """A Llama whose matrices are of a type. `others` names another type for those whose names end so. The tokenizer is
    that of the file `vocabulary`, or a tiny one."""
    writer, random = gguf.GGUFWriter(path, "llama"), np.random.default_rng(seed)
    add_metadata(writer, {f"llama.{key}": value for key, value in _said(shape).items()})
    if vocabulary is None:
        add_tokenizer(writer)
    else:
        _copy_tokenizer(writer, vocabulary, shape.vocabulary)
    for name, rows, columns in matrices(shape):
        own = Type[next((other for end, other in (others or {}).items() if name.endswith(end)), kind)]
        writer.add_tensor(f"{name}.weight", random_rows(random, own, rows, columns), raw_dtype=own)
    norms = ["output_norm", *(f"blk.{i}.{part}_norm" for i in range(shape.layers) for part in ("attn", "ffn"))]
    for norm in norms:
        writer.add_tensor(f"{norm}.weight", np.ones(shape.width, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _said(shape: Shape) -> dict[str, Any]:
    return {
        "block_count": shape.layers,
        "context_length": 8192,
        "embedding_length": shape.width,
        "feed_forward_length": shape.inner,
        "attention.head_count": shape.heads,
        "attention.head_count_kv": shape.kv_heads,
        "attention.key_length": shape.dim,
        "attention.value_length": shape.dim,
        "rope.dimension_count": shape.dim,
        "rope.freq_base": 100_000.0,
        "attention.layer_norm_rms_epsilon": 1e-5,
        "vocab_size": shape.vocabulary,
    }


def _copy_tokenizer(writer: gguf.GGUFWriter, source: Path, count: int) -> None:
    """The tokenizer of another file, filled up with tokens that no text gives."""
    fields = gguf.GGUFReader(source).fields
    for name, field in fields.items():
        if not name.startswith("tokenizer."):
            continue
        value = field.contents()
        if name == "tokenizer.ggml.tokens":
            value = [*value, *(f"<unused-{index}>" for index in range(len(value), count))]
        if name == "tokenizer.ggml.token_type":
            value = [*value, *(5 for _ in range(len(value), count))]
        if isinstance(value, list):
            writer.add_array(name, value)
        else:
            add_metadata(writer, {name: value})


def in_full(path: Path, shape: Shape = SHAPES["tiny"]) -> LlamaForCausalLM:
    """The model of a file by transformers, in fp32, with the numbers that the gguf package reads."""
    config = LlamaConfig(
        vocab_size=shape.vocabulary, hidden_size=shape.width, intermediate_size=shape.inner,
        num_hidden_layers=shape.layers, num_attention_heads=shape.heads, num_key_value_heads=shape.kv_heads,
        head_dim=shape.dim, max_position_embeddings=8192, rms_norm_eps=1e-5, tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 100_000.0},
    )  # fmt: skip
    model = LlamaForCausalLM(config).eval().requires_grad_(False)
    stored = {tensor.name: gguf.dequantize(tensor.data, tensor.tensor_type) for tensor in gguf.GGUFReader(path).tensors}
    names = {
        "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
        "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
        "ffn_down": "mlp.down_proj",
    }  # fmt: skip
    model.model.embed_tokens.weight.copy_(torch.tensor(stored["token_embd.weight"]))
    for index, layer in enumerate(model.model.layers):
        for name, place in names.items():
            rows = torch.tensor(stored[f"blk.{index}.{name}.weight"])
            if name in ("attn_q", "attn_k"):  # pairs that are turned stand side by side in the file
                heads = len(rows) // shape.dim
                rows = rows.view(heads, shape.dim // 2, 2, -1).transpose(1, 2).reshape(rows.shape)
            layer.get_submodule(place).weight.copy_(rows)
        layer.input_layernorm.weight.copy_(torch.tensor(stored[f"blk.{index}.attn_norm.weight"]))
        layer.post_attention_layernorm.weight.copy_(torch.tensor(stored[f"blk.{index}.ffn_norm.weight"]))
    model.model.norm.weight.copy_(torch.tensor(stored["output_norm.weight"]))
    return model


def main() -> None:
    """Write a file of a large shape."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--shape", choices=SHAPES, default="1b")
    parser.add_argument("--type", choices=HALVES, default="Q4_K")
    options = parser.parse_args()
    from engine import fetch_model

    write_packed(
        options.out, options.type, SHAPES[options.shape], {"token_embd": "Q8_0"},
        vocabulary=fetch_model(lambda *_: None),
    )  # fmt: skip


if __name__ == "__main__":
    main()

"""Makes small model files for tests: a safetensors folder and a GGUF file with a tiny Llama and its tokenizer."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np

LAYERS, WIDTH, HEADS, VOCABULARY = 2, 32, 2, 261


def write_safetensors(path: Path, values: int = 64) -> None:
    """A whole safetensors file with one tensor."""
    header = json.dumps({"weight": {"dtype": "F32", "shape": [values], "data_offsets": [0, 4 * values]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(4 * values))


def write_folder(folder: Path) -> Path:
    """A folder that passes every check of files."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"model_type": "llama"}')
    (folder / "tokenizer.json").write_text("{}")
    write_safetensors(folder / "model.safetensors")
    return folder


def write_gguf(
    path: Path,
    architecture: str = "llama",
    seed: int = 0,
    metadata: Mapping[str, Any] | None = None,
    tensors: Mapping[str, Any] | None = None,
    tensors_in_a_part: int = 0,
) -> Path:
    """A tiny random Llama in Q8_0, with a byte-level tokenizer of 261 tokens.

    `metadata` comes on top. `tensors` are put in the place of the model's own, or beside them; None leaves one out.
    With `tensors_in_a_part` the file is split, and the path of the first part is returned.
    """
    path.parent.mkdir(exist_ok=True)
    writer = gguf.GGUFWriter(path, architecture, split_max_tensors=tensors_in_a_part)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_block_count(LAYERS)
    writer.add_context_length(256)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(WIDTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(VOCABULARY)
    add_metadata(writer, metadata or {})
    add_tokenizer(writer)
    random = np.random.default_rng(seed)
    made: dict[str, Any] = {
        name: random.standard_normal(shape, dtype=np.float32) for name, shape in _shapes().items()
    } | dict(tensors or {})
    for name, values in made.items():
        if values is None:
            continue
        if values.ndim == 1 or values.dtype != np.float32:
            writer.add_tensor(name, values)
        else:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quantize(values, kind), raw_dtype=kind)
    return write_out(writer, path)


def write_out(writer: gguf.GGUFWriter, path: Path) -> Path:
    """Write what was added to `writer`; return the file, or the first one of several."""
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path if path.exists() else min(path.parent.glob(f"{path.stem}-00001-of-*.gguf"))


def add_metadata(writer: gguf.GGUFWriter, metadata: Mapping[str, Any]) -> None:
    """Add entries, each by the kind of its value."""
    adders = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32, str: writer.add_string}
    for key, value in metadata.items():
        adders.get(type(value), writer.add_array)(key, value)


def add_tokenizer(writer: gguf.GGUFWriter) -> None:
    """A byte-level tokenizer of 261 tokens."""
    parts = [chr(code) for code in (*range(33, 127), *range(161, 173), *range(174, 256), *range(256, 324))]
    tokens = ["<unk>", "<s>", "</s>", "<pad>", *parts, "ab"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, 3, 3, *[1] * (len(parts) + 1)])
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(3)


def _shapes() -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {"token_embd.weight": (VOCABULARY, WIDTH), "output_norm.weight": (WIDTH,)}
    for layer in range(LAYERS):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
            shapes[f"blk.{layer}.{name}.weight"] = (WIDTH, WIDTH)
        shapes[f"blk.{layer}.attn_norm.weight"] = (WIDTH,)
        shapes[f"blk.{layer}.ffn_norm.weight"] = (WIDTH,)
    return shapes

"""Makes small model files for tests: a safetensors folder and a GGUF file with a tiny Llama and its tokenizer."""

from __future__ import annotations

import json
import struct
from pathlib import Path

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


def write_gguf(path: Path, architecture: str = "llama", split: int = 1, seed: int = 0) -> Path:
    """A tiny random Llama in Q8_0, with a byte-level tokenizer of 261 tokens."""
    writer = gguf.GGUFWriter(path, architecture)
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
    if split > 1:
        writer.add_uint16("split.count", split)
    _add_tokenizer(writer)
    random = np.random.default_rng(seed)
    for name, shape in _shapes().items():
        values = random.standard_normal(shape, dtype=np.float32)
        if len(shape) == 1:
            writer.add_tensor(name, values)
        else:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_tokenizer(writer: gguf.GGUFWriter) -> None:
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

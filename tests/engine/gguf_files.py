"""Writes small GGUF files with a tokenizer and no weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gguf
from tokenizers.pre_tokenizers import ByteLevel

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6
SPECIAL = {"<unk>": UNKNOWN, "<s>": CONTROL, "</s>": CONTROL, "<user>": USER_DEFINED, "<|endoftext|>": CONTROL}
UNMERGED = ("ĠWorld", "Paris", "1234")
"""Tokens that no merge makes, so that only a rule that looks for whole words first finds them."""

RUNS = tuple("▁" * count for count in range(2, 9))
"""Blanks in a row, which all have one score, as in Llama-2."""


def write_vocabulary(path: Path, known: Mapping[str, int], name: str = "tiny", **fields: Any) -> Path:
    """A GGUF file with these tokens and their types. `fields` are lists and values without "tokenizer.ggml."."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(name)
    lists = {"tokens": list(known), "token_type": list(known.values())}
    for key, value in {**lists, "bos_token_id": 1, "eos_token_id": 2, "unknown_token_id": 0, **fields}.items():
        full = key if key.startswith("tokenizer.") else f"tokenizer.ggml.{key}"
        if isinstance(value, bool):
            writer.add_bool(full, value)
        elif isinstance(value, int):
            writer.add_uint32(full, value)
        elif isinstance(value, str):
            writer.add_string(full, value)
        elif value:
            writer.add_array(full, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def write_byte_level(path: Path, merges: Sequence[str], **fields: Any) -> Path:
    """A tokenizer as GPT-2's: a letter for each byte, and what the merges make."""
    made = (merge.replace(" ", "") for merge in merges)
    tokens = {**SPECIAL, **dict.fromkeys([*sorted(ByteLevel.alphabet()), *made, *UNMERGED], NORMAL)}
    return write_vocabulary(path, tokens, **{"model": "gpt2", "merges": merges, **fields})


def write_plain_text(path: Path, merges: Sequence[str], **fields: Any) -> Path:
    """A tokenizer as Gemma-4's: plain characters and what the merges make, and a token for each byte."""
    made = {merge.replace(" ", ""): NORMAL for merge in merges}
    letters = dict.fromkeys(sorted(set("".join(made))), NORMAL)
    tokens = {**SPECIAL, **_bytes(), **letters, **made}
    return write_vocabulary(path, tokens, **{"model": "gemma4", "merges": merges, **fields})


def write_sentencepiece(path: Path, pieces: Sequence[str], **fields: Any) -> Path:
    """A tokenizer as Llama-2's. The first piece has the best score; characters have the worst."""
    tokens = {**SPECIAL, **_bytes(), **dict.fromkeys([*RUNS, *pieces, *sorted(set("".join(pieces)))], NORMAL)}
    ranks = {piece: -float(rank) for rank, piece in enumerate(tokens)}
    scores = [-1e9 if token in RUNS else ranks[token] if kind == NORMAL else 0.0 for token, kind in tokens.items()]
    return write_vocabulary(path, tokens, **{"model": "llama", "scores": scores, **fields})


def _bytes() -> dict[str, int]:
    return {f"<0x{byte:02X}>": BYTE for byte in range(256)}

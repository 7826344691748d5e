"""A tiny model of a family that runs through transformers, with the default model's tokenizer, for the smoke test.

`python tiny_model.py DEFAULT_MODEL_FOLDER FOLDER`. Its chat template is the default one with a comment,
so that it is not known to be harmless and is rendered by the program beside Headstart.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, Gemma2Config


def write(default: Path, folder: Path) -> None:
    """The model, weights drawn at random with a fixed seed."""
    folder.mkdir(parents=True)
    for name in ("tokenizer.json", "tokenizer_config.json", "generation_config.json"):
        shutil.copy(default / name, folder)
    template = json.loads((default / "tokenizer_config.json").read_text(encoding="utf-8"))["chat_template"]
    (folder / "chat_template.jinja").write_text(template + "{# not known #}", encoding="utf-8")
    torch.manual_seed(0)
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "head_dim": 16}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "query_pre_attn_scalar": 16}
    ids = {"vocab_size": 49152, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2}
    config = Gemma2Config(**sizes, **heads, **ids, max_position_embeddings=8192)
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))

"""A tiny random Llama and a tiny tokenizer, built in code in a moment: real classes, no download."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from unittest.mock import patch

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedModel, PreTrainedTokenizerFast

from engine.models import attention_hook as interface
from engine.models import from_gguf
from engine.models.from_transformers import TransformersNetwork
from engine.models.loaded import LoadedModel
from engine.weights.quantise import Bits
from tests.engine.chat_templates import CHATML
from tests.engine.gguf_packed import Shape, write_packed

CONTEXT = 1024
TRAINING_TEXT = (
    "The parcel left the warehouse on Monday. The customer asks where the parcel is. The tent, the stove and the pack "
    "are in the parcel. Where is the answer? The answer is in the account of the customer. system user assistant "
)
SPECIAL = ("<|im_end|>", "<|im_start|>", "<s>", "</s>", "[INST]", "[/INST]", "<bos>", "<end_of_turn>")
MORE_SPECIAL = ("<start_of_turn>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|begin_of_text|>")


def make_tokenizer(
    template: str = CHATML,
    end: str = "<|im_end|>",
    *,
    is_special: bool = True,
    text: str = TRAINING_TEXT,
    tokens: int = 320,
) -> PreTrainedTokenizerFast:
    """A byte-level BPE of about 330 tokens: every text can be encoded, an emoji takes several tokens. It is trained on
    a `text` to have so many `tokens`, and those around messages, which are special where `is_special`."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=tokens, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([text], trainer)
    added = [AddedToken(token, special=is_special) for token in SPECIAL + MORE_SPECIAL]
    tokenizer.add_special_tokens(added) if is_special else tokenizer.add_tokens(added)
    named = {"eos_token": end, "bos_token": "<s>"} if is_special else {}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named)
    fast.chat_template = template
    return fast


def make_llama(
    vocabulary: int = 340, dtype: torch.dtype = torch.float32, seed: int = 0, heads: Mapping[str, int] | None = None
) -> PreTrainedModel:
    """Two layers, grouped queries (4 heads on 2), random weights large enough that each token matters. `heads` are
    other sizes of the stream and of a head."""
    config = LlamaConfig(
        vocab_size=vocabulary,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        **(heads or {"hidden_size": 32, "head_dim": 8}),
        max_position_embeddings=CONTEXT,
        initializer_range=0.4,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
    )
    torch.manual_seed(seed)
    interface.register()
    config._attn_implementation = interface.NAME
    return LlamaForCausalLM(config).to(dtype).eval().requires_grad_(False)


def make_model(
    dtype: torch.dtype = torch.float32,
    template: str = CHATML,
    end: str = "<|im_end|>",
    *,
    seed: int = 0,
    is_fast: bool = True,
    bits: Bits | None = None,
    heads: Mapping[str, int] | None = None,
) -> LoadedModel:
    """The tiny Llama behind the engine's own door, with our own forward pass or with transformers' own."""
    model = make_llama(dtype=dtype, seed=seed, heads=heads)
    network = TransformersNetwork(model, bits, is_fast=is_fast)
    return LoadedModel(network, make_tokenizer(template, end), "/nowhere/tiny")


EVERY_FORM = {
    "attn_q": "IQ4_XS",
    "attn_k": "Q2_K",
    "attn_v": "Q6_K",
    "attn_output": "Q4_0",
    "ffn_gate": "Q4_K",
    "ffn_up": "Q3_K",
    "ffn_down": "Q5_K",
    "token_embd": "Q8_0",
}
"""A type for each matrix, so that one model has every form in which weights are packed."""


def make_packed(dtype: Literal["fp32", "bf16"]) -> LoadedModel:
    """A tiny Llama from a GGUF file, all of whose weights stay packed."""
    tokenizer = make_tokenizer()
    shape = Shape(256, 256, 2, 4, 2, 64, len(tokenizer))
    with TemporaryDirectory() as folder, patch.object(from_gguf, "full_is_cheap", lambda *_: False):
        path = write_packed(Path(folder) / "tiny.gguf", "Q4_1", shape, EVERY_FORM)
        network = from_gguf.open_network(path, torch.device("cpu"), dtype, lambda *_: None)
    return LoadedModel(network, tokenizer, "/nowhere/packed")


def make_folder(folder: Path, seed: int = 0, template: str = CHATML) -> Path:
    """The tiny model as files, as `Engine.load` opens them."""
    make_llama(seed=seed).save_pretrained(folder)
    make_tokenizer(template).save_pretrained(folder)
    return folder


def make_writer_folder(folder: Path, template: str, begins: str, words: str, pieces: tuple[str, ...] = ()) -> Path:
    """A model, as files, that writes `words` behind `begins`, and then its end token, whatever else it reads: each
    token makes the next one likely. No word may occur twice, and `begins` must end with a token of its own.
    `pieces` of the text are one token each."""
    tokenizer = make_tokenizer(template, text=words, tokens=600)
    tokenizer.add_tokens([AddedToken(mark, special=False) for mark in ("<think>", "</think>", *pieces)])
    script = tokenizer(begins, add_special_tokens=False).input_ids[-1:]
    script += [*tokenizer(words, add_special_tokens=False).input_ids, tokenizer.eos_token_id]
    assert len(set(script)) == len(script)
    model = make_llama(len(tokenizer), heads={"hidden_size": 128, "head_dim": 32})
    rows = model.get_input_embeddings().weight
    following = model.get_output_embeddings().weight.zero_()
    following[script[1:]] = 20 * rows[script[:-1]]
    for layer in model.model.layers:
        layer.self_attn.o_proj.weight.mul_(0.01)
        layer.mlp.down_proj.weight.mul_(0.01)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder

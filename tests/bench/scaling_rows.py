"""Rows 12 and 13: what grows with the context, and what a million cached tokens cost."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator
from itertools import count as counter

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from engine.cache.blocks import block_keys
from engine.cache.disk_tier import no_disk
from engine.cache.picture import Picture
from engine.cache.store import KVLayout, Lane
from engine.cache.tree import PrefixTree
from engine.llama import attention
from engine.llama.forward import LlamaForward
from engine.models import attention_hook as interface
from engine.models.from_transformers import weights_of
from engine.models.lane_cache import probe_layout
from tests.bench.rows import Row, alternate

LENGTHS = {"1k": 1024, "8k": 8192, "32k": 32768}


def measure(count: int) -> Iterator[Row]:
    """All rows of this module, `count` samples a side."""
    yield from _step_rows(count)
    yield _tree_row(count)


@torch.inference_mode()
def _step_rows(count: int) -> Iterator[Row]:
    """One decoding step of a tiny model at three lengths, and of its attention alone."""
    interface.register()
    config = LlamaConfig(
        vocab_size=256, hidden_size=128, intermediate_size=256, num_hidden_layers=4, num_attention_heads=8,
        num_key_value_heads=4, head_dim=16, max_position_embeddings=33_000,
    )  # fmt: skip
    config._attn_implementation = interface.NAME
    model = LlamaForCausalLM(config).eval()
    forward, lane = LlamaForward(weights_of(model, None)), Lane(probe_layout(model), 32_800, fill=0.5)
    query = torch.ones(1, 8, 1, 16)

    def step(length: int) -> float:
        start = time.perf_counter()
        for _ in range(20):
            forward([5], lane, length, is_answer=True)
        return (time.perf_counter() - start) / 20 * 1000

    def attend(length: int) -> float:
        keys, values = lane.keys[0], lane.values[0]
        start = time.perf_counter()
        for _ in range(20):
            for layer in range(4):
                attention.attend_by_torch(query, keys[layer][None, :, :length], values[layer][None, :, :length], 0.25)
        return (time.perf_counter() - start) / 20 * 1000

    sides = {f"step {name}": lambda n=n: step(n) for name, n in LENGTHS.items()}
    sides |= {f"attention {name}": lambda n=n: attend(n) for name, n in LENGTHS.items()}
    samples = alternate(sides, count)
    middle = {name: statistics.median(values) for name, values in samples.items()}
    for letter, name in zip("abc", LENGTHS, strict=True):
        title = f"a decoding step of a tiny model at {name} tokens"
        yield Row(f"12{letter}", title, middle[f"step {name}"], "ms", "", "", samples[f"step {name}"])
    grown = middle["step 32k"] - middle["step 1k"]
    explained = middle["attention 32k"] - middle["attention 1k"]
    yield Row("12d", "growth from 1k to 32k / growth of attention alone", grown / explained, "ratio", "<= 1.5", "1.1")


def _tree_row(count: int) -> Row:
    """A look-up and a whole view in a tree of a million tokens in 2,000 branches."""
    numbers, pick = counter(), random.Random(0)
    tree = PrefixTree(time.perf_counter)
    nothing = no_disk(KVLayout((), torch.bfloat16, torch.device("cpu")))
    picture = Picture(tree, nothing, 368_640)
    shared = [pick.randrange(50_000) for _ in range(3200)]
    prompts = [shared + [pick.randrange(50_000) for _ in range(496)] for _ in range(2000)]
    for number, ids in enumerate(prompts):
        match = tree.match("bench", ids, is_hit=False)
        keys = block_keys(ids, len(match.blocks))
        tree.own(tree.insert(match, keys, [next(numbers) for _ in keys]).node, f"chat {number % 50}")

    def once() -> float:
        ids = pick.choice(prompts)
        start = time.perf_counter()
        tree.match("bench", ids)
        picture.nodes(time.perf_counter())
        return (time.perf_counter() - start) * 1000

    samples = alternate({"ms": once}, max(count, 21))["ms"]
    title = f"match + view with {len(tree) * 16:,} cached tokens in 2,000 branches"
    return Row("13", title, statistics.median(samples), "ms", "< 10", "3", samples)

"""What few-bit weights and the default mode cost in quality: perplexity on a page of text, and warm against cold."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path

import torch

from engine.model import load
from engine.nullcache import NullCache
from engine.store import KVStore
from engine.types import Dtype
from tests.bench.rows import Row

PAGE_TOKENS = 400
TYPES: tuple[Dtype, ...] = ("fp32", "bf16", "int8", "int4", "auto")


def measure(folder: Path) -> Iterator[Row]:
    """Perplexity of a page of the demo's system prompt, each token computed alone as decoding does it."""
    page = Path("resources/demo/support_bot.md").read_text("utf-8")
    for letter, dtype in zip("abcde", TYPES, strict=True):
        yield Row(f"Q{letter}", f"perplexity of a page, {dtype}", _perplexity(folder, dtype, page), "", "", "")


@torch.inference_mode()
def _perplexity(folder: Path, dtype: Dtype, page: str) -> float:
    model = load(folder, "cpu", dtype)
    ids = model.tokenizer(page)["input_ids"][:PAGE_TOKENS]
    cache = NullCache(KVStore(model.layout, 1 << 30))
    run = cache.begin(ids, 1)
    surprise = 0.0
    for position, (token, following) in enumerate(itertools.pairwise(ids)):
        logits = model.forward([token], run.lane, position)
        surprise -= float(torch.log_softmax(logits, dim=-1)[following])
    return math.exp(surprise / (len(ids) - 1))

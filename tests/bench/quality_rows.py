"""What few-bit weights and the default mode cost in quality: perplexity on a page of text, and warm against cold.

Warm against cold: turns of real text, question and answer given. Warm, every question is read behind what is there and
every answer token is computed alone, as decoding does it; cold, the whole conversation before the answer is read anew.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path

import torch

from engine.cache.null_cache import NullCache
from engine.cache.store import KVStore
from engine.models.loaded import LoadedModel, load
from engine.types import Dtype, KVBits
from tests.bench.rows import Row

PAGE_TOKENS = 400
TURNS, TURNS_PER_CHAT, QUESTION, ANSWER = 200, 10, 24, 16
TYPES: tuple[Dtype, ...] = ("fp32", "bf16", "int8", "int4", "auto")


def measure(folder: Path, turns: int = TURNS) -> Iterator[Row]:
    """Perplexity of a page of the demo's system prompt, each token computed alone as decoding does it."""
    page = Path("resources/demo/support_bot.md").read_text("utf-8")
    for letter, dtype in zip("abcde", TYPES, strict=True):
        yield Row(f"Q{letter}", f"perplexity of a page, {dtype}", _perplexity(folder, dtype, page), "", "", "")
    rounded = _perplexity(folder, "fp32", page, kv_bits=8)
    yield Row("Qf", "perplexity of a page, keys and values in 8 bits", rounded, "", "", "")
    yield from _drift(folder, turns)


@torch.inference_mode()
def _perplexity(folder: Path, dtype: Dtype, page: str, kv_bits: KVBits = 16) -> float:
    model = load(folder, "cpu", dtype, kv_bits=kv_bits)
    ids = model.tokenizer(page)["input_ids"][:PAGE_TOKENS]
    cache = NullCache(KVStore(model.layout, 1 << 30))
    run = cache.begin(ids, 1)
    surprise = 0.0
    for position, (token, following) in enumerate(itertools.pairwise(ids)):
        logits = model.forward([token], run.lane, position, is_answer=kv_bits == 16)  # rounded when read
        surprise -= float(torch.log_softmax(logits, dim=-1)[following])
    return math.exp(surprise / (len(ids) - 1))


@torch.inference_mode()
def _drift(folder: Path, turns: int) -> Iterator[Row]:
    """How far reuse moves the next-token distribution of the default model in its default mode."""
    model = load(folder, "cpu", "auto")
    text = "".join(
        path.read_text("utf-8") for path in (*sorted(Path("resources/demo").glob("*.md")), Path("README.md"))
    )
    ids = model.tokenizer(text)["input_ids"]
    divergences: list[float] = []
    equal = 0
    for chat in range(turns // TURNS_PER_CHAT):
        first = (chat * 137) % (len(ids) - TURNS_PER_CHAT * (QUESTION + ANSWER))
        warm = _Path(model)
        for turn in range(TURNS_PER_CHAT):
            start = first + turn * (QUESTION + ANSWER)
            cold = _Path(model)
            cold.read(ids[first : start + QUESTION])
            warm.read(ids[start : start + QUESTION])
            for token in ids[start + QUESTION : start + QUESTION + ANSWER]:
                ours, theirs = torch.log_softmax(warm.logits, -1), torch.log_softmax(cold.logits, -1)
                divergences.append(float((ours.exp() * (ours - theirs)).sum()))
                equal += int(ours.argmax() == theirs.argmax())
                warm.read([token])
                cold.read([token])
    share = equal / len(divergences)
    yield Row("D1", "KL of warm to cold, mean", sum(divergences) / len(divergences), "nats", "", "", divergences)
    yield Row("D2", "KL of warm to cold, largest", max(divergences), "nats", "", "")
    yield Row("D3", f"equal greedy tokens, {len(divergences):,} of {turns} turns", share, "share", "", "")


class _Path:
    """A conversation in a lane of its own. `logits` are those after the last token read."""

    def __init__(self, model: LoadedModel) -> None:
        self._model = model
        cache = NullCache(KVStore(model.layout, 1 << 30))
        self._lane = cache.begin([0] * TURNS_PER_CHAT * (QUESTION + ANSWER), 1).lane
        self._read = 0
        self.logits = torch.empty(0)

    def read(self, ids: list[int]) -> None:
        """Compute tokens behind what is there."""
        self.logits = self._model.forward(ids, self._lane, self._read, is_answer=len(ids) == 1)
        self._read += len(ids)

"""What a user would pick instead, run on the same weights."""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import DynamicCache

from tests.engine.gguf_packed import SHAPES, in_full


class Transformers:
    """transformers' own model, cache and `generate()` with its default attention, in the number type named."""

    def __init__(self, model: Path, dtype: torch.dtype) -> None:
        self._model = in_full(model, SHAPES["135m"]).to(dtype)
        self._filled: DynamicCache | None = None
        self._past = 0

    @torch.inference_mode()
    def fill(self, ids: Sequence[int]) -> None:
        """Compute a prefix and keep its keys and values."""
        self._filled = DynamicCache()
        self._model(input_ids=torch.tensor([ids]), cache=self._filled, use_cache=True, logits_to_keep=1)
        self._past = len(ids)

    @torch.inference_mode()
    def warm(self, ids: Sequence[int]) -> float:
        """Seconds of a bare forward of new tokens over the filled cache, which is cut back afterwards."""
        tokens = torch.tensor([ids])
        start = time.perf_counter()
        self._model(input_ids=tokens, cache=self._filled, use_cache=True, logits_to_keep=1)
        spent = time.perf_counter() - start
        assert self._filled is not None
        self._filled.crop(-len(ids))
        assert self._filled.get_seq_length() == self._past
        return spent

    @torch.inference_mode()
    def cold(self, ids: Sequence[int]) -> float:
        """Seconds of a bare forward of a whole prompt in one piece."""
        tokens = torch.tensor([ids])
        start = time.perf_counter()
        self._model(input_ids=tokens, cache=DynamicCache(), use_cache=True, logits_to_keep=1)
        return time.perf_counter() - start

    @torch.inference_mode()
    def decode(self, ids: Sequence[int], written: int) -> float:
        """Tokens a second of greedy `generate()` behind a prompt, without the first token and its wait. What `fill`
        read of the prompt is not read again."""
        times: list[float] = []

        class Watch:
            def put(self, _: torch.Tensor) -> None:
                times.append(time.perf_counter())

            def end(self) -> None:
                pass

        self._model.generate(
            torch.tensor([ids]),
            attention_mask=torch.ones(1, len(ids), dtype=torch.long),
            max_new_tokens=written,
            min_new_tokens=written,
            do_sample=False,
            pad_token_id=0,
            streamer=Watch(),
            past_key_values=copy.deepcopy(self._filled),
        )
        first, last = times[1], times[-1]  # the prompt itself is put first
        return (written - 1) / (last - first)

"""Every supported class on a GPU that is not there: nothing of it is left on the CPU, no kernel gets what it does not
take, the numbers are those of the CPU, and the processor waits once for each token."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from engine.cache.store import Lane
from engine.models.from_transformers import TransformersNetwork
from engine.models.lane_cache import check_reuse
from engine.models.loaded import LoadedModel
from tests.depth import cases
from tests.engine.gpu.fake_gpu import FakeGpu, Kind
from tests.engine.model_zoo import CASES, ROPE_CASES, ModelCase
from tests.engine.models.test_classes import make_subject, prompt

CUT, LENGTH, TOKENS = 21, 45, 2
NEAR = {torch.float32: 2e-4, torch.bfloat16: 0.15, torch.float16: 0.03}
"""How far a logit may be off, as a share of the largest: our attention on the CPU adds up in fp32."""

SINGLE = ("Llama", "Gemma-2", "GPT-OSS", "Qwen3-MoE", "DeepSeek-V3", "Gemma-3n")
EVERY = [
    (case, kind, dtype)
    for case in CASES + ROPE_CASES
    for kind in ("cuda", "mps")
    for dtype in (torch.float32, torch.bfloat16, torch.float16)
]
IN_EACH_RUN = [
    (case, kind, dtype)
    for case, kind, dtype in EVERY
    if (kind, dtype) == ("cuda", torch.bfloat16)
    or (kind == "mps" and case.name in SINGLE and dtype is torch.float16)
    or (kind == "mps" and case.name == "Llama")
]


def name(value: object) -> str | None:
    """What a parameter is called in the name of a test."""
    return value.name if isinstance(value, ModelCase) else None


@pytest.mark.parametrize(("case", "kind", "dtype"), cases(EVERY, IN_EACH_RUN), ids=name)
def test_class_runs_on_the_device_and_waits_once_a_token(case: ModelCase, kind: Kind, dtype: torch.dtype) -> None:
    subject = make_subject(case)
    model = subject.ours.to(dtype)
    on_cpu = play(LoadedModel(TransformersNetwork(model), subject.model.tokenizer, "/nowhere"))[0]
    with FakeGpu(kind) as gpu:
        there = LoadedModel(TransformersNetwork(model.to(gpu.device)), subject.model.tokenizer, "/nowhere")
        assert there.device == gpu.device
        gpu.is_strict = case.is_fast and dtype is not torch.float32
        found, waits = play(there, gpu)
        assert waits == ["loaded.py:forward (a copy from " + kind + " to cpu)"] * TOKENS
    for one, other in zip(found, on_cpu, strict=True):
        assert one.device.type == "cpu"
        assert float((one - other).abs().max() / other.abs().max()) < NEAR[dtype]


@pytest.mark.parametrize("kind", ["cuda", "mps"])
def test_the_check_at_load_runs_on_the_device(kind: Kind) -> None:
    """Of a class that is opened with it."""
    subject = make_subject(next(case for case in CASES if case.name == "Gemma-3"))
    with FakeGpu(kind) as gpu:
        network = TransformersNetwork(subject.ours.to(torch.bfloat16).to(gpu.device))
        check_reuse(network.model, network.layout, torch.inference_mode()(network.forward))


def play(model: LoadedModel, gpu: FakeGpu | None = None) -> tuple[list[Tensor], Sequence[str]]:
    """The logits of a prompt read in two pieces and of the tokens behind it, and what waited for these."""
    ids = prompt(LENGTH)
    lane = Lane(model.layout, LENGTH + TOKENS, fill=float("nan"))
    lane.regime = model.reuse.regime(LENGTH + TOKENS)
    found = [model.forward(ids[:CUT], lane, 0), model.forward(ids[CUT:], lane, CUT)]
    before = len(gpu.waits) if gpu else 0
    found += [model.forward([5 + index], lane, LENGTH + index, is_answer=True) for index in range(TOKENS)]
    return found, gpu.waits[before:] if gpu else ()

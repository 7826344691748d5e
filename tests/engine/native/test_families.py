"""The compiled step for every family that our own forward pass knows, against transformers' classes."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from transformers import PreTrainedConfig

from engine.cache.store import Lane
from engine.llama.compiled_step import NativeStep
from engine.llama.forward import LlamaForward
from engine.models.from_transformers import weights_of
from engine.native import library as native_library
from engine.types import LONG
from tests.depth import cases
from tests.engine.llama.test_forward import OTHERS, SIZES, build, own_logits
from tests.engine.model_zoo import CASES, ROPE_CASES, SWITCH

pytestmark = pytest.mark.skipif(native_library.library() is None, reason="there is no compiled part on this machine")

ZOO = {case.name: case for case in (*CASES, *ROPE_CASES) if case.is_fast and not case.wrapper}
FAMILIES = [*ZOO, *OTHERS]
IDS = [(7 * i * i + 3 * i) % SIZES["vocab_size"] for i in range(300)]
PIECE = 256
"""Keys that a thread takes at a time."""


def config_of(name: str) -> PreTrainedConfig:
    return ZOO[name].config() if name in ZOO else OTHERS[name]


def most_before(name: str, wanted: int, behind: int) -> int:
    """So many tokens, or as many as there may be in front of some others."""
    return min(wanted, config_of(name).max_position_embeddings - behind)


def behind(forward: LlamaForward, before: int, until: int) -> Lane:
    """A lane with the keys and values of the first tokens of a sequence that is `until` tokens long in the end."""
    is_long = any(rope.long is not None for rope in forward.weights.decoder.ropes.values()) and until > SWITCH
    lane = Lane(forward.layout, until, fill=float("nan"))
    lane.regime = LONG if is_long else ""
    if before:
        forward(IDS[:before], lane, 0)
    return lane


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize(
    "before", cases([0, 1, 18, SWITCH - 3, SWITCH + 3, PIECE - 2], always=[0, SWITCH + 3, PIECE - 2])
)
@torch.inference_mode()
def test_some_tokens_have_the_numbers_of_the_class(name: str, before: int) -> None:
    """From the first on, across windows and across pieces of keys."""
    model, before = build(config_of(name)), most_before(name, before, 3)
    forward, end = LlamaForward(weights_of(model, None)), before + 3
    found = forward._logits(NativeStep(forward.weights)(IDS[before:end], behind(forward, before, end), before))
    torch.testing.assert_close(found[-1], own_logits(model, IDS[:end]), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", FAMILIES)
@torch.inference_mode()
def test_an_answer_is_written_by_it(name: str) -> None:
    """A family that falls back to torch writes answers two to three times as slowly."""
    forward = LlamaForward(weights_of(build(config_of(name)), "int8"))
    assert forward.at_once == native_library.MOST_TOKENS


def numbers(forward: LlamaForward, before: int, sizes: list[int]) -> list[Tensor]:
    """The logits after each of eight tokens in passes of these sizes, and what they leave in the lane."""
    lane, found, start = behind(forward, before, before + 8), [], before
    for size in sizes:
        found.append(forward.steps(IDS[start : start + size], lane, start))
        start += size
    return [torch.cat(found), *lane.keys, *lane.values]


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@torch.inference_mode()
def test_tokens_at_once_have_the_bits_of_single_ones(name: str, dtype: torch.dtype) -> None:
    """By any number of threads."""
    forward, before = (
        LlamaForward(weights_of(build(config_of(name)).to(dtype), "int4")),
        most_before(name, PIECE - 4, 8),
    )
    torch.set_num_threads(1)
    expected = numbers(forward, before, [1] * 8)
    for count, sizes in enumerate([[8], [5, 3], [1, 7]], 1):
        torch.set_num_threads(count)
        for ours, alone in zip(numbers(forward, before, sizes), expected, strict=True):
            assert torch.equal(ours, alone), (count, sizes)


@pytest.mark.parametrize("name", cases(FAMILIES, always=["Gemma-2", "OLMo-3"]))
@torch.inference_mode()
def test_what_is_no_number_does_not_get_lost(name: str) -> None:
    """Not in a bounded score, an activation or a norm: a model whose numbers left their range is refused by its
    logits."""
    forward = LlamaForward(weights_of(build(config_of(name)), "int8"))
    lane = behind(forward, 9, 12)
    lane.keys[0][0, :, 8] = float("nan")
    assert not forward.steps(IDS[9:12], lane, 9).isfinite().any()

"""The compiled part where it could do harm: outside the lane, beside other threads, over weights it does not know."""

from __future__ import annotations

import pytest
import torch

from engine.lanecache import probe_layout
from engine.lean import LeanForward
from engine.network import weights_of
from engine.store import KVLayout
from tests.engine.test_lean import build
from tests.engine.test_native import CONFIGS, needs_native

pytestmark = needs_native


def make() -> tuple[LeanForward, KVLayout]:
    """A small model in few bits, and the layout of its lanes."""
    model = build(CONFIGS["qwen3"])
    return LeanForward(weights_of(model, "int4")), probe_layout(model)


@pytest.mark.parametrize("part", ["self_attn.q_proj", "mlp.down_proj", "input_layernorm"])
@torch.inference_mode()
def test_weights_of_several_number_types_are_left_to_torch(part: str) -> None:
    model = build(CONFIGS["qwen3"]).bfloat16()
    model.model.layers[2].get_submodule(part).float()
    assert not weights_of(model, "int4").is_native


@torch.inference_mode()
def test_query_heads_that_belong_to_no_kv_head_are_left_to_torch() -> None:
    """Which then refuses them: here their sums would be of memory that nobody wrote."""
    model = build(CONFIGS["qwen3"])
    model.config.num_attention_heads = 5
    assert not weights_of(model, "int4").is_native

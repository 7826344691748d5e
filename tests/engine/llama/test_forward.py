"""Our own forward pass against transformers' own, and few-bit weights against the weights they stand for."""

from __future__ import annotations

import pytest
import torch
from transformers import (
    Exaone4Config,
    Gemma3TextConfig,
    LlamaConfig,
    MinistralConfig,
    MistralConfig,
    Phi3Config,
    PreTrainedConfig,
    Qwen2Config,
    Qwen3Config,
    SeedOssConfig,
)
from transformers.models.auto.modeling_auto import AutoModelForCausalLM

from engine.cache.store import Lane
from engine.llama.forward import LlamaForward
from engine.models import attention_hook as interface
from engine.models import from_transformers as network
from engine.models.from_transformers import weights_of
from engine.models.lane_cache import LaneCache, probe_layout
from engine.weights import few_bits as packing
from engine.weights import quantise as quant

SIZES = {
    "vocab_size": 96,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 256,
}
CONFIGS = {
    "llama": LlamaConfig(**SIZES),
    "llama with biases": LlamaConfig(**SIZES, attention_bias=True, mlp_bias=True),
    "llama, tied": LlamaConfig(**SIZES, tie_word_embeddings=True),
    "mistral without a window": MistralConfig(**SIZES, sliding_window=None),
    "qwen2": Qwen2Config(**SIZES),
    "qwen3": Qwen3Config(**SIZES),
}
IDS = [(7 * i * i + 3 * i) % 96 for i in range(70)]


def build(config: PreTrainedConfig) -> torch.nn.Module:
    interface.register()
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, attn_implementation=interface.NAME)
    for parameter in model.parameters():  # biases and norms start as zeros and ones: make them matter
        parameter.data += 0.02 * torch.randn_like(parameter)
    return model.eval().requires_grad_(False)


def own_logits(model: torch.nn.Module, ids: list[int]) -> torch.Tensor:
    """What transformers' class computes for the last token, without any cache."""
    return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1]


OTHERS = {
    "qwen2 with windows": Qwen2Config(**SIZES, use_sliding_window=True, sliding_window=16, max_window_layers=1),
    "llama with gelu": LlamaConfig(**{**SIZES, "hidden_act": "gelu"}),
    "exaone4": Exaone4Config(**SIZES, sliding_window=16, sliding_window_pattern=2),
    "seed-oss": SeedOssConfig(**SIZES, attention_bias=True, attention_out_bias=True),
    "ministral": MinistralConfig(**SIZES, sliding_window=16),
    "phi3, half of a head turned": Phi3Config(
        **SIZES,
        pad_token_id=0,
        rope_parameters={"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5},
    ),
}
"""Models whose layers are not plain, and that the zoo has not."""


@pytest.mark.parametrize("name", [*CONFIGS, *OTHERS])
@pytest.mark.parametrize("pieces", [[70], [33, 37], [64, 5, 1], [1] * 20 + [50]])
@torch.inference_mode()
def test_lean_equals_the_models_own_forward(name: str, pieces: list[int]) -> None:
    model = build((CONFIGS | OTHERS)[name])
    assert network.fits(model)
    expected = own_logits(model, IDS)
    forward = LlamaForward(weights_of(model, None))
    lane = Lane(probe_layout(model), 80, fill=float("nan"))
    start = 0
    for size in pieces:
        logits = forward(IDS[start : start + size], lane, start)
        start += size
    torch.testing.assert_close(logits, expected, atol=2e-5, rtol=2e-5)


@torch.inference_mode()
def test_fused_weights_are_no_second_copy() -> None:
    model = build(CONFIGS["llama"])
    before = own_logits(model, IDS)
    LlamaForward(weights_of(model, None))
    layer = model.model.layers[0]
    storages = {part.weight.untyped_storage().data_ptr() for part in (layer.self_attn.q_proj, layer.self_attn.v_proj)}
    assert len(storages) == 1
    assert torch.equal(own_logits(model, IDS), before)


@pytest.mark.parametrize(
    "config",
    [
        LlamaConfig(**{**SIZES, "hidden_act": "relu"}),
        Qwen2Config(**SIZES, is_causal=False),
        Gemma3TextConfig(**SIZES, use_bidirectional_attention=True),
    ],
)
def test_models_that_differ_take_their_own_forward(config: PreTrainedConfig) -> None:
    assert not network.fits(build(config))


@pytest.mark.parametrize("rows", [1, 2, 4])
@torch.inference_mode()
def test_int4_product_equals_the_product_with_its_codes(rows: int) -> None:
    torch.manual_seed(1)
    weight, x = torch.randn(64, 96).bfloat16(), torch.randn(rows, 96).bfloat16()
    codes, scale, zero = quant.quantise_int4(weight)
    groups = (codes.reshape(64, -1, 32) - 8) * scale.bfloat16().float()[..., None] + zero.bfloat16().float()[..., None]
    torch.testing.assert_close(
        packing.Int4(weight)(x).float(), x.float() @ groups.reshape(64, 96).T, atol=0.15, rtol=0.02
    )


@pytest.mark.parametrize("rows", [1, 3])
@torch.inference_mode()
def test_int8_product_is_close_to_the_full_one(rows: int) -> None:
    torch.manual_seed(2)
    weight, x = torch.randn(64, 96).bfloat16(), torch.randn(rows, 96).bfloat16()
    torch.testing.assert_close(packing.Int8(weight)(x).float(), x.float() @ weight.float().T, atol=0.3, rtol=0.03)


def test_fitting_takes_int4_only_for_weights_that_were_four_bit() -> None:
    torch.manual_seed(3)
    full = torch.randn(64, 96)
    codes, scale, zero = quant.quantise_int4(full)
    four_bit = ((codes.reshape(64, -1, 32) - 8) * scale[..., None] + zero[..., None]).reshape(64, 96)
    assert quant.takes_int4(four_bit.bfloat16(), "fitting")
    assert not quant.takes_int4(full.bfloat16(), "fitting")
    assert quant.takes_int4(full.bfloat16(), "int4")
    assert not quant.takes_int4(torch.randn(64, 95).bfloat16(), "int4")


def test_torchs_int4_kernel_takes_16_outputs_at_a_time() -> None:
    odd = torch.randn(63, 96)
    assert packing.pack(odd, "int4", is_native=False).kind == "int8"
    assert packing.pack(odd, "int4", is_native=True).kind == "int4"


def test_generic_cache_and_lean_forward_share_a_lane() -> None:
    """A lane filled by one path can be continued by the other: the layout is the same."""
    with torch.inference_mode():
        model = build(CONFIGS["llama"])
        expected = own_logits(model, IDS)
        lane = Lane(probe_layout(model), 80)
        cache = LaneCache(model.config.num_hidden_layers)
        cache.aim(lane, 0)
        model(input_ids=torch.tensor([IDS[:40]]), position_ids=torch.arange(40)[None], cache=cache, use_cache=True)
        torch.testing.assert_close(LlamaForward(weights_of(model, None))(IDS[40:], lane, 40), expected)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("size", [1, 3, 4, 5, 40])
@torch.inference_mode()
def test_a_prompt_is_read_in_the_same_numbers_whatever_the_length_of_its_pieces(
    size: int, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pieces of up to four tokens were read with few-bit weights: a prompt of which all but that was known was answered
    otherwise than when it was read for the first time."""
    if not compiled:
        monkeypatch.setattr("engine.native.library.library", lambda: None)
    model = build(CONFIGS["llama"])
    whole = Lane(probe_layout(model), 80)
    fast = LlamaForward(weights_of(model, "int4"))
    expected = fast(IDS[:60], whole, 0)
    lane = Lane(probe_layout(model), 80)
    for start in range(0, 60, size):
        logits = fast(IDS[start : min(60, start + size)], lane, start)
    assert torch.equal(logits, expected)

"""Every architecture that is opened from a GGUF file, with every way of scaling positions: the logits are those of the
model that was put in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gguf
import pytest
import torch
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, PreTrainedModel

from engine.cache.store import Lane
from engine.gguf.config import ARCHITECTURES
from engine.library.resolve import resolve
from engine.llama.checkpoint import LeanNetwork
from engine.llama.family import FAMILIES
from engine.models import from_gguf
from engine.models.loaded import LoadedModel, load
from tests.engine.gguf_models import correlation, random_model, write_model
from tests.engine.model_files import VOCABULARY

CONTEXT, ORIGINAL, WINDOW = 512, 64, 40
LENGTHS = (50, 200)
"""Within the window and the length that positions were scaled from, and far behind both."""

TINY = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "head_dim": 32,
    "max_position_embeddings": CONTEXT,
    "initializer_range": 0.2,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500_000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
OTHER_DIVISORS = LLAMA3 | {"rope_theta": 10_000.0, "original_max_position_embeddings": ORIGINAL, "low_freq_factor": 0.5}
LINEAR = {"rope_type": "linear", "rope_theta": 10_000.0, "factor": 4.0}
YARN = {"rope_type": "yarn", "rope_theta": 10_000.0, "factor": 8.0, "original_max_position_embeddings": ORIGINAL}
SAID_LINEAR = {"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}
SAID_YARN = {
    "rope.scaling.type": "yarn",
    "rope.scaling.factor": 8.0,
    "rope.scaling.original_context_length": ORIGINAL,
}
PLAIN = {"rope_type": "default", "rope_theta": 10_000.0}
EXPERTS = {"num_local_experts": 4, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
SAID_WINDOW = {"attention.sliding_window": WINDOW}


def longrope(dim: int) -> dict[str, Any]:
    """LongRoPE for so many turned numbers of a head."""
    return {
        "rope_type": "longrope",
        "rope_theta": 10_000.0,
        "short_factor": [1 + index / 8 for index in range(dim // 2)],
        "long_factor": [1.0 + index for index in range(dim // 2)],
        "original_max_position_embeddings": ORIGINAL,
        "attention_factor": 1.25,
    }


SAID_LONGROPE = {"rope.scaling.attn_factor": 1.25, "rope.scaling.original_context_length": ORIGINAL}


@dataclass(frozen=True)
class Case:
    """A model of a class with `changes`, and what its file says besides the sizes."""

    name: str
    architecture: str
    model_type: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    said: Mapping[str, Any] = field(default_factory=dict)

    def model(self) -> PreTrainedModel:
        """The model with random numbers."""
        torch.manual_seed(0)
        config = CONFIG_MAPPING[self.model_type](**{**TINY, **self.changes})
        return random_model(AutoModelForCausalLM.from_config(config, attn_implementation="eager"))


def rope(parameters: Mapping[str, Any], **others: Any) -> dict[str, Any]:
    return {"rope_parameters": dict(parameters), **others}


def nested(full: Mapping[str, Any], **others: Any) -> dict[str, Any]:
    layers = {"full_attention": dict(full), "sliding_attention": dict(PLAIN)}
    return rope(layers, sliding_window=WINDOW, **others)


CASES = [
    Case("Llama", "llama", "llama"),
    Case("Llama, tied", "llama", "llama", {"tie_word_embeddings": True}),
    Case("Llama with biases", "llama", "llama", {"attention_bias": True, "mlp_bias": True}),
    Case("Llama, llama3", "llama", "llama", rope(LLAMA3)),
    Case("Llama, llama3 times 32", "llama", "llama", rope(LLAMA3 | {"factor": 32.0}, tie_word_embeddings=True)),
    Case("Llama, other divisors", "llama", "llama", rope(OTHER_DIVISORS)),
    Case("Llama, linear", "llama", "llama", rope(LINEAR), SAID_LINEAR),
    Case("Llama, linear by its old name", "llama", "llama", rope(LINEAR), {"rope.scale_linear": 4.0}),
    Case("Llama, yarn", "llama", "llama", rope(YARN), SAID_YARN),
    Case(
        "Llama, yarn with all its numbers",
        "llama",
        "llama",
        rope(YARN | {"attention_factor": 0.75, "beta_fast": 16.0, "beta_slow": 2.0}),
        SAID_YARN
        | {
            "rope.scaling.yarn_attn_factor": 0.75,
            "rope.scaling.yarn_beta_fast": 16.0,
            "rope.scaling.yarn_beta_slow": 2.0,
        },
    ),
    Case("Llama, longrope", "llama", "llama", rope(longrope(32)), SAID_LONGROPE | {"rope.scaling.type": "longrope"}),
    Case("Mistral with a window", "llama", "mistral", {"sliding_window": WINDOW}, SAID_WINDOW),
    Case("Mistral-Small", "mistral3", "mistral", {"sliding_window": None}),
    Case(
        "Ministral-3",
        "mistral3",
        "ministral3",
        rope(YARN | {"mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1}),
        SAID_YARN | {"rope.scaling.yarn_log_multiplier": 1.0, "attention.temperature_scale": 0.1},
    ),
    Case("Mixtral", "llama", "mixtral", EXPERTS),
    Case("Qwen2", "qwen2", "qwen2"),
    Case("Qwen2, yarn", "qwen2", "qwen2", rope(YARN), SAID_YARN),
    Case("Qwen3", "qwen3", "qwen3", {"head_dim": 64}),
    Case("Qwen3, yarn", "qwen3", "qwen3", rope(YARN), SAID_YARN),
    Case(
        "Qwen2-MoE",
        "qwen2moe",
        "qwen2_moe",
        EXPERTS | {"shared_expert_intermediate_size": 64},
        {"expert_feed_forward_length": 32, "expert_shared_feed_forward_length": 64},
    ),
    Case("Qwen3-MoE", "qwen3moe", "qwen3_moe", EXPERTS | {"norm_topk_prob": True}, {"expert_feed_forward_length": 32}),
    Case(
        "Phi-2",
        "phi2",
        "phi",
        rope(PLAIN | {"partial_rotary_factor": 0.5}, head_dim=16, num_key_value_heads=4),
        {"rope.dimension_count": 8},
    ),
    Case("Phi-3 with a window", "phi3", "phi3", {"sliding_window": WINDOW}, SAID_WINDOW),
    Case(
        "Phi-3, longrope",
        "phi3",
        "phi3",
        rope(longrope(32), original_max_position_embeddings=ORIGINAL, num_attention_heads=2),
        SAID_LONGROPE,
    ),
    Case(
        "Phi-4, longrope for a part of a head",
        "phi3",
        "phi3",
        rope(
            longrope(24) | {"partial_rotary_factor": 0.75},
            original_max_position_embeddings=ORIGINAL,
            num_attention_heads=2,
        ),
        SAID_LONGROPE | {"rope.dimension_count": 24},
    ),
    Case("Gemma", "gemma", "gemma"),
    Case("Gemma-2", "gemma2", "gemma2", {"sliding_window": WINDOW, "query_pre_attn_scalar": 32}, SAID_WINDOW),
    Case(
        "Gemma-2 with 27 billion",
        "gemma2",
        "gemma2",
        {"sliding_window": WINDOW, "query_pre_attn_scalar": 16, "num_hidden_layers": 46, "initializer_range": 0.02},
        SAID_WINDOW,
    ),
    Case(
        "Gemma-2 with a scale",
        "gemma2",
        "gemma2",
        {"sliding_window": WINDOW, "query_pre_attn_scalar": 25},
        SAID_WINDOW | {"attention.scale": 0.2},
    ),
    Case("Gemma-3", "gemma3", "gemma3_text", nested(PLAIN, query_pre_attn_scalar=32, num_hidden_layers=7), SAID_WINDOW),
    Case(
        "Gemma-3, linear",
        "gemma3",
        "gemma3_text",
        nested(LINEAR, query_pre_attn_scalar=32, num_hidden_layers=7),
        SAID_WINDOW | SAID_LINEAR,
    ),
    Case(
        "Gemma-3 with 27 billion",
        "gemma3",
        "gemma3_text",
        nested(PLAIN, query_pre_attn_scalar=16, num_hidden_layers=62, initializer_range=0.02),
        SAID_WINDOW,
    ),
    Case(
        "Granite",
        "granite",
        "granite",
        {
            "head_dim": 16,
            "attention_multiplier": 0.1,
            "embedding_multiplier": 2.0,
            "residual_multiplier": 0.5,
            "logits_scaling": 3.0,
        },
        {"attention.scale": 0.1, "embedding_scale": 2.0, "residual_scale": 0.5, "logit_scale": 3.0},
    ),
    Case("OLMo-2", "olmo2", "olmo2"),
    Case("OLMo-3, yarn", "olmo2", "olmo3", nested(YARN, num_hidden_layers=4), SAID_WINDOW | SAID_YARN),
    Case(
        "OLMo-3 with kinds of layers listed",
        "olmo2",
        "olmo3",
        nested(PLAIN, layer_types=["full_attention", "sliding_attention"]),
        SAID_WINDOW | {"attention.sliding_window_pattern": [False, True]},
    ),
    Case("OLMoE", "olmoe", "olmoe", EXPERTS | {"head_dim": 16}),
    Case(
        "EXAONE-4, llama3", "exaone4", "exaone4", rope(LLAMA3, sliding_window=None, layer_types=["full_attention"] * 2)
    ),
    Case(
        "EXAONE-4 with a window", "exaone4", "exaone4", {"sliding_window": WINDOW, "num_hidden_layers": 4}, SAID_WINDOW
    ),
    Case(
        "Nemotron",
        "nemotron",
        "nemotron",
        rope(PLAIN | {"partial_rotary_factor": 0.5}),
        {"rope.dimension_count": 16},
    ),
    Case("ERNIE-4.5", "ernie4_5", "ernie4_5"),
    Case("SmolLM3", "smollm3", "smollm3", {"num_hidden_layers": 5}),
    Case("StarCoder2", "starcoder2", "starcoder2"),
    Case("GPT-2", "gpt2", "gpt2", {"n_embd": 64, "n_head": 4, "n_layer": 2, "n_positions": CONTEXT, "n_inner": 96}),
    Case(
        "GLM-4",
        "glm4",
        "glm4",
        rope(PLAIN | {"partial_rotary_factor": 0.5}),
        {"rope.dimension_count": 16},
    ),
    Case("Command-R", "command-r", "cohere", {"use_qk_norm": True, "head_dim": 16}, {"logit_scale": 0.0625}),
    Case(
        "Cohere-2",
        "cohere2",
        "cohere2",
        {"sliding_window": WINDOW, "num_hidden_layers": 5, "head_dim": 16},
        SAID_WINDOW | {"logit_scale": 0.0625},
    ),
    Case(
        "GPT-OSS",
        "gpt-oss",
        "gpt_oss",
        rope(YARN | {"truncate": False}, sliding_window=WINDOW, **EXPERTS),
        SAID_WINDOW | SAID_YARN | {"expert_feed_forward_length": 96},
    ),
    Case("Seed-OSS", "seed_oss", "seed_oss"),
    Case("Arcee", "arcee", "arcee"),
]


def ignore(stage: str, fraction: float | None) -> None:
    """Progress that nobody watches."""


def logits_of(loaded: LoadedModel, prompt: torch.Tensor, cut: int = 0, *, is_answer: bool = False) -> torch.Tensor:
    """The logits after the last token, of a prompt that is read in two pieces where it is cut. `is_answer`: the second
    is one that the model writes."""
    length = prompt.shape[1]
    lane = Lane(loaded.layout, length)
    lane.regime = loaded.reuse.regime(length)
    if cut:
        loaded.forward(prompt[0, :cut].tolist(), lane, 0)
    return loaded.forward(prompt[0, cut:].tolist(), lane, cut, is_answer=is_answer)


def ids(length: int) -> torch.Tensor:
    return torch.randint(4, VOCABULARY, (1, length), generator=torch.Generator().manual_seed(length))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_logits_are_those_of_the_model_put_in(case: Case, tmp_path: Path) -> None:
    model = case.model()
    loaded = load(write_model(tmp_path / "tiny.gguf", model, case.architecture, case.said), "cpu", "fp32")
    for length in LENGTHS:
        expected = model(ids(length)).logits[0, -1]
        torch.testing.assert_close(logits_of(loaded, ids(length)), expected, rtol=1e-3, atol=1e-3)


def test_every_architecture_has_a_case() -> None:
    assert {case.architecture for case in CASES} == set(ARCHITECTURES)


@pytest.mark.parametrize("name", ["Llama, llama3", "Llama, other divisors"])
def test_a_file_is_opened_with_its_positions(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the file to the answer: the whole way that a chat takes."""
    monkeypatch.setenv("HEADSTART_DATA_DIR", str(tmp_path / "home"))
    model = next(case for case in CASES if case.name == name).model()
    loaded = load(resolve(str(write_model(tmp_path / "tiny.gguf", model, "llama", {})), ignore), "cpu", "fp32")
    found = logits_of(loaded, ids(400), cut=300)
    assert correlation(found, model(ids(400)).logits[0, -1]) > 0.9999


LEAN = [case for case in CASES if case.model_type in FAMILIES]


@pytest.mark.parametrize("case", [case for case in LEAN if "27 billion" not in case.name], ids=lambda case: case.name)
def test_packed_weights_of_every_family(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They stay packed, the logits are those of transformers' own forward pass over the same file, where a prompt is
    cut changes no bit, and an answer is written as it would be read."""
    monkeypatch.setattr(from_gguf, "full_is_cheap", lambda *_: False)
    kind = gguf.GGMLQuantizationType.Q8_0
    path = write_model(tmp_path / "tiny.gguf", case.model(), case.architecture, case.said, kind)
    ours = load(path, "cpu", "fp32")
    monkeypatch.setattr("engine.llama.family.FAMILIES", {})
    theirs = load(path, "cpu", "fp32")
    assert isinstance(ours.network, LeanNetwork)
    assert not isinstance(theirs.network, LeanNetwork)
    assert (ours.reuse, ours.layout, ours.end_ids) == (theirs.reuse, theirs.layout, theirs.end_ids)
    for length in LENGTHS:
        whole = logits_of(ours, ids(length))
        torch.testing.assert_close(whole, logits_of(theirs, ids(length)), rtol=1e-3, atol=1e-3)
        for cut in (1, 33, length - 1):
            assert torch.equal(logits_of(ours, ids(length), cut), whole)
        torch.testing.assert_close(
            logits_of(ours, ids(length), length - 1, is_answer=True), whole, rtol=1e-3, atol=4e-3
        )
    assert ours.weights_bytes < theirs.weights_bytes

"""Every model class that is promised something, as a config of the real transformers class small enough to run at once.

Windows, chunks and switches of the position code lie where a prompt of 67 tokens crosses them several times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from transformers import CONFIG_MAPPING, PreTrainedConfig

from engine.models import support as reuse
from engine.types import ReuseName

WINDOW = 20
"""Tokens that a sliding layer sees; no multiple of a block."""

SWITCH = 40
"""Tokens up to which LongRoPE uses its short frequencies."""

LENGTH = 3 * WINDOW + 7
VOCABULARY = 96

SLIDING: ReuseName = "full, masked window"
UP_TO: ReuseName = "full, up to a length"
TWO_SIDES: ReuseName = "full, on each side of a length"


@dataclass(frozen=True)
class ModelCase:
    """A class under test. `note` is what a user should know, `length` how long a prompt the test may use.

    `is_fast` says that the engine computes the class by a forward pass of its own, `wrapper` names a class with images
    around the text model.
    """

    name: str
    model_type: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    reuse: ReuseName = "full"
    note: str = ""
    length: int = LENGTH
    is_fast: bool = False
    wrapper: str = ""

    def config(self) -> PreTrainedConfig:
        """A fresh config of the class."""
        text = CONFIG_MAPPING[self.model_type](**TINY | dict(self.changes))
        if not self.wrapper:
            return text
        return CONFIG_MAPPING[self.wrapper](text_config=text.to_dict(), vision_config=VISION)


@dataclass(frozen=True)
class RefusedCase:
    """A class that is not opened, and why; the config is the class's default one, with `changes`."""

    name: str
    model_type: str
    reason: str
    changes: Mapping[str, Any] = field(default_factory=dict)

    def config(self) -> PreTrainedConfig:
        """A fresh config of the class."""
        return CONFIG_MAPPING[self.model_type](**self.changes)


TINY = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "max_position_embeddings": 512,
    "initializer_range": 0.3,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
VISION = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "image_size": 16,
    "patch_size": 8,
}
GROUPED = {"num_hidden_layers": 3, "num_key_value_heads": 2}
HEADS = GROUPED | {"head_dim": 8}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
WINDOWED = {"sliding_window": WINDOW}
MIXED = WINDOWED | {
    "num_hidden_layers": 4,
    "num_key_value_heads": 2,
    "layer_types": ["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"],
}
SHARED = MIXED | {
    "num_hidden_layers": 6,
    "num_kv_shared_layers": 2,
    "layer_types": ["sliding_attention", "sliding_attention", "full_attention"] * 2,
    "head_dim": 8,
    "hidden_size_per_layer_input": 8,
    "vocab_size_per_layer_input": VOCABULARY,
}
LATENT = {
    "num_hidden_layers": 3,
    "num_key_value_heads": 4,
    "q_lora_rank": 16,
    "kv_lora_rank": 12,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 4,
    "v_head_dim": 6,
    "n_routed_experts": 4,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 24,
    "first_k_dense_replace": 1,
    "topk_group": 1,
}
CHUNKED = {
    "num_hidden_layers": 4,
    "attention_chunk_size": WINDOW,
    "no_rope_layers": [1, 1, 1, 0],
    "num_local_experts": 2,
    "intermediate_size_mlp": 48,
    "interleave_moe_layer_step": 2,
    "floor_scale": 16,
}
LINEAR = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 4.0}
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 16.0, "original_max_position_embeddings": 32}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 10000.0,
    "short_factor": [1.0, 1.1, 1.2, 1.3],
    "long_factor": [1.5, 3.0, 6.0, 12.0],
    "original_max_position_embeddings": SWITCH,
}
LONG = {"rope_parameters": LONGROPE, "original_max_position_embeddings": SWITCH}
GRANITE = {"attention_multiplier": 0.3, "residual_multiplier": 0.5, "embedding_multiplier": 2.0, "logits_scaling": 2.0}

ALL_KEPT = "Layers with a window keep every token, so a cached token costs what it would without windows."
LATENTS = "What is cached is the compressed latent, a fraction of other classes' keys and values."
SHARES = "Layers that share keys and values with an earlier one cost nothing in the cache."

CASES = [
    ModelCase("Llama", "llama", HEADS, is_fast=True),
    ModelCase("Qwen2", "qwen2", GROUPED, is_fast=True),
    ModelCase("Qwen3", "qwen3", HEADS, is_fast=True),
    ModelCase("Mistral", "mistral", HEADS | {"sliding_window": None}, is_fast=True),
    ModelCase("Mistral with sliding window", "mistral", HEADS | WINDOWED, SLIDING, ALL_KEPT, is_fast=True),
    ModelCase("Gemma", "gemma", HEADS, is_fast=True),
    ModelCase(
        "Gemma-2", "gemma2", MIXED | {"head_dim": 8, "query_pre_attn_scalar": 12}, SLIDING, ALL_KEPT, is_fast=True
    ),
    ModelCase(
        "Gemma-3", "gemma3_text", MIXED | {"head_dim": 8, "query_pre_attn_scalar": 12}, SLIDING, ALL_KEPT, is_fast=True
    ),
    ModelCase(
        "Gemma-3 with images",
        "gemma3_text",
        MIXED | {"head_dim": 8, "query_pre_attn_scalar": 12},
        SLIDING,
        "Text only; the part for images is loaded and takes memory.",
        wrapper="gemma3",
    ),
    ModelCase("Gemma-3n", "gemma3n_text", SHARED | {"laurel_rank": 4, "altup_num_inputs": 2}, SLIDING, SHARES),
    ModelCase("Gemma-4", "gemma4_text", SHARED | {"global_head_dim": 16}, SLIDING, SHARES),
    ModelCase(
        "Gemma-4 with images",
        "gemma4_text",
        SHARED | {"global_head_dim": 16},
        SLIDING,
        "Text only; the part for images is loaded and takes memory.",
        wrapper="gemma4",
    ),
    ModelCase("Phi-3", "phi3", GROUPED | WINDOWED, SLIDING, ALL_KEPT, is_fast=True),
    ModelCase(
        "GPT-OSS",
        "gpt_oss",
        MIXED | {"head_dim": 8, "num_local_experts": 4, "num_experts_per_tok": 2, "rope_parameters": YARN},
        SLIDING,
        "Every head has an attention sink, so attention is written out: slower than for other classes.",
    ),
    ModelCase("OLMo-2", "olmo2", GROUPED, is_fast=True),
    ModelCase("OLMo-3", "olmo3", MIXED, SLIDING, ALL_KEPT, is_fast=True),
    ModelCase("Granite", "granite", GROUPED | GRANITE, is_fast=True),
    ModelCase("SmolLM3", "smollm3", GROUPED | {"no_rope_layers": [1, 0, 1]}, is_fast=True),
    ModelCase("Cohere-2", "cohere2", MIXED | {"logit_scale": 1.0}, SLIDING, ALL_KEPT),
    ModelCase("GLM-4", "glm4", HEADS | {"partial_rotary_factor": 0.5}),
    ModelCase(
        "Ministral-3", "ministral3", HEADS | {"rope_parameters": YARN | {"llama_4_scaling_beta": 0.5}}, is_fast=True
    ),
    ModelCase("Mixtral", "mixtral", HEADS | {"num_local_experts": 4}),
    ModelCase("Qwen2-MoE", "qwen2_moe", GROUPED | EXPERTS | {"shared_expert_intermediate_size": 24}),
    ModelCase("Qwen3-MoE", "qwen3_moe", HEADS | EXPERTS),
    ModelCase("DeepSeek-V2", "deepseek_v2", LATENT | {"n_group": 1}, note=LATENTS),
    ModelCase("DeepSeek-V3", "deepseek_v3", LATENT | {"n_group": 2}, note=LATENTS),
    ModelCase(
        "Llama-4", "llama4_text", HEADS | CHUNKED, SLIDING, "Layers with chunked attention keep every token too."
    ),
    ModelCase(
        "Llama-4 with images",
        "llama4_text",
        HEADS | CHUNKED,
        SLIDING,
        "Text only; the part for images is not loaded.",
        wrapper="llama4",
    ),
]

ROPE_CASES = [
    ModelCase("RoPE linear", "llama", HEADS | {"rope_parameters": LINEAR}, is_fast=True),
    ModelCase("RoPE yarn", "llama", HEADS | {"rope_parameters": YARN}, is_fast=True),
    ModelCase("RoPE llama3", "llama", HEADS | {"rope_parameters": LLAMA3}, is_fast=True),
    ModelCase(
        "RoPE dynamic NTK",
        "llama",
        HEADS | {"rope_parameters": DYNAMIC, "max_position_embeddings": LENGTH},
        UP_TO,
        "The context ends where earlier positions would begin to change.",
        is_fast=True,
    ),
    ModelCase(
        "LongRoPE (Phi-3.5, Phi-4-mini)",
        "phi3",
        GROUPED | LONG,
        TWO_SIDES,
        "Read anew once when a chat outgrows the first length.",
        is_fast=True,
    ),
]

REFUSED = [
    RefusedCase("Qwen3-Next", "qwen3_next", reuse.STATE),
    RefusedCase("Qwen3.5", "qwen3_5", reuse.STATE),
    RefusedCase("Falcon-H1", "falcon_h1", reuse.STATE),
    RefusedCase("Falcon-Mamba", "falcon_mamba", reuse.STATE),
    RefusedCase("LFM2", "lfm2", reuse.STATE, {"layer_types": ["conv", "full_attention"] * 16}),
    RefusedCase("Mamba", "mamba", reuse.STATE),
    RefusedCase("Mamba-2", "mamba2", reuse.STATE),
    RefusedCase("Jamba", "jamba", reuse.STATE),
    RefusedCase("Bamba", "bamba", reuse.STATE),
    RefusedCase("Zamba-2", "zamba2", reuse.STATE),
    RefusedCase("Granite-4 (hybrid)", "granitemoehybrid", reuse.STATE),
    RefusedCase("Nemotron-H", "nemotron_h", reuse.STATE),
    RefusedCase("Kimi-Linear", "kimi_linear", reuse.STATE),
    RefusedCase("MiniMax", "minimax", reuse.STATE),
    RefusedCase("RecurrentGemma", "recurrent_gemma", reuse.STATE),
    RefusedCase("RWKV", "rwkv", reuse.STATE),
    RefusedCase("xLSTM", "xlstm", reuse.STATE),
    RefusedCase("DeepSeek-V3.2", "deepseek_v32", reuse.INDEX),
    RefusedCase("DeepSeek-V4", "deepseek_v4", reuse.INDEX),
    RefusedCase("GLM-5", "glm_moe_dsa", reuse.INDEX),
    RefusedCase("BLOOM", "bloom", reuse.OWN_ATTENTION),
    RefusedCase("Falcon", "falcon", reuse.OWN_ATTENTION),
    RefusedCase("MPT", "mpt", reuse.OWN_ATTENTION),
    RefusedCase("T5", "t5", reuse.ENCODER),
    RefusedCase("BART", "bart", reuse.ENCODER),
    RefusedCase("Qwen2-VL", "qwen2_vl", reuse.NOT_TEXT),
    RefusedCase("Qwen3-VL", "qwen3_vl", reuse.NOT_TEXT),
    RefusedCase("Mistral-3 with images", "mistral3", reuse.NOT_TEXT),
    RefusedCase("LLaVA", "llava", reuse.NOT_TEXT),
    RefusedCase("EmbeddingGemma", "gemma3_text", reuse.BOTH_WAYS, {"use_bidirectional_attention": True}),
]

"""The configuration of a GGUF model, as the config.json of its transformers class has it.

Files written by llama.cpp's converter leave out what llama.cpp itself takes for granted: kinds of layers, scales of
attention, activations. Those stand here. https://github.com/ggml-org/llama.cpp/tree/master/src/models
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.gguf.header import GgufDamagedError, GgufForeignError, GgufHeader
from engine.gguf.metadata import Metadata
from engine.gguf.rope import rope_parameters

Config = dict[str, Any]

EMBEDDING, HEAD = "token_embd.weight", "output.weight"
_ENDS = ("eos_token_id", "eot_token_id", "eom_token_id")
_NEUTRAL: Mapping[str, tuple[float, ...]] = {
    **dict.fromkeys(("logit_scale", "embedding_scale", "residual_scale", "expert_weights_scale"), (0, 1)),
    **dict.fromkeys(("attention.scale", "attention.clamp_kqv", "attention.max_alibi_bias"), (0,)),
    **dict.fromkeys(("attention.temperature_scale", "attn_logit_softcapping", "final_logit_softcapping"), (0,)),
    **dict.fromkeys(("leading_dense_block_count", "expert_shared_count", "rope.scaling.alpha"), (0,)),
    **dict.fromkeys(("expert_group_count", "expert_gating_func"), (0, 1)),
    "attention.causal": (True,),
}
"""What changes the numbers of a model, and the values that do not. Where a file says anything else, and the model's
class does not follow it, the model would answer wrongly."""

_GEMMA_27B_LAYERS = {"gemma2": 46, "gemma3": 62}
_PHI3_4K_LAYERS, _PHI3_4K_CONTEXT, _PHI3_4K_WINDOW = (32, 40), 4096, 2047


def configuration(header: GgufHeader) -> Config:
    """The entries of config.json, `model_type` among them; what is not there is as the class has it by itself.

    Raises GgufForeignError for a model that cannot be opened from a GGUF file, GgufDamagedError.
    """
    made = ARCHITECTURES.get(header.architecture)
    if made is None:
        raise GgufForeignError(
            f'holds a model of the architecture "{header.architecture}", which cannot be opened from a GGUF file: get '
            "the model's safetensors folder instead."
        )
    try:
        said = Metadata(header)
        config = made(said)
        said.refuse_unused(_NEUTRAL)
        return config | special_tokens(header)
    except ArithmeticError as error:
        raise GgufDamagedError(f"the sizes of the model make no sense ({error})") from error


def special_tokens(header: GgufHeader) -> Config:
    """The ids of the tokens that begin a text, end an answer and fill gaps, as far as the file names them.

    The file names the ends of a text, of a turn (`eot`) and of a message (`eom`); each of them ends an answer.
    """
    named = {key: header.metadata.get(f"tokenizer.ggml.{key}") for key in (*_ENDS, "bos_token_id", "padding_token_id")}
    found = {key: id for key, id in named.items() if type(id) is int and 0 <= id < vocabulary(header)}
    ends = list(dict.fromkeys(found[key] for key in _ENDS if key in found))
    return {
        "bos_token_id": found.get("bos_token_id"),
        "eos_token_id": (ends[0] if len(ends) == 1 else ends) if ends else None,
        "pad_token_id": found.get("padding_token_id"),
    }


def vocabulary(header: GgufHeader) -> int:
    """How many tokens the model reads: the rows of its embedding."""
    embedding = header.tensors.get(EMBEDDING)
    if embedding is None:
        raise GgufForeignError(f"lacks {EMBEDDING}: download it again.")
    if len(embedding.shape) != 2 or 0 in embedding.shape:
        raise GgufDamagedError(f"{EMBEDDING} has the shape {embedding.shape}")
    if header.lengths.get("tokenizer.ggml.tokens", 0) > embedding.shape[0]:
        raise GgufDamagedError("the tokenizer has more tokens than the embedding has rows")
    return embedding.shape[0]


# What all have


def _sizes(said: Metadata) -> Config:
    """The sizes of a decoder, by the names that most classes have for them."""
    width, heads = said.whole("embedding_length"), said.whole("attention.head_count")
    if not 0 < heads <= width or (width % heads and not said.has("attention.key_length")):
        raise GgufDamagedError(f"{heads} heads cannot share {width} numbers")
    dim = said.whole("attention.key_length", width // heads)
    if said.whole("attention.value_length", dim) != dim:
        raise GgufForeignError(
            "has keys and values of different sizes, which cannot be opened from a GGUF file: get the model's "
            "safetensors folder instead."
        )
    if said.whole("nextn_predict_layers", 0):
        raise GgufForeignError(
            "has layers that guess several tokens at once (nextn_predict_layers), which cannot be opened from a GGUF "
            "file: get the model's safetensors folder instead."
        )
    return {
        "vocab_size": vocabulary(said.header),
        "hidden_size": width,
        "intermediate_size": said.whole("feed_forward_length"),
        "num_hidden_layers": said.whole("block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": said.whole("attention.head_count_kv", heads),
        "head_dim": dim,
        "max_position_embeddings": said.whole("context_length"),
        "tie_word_embeddings": HEAD not in said.header.tensors,
    }


def _rms(said: Metadata, may_be_partial: bool = False) -> Config:
    """Sizes, positions and the epsilon of RMS norms."""
    sizes = _sizes(said)
    return {
        **sizes,
        "rms_norm_eps": said.real("attention.layer_norm_rms_epsilon"),
        "rope_parameters": rope_parameters(said, sizes["head_dim"], may_be_partial),
    }


def _layer_norm(said: Metadata, epsilon: str, may_be_partial: bool = False) -> Config:
    """Sizes, positions and the epsilon of layer norms, by the name `epsilon` that the class has for it."""
    sizes = _sizes(said)
    return {
        **sizes,
        epsilon: said.real("attention.layer_norm_epsilon"),
        "rope_parameters": rope_parameters(said, sizes["head_dim"], may_be_partial),
    }


def _has(said: Metadata, *parts: str) -> bool:
    """Whether the first layer has one of these tensors."""
    return any(f"blk.0.{part}" in said.header.tensors for part in parts)


def _layer_types(said: Metadata, period: int) -> list[str]:
    """For each layer, whether it looks back over a window: by the file's list, else all but the last of a period."""
    flags = said.flags("attention.sliding_window_pattern", said.whole("block_count"), period)
    return ["sliding_attention" if is_sliding else "full_attention" for is_sliding in flags]


def _experts(said: Metadata) -> Config:
    return {
        "num_local_experts": said.whole("expert_count"),
        "num_experts": said.whole("expert_count"),
        "num_experts_per_tok": said.whole("expert_used_count"),
    }


# One for each architecture


def _llama(said: Metadata) -> Config:
    """Llama, and what was written in its shape: Mistral with or without a window, Mixtral."""
    found = _rms(said)
    window = said.whole("attention.sliding_window", 0)
    biases = {
        "attention_bias": _has(said, "attn_q.bias", "attn_output.bias"),
        "mlp_bias": _has(said, "ffn_up.bias", "ffn_down.bias"),
    }
    if said.whole("expert_count", 0):
        return {"model_type": "mixtral", **found, **_experts(said), "sliding_window": window or None}
    if window and not any(biases.values()):
        return {"model_type": "mistral", **found, "sliding_window": window}
    return {"model_type": "llama", **found, **biases}


def _mistral3(said: Metadata) -> Config:
    """Ministral-3, whose queries grow with their position, and Mistral-Small, which is a Llama."""
    found = _llama(said)
    growth = said.real("attention.temperature_scale", 0.0)
    if not growth:
        return found
    original = said.whole("rope.scaling.original_context_length", found["max_position_embeddings"])
    grown = {"llama_4_scaling_beta": growth, "original_max_position_embeddings": original}
    return {**found, "model_type": "ministral3", "rope_parameters": found["rope_parameters"] | grown}


def _qwen2_moe(said: Metadata) -> Config:
    found = _qwen_moe(said, is_normed=False)
    shared = said.whole("expert_shared_feed_forward_length", found["intermediate_size"])
    return {"model_type": "qwen2_moe", **found, "shared_expert_intermediate_size": shared}


def _qwen3_moe(said: Metadata) -> Config:
    found = _qwen_moe(said, is_normed=True)
    return {"model_type": "qwen3_moe", **found, "attention_bias": _has(said, "attn_q.bias")}


def _qwen_moe(said: Metadata, *, is_normed: bool) -> Config:
    """What Qwen's mixtures of experts share. `is_normed`: the weights of the chosen experts add up to one, where the
    file does not say."""
    found = _rms(said)
    inner = said.whole("expert_feed_forward_length", found["intermediate_size"] // said.whole("expert_used_count"))
    normed = said.truth("expert_weights_norm", is_normed)
    return {**found, **_experts(said), "moe_intermediate_size": inner, "norm_topk_prob": normed}


def _phi2(said: Metadata) -> Config:
    return {"model_type": "phi", **_layer_norm(said, "layer_norm_eps", may_be_partial=True)}


def _phi3(said: Metadata) -> Config:
    """Phi-3 and Phi-4. Files from before May 2024 do not say that the models for 4,096 tokens look back over a window.

    https://huggingface.co/microsoft/Phi-3-mini-4k-instruct/blob/main/config.json
    """
    found = _rms(said, may_be_partial=True)
    is_4k = found["num_hidden_layers"] in _PHI3_4K_LAYERS and found["max_position_embeddings"] == _PHI3_4K_CONTEXT
    window = said.whole("attention.sliding_window", _PHI3_4K_WINDOW if is_4k else 0)
    original = said.whole("rope.scaling.original_context_length", found["max_position_embeddings"])
    return {
        "model_type": "phi3",
        **found,
        "sliding_window": window or None,
        "original_max_position_embeddings": original,
    }


def _gemma(said: Metadata) -> Config:
    return {"model_type": "gemma", **_rms(said)}


def _gemma2(said: Metadata) -> Config:
    return {
        "model_type": "gemma2",
        **_rms(said),
        "layer_types": _layer_types(said, 2),
        "sliding_window": said.whole("attention.sliding_window", 4096),
        "attn_logit_softcapping": said.real("attn_logit_softcapping", 50.0),
        "final_logit_softcapping": said.real("final_logit_softcapping", 30.0),
        "query_pre_attn_scalar": _query_scalar(said),
    }


def _gemma3(said: Metadata) -> Config:
    found = _rms(said)
    window = said.whole("attention.sliding_window", 0)
    layers = ["full_attention"] * found["num_hidden_layers"]
    return {
        "model_type": "gemma3_text",
        **found,
        "layer_types": _layer_types(said, 6) if window else layers,
        "sliding_window": window or 4096,
        "rope_parameters": {
            "full_attention": found["rope_parameters"],
            "sliding_attention": {"rope_type": "default", "rope_theta": said.positive("rope.freq_base_swa", 10_000.0)},
        },
        "final_logit_softcapping": said.real("final_logit_softcapping", 0.0) or None,
        "query_pre_attn_scalar": _query_scalar(said),
    }


def _query_scalar(said: Metadata) -> int:
    """What scores of attention are divided by, squared: the size of a head, but for the models with 27 billion numbers.

    https://github.com/google/gemma_pytorch/blob/main/gemma/config.py, `query_pre_attn_scalar`
    """
    if said.has("attention.scale"):
        return round(said.positive("attention.scale") ** -2)
    width, heads = said.whole("embedding_length"), said.whole("attention.head_count")
    is_27b = said.whole("block_count") == _GEMMA_27B_LAYERS[said.name]
    return width // heads if is_27b else said.whole("attention.key_length", width // heads)


def _granite(said: Metadata) -> Config:
    found = _rms(said)
    if said.whole("expert_count", 0) or said.header.metadata.get("granite.rope.scaling.finetuned", True) is not True:
        raise GgufForeignError(
            "holds a Granite of a kind that cannot be opened from a GGUF file: get the model's safetensors folder "
            "instead."
        )
    return {
        "model_type": "granite",
        **found,
        "attention_bias": _has(said, "attn_q.bias", "attn_output.bias"),
        "mlp_bias": _has(said, "ffn_up.bias"),
        "attention_multiplier": said.real("attention.scale", 0.0) or found["head_dim"] ** -0.5,
        "embedding_multiplier": said.real("embedding_scale", 0.0) or 1.0,
        "residual_multiplier": said.real("residual_scale", 0.0) or 1.0,
        "logits_scaling": said.real("logit_scale", 0.0) or 1.0,
    }


def _olmo2(said: Metadata) -> Config:
    """OLMo-2, and OLMo-3, which scales the positions of its layers without a window only."""
    found = _rms(said)
    window = said.whole("attention.sliding_window", 0)
    if not window:
        return {"model_type": "olmo2", **found}
    plain = {"rope_type": "default", "rope_theta": found["rope_parameters"]["rope_theta"]}
    return {
        "model_type": "olmo3",
        **found,
        "layer_types": _layer_types(said, 4),
        "sliding_window": window,
        "rope_parameters": {"full_attention": found["rope_parameters"], "sliding_attention": plain},
    }


def _olmoe(said: Metadata) -> Config:
    return {
        "model_type": "olmoe",
        **_rms(said),
        **_experts(said),
        "norm_topk_prob": said.truth("expert_weights_norm", False),
    }


def _exaone4(said: Metadata) -> Config:
    """EXAONE-4, whose positions are turned in the layers with a window only, where there are some."""
    found = _rms(said)
    window = said.whole("attention.sliding_window", 0)
    layers = ["full_attention"] * found["num_hidden_layers"]
    return {
        "model_type": "exaone4",
        **found,
        "sliding_window": window or None,
        "layer_types": _layer_types(said, 4) if window else layers,
    }


def _nemotron(said: Metadata) -> Config:
    return {
        "model_type": "nemotron",
        **_layer_norm(said, "norm_eps", may_be_partial=True),
        "attention_bias": _has(said, "attn_q.bias"),
        "mlp_bias": _has(said, "ffn_up.bias"),
    }


def _smollm3(said: Metadata) -> Config:
    return {
        "model_type": "smollm3",
        **_rms(said),
        "no_rope_layer_interval": 4,
        "attention_bias": _has(said, "attn_q.bias"),
        "mlp_bias": _has(said, "ffn_up.bias"),
    }


def _starcoder2(said: Metadata) -> Config:
    return {
        "model_type": "starcoder2",
        **_layer_norm(said, "norm_epsilon"),
        "sliding_window": said.whole("attention.sliding_window", 0) or None,
        "use_bias": _has(said, "attn_q.bias"),
    }


def _gpt2(said: Metadata) -> Config:
    sizes = _sizes(said)
    return {
        "model_type": "gpt2",
        "vocab_size": sizes["vocab_size"],
        "n_embd": sizes["hidden_size"],
        "n_inner": sizes["intermediate_size"],
        "n_layer": sizes["num_hidden_layers"],
        "n_head": sizes["num_attention_heads"],
        "n_positions": sizes["max_position_embeddings"],
        "layer_norm_epsilon": said.real("attention.layer_norm_epsilon"),
        "tie_word_embeddings": sizes["tie_word_embeddings"],
    }


def _glm4(said: Metadata) -> Config:
    return {
        "model_type": "glm4",
        **_rms(said, may_be_partial=True),
        "attention_bias": _has(said, "attn_q.bias"),
    }


def _cohere(said: Metadata) -> Config:
    return {
        "model_type": "cohere",
        **_layer_norm(said, "layer_norm_eps"),
        "logit_scale": said.real("logit_scale"),
        "use_qk_norm": _has(said, "attn_q_norm.weight"),
    }


def _cohere2(said: Metadata) -> Config:
    return {
        "model_type": "cohere2",
        **_layer_norm(said, "layer_norm_eps"),
        "logit_scale": said.real("logit_scale"),
        "layer_types": _layer_types(said, 4),
        "sliding_window": said.whole("attention.sliding_window"),
    }


def _gpt_oss(said: Metadata) -> Config:
    found = _rms(said)
    return {
        "model_type": "gpt_oss",
        **found,
        **_experts(said),
        "intermediate_size": said.whole("expert_feed_forward_length", found["intermediate_size"]),
        "layer_types": _layer_types(said, 2),
        "sliding_window": said.whole("attention.sliding_window"),
        # The borders of YaRN are not rounded here: https://huggingface.co/openai/gpt-oss-20b/blob/main/config.json
        "rope_parameters": found["rope_parameters"] | _unrounded(found["rope_parameters"]),
    }


def _unrounded(rope: Mapping[str, Any]) -> Config:
    return {"truncate": False} if rope["rope_type"] == "yarn" else {}


def _simple(model_type: str) -> Callable[[Metadata], Config]:
    """A class whose configuration says nothing but sizes, positions and biases."""

    def made(said: Metadata) -> Config:
        biases = {"attention_bias": _has(said, "attn_q.bias"), "mlp_bias": _has(said, "ffn_up.bias")}
        return {"model_type": model_type, **_rms(said), **biases}

    return made


ARCHITECTURES: Mapping[str, Callable[[Metadata], Config]] = {
    "llama": _llama,
    "mistral3": _mistral3,
    "qwen2": _simple("qwen2"),
    "qwen3": _simple("qwen3"),
    "qwen2moe": _qwen2_moe,
    "qwen3moe": _qwen3_moe,
    "phi2": _phi2,
    "phi3": _phi3,
    "gemma": _gemma,
    "gemma2": _gemma2,
    "gemma3": _gemma3,
    "granite": _granite,
    "olmo2": _olmo2,
    "olmoe": _olmoe,
    "exaone4": _exaone4,
    "nemotron": _nemotron,
    "ernie4_5": _simple("ernie4_5"),
    "smollm3": _smollm3,
    "starcoder2": _starcoder2,
    "gpt2": _gpt2,
    "glm4": _glm4,
    "command-r": _cohere,
    "cohere2": _cohere2,
    "gpt-oss": _gpt_oss,
    "seed_oss": _simple("seed_oss"),
    "arcee": _simple("arcee"),
}
"""How the configuration of each architecture is made; others cannot be opened from a GGUF file."""

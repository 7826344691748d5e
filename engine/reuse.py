"""Which model classes can be cached exactly, and the sentence for those that cannot."""

from __future__ import annotations

from transformers import PreTrainedConfig
from transformers.cache_utils import get_layer_types_and_kwargs

from engine.types import ModelError

ATTENTION_TYPES = {"full_attention", "sliding_attention", "chunked_attention"}
EXACT_ROPE = {"default", "linear", "yarn", "llama3"}


def check_reusable(config: PreTrainedConfig) -> None:
    """Raise ModelError where keys and values of a prefix could not be reused exactly."""
    text = config.get_text_config()
    if getattr(config, "is_encoder_decoder", False):
        raise ModelError("This is an encoder-decoder model. Headstart runs decoder models only: choose another model.")
    types = set(get_layer_types_and_kwargs(text)[0])
    if types - ATTENTION_TYPES:
        kinds = ", ".join(sorted(types - ATTENTION_TYPES))
        raise ModelError(
            "This model keeps a running state that cannot be cut back to a shared prefix, so it could not be cached "
            "exactly. Choose a model with attention layers only.",
            f"{text.model_type}: {kinds}",
        )
    rope = rope_types(text)
    if rope - EXACT_ROPE:
        raise ModelError(
            f"This model's position code ({', '.join(sorted(rope - EXACT_ROPE))}) changes earlier tokens when the "
            "prompt grows, so its cache would not be exact. Choose another model."
        )


def rope_types(config: PreTrainedConfig) -> set[str]:
    """The kinds of rotary position code a model uses, over all its layers."""
    parameters = getattr(config, "rope_parameters", None) or {}
    nested = [value for value in parameters.values() if isinstance(value, dict)]
    return {str(entry.get("rope_type", "default")) for entry in nested or [parameters]}

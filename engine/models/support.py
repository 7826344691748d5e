"""Which models are served, and what the cache can reuse with them, decided from the config before weights are read.

A prefix can be reused where the keys and values of a token depend on the tokens up to it alone. Models for which that
does not hold are refused, with a sentence that says why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.types import ModelError, ReuseClass

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

EXACT_ROPE = {"default", "linear", "yarn", "llama3", "proportional"}
WINDOW_LAYERS = {"sliding_attention", "chunked_attention"}
STATE_LAYERS = {"linear_attention", "conv", "hybrid", "hybrid_sliding", "mamba", "recurrent"}
INDEX_LAYERS = {"indexed_attention", "compressed_sparse_attention", "heavily_compressed_attention"}
KNOWN_LAYERS = WINDOW_LAYERS | {"full_attention", "dummy"}

CHOOSE = "Choose another chat model, such as a Llama, Qwen3, Gemma, Mistral or Phi."
STATE = "This model keeps a running state that cannot be cut back to a shared start, so reuse would not be exact. "
INDEX = "This model picks the tokens it looks at through an index that Headstart does not keep. "
OWN_ATTENTION = "This model computes attention in a way of its own, which Headstart cannot drive. "
ENCODER = "This is an encoder-decoder model, and Headstart runs decoder models only. "
BOTH_WAYS = "This model reads a prompt in both directions, so the start of a prompt depends on its end. "
NOT_TEXT = "This kind of model cannot be opened for text chat on its own. "
POSITIONS = "This model's position code changes earlier tokens when the prompt grows, so reuse would not be exact. "
NO_NUMBERS = (
    "The model's numbers left the range that its number type can hold, so there is no answer. Load it in bf16 or fp32, "
    "or download it again."
)
NOT_ON_DEVICE = "torch cannot compute all of this model on this graphics card yet. Choose the device 'cpu' for it."
NOT_EXACT = "A test prompt read in two pieces came out differently, so reuse would not be exact. "


def classify(config: PreTrainedConfig) -> ReuseClass:
    """What the cache can do for a model; "refused" where a prefix could not be reused exactly."""
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING
    from transformers.cache_utils import get_layer_types_and_kwargs

    if getattr(config, "is_encoder_decoder", False):
        return _refused(ENCODER, config)
    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        return _refused(NOT_TEXT, config)
    text = config.get_text_config()
    layers = set(get_layer_types_and_kwargs(text)[0])
    return _refusal(config, text, layers) or _by_positions(text) or _by_layers(layers)


def check_reusable(config: PreTrainedConfig) -> None:
    """Raise ModelError where keys and values of a prefix could not be reused exactly."""
    found = classify(config)
    if found.name == "refused":
        raise ModelError(found.sentence, found.detail)


def rope_parameters(config: PreTrainedConfig) -> list[dict[str, object]]:
    """The parameters of the rotary position codes: one entry, one for each type of layer, or none at all."""
    parameters = getattr(config, "rope_parameters", None) or {}
    nested = [entry for entry in parameters.values() if isinstance(entry, dict)]
    return nested or ([parameters] if parameters else [])


def _refusal(config: PreTrainedConfig, text: PreTrainedConfig, layers: set[str]) -> ReuseClass | None:
    """The refusal of a decoder whose layers cannot be cached exactly; None where they can."""
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING

    model_class = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
    kinds = ", ".join(sorted(layers - KNOWN_LAYERS))
    if layers & INDEX_LAYERS:
        return _refused(INDEX, text, kinds)
    if layers & STATE_LAYERS or model_class._is_stateful:
        return _refused(STATE, text, kinds)
    if layers - KNOWN_LAYERS or not model_class._supports_attention_backend or layers == {"dummy"}:
        return _refused(OWN_ATTENTION, text, kinds)
    is_bidirectional = getattr(text, "use_bidirectional_attention", None) in (True, "all")
    if is_bidirectional or not getattr(text, "is_causal", True):
        return _refused(BOTH_WAYS, text)
    return None


def _by_positions(text: PreTrainedConfig) -> ReuseClass | None:
    """What the cache can do for a model whose position code depends on the length; None where it does not."""
    entries = {str(entry.get("rope_type", "default")): entry for entry in rope_parameters(text)}
    special = set(entries) - EXACT_ROPE
    if not special:
        return None
    if special == {"dynamic"}:
        return _up_to(int(text.max_position_embeddings))
    switches = {entry.get("original_max_position_embeddings") for entry in rope_parameters(text)}
    switch = switches.pop()
    if special == {"longrope"} and not switches and isinstance(switch, int):
        return _on_each_side(switch)
    return _refused(POSITIONS, text, ", ".join(sorted(special)))


def _up_to(limit: int) -> ReuseClass:
    sentence = (
        f"Every block is reused. The context ends at {limit:,} tokens: past them, earlier positions would change."
    )
    return ReuseClass("full, up to a length", sentence, limit=limit)


def _on_each_side(switch: int) -> ReuseClass:
    sentence = (
        f"Every block is reused. A chat that grows past {switch:,} tokens is read anew once, with other positions."
    )
    return ReuseClass("full, on each side of a length", sentence, switch=switch)


def _by_layers(layers: set[str]) -> ReuseClass:
    """What the cache can do for a model by the kinds of its attention layers."""
    if layers & WINDOW_LAYERS:
        sentence = "Every block is reused. Layers that look back over a window only keep all tokens too, and mask them."
        return ReuseClass("full, masked window", sentence)
    return ReuseClass()


def _refused(reason: str, config: PreTrainedConfig, kinds: str = "") -> ReuseClass:
    detail = f"{config.model_type}: {kinds}" if kinds else str(config.model_type)
    return ReuseClass("refused", reason + CHOOSE, detail=detail)

"""What our own forward pass needs to know of a model, from the configuration that transformers has for its class."""

from __future__ import annotations

import torch
from transformers import PreTrainedConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from engine.llama.family import FAMILIES, Decoder, Rope, decoder
from engine.llama.weights import plain_frequencies
from engine.models.support import classify
from engine.types import ReuseClass

STEADY = {"default", "linear", "llama3", "yarn", "dynamic"}
"""Kinds of position codes with the same frequencies at every length that is served: `dynamic` up to the context."""


def described(config: PreTrainedConfig, ends: frozenset[int] = frozenset()) -> tuple[Decoder, ReuseClass] | None:
    """The decoder of a model, and what the cache can reuse with it; None where our forward pass does not compute it.

    `ends` are the tokens that end an answer.
    """
    if config.model_type not in FAMILIES or getattr(config, "quantization_config", None):
        return None
    try:
        ropes = _ropes(config)
        found = None if ropes is None else decoder(config.to_dict(), ropes, ends)
    except (KeyError, ValueError, TypeError, AttributeError):  # the class says what is wrong
        return None
    reuse = classify(config)
    return None if found is None or reuse.name == "refused" else (found, reuse)


def _ropes(config: PreTrainedConfig) -> dict[str, Rope] | None:
    """The position codes by types of layers, or one for all under ""; None where one of them is of another kind."""
    parameters = config.rope_parameters
    nested = {name: entry for name, entry in parameters.items() if isinstance(entry, dict)}
    made = {name: _rope(config, entry, name or None) for name, entry in (nested or {"": parameters}).items()}
    return None if None in made.values() else {name: rope for name, rope in made.items() if rope is not None}


def _rope(config: PreTrainedConfig, parameters: dict[str, object], layer_type: str | None) -> Rope | None:
    kind = parameters["rope_type"]
    dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    if kind == "default":
        turned = int(dim * float(parameters.get("partial_rotary_factor", 1.0)))  # type: ignore[arg-type]
        return Rope(tuple(plain_frequencies(turned, float(parameters["rope_theta"])).tolist()))  # type: ignore[arg-type]
    if kind not in STEADY and kind != "longrope":
        return None
    where = {"layer_type": layer_type} if layer_type else {}
    make = ROPE_INIT_FUNCTIONS[kind]
    frequencies, scaled = make(config, torch.device("cpu"), **where)
    if kind in STEADY:
        return Rope(tuple(frequencies.tolist()), float(scaled))
    past = int(parameters["original_max_position_embeddings"]) + 1  # type: ignore[call-overload]
    long, _ = make(config, torch.device("cpu"), seq_len=past, **where)
    return Rope(tuple(frequencies.tolist()), float(scaled), tuple(long.tolist()))

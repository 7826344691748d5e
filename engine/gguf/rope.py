"""The rotary position codes of a GGUF file, as transformers' `rope_parameters`.

A file gives the base of the frequencies, how many numbers of a head are turned, and how positions are scaled: by a
factor (`linear`, https://arxiv.org/abs/2306.15595), by YaRN (https://arxiv.org/abs/2309.00071), or by one divisor for
each frequency, in the tensor `rope_freqs.weight`, or for short and long texts (LongRoPE,
https://arxiv.org/abs/2402.13753) in `rope_factors_short.weight` and `rope_factors_long.weight`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.gguf.dequantise import Numbers, StoredTensor
from engine.gguf.header import GgufDamagedError, GgufForeignError
from engine.gguf.metadata import Metadata

DIVISORS, LONG, SHORT = "rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"
TENSORS = frozenset({DIVISORS, LONG, SHORT})
"""Tensors that become a part of the configuration."""

_LLAMA3 = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
"""What Llama 3.1 scales with, and all models that took it over; only the factor differs."""

_ROUNDING = 2e-5
"""How far a divisor may be from the formula, by fp32's rounding where it cancels out most."""

Parameters = dict[str, Any]


def rope_parameters(said: Metadata, head_dim: int, may_be_partial: bool = False) -> Parameters:
    """The position codes of a model with heads of `head_dim` numbers. `may_be_partial` says that its class can turn a
    part of them only.

    Raises GgufForeignError where they are scaled in a way that is not known here, GgufDamagedError.
    """
    turned = said.whole("rope.dimension_count", head_dim)
    if not 0 < turned <= head_dim or turned % 2:
        raise GgufDamagedError(f"{turned} of {head_dim} numbers of a head cannot be turned")
    if turned != head_dim and not may_be_partial:
        raise _unknown(f"{turned} of {head_dim} numbers of a head")
    found = {"rope_theta": said.positive("rope.freq_base", 10_000.0), **_scaled(said, turned)}
    if turned != head_dim:
        found["partial_rotary_factor"] = _share(turned, head_dim)
    return found


def _share(turned: int, head_dim: int) -> float:
    """The share of a head that is turned: a number that, multiplied and cut to a whole number, gives `turned`."""
    share = turned / head_dim
    return share if int(head_dim * share) == turned else math.nextafter(share, 1)


def _scaled(said: Metadata, turned: int) -> Parameters:
    """The kind of scaling and its numbers."""
    kind = said.text("rope.scaling.type", "linear")
    factor = said.real("rope.scaling.factor", said.real("rope.scale_linear", 0.0)) or 1.0
    if kind not in ("none", "linear", "yarn", "longrope"):
        raise _unknown(f"rope.scaling.type {kind}")
    if LONG in said.header.tensors or SHORT in said.header.tensors or kind == "longrope":
        return _longrope(said, turned)
    if kind == "yarn" and factor != 1:
        if DIVISORS in said.header.tensors:
            raise _unknown(f"rope.scaling.type yarn together with {DIVISORS}")
        return _yarn(said, factor)
    if said.real("rope.scaling.attn_factor", 1.0) != 1:
        raise _unknown("rope.scaling.attn_factor without YaRN or LongRoPE")
    linear = factor if kind == "linear" else 1.0
    if DIVISORS in said.header.tensors:
        return _divided(said, linear * _divisors(said, DIVISORS, turned))
    return {"rope_type": "default"} if linear == 1 else {"rope_type": "linear", "factor": linear}


def _unknown(what: str) -> GgufForeignError:
    return GgufForeignError(
        f"scales positions in a way that is not known here ({what}): get the model's safetensors folder instead."
    )


def _divisors(said: Metadata, name: str, turned: int) -> Numbers:
    """One divisor for each frequency."""
    where = said.header.tensors.get(name)
    if where is None:
        raise GgufForeignError(f"lacks {name}: download it again.")
    if where.shape != (turned // 2,):
        raise GgufDamagedError(f"{name} has {where.shape} numbers where {turned // 2} belong")
    numbers = StoredTensor(where).whole()
    if not (np.isfinite(numbers) & (numbers > 0)).all():
        raise GgufDamagedError(f"{name} holds numbers that cannot divide a frequency")
    return numbers


def _longrope(said: Metadata, turned: int) -> Parameters:
    context = said.whole("context_length")
    original = said.whole("rope.scaling.original_context_length", context)
    return {
        "rope_type": "longrope",
        "short_factor": _divisors(said, SHORT, turned).tolist(),
        "long_factor": _divisors(said, LONG, turned).tolist(),
        "original_max_position_embeddings": original,
        "factor": context / original,
        "attention_factor": said.real("rope.scaling.attn_factor", 1.0),
    }


def _yarn(said: Metadata, factor: float) -> Parameters:
    """YaRN. What attention is multiplied with follows from the factor, unless the file says otherwise."""
    found: Parameters = {
        "rope_type": "yarn",
        "factor": factor,
        "original_max_position_embeddings": said.whole(
            "rope.scaling.original_context_length", said.whole("context_length")
        ),
        "beta_fast": said.positive("rope.scaling.yarn_beta_fast", 32.0),
        "beta_slow": said.positive("rope.scaling.yarn_beta_slow", 1.0),
    }
    if said.has("rope.scaling.yarn_attn_factor"):
        found["attention_factor"] = said.real("rope.scaling.yarn_attn_factor")
    elif said.has("rope.scaling.attn_factor") or said.has("rope.scaling.yarn_log_multiplier"):
        part = _magnitude(factor) / _magnitude(factor, said.real("rope.scaling.yarn_log_multiplier", 0.0))
        found["attention_factor"] = part * said.real("rope.scaling.attn_factor", 1.0)
    return found


def _magnitude(factor: float, weight: float = 1.0) -> float:
    return 0.1 * weight * math.log(max(factor, 1.0)) + 1.0


def _divided(said: Metadata, divisors: Numbers) -> Parameters:
    """Llama 3's scaling where its formula gives these divisors; else LongRoPE with one set for all lengths."""
    if (divisors == 1).all():
        return {"rope_type": "default"}
    factor = float(divisors.max())
    theta = said.positive("rope.freq_base", 10_000.0)
    if np.allclose(divisors, _llama3_divisors(theta, len(divisors), factor), rtol=_ROUNDING, atol=0):
        return {"rope_type": "llama3", "factor": factor, **_LLAMA3}
    return {
        "rope_type": "longrope",
        "short_factor": divisors.tolist(),
        "long_factor": divisors.tolist(),
        "original_max_position_embeddings": said.whole("context_length"),
        "factor": 1.0,
        "attention_factor": 1.0,
    }


def _llama3_divisors(theta: float, count: int, factor: float) -> Numbers:
    """Frequencies that turn less than once in 8,192 positions are divided by `factor`, those that turn four times and
    more are kept, and those between the two are blended (Llama 3.1; transformers' `_compute_llama3_parameters`)."""
    frequencies = theta ** -(np.arange(count) / count)
    turns = _LLAMA3["original_max_position_embeddings"] * frequencies / (2 * np.pi)
    low, high = _LLAMA3["low_freq_factor"], _LLAMA3["high_freq_factor"]
    kept = np.clip((turns - low) / (high - low), 0, 1)
    return (1 / ((1 - kept) / factor + kept)).astype(np.float32)

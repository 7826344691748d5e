"""How the makers of a model say that its answers are best sampled: what generation_config.json holds of that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.library.check import read_json
from engine.types import InvalidRequestError, ModelError, Sampling

_PLAIN: dict[str, Any] = {
    "temperature": 1.0,
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
}
"""Nothing of a model's own distribution is changed: what holds where the file leaves a rule out."""


def sampling_advice(folder: Path) -> Sampling | None:
    """The sampling that the makers of a model advise, None where they say nothing that can be followed.

    The format is transformers' `GenerationConfig`. `do_sample` false asks for the likeliest token each time.
    """
    try:
        config = read_json(folder / "generation_config.json")
        said = {key: config[key] for key in _PLAIN if config.get(key) is not None}
        if config.get("do_sample") is False:
            said["temperature"] = 0.0
        elif not said and config.get("do_sample") is not True:
            return None
        return Sampling(**{**_PLAIN, **said})
    except (ModelError, InvalidRequestError):
        return None

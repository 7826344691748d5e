"""What a model will take, told before it is opened. torch is imported when it is asked, not before."""

from __future__ import annotations

from engine.library.resolve import checked
from engine.types import ModelFit, ModelSpec


def model_fit(spec: ModelSpec) -> ModelFit | None:
    """What the model of `spec` takes of this computer's memory, by its files' headers alone; None for the default model
    while it is not here, and for a server. Raises ModelError for what cannot be opened."""
    path = checked(spec.path)
    if path is None:
        return None
    from engine.models.loaded import fit

    return fit(path, spec.device, spec.dtype, spec.context_tokens)

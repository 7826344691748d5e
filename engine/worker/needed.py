"""What a model will take, told before it is opened. torch is imported when it is asked, not before."""

from __future__ import annotations

from engine.library.resolve import checked
from engine.types import Device, ModelFit, ModelSpec

SCRATCH_SHARE = 0.05
"""Room to compute in, as a share of the weights, for a model of which nothing but these is known."""


def model_fit(spec: ModelSpec) -> ModelFit | None:
    """What the model of `spec` takes of this computer's memory, by its files' headers alone; None for the default model
    while it is not here, and for a server. Raises ModelError for what cannot be opened."""
    path = checked(spec.path)
    if path is None:
        return None
    from engine.models.loaded import fit

    return fit(path, spec.device, spec.dtype, spec.context_tokens)


def foreseen_fit(name: str, weights: int, token: int, longest: int, device: Device = "auto") -> ModelFit:
    """What a model would take that is not here yet: `weights` are its bytes on the Hub, `token` those of keys and
    values of one token in 16 bits, `longest` the tokens that it reads. Room to compute in is a share of the weights."""
    from engine.models.choice import Need, choose_device, fit_of

    need = Need(weights, int(SCRATCH_SHARE * weights), token)
    return fit_of(need, name, "bf16", longest, None, choose_device(device))

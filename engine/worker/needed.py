"""What a model will take, told before it is opened. torch is imported when it is asked, not before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

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
    return fit_with_draft(spec, path, checked(spec.draft) if spec.draft else None)


def fit_with_draft(spec: ModelSpec, path: Path, draft: Path | None) -> ModelFit:
    """What the model at `path` takes, opened as `spec` says, and the small one at `draft` that writes ahead for it.
    Raises ModelError as `model_fit` does."""
    from engine.models.loaded import fit

    found = fit(path, spec.device, spec.dtype, spec.context_tokens)
    if draft is None:
        return found
    return replace(found, draft=fit(draft, spec.device, "auto", found.context).whole)


def foreseen_fit(name: str, weights: int, token: int, longest: int, device: Device = "auto") -> ModelFit:
    """What a model would take that is not here yet: `weights` are its bytes on the Hub, `token` those of keys and
    values of one token in 16 bits, `longest` the tokens that it reads. Room to compute in is a share of the weights."""
    from engine.models.choice import Need, choose_device, fit_of

    need = Need(weights, int(SCRATCH_SHARE * weights), token)
    return fit_of(need, name, "bf16", longest, None, choose_device(device))

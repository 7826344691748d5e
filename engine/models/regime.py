"""Rotary position codes with two sets of frequencies (LongRoPE): which set a forward pass uses is ours to say.

transformers takes the long set as soon as a piece reaches past `original_max_position_embeddings`. A prompt that is
read in pieces would get its first ones from the short set, so that its keys depended on where it was cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from engine.models.support import ReuseClass


class RegimeSwitch:
    """Makes a model compute every piece in the regime that was chosen for the whole sequence.

    Does nothing for models whose `reuse` has no switch.
    """

    def __init__(self, model: nn.Module, reuse: ReuseClass) -> None:
        self._is_long = False
        if reuse.switch is not None:
            for module in model.modules():
                if "longrope" in _rope_types(module):
                    module.forward = self._wrapped(module.forward, reuse.switch)

    def use(self, regime: str) -> None:
        """Choose the regime of the next forward passes, by the name that `ReuseClass.regime` gave."""
        self._is_long = regime == "long"

    def _wrapped(self, forward: Callable[..., Any], switch: int) -> Callable[..., Any]:
        """The forward of a rotary module; in the long regime with one more position, which lies past the switch."""

        def rotary(x: Tensor, position_ids: Tensor, *args: Any, **kwargs: Any) -> Any:
            if not self._is_long:
                return forward(x, position_ids, *args, **kwargs)
            longer = position_ids.new_full((position_ids.shape[0], position_ids.shape[1] + 1), switch)
            longer[:, :-1] = position_ids
            return tuple(part[:, :-1] for part in forward(x, longer, *args, **kwargs))

        return rotary


def _rope_types(module: nn.Module) -> set[str]:
    """The kinds of a rotary module, one or one for each type of layer; none for other modules."""
    kinds = getattr(module, "rope_type", None)
    return set(kinds.values()) if isinstance(kinds, dict) else {str(kinds)}

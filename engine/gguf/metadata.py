"""What a file says about its model under the name of its architecture, each value checked for its kind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.gguf.header import GgufDamagedError, GgufForeignError, GgufHeader


class Metadata:
    """The metadata of one architecture: `whole("block_count")` is the value of "llama.block_count" in a llama file.

    Without a default a value must be there: else GgufForeignError names it. One of another kind raises
    GgufDamagedError.
    """

    def __init__(self, header: GgufHeader) -> None:
        self.header = header
        self.name = header.architecture
        self._asked: set[str] = set()

    def refuse_unused(self, neutral: Mapping[str, Sequence[float]]) -> None:
        """Raise GgufForeignError where the file sets one of these keys, nothing has read it, and its value is not among
        those that change no number."""
        for key, values in neutral.items():
            if self.has(key) and key not in self._asked and self._value(key, None) not in values:
                raise GgufForeignError(
                    f"says {str(self._value(key, None))[:20]} for {self.name}.{key}, which cannot be followed when a "
                    "GGUF file is opened: get the model's safetensors folder instead."
                )

    def has(self, key: str) -> bool:
        """Whether the file says anything under this key."""
        return f"{self.name}.{key}" in self.header.metadata

    def whole(self, key: str, default: int | None = None) -> int:
        """A whole number. Where the file has a list with one for each layer, all of them must be equal."""
        value = self._value(key, default)
        if isinstance(value, tuple) and len(set(value)) == 1:
            value = value[0]
        if isinstance(value, tuple):
            raise GgufForeignError(
                f"has layers of different sizes ({self.name}.{key}), which cannot be opened from a GGUF file: get the "
                "model's safetensors folder instead."
            )
        if type(value) is not int:
            raise self._nonsense(key, value)
        return value

    def real(self, key: str, default: float | None = None) -> float:
        """A number, as short as it was before it was stored in fp32."""
        value = self._value(key, default)
        if type(value) not in (int, float) or not math.isfinite(value):
            raise self._nonsense(key, value)
        return float(str(np.float32(value)))

    def positive(self, key: str, default: float | None = None) -> float:
        """A number above zero."""
        value = self.real(key, default)
        if value <= 0:
            raise self._nonsense(key, value)
        return value

    def truth(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self._value(key, default)
        if type(value) is not bool:
            raise self._nonsense(key, value)
        return value

    def text(self, key: str, default: str) -> str:
        """A string."""
        value = self._value(key, default)
        if not isinstance(value, str):
            raise self._nonsense(key, value)
        return value

    def flags(self, key: str, layers: int, period: int) -> list[bool]:
        """One for each layer: as the file lists them, else true but for the last of each `period`, which the file may
        give as a number, too."""
        value = self._value(key, period)
        if isinstance(value, tuple):
            if len(value) < layers:
                raise self._nonsense(key, value)
            return [bool(each) for each in value[:layers]]
        period = self.whole(key, period)
        return [period == 0 or layer % period < period - 1 for layer in range(layers)]

    def _value(self, key: str, default: Any) -> Any:
        self._asked.add(key)
        value = self.header.metadata.get(f"{self.name}.{key}", default)
        if value is None:
            raise GgufForeignError(
                f"does not say its {self.name}.{key}, which such a model needs: download it again, or get the model's "
                "safetensors folder."
            )
        return value

    def _nonsense(self, key: str, value: object) -> GgufDamagedError:
        return GgufDamagedError(f"{self.name}.{key} cannot be {str(value)[:40]}")

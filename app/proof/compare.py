"""Where two answers to the same prompt stop being equal, with the cache and without. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.language import tr

Half = Literal["warm", "cold"]
"""The two runs of a prompt: with the cache, and without."""
FAULT = tr("They should be equal to the last bit: this is a fault of the program, please report it.")
NEAR_TIE = 0.3
"""Two tokens whose logits are closer than this may change places when sums are rounded in another order."""


@dataclass(frozen=True, slots=True)
class Parted:
    """The first token (counted from 0) in which the two answers of a turn differ, and how close the choice was: the
    distance between the two best logits there, None where the engine reported none."""

    turn: int
    token: int
    margin: float | None


def compare(turn: int, on: Sequence[int], off: Sequence[int], margins: Sequence[float]) -> Parted | None:
    """Where two answers to the same prompt part, None where they are equal. `margins` belong to the answer `off`."""
    if tuple(on) == tuple(off):
        return None
    shorter = min(len(on), len(off))
    token = next((index for index in range(shorter) if on[index] != off[index]), shorter)
    return Parted(turn, token, margins[token] if token < len(margins) else None)

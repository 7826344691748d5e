"""What a measurement is: samples that alternate between the sides, their medians, and a row of the table."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

Side = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table: `value` in `unit`, the bound it must keep and the one it aims at, all samples kept."""

    id: str
    name: str
    value: float
    unit: str
    must: str
    aim: str
    samples: list[Any] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The row as it stands in the JSON file."""
        return asdict(self)


def alternate(sides: Mapping[str, Side], count: int) -> dict[str, list[float]]:
    """`count` samples of each side in turn (A B A B ...), after one of each that is not counted."""
    for side in sides.values():
        side()
    samples: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(count):
        for name, side in sides.items():
            samples[name].append(side())
    return samples


def ratio_row(
    row_id: str, name: str, samples: Mapping[str, list[float]], over: str, under: str, must: str, aim: str
) -> Row:
    """The median of one side over the median of the other."""
    value = statistics.median(samples[over]) / statistics.median(samples[under])
    kept = [{side: samples[side][i] for side in (over, under)} for i in range(len(samples[over]))]
    return Row(row_id, name, value, "ratio", must, aim, kept)

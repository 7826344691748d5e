"""What the committed bench run found, for the places where a choice depends on it (resources/measured.json).

packaging/fill_speed.py writes the file from tests/bench/bench.json.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


def quality(dtype: str) -> str:
    """What a number format costs in quality; "" where that was not measured."""
    figures = _measured()["perplexity"]
    if dtype not in figures:
        return ""
    text = f"Perplexity of a page of text with the default model: {figures[dtype]:.1f}"
    return f"{text}." if dtype == "fp32" else f"{text}, in fp32 {figures['fp32']:.1f} (lower is better)."


def exact_cost() -> str:
    """What exact mode costs in time."""
    cost = _measured()["exact"]
    times = cost["exact_s"] / cost["default_s"]
    return (
        f"The first token of a later turn takes about {times:.1f} times as long for it "
        f"({cost['exact_s']:.2f} s for {cost['default_s']:.2f} s with the default model on two cores)."
    )


@cache
def _measured() -> dict[str, Any]:
    measured: dict[str, Any] = json.loads((files("resources") / "measured.json").read_text("utf-8"))
    return measured

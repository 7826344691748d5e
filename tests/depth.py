"""How deep a run of the tests goes: by default a few cases of each kind, with `--deep` every case (make test-all)."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import hypothesis
import pytest

FAST_EXAMPLES = 100
"""Random examples of a test in a run without `--deep`."""


def cases(values: Iterable[Any], always: Container[Any]) -> list[Any]:
    """The parameters of a test, tuples where it has several: those in `always` are played in every run, the others with
    `--deep` only."""
    rows = [(value, value if isinstance(value, tuple) else (value,)) for value in values]
    return [pytest.param(*row, marks=() if value in always else pytest.mark.deep) for value, row in rows]


def some(values: Iterable[Any], always: Container[Any]) -> list[Any]:
    """As `cases`, for what one test goes through by itself."""
    is_deep = hypothesis.settings.default.max_examples > FAST_EXAMPLES
    return [value for value in values if is_deep or value in always]


def fewer(share: int = 4) -> hypothesis.settings:
    """A share of the usual number of examples, for a test that takes long with each."""
    return hypothesis.settings(max_examples=max(1, hypothesis.settings.default.max_examples // share))

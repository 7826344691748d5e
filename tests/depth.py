"""How deep a run of the tests goes: by default a few cases of each kind, with `--deep` every case (make test-all)."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import hypothesis
import pytest


def cases(values: Iterable[Any], always: Container[Any]) -> list[Any]:
    """The parameters of a test: those in `always` are played in every run, the others with `--deep` only."""
    return [value if value in always else pytest.param(value, marks=pytest.mark.deep) for value in values]


def fewer(share: int = 4) -> hypothesis.settings:
    """A share of the usual number of examples, for a test that takes long with each."""
    return hypothesis.settings(max_examples=max(1, hypothesis.settings.default.max_examples // share))

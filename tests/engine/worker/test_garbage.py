"""The collector is quiet during a first load, and as before after it."""

from __future__ import annotations

import gc
from contextlib import suppress

import pytest

from engine.worker.thread import not_collected


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("fails", [True, False])
def test_the_collector_is_as_before(is_first: bool, before: bool, fails: bool) -> None:
    (gc.enable if before else gc.disable)()
    try:
        with suppress(ValueError), not_collected(is_first):
            assert gc.isenabled() == (before and not is_first)
            if fails:
                raise ValueError
        assert gc.isenabled() == before
    finally:
        gc.enable()

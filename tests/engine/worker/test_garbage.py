"""The collector is quiet during a first load, and as before after it."""

from __future__ import annotations

import gc
import subprocess
import sys
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


LOAD_TWICE = """
import gc, time
from engine import Engine, ModelSpec
engine = Engine()
counts = [gc.get_freeze_count()]
for _ in range(2):
    engine.load(ModelSpec("/nowhere"))
    while not any(type(event).__name__ == "Failed" for event in engine.poll()):
        time.sleep(0.01)
    counts.append(gc.get_freeze_count())
engine.close()
print(*counts)
"""


def test_what_a_first_load_imports_is_never_looked_at_again() -> None:
    """With torch there are 200,000 objects; what comes later, as a model, is collected."""
    run = subprocess.run([sys.executable, "-c", LOAD_TWICE], capture_output=True, text=True, timeout=120, check=True)
    before, first, second = map(int, run.stdout.split())
    assert before == 0
    assert first > 100_000
    assert second <= first

"""Python's garbage collector during the first load."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def not_collected(is_first: bool) -> Iterator[None]:
    """While thousands of modules and classes are imported that all stay, looking for garbage among them again and again
    takes a tenth of the time and finds none. A later load has an earlier model's remains to collect."""
    was_enabled = is_first and gc.isenabled()
    if was_enabled:
        gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

"""What a request does where the device has no memory: blocks of the cache make room, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from engine.cache.prefix_cache import PrefixCache
from engine.cache.store import is_out_of_memory
from engine.types import OutOfMemoryError

Result = TypeVar("Result")


def with_room(cache: PrefixCache, step: Callable[[], Result]) -> Result:
    """Do a step of a request. Where there is no memory for it, it is done again without the reusable blocks, and again
    without the kept ones; what running requests hold stays, so that what was told of them stays true."""
    for is_kept_too in (False, True):
        try:
            return step()
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
        cache.clear(is_kept_too=is_kept_too)
    return step()


@contextmanager
def lack_in_words() -> Iterator[None]:
    """Turn a lack of memory that remains into a sentence."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise OutOfMemoryError(
            "There is not enough memory for this conversation. Close other programs, choose a smaller model, or start "
            "a new conversation.",
            str(error),
        ) from error

"""Memory for weights: zero, beside each other, each from the beginning of a cache line on."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from engine import large_pages
from engine.weights.arena import LINE, Arena


@given(st.lists(st.integers(0, 40_000), max_size=20), st.sampled_from([0, 1_000, 100_000, 16 << 20]))
def test_rooms_do_not_overlap(sizes: list[int], chunk: int) -> None:
    arena = Arena(chunk)
    rooms = [arena.room(size) for size in sizes]
    assert [len(room) for room in rooms] == sizes
    assert not any(room.any() for room in rooms)
    assert all(room.data_ptr() % LINE == 0 for room in rooms if len(room))
    for number, room in enumerate(rooms):
        room.fill_(number + 1)
    assert all((room == number + 1).all() for number, room in enumerate(rooms))


def test_large_memory_is_zero_and_can_be_written() -> None:
    for nbytes in (0, 1, large_pages.LEAST_LARGE_BYTES, large_pages.LEAST_LARGE_BYTES + 5):
        memory = large_pages.memory(nbytes)
        assert memory.dtype is torch.uint8
        assert len(memory) == nbytes
        assert not memory.any()
        memory.fill_(1)

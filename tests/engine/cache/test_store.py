"""The tensors: what a token costs, copies in and out of lanes, and a budget that is checked before memory is taken."""

from __future__ import annotations

import errno
import mmap

import pytest
import torch

from engine.cache.store import KVLayout, KVStore, Lane, LayerGroup, is_out_of_memory
from engine.large_pages import LEAST_LARGE_BYTES
from engine.types import BLOCK_TOKENS
from tests.engine.fake_kv import LAYOUT, NAN, FlakyStore
from tests.engine.inside import block_parts, lane_buffers, real_bytes

CPU = torch.device("cpu")


def filled_lane(store: KVStore, tokens: int) -> Lane:
    """A lane with another number in every slot."""
    lane = store.new_lane(tokens)
    for index, buffer in enumerate(lane_buffers(lane)):
        buffer.copy_(torch.arange(buffer.numel()).reshape(buffer.shape) + 1000 * index)
    return lane


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_token_costs_what_theory_says(dtype: torch.dtype) -> None:
    """Issue 3 point 5, kind D28: layers * heads * (key + value) * bytes, and the tensors really take that."""
    layout = KVLayout((LayerGroup((0, 1, 2), 2, 8, 6), LayerGroup((3,), 1, 4, 4)), dtype, CPU)
    assert layout.bytes_per_token == (3 * 2 * (8 + 6) + 1 * 1 * (4 + 4)) * dtype.itemsize
    store = KVStore(layout, 1000 * layout.bytes_per_token)
    lane = store.new_lane(100)
    assert real_bytes(store) == store.used_bytes == 100 * layout.bytes_per_token
    store.publish(lane, 0, 5)
    assert real_bytes(store) == store.used_bytes == 180 * layout.bytes_per_token
    assert store.free_bytes == 820 * layout.bytes_per_token


def test_a_block_goes_out_and_comes_back_bit_for_bit() -> None:
    store = KVStore(LAYOUT, 10**6, fill=NAN)
    lane, other = filled_lane(store, 64), store.new_lane(64)
    blocks = store.publish(lane, 16, 3)
    store.restore(other, 16, blocks)
    for one, two in zip(lane_buffers(lane), lane_buffers(other), strict=True):
        assert torch.equal(one[:, :, 16:], two[:, :, 16:])
        assert two[:, :, :16].isnan().all(), "a slot outside was written"


def test_a_block_is_one_stretch_and_does_not_follow_the_lane() -> None:
    """ENGINE_BUGS kind C21: published means final."""
    store = KVStore(LAYOUT, 10**6)
    lane = filled_lane(store, 32)
    (block,) = store.publish(lane, 0, 1)
    parts = block_parts(store, block)
    before = [part.clone() for part in parts]
    assert len({part.untyped_storage().data_ptr() for part in parts}) == 1
    for buffer in lane_buffers(lane):
        buffer.fill_(NAN)
    assert all(torch.equal(one, two) for one, two in zip(before, parts, strict=True))


def test_write_returns_everything_up_to_its_end() -> None:
    lane = Lane(LAYOUT, 32, fill=NAN)
    keys, values = torch.ones(1, 2, 3, 2), torch.ones(1, 2, 3, 1)
    lane.write(2, 0, keys, values)
    seen_keys, seen_values = lane.write(2, 3, 2 * keys, 2 * values)
    assert seen_keys[0, 0, :, 0].tolist() == [1, 1, 1, 2, 2, 2]
    assert (seen_keys.shape, seen_values.shape) == ((1, 2, 6, 2), (1, 2, 6, 1))
    assert lane_buffers(lane)[0][0].isnan().all(), "another layer was written"


def test_a_write_past_the_end_is_an_error() -> None:
    """Never a silent cut."""
    lane = Lane(LAYOUT, 4)
    with pytest.raises(RuntimeError):
        lane.write(1, 2, torch.ones(1, 1, 3, 1), torch.ones(1, 1, 3, 3))


@pytest.mark.parametrize("count", range(4))
def test_publishing_is_all_or_nothing(count: int) -> None:
    """ENGINE_BUGS kind C20: memory that fails at the second, third, ... block frees the first ones again."""
    store = FlakyStore(LAYOUT, 10**6)
    lane = filled_lane(store, 64)
    store.fail_after = count
    used = store.used_bytes
    with pytest.raises(MemoryError):
        store.publish(lane, 0, 4)
    assert (store.used_bytes, store.blocks) == (used, set())
    assert len(store.publish(lane, 0, 4)) == 4


def test_the_budget_is_checked_before_memory_is_taken() -> None:
    """ENGINE_BUGS kind D28: to the byte, for lanes and for blocks."""
    store = FlakyStore(LAYOUT, 63 * LAYOUT.bytes_per_token)
    with pytest.raises(MemoryError, match="budget"):
        store.new_lane(64)
    lane = store.new_lane(32)
    with pytest.raises(MemoryError, match="budget"):
        store.publish(lane, 0, 2)
    assert store.allocations <= 2
    (block,) = store.publish(lane, 0, 1)
    store.free([block])
    store.free_lane(lane)
    assert store.used_bytes == real_bytes(store) == 0


def test_a_freed_block_cannot_be_freed_or_read_again() -> None:
    """ENGINE_BUGS kind C17: one slot freed by two paths is an error, not a silent reuse."""
    store = KVStore(LAYOUT, 10**6)
    lane = filled_lane(store, 16)
    blocks = store.publish(lane, 0, 1)
    store.free(blocks)
    with pytest.raises(KeyError):
        store.free(blocks)
    with pytest.raises(KeyError):
        store.restore(lane, 0, blocks)


def test_block_numbers_are_not_given_out_again() -> None:
    """ENGINE_BUGS kind B9: a stale number never names another block."""
    store = KVStore(LAYOUT, 10**6)
    lane = filled_lane(store, 2 * BLOCK_TOKENS)
    first = store.publish(lane, 0, 2)
    store.free(first)
    assert not set(first) & set(store.publish(lane, 0, 2))


def test_cutting_a_lane_forgets_tokens() -> None:
    lane = Lane(LAYOUT, 32)
    lane.ids, lane.settled = list(range(20)), 16
    lane.cut(18)
    assert (lane.ids, lane.settled) == (list(range(18)), 16)
    lane.cut(5)
    assert (lane.ids, lane.settled) == (list(range(5)), 5)


@pytest.mark.parametrize(
    ("error", "is_memory"),
    [
        (MemoryError("x"), True),
        (torch.OutOfMemoryError("CUDA out of memory"), True),
        (RuntimeError("[enforce fail at alloc_cpu.cpp:1] DefaultCPUAllocator: can't allocate memory: tried 9"), True),
        (RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes."), True),
        (RuntimeError("MPS backend out of memory (MPS allocated: 8.89 GB, max allowed: 9.07 GB)"), True),
        (RuntimeError("shapes cannot be multiplied"), False),
        (ValueError("memory"), False),
    ],
)
def test_a_lack_of_memory_is_told_from_other_errors(error: Exception, is_memory: bool) -> None:
    assert is_out_of_memory(error) == is_memory


def test_a_device_without_memory_raises_memory_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 10 bytes")

    store = KVStore(LAYOUT, 10**6)
    lane = filled_lane(store, 32)
    monkeypatch.setattr(torch, "empty", refuse)
    with pytest.raises(MemoryError, match="allocate"):
        store.new_lane(16)
    with pytest.raises(MemoryError, match="allocate"):
        store.publish(lane, 0, 1)
    assert store.used_bytes == lane.nbytes


def test_a_large_lane_that_the_system_has_no_memory_for_raises_memory_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets its memory from the system itself, in huge pages where there are such."""
    if not hasattr(mmap, "MADV_HUGEPAGE"):
        pytest.skip("this system has no huge pages to ask for")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    tokens = LEAST_LARGE_BYTES // 16
    store = KVStore(LAYOUT, 2 * tokens * LAYOUT.bytes_per_token)
    lane = filled_lane(store, tokens)
    assert all(buffer.data_ptr() % mmap.PAGESIZE == 0 for buffer in lane_buffers(lane) if buffer.nbytes >= 4 << 20)
    monkeypatch.setattr(mmap, "mmap", refuse)
    with pytest.raises(MemoryError, match="allocate"):
        store.new_lane(tokens)
    assert store.used_bytes == lane.nbytes

"""The tensors of the cache: published blocks, lanes, and their bytes. The only owner of cache memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from engine import large_pages
from engine.cache.copies import Copy
from engine.cache.rounding import codes_of, exponents_of, rounded, rows_of
from engine.large_pages import LEAST_LARGE_BYTES
from engine.types import BLOCK_TOKENS

_NO_MEMORY = ("can't allocate memory", "not enough memory", "MPS backend out of memory")
"""What torch says in plain RuntimeErrors: on the CPU, on the CPU under Windows, on MPS."""


@dataclass(frozen=True, slots=True)
class LayerGroup:
    """Layers whose keys and values have one shape: `kv_heads` heads of `key_dim` and `value_dim` numbers a token."""

    layers: tuple[int, ...]
    kv_heads: int
    key_dim: int
    value_dim: int

    @property
    def elements_per_token(self) -> int:
        """Numbers that one token adds, over all layers of the group."""
        return len(self.layers) * self.kv_heads * (self.key_dim + self.value_dim)


@dataclass(frozen=True, slots=True)
class KVLayout:
    """How a model's keys and values are laid out: groups of like layers, number type, device. `is_rounded`: they are
    rounded to 8 bits, which is what blocks hold then (`engine.cache.rounding`); lanes keep the number type."""

    groups: tuple[LayerGroup, ...]
    dtype: torch.dtype
    device: torch.device
    is_rounded: bool = False

    @property
    def elements_per_token(self) -> int:
        """Numbers that one token adds, over all layers."""
        return sum(group.elements_per_token for group in self.groups)

    @property
    def bytes_per_token(self) -> int:
        """Bytes that one token adds: layers * kv_heads * (key_dim + value_dim) * bytes of a number."""
        return self.elements_per_token * self.dtype.itemsize

    @property
    def rows_per_token(self) -> int:
        """Rows of numbers that one token adds: keys and values of each head."""
        return sum(2 * len(group.layers) * group.kv_heads for group in self.groups)

    @property
    def block_dtype(self) -> torch.dtype:
        """The number type of a block: bytes, where it is rounded."""
        return torch.uint8 if self.is_rounded else self.dtype

    @property
    def bytes_per_block(self) -> int:
        """Bytes of one 16-token block."""
        rounded = self.elements_per_token + self.rows_per_token
        return (rounded if self.is_rounded else self.bytes_per_token) * BLOCK_TOKENS


class Lane:
    """One contiguous working buffer for the path being computed; attention sees plain views of it.

    `keys[g]` is `[layer, kv_head, capacity, key_dim]` for group g, `values[g]` likewise; `layers` has them by layer, as
    views `[1, kv_head, capacity, dim]` of keys and values. `ids` are the tokens whose
    keys and values stand in the first `len(ids)` slots, all of them written; what lies behind is garbage. The first
    `settled` of them may be published and reused: those that were read, not those that decoding wrote. All of it was
    computed in one `regime` of the model's position code. `end_logits` are those after exactly the first `end` of
    `ids`, a prompt's: the same prompt again need not be computed at all. `recorded` is what a device repeats to compute
    a token in this very buffer (`engine.models.graphs`).
    """

    def __init__(self, layout: KVLayout, capacity: int, fill: float | None = None) -> None:
        self.layout = layout
        self.capacity = capacity
        self.ids: list[int] = []
        self.settled = 0
        self.regime = ""
        self.is_busy = False
        self.end = 0
        self.end_logits: Tensor | None = None
        self.recorded: dict[Hashable, Callable[[Tensor, int], Tensor]] = {}
        self.keys = [self._buffer(group, group.key_dim) for group in layout.groups]
        self.values = [self._buffer(group, group.value_dim) for group in layout.groups]
        if fill is not None:
            for buffer in self.keys + self.values:
                buffer.fill_(fill)
        self.layers = {
            layer: (keys[i : i + 1], values[i : i + 1])
            for group, keys, values in zip(layout.groups, self.keys, self.values, strict=True)
            for i, layer in enumerate(group.layers)
        }

    @property
    def nbytes(self) -> int:
        """Bytes of the whole buffer, and of the logits kept with it."""
        logits = 0 if self.end_logits is None else self.end_logits.nbytes
        return self.capacity * self.layout.bytes_per_token + logits

    def logits_after(self, ids: Sequence[int], regime: str) -> Tensor | None:
        """The logits kept for exactly this prompt; None where there are none."""
        is_it = self.end == len(ids) and self.regime == regime and self.ids[: self.end] == list(ids)
        return self.end_logits if is_it else None

    def write(self, layer: int, start: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Write `[1, kv_head, n, dim]` keys and values of one layer at `start`; views of all up to `start + n`."""
        own_keys, own_values = self.layers[layer]
        count = keys.shape[2]
        own_keys.narrow(2, start, count).copy_(keys)
        own_values.narrow(2, start, count).copy_(values)
        self.round(layer, start, count)
        return own_keys.narrow(2, 0, start + count), own_values.narrow(2, 0, start + count)

    def write_at(self, layer: int, position: Tensor, keys: Tensor, values: Tensor) -> None:
        """Write `[1, kv_head, 1, n]` keys and values of one layer at a position `[1]` that is on the device."""
        for buffer, rows in zip(self.layers[layer], (keys, values), strict=True):
            rows = rows.to(buffer.dtype)
            buffer.index_copy_(2, position, rounded(rows) if self.layout.is_rounded else rows)

    def clean(self, start: int, end: int) -> None:
        """Make what lies from `start` to `end`, behind all tokens, zero: what it was need not be numbers."""
        for buffer in self.keys + self.values:
            buffer[:, :, start:end] = 0

    def round(self, layer: int, start: int, count: int) -> None:
        """Round the keys and values of one layer that were written from `start` on, where the layout asks for it."""
        if self.layout.is_rounded:
            for buffer in self.layers[layer]:
                written = buffer.narrow(2, start, count)
                written.copy_(rounded(written))

    def take_over(self, other: Lane) -> None:
        """Become a copy of a smaller lane."""
        length = len(other.ids)
        for mine, theirs in zip(self.keys + self.values, other.keys + other.values, strict=True):
            mine[:, :, :length] = theirs[:, :, :length]
        self.ids[:] = other.ids
        self.settled, self.regime = other.settled, other.regime
        self.end, self.end_logits = other.end, other.end_logits
        other.drop_logits()

    def cut(self, length: int) -> None:
        """Forget all tokens from `length` on."""
        del self.ids[length:]
        self.settled = min(self.settled, length)
        if length < self.end:
            self.drop_logits()

    def drop_logits(self) -> None:
        """Keep no logits any more."""
        self.end, self.end_logits = 0, None

    def _buffer(self, group: LayerGroup, dim: int) -> Tensor:
        shape = (len(group.layers), group.kv_heads, self.capacity, dim)
        return _lane_memory(math.prod(shape), self.layout).view(shape)


class KVStore:
    """Owns every byte of the cache. `used_bytes` never exceeds `budget_bytes`: it is checked before allocating.

    A block is one contiguous stretch: for each group all keys, then all values, `[layer, kv_head, 16, dim]`. Where they
    are rounded, these are whole numbers of one byte, and their exponents follow in the same order, `[..., 1]`.
    `new_id` picks block numbers (tests permute them); `fill` is written into fresh lanes (tests poison them with NaN).
    """

    def __init__(
        self,
        layout: KVLayout,
        budget_bytes: int,
        new_id: Callable[[set[int]], int] | None = None,
        fill: float | None = None,
    ) -> None:
        self.layout = layout
        self.budget_bytes = budget_bytes
        self._blocks: dict[int, Tensor] = {}
        self._leaving: list[Copy] = []
        """Copies elsewhere that hold blocks which are given back here."""
        self._lanes: list[Lane] = []
        self._next_id = 0
        self._new_id = new_id
        self._fill = fill

    @property
    def used_bytes(self) -> int:
        """Bytes of all blocks and lanes, and of blocks that are being copied elsewhere."""
        return (len(self._blocks) + len(self._leaving)) * self.layout.bytes_per_block + self.lane_bytes

    @property
    def lane_bytes(self) -> int:
        """Bytes of all lanes."""
        return sum(lane.nbytes for lane in self._lanes)

    @property
    def free_bytes(self) -> int:
        """What may still be allocated; negative only between lowering the budget and the eviction that follows."""
        return self.budget_bytes - self.used_bytes

    @property
    def blocks(self) -> set[int]:
        """The numbers of all allocated blocks."""
        return set(self._blocks)

    def new_lane(self, capacity: int) -> Lane:
        """Allocate a lane for `capacity` tokens. Raises MemoryError past the budget."""
        if capacity * self.layout.bytes_per_token > self.free_bytes:
            raise MemoryError("the lane does not fit in the cache budget")
        with _memory_errors():
            lane = Lane(self.layout, capacity, self._fill)
        self._lanes.append(lane)
        return lane

    def free_lane(self, lane: Lane) -> None:
        """Give a lane's memory back."""
        self._lanes.remove(lane)
        lane.layers.clear()
        lane.keys.clear()
        lane.values.clear()
        lane.recorded.clear()
        lane.cut(0)

    def keep_logits(self, lane: Lane, logits: Tensor) -> None:
        """Keep a copy of the logits after the lane's present ids, in place of any before. Raises MemoryError past the
        budget."""
        lane.drop_logits()
        if logits.nbytes > self.free_bytes:
            raise MemoryError("the logits do not fit in the cache budget")
        with _memory_errors():
            lane.end, lane.end_logits = len(lane.ids), logits.clone()

    def publish(self, lane: Lane, start: int, count: int) -> list[int]:
        """Copy `count` blocks out of the lane from token `start` on; their new numbers. All or nothing.

        Raises MemoryError past the budget.
        """
        if count * self.layout.bytes_per_block > self.free_bytes:
            raise MemoryError("the blocks do not fit in the cache budget")
        made: list[int] = []
        try:
            for i in range(count):
                with _memory_errors():
                    tensor = self._copy_out(lane, start + i * BLOCK_TOKENS)
                made.append(self._take_id())
                self._blocks[made[-1]] = tensor
        except BaseException:
            self.free(made)
            raise
        return made

    def restore(self, lane: Lane, start: int, blocks: Sequence[int]) -> None:
        """Copy published blocks into the lane from token `start` on."""
        for i, block in enumerate(blocks):
            self.copy_in(lane, start + i * BLOCK_TOKENS, self._blocks[block])

    def copy_in(self, lane: Lane, start: int, block: Tensor) -> None:
        """Copy one block's numbers, as `block` gives them, into the lane from token `start` on. A block may be on the
        CPU also where the lane is not. Several threads may do this at once, for different places."""
        if self.layout.is_rounded:
            for buffer, codes, exponents in zip(_buffers(lane), *self._rounded_parts(block), strict=True):
                codes, exponents = (part.to(buffer.device) for part in (codes, exponents))
                buffer[:, :, start : start + BLOCK_TOKENS] = rows_of(codes, exponents, buffer.dtype)
            return
        for buffer, part in zip(_buffers(lane), self._parts(block), strict=True):
            _copy(part, buffer[:, :, start : start + BLOCK_TOKENS])

    def tensors(self, blocks: Sequence[int]) -> list[Tensor]:
        """What published blocks hold, each in one stretch. They are final: not to be written to."""
        return [self._blocks[block] for block in blocks]

    def free(self, blocks: Sequence[int]) -> None:
        """Give the memory of blocks back."""
        for block in blocks:
            del self._blocks[block]

    def free_behind(self, block: int, copy: Copy) -> None:
        """Give the memory of a block back when a copy of it is made, which holds it until then."""
        del self._blocks[block]
        self._leaving.append(copy)

    def let_go(self, nbytes: int) -> None:
        """Wait for copies elsewhere until so many bytes are free, or none is left."""
        self._leaving = [copy for copy in self._leaving if not copy.is_done()]
        while self._leaving and self.free_bytes < nbytes:
            self._leaving.pop(0).wait()

    def _copy_out(self, lane: Lane, start: int) -> Tensor:
        layout = self.layout
        count = layout.bytes_per_block // layout.block_dtype.itemsize
        tensor = torch.empty(count, dtype=layout.block_dtype, device=layout.device)
        if layout.is_rounded:
            for buffer, codes, exponents in zip(_buffers(lane), *self._rounded_parts(tensor), strict=True):
                rows = buffer[:, :, start : start + BLOCK_TOKENS]
                exponents.copy_(exponents_of(rows))
                codes.copy_(codes_of(rows, exponents.int()))
            return tensor
        for buffer, part in zip(_buffers(lane), self._parts(tensor), strict=True):
            _copy(buffer[:, :, start : start + BLOCK_TOKENS], part)
        return tensor

    def _parts(self, tensor: Tensor, dim_of: Callable[[int], int] = lambda dim: dim) -> list[Tensor]:
        """The keys and values of each group inside a block, as views `[layer, kv_head, 16, dim]`."""
        parts, at = [], 0
        for group in self.layout.groups:
            for dim in (group.key_dim, group.value_dim):
                shape = (len(group.layers), group.kv_heads, BLOCK_TOKENS, dim_of(dim))
                size = math.prod(shape)
                parts.append(tensor[at : at + size].view(shape))
                at += size
        return parts

    def _rounded_parts(self, tensor: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """The whole numbers and the exponents inside a rounded block."""
        split = self.layout.elements_per_token * BLOCK_TOKENS
        whole = tensor.view(torch.int8)
        return self._parts(whole[:split]), self._parts(whole[split:], lambda dim: 1)

    def _take_id(self) -> int:
        if self._new_id is not None:
            return self._new_id(self.blocks)
        self._next_id += 1
        return self._next_id


@contextmanager
def _memory_errors() -> Iterator[None]:
    """Turn torch's ways of saying "no memory" into MemoryError."""
    try:
        yield
    except RuntimeError as error:
        if is_out_of_memory(error):
            raise MemoryError(str(error)) from error
        raise


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the device had no memory; but for CUDA torch raises a plain RuntimeError for it."""
    said = any(words in str(error) for words in _NO_MEMORY)
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or (isinstance(error, RuntimeError) and said)


def _lane_memory(count: int, layout: KVLayout) -> Tensor:
    """`count` numbers of any value; on the CPU in large pages, for a lane has tens of thousands of small ones. Raises
    MemoryError."""
    nbytes = count * layout.dtype.itemsize
    if layout.device.type != "cpu" or nbytes < LEAST_LARGE_BYTES:
        return torch.empty(count, dtype=layout.dtype, device=layout.device)
    return large_pages.memory(nbytes).view(layout.dtype)


def _copy(source: Tensor, target: Tensor) -> None:
    """Copy numbers as they are. On the CPU in this thread alone: for a block torch's threads would wait for each other
    longer than they copy, and in another thread than the engine's it would begin a second team of them."""
    if source.device.type == target.device.type == "cpu":
        np.copyto(target.view(torch.uint8).numpy(), source.view(torch.uint8).numpy())
    else:
        target.copy_(source)


def _buffers(lane: Lane) -> list[Tensor]:
    """A lane's keys and values in the order of a block's parts."""
    return [buffer for pair in zip(lane.keys, lane.values, strict=True) for buffer in pair]

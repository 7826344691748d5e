"""A disk tier over a folder of the tests: paths written to it and read back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from engine.cache.blocks import Key, block_keys, chain
from engine.cache.disk_files import HEADER_BYTES
from engine.cache.disk_tier import DiskTier
from engine.cache.store import KVStore
from engine.types import BLOCK_TOKENS
from tests.engine.fake_kv import LAYOUT

BLOCK_BYTES = HEADER_BYTES + LAYOUT.bytes_per_block
ONE, TWO, THREE = ([number] * 16 for number in (1, 2, 3))
Open = Callable[..., DiskTier]


def tensor(key: Key) -> Tensor:
    """What a block of these ids holds, for the tests: numbers of its own."""
    return torch.arange(LAYOUT.elements_per_token * BLOCK_TOKENS, dtype=LAYOUT.dtype) + 1000 * key[0]


def keep(tier: DiskTier, ids: list[int], owner: str = "chat", space: str = "model") -> None:
    """Have a path written."""
    tier.enqueue(space, ids, owner)
    for _ in tier.write_back(lambda space, keys: [tensor(key) for key in keys]):
        tier.check()
    tier.check()
    assert sum(path.stat().st_size for path in files(tier)) == tier.used_bytes or not tier.is_on


def read(tier: DiskTier, ids: list[int], first: int = 0, space: str = "model") -> int:
    """How many blocks are read back from number `first` on, each one as it was written."""
    store = KVStore(LAYOUT, 10**7)
    lane = store.new_lane(len(ids))
    end = tier.fill(store, lane, space, ids, first)
    blocks = store.tensors(store.publish(lane, first * BLOCK_TOKENS, end - first))
    assert all(torch.equal(block, tensor(key)) for block, key in zip(blocks, block_keys(ids)[first:], strict=False))
    tier.check()
    return end - first


def files(tier: DiskTier) -> list[Path]:
    """The files of blocks."""
    return sorted(path for path in tier.files.root.glob("*/*.kv") if not path.is_dir())


def digest(ids: list[int]) -> str:
    """The name of the last block of a path."""
    return chain("model", block_keys(ids))[-1]

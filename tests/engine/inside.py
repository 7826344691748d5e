"""What tests look at inside the cache; the one place that knows its private parts."""

from __future__ import annotations

from torch import Tensor

from engine.cache import PrefixCache
from engine.node import Node
from engine.store import KVStore, Lane


def forget_lanes(cache: PrefixCache) -> None:
    """Leave only published blocks to hit."""
    for lane in cache._lanes.idle():
        cache._lanes.drop(lane)


def lanes(cache: PrefixCache) -> list[Lane]:
    """The cache's lanes."""
    return list(cache._lanes)


def lane_buffers(lane: Lane) -> list[Tensor]:
    """Keys and values of each group, `[layer, kv_head, capacity, dim]`, in the order of a block's parts."""
    return [buffer for pair in zip(lane.keys, lane.values, strict=True) for buffer in pair]


def block_parts(store: KVStore, block: int) -> list[Tensor]:
    """Keys and values of each group in a published block, `[layer, kv_head, 16, dim]`."""
    return store._parts(store._blocks[block])


def swap_blocks(store: KVStore, one: int, other: int) -> None:
    """Damage: each block holds what belongs into the other."""
    store._blocks[one], store._blocks[other] = store._blocks[other], store._blocks[one]


def real_bytes(store: KVStore) -> int:
    """Bytes that the store's tensors really take."""
    buffers = [buffer for lane in store._lanes for buffer in lane_buffers(lane)]
    return sum(tensor.untyped_storage().nbytes() for tensor in [*buffers, *store._blocks.values()])


def pins(cache: PrefixCache) -> int:
    """Nodes that a running request holds."""
    return sum(node.pins > 0 for node in cache.tree.nodes())


def is_idle(cache: PrefixCache) -> bool:
    """Whether nothing is held: no run, no pin, no busy lane, and no lane but the cache's own."""
    own = sum(lane.nbytes for lane in lanes(cache)) == cache.store.lane_bytes
    return own and not cache._runs and not pins(cache) and not any(lane.is_busy for lane in lanes(cache))


def paths(cache: PrefixCache, namespace: str) -> list[tuple[list[int], list[int]]]:
    """Token ids and blocks of every path from the root to a leaf."""
    found = []
    stack: list[tuple[Node, list[int], list[int]]] = [(cache.tree.root(namespace), [], [])]
    while stack:
        node, ids, blocks = stack.pop()
        ids = ids + [token for key in node.keys for token in key]
        blocks = blocks + node.blocks
        if not node.children:
            found.append((ids, blocks))
        stack.extend((child, ids, blocks) for child in node.children.values())
    return found

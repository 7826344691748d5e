"""What tests look at inside the cache and the responder; the one place that knows their private parts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from datetime import date

from torch import Tensor

from engine.cache.blocks import block_keys, chain
from engine.cache.prefix_cache import PrefixCache
from engine.cache.store import KVStore, Lane
from engine.cache.tree import Node
from engine.events import NodeView
from engine.prompt.template import Prompt, PromptBuilder
from engine.turn.responder import Responder
from engine.types import BLOCK_TOKENS, Message


def forget_lanes(cache: PrefixCache) -> None:
    """Leave only published blocks to hit."""
    lanes = cache._lanes
    for lane in lanes.idle():
        lanes.drop(lane)


def lanes(cache: PrefixCache) -> list[Lane]:
    """The cache's lanes."""
    return list(cache._lanes)


def lane_buffers(lane: Lane) -> list[Tensor]:
    """Keys and values of each group, `[layer, kv_head, capacity, dim]`, in the order of a block's parts."""
    return [buffer for pair in zip(lane.keys, lane.values, strict=True) for buffer in pair]


def stored_blocks(store: KVStore) -> dict[int, Tensor]:
    """The published blocks by number."""
    return store._blocks


def block_parts(store: KVStore, block: int) -> list[Tensor]:
    """Keys and values of each group in a published block, `[layer, kv_head, 16, dim]`."""
    return store._parts(stored_blocks(store)[block])


def swap_blocks(store: KVStore, one: int, other: int) -> None:
    """Damage: each block holds what belongs into the other."""
    held = stored_blocks(store)
    held[one], held[other] = held[other], held[one]


def real_bytes(store: KVStore) -> int:
    """Bytes that the store's tensors really take."""
    lanes = list(store._lanes)
    buffers = [buffer for lane in lanes for buffer in lane_buffers(lane)]
    buffers += [lane.end_logits for lane in lanes if lane.end_logits is not None]
    return sum(tensor.untyped_storage().nbytes() for tensor in [*buffers, *stored_blocks(store).values()])


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


def build_prompt(responder: Responder, messages: Sequence[Message], day: date | None = None) -> Prompt:
    """The prompt that the responder makes of a conversation."""
    return responder.builder.build(messages, day)


def use_builder(responder: Responder, builder: PromptBuilder) -> None:
    """Give the responder the template of another family."""
    responder.building.builder = builder


def is_in_tree(node: NodeView) -> bool:
    """Whether a run of the view lies where the tree does, and not in a tier behind it. The number of one that does not
    is negative."""
    return node.block >= 0


def check_runs(cache: PrefixCache) -> None:
    """The view shows each block once, in the tree or in a tier behind it only, in runs that nothing branches off in the
    middle, each behind the run that it goes on."""
    nodes, entries = cache.view(with_nodes=True).nodes, cache.disk.entries()
    index = {name: entry for name, entry in entries.items() if entry.folder == cache.disk.folder}
    held = cache.memory.held()
    sizes = {name: entry.nbytes for name, entry in index.items()} | dict.fromkeys(
        held, cache.store.layout.bytes_per_block
    )
    memory = {block: name for space, _ in cache.tree.roots() for block, name in _names(cache, space)}
    behind: dict[str, set[str]] = {}
    for name, before in [pair for space, _ in cache.tree.roots() for pair in _pairs(cache, space)]:
        behind.setdefault(before, set()).add(name)
    for entry in (*index.values(), *held.values()):
        behind.setdefault(entry.parent, set()).add(entry.digest)
    shown: list[list[str]] = []
    for number, node in enumerate(nodes):
        if not is_in_tree(node):
            run = cache._picture._runs[cache._picture.disk_name(node.block)]
            names = [entry.digest for entry in run.entries]
            assert node.bytes == sum(sizes[name] for name in names)
            assert all((name in held) == (node.tier == "memory") for name in names)
            if node.tier == "disk":
                assert node.conversations == cache.disk.names_of(set().union(*(index[name].owners for name in names)))
        else:
            below = cache.tree.find(node.block)
            assert below is not None
            blocks = [block for part in list(below.path())[::-1] for block in part.blocks]
            names = [memory[block] for block in blocks[node.start // BLOCK_TOKENS :]]
        assert node.tokens == len(names) * BLOCK_TOKENS
        assert node.parent < number
        assert node.start == (0 if node.parent < 0 else nodes[node.parent].start + nodes[node.parent].tokens)
        assert all(behind[name] == {follower} for name, follower in itertools.pairwise(names))
        assert names[0] in behind[shown[node.parent][-1] if node.parent >= 0 else ""]
        shown.append(names)
    in_tree = [name for node, names in zip(nodes, shown, strict=True) if is_in_tree(node) for name in names]
    in_tiers = [name for node, names in zip(nodes, shown, strict=True) if not is_in_tree(node) for name in names]
    assert sorted(in_tree) == sorted(memory.values())
    assert sorted(in_tiers) == sorted({*index, *held} - set(in_tree))


def drawn_names(cache: PrefixCache) -> int:
    """How many runs on disk only have a number in the picture."""
    return len(cache._picture._names)


def _names(cache: PrefixCache, space: str) -> Iterator[tuple[int, str]]:
    """Each block in memory with its name on disk."""
    for ids, blocks in paths(cache, space):
        yield from zip(blocks, chain(space, block_keys(ids))[1:], strict=True)


def _pairs(cache: PrefixCache, space: str) -> Iterator[tuple[str, str]]:
    """The name of each block in memory with that of the block before it, "" where there is none."""
    for ids, _ in paths(cache, space):
        names = chain(space, block_keys(ids))[1:]
        yield from zip(names, ["", *names], strict=False)

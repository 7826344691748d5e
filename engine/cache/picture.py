"""The cache as plain values for whoever draws it: its memory, and the tree with one entry for each unbranched run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.cache.node import Node
from engine.cache.store import KVLayout, KVStore
from engine.cache.tree import PrefixTree
from engine.events import CacheView, NodeView
from engine.types import BLOCK_TOKENS

TEXT_BLOCKS = 3
"""How many blocks at the start of a run are shown as text."""

TEXT_CHARACTERS = 400
"""How much of that text is kept: more than a picture shows, also where each token is a long one."""


def memory_view(tree: PrefixTree, store: KVStore, evicted_bytes: int, request_id: int, now: float) -> CacheView:
    """What the cache's memory holds, without the tree."""
    block = store.layout.bytes_per_block
    kept = sum(len(node.blocks) for node in tree.nodes() if node.kept_by)
    running = sum(len(node.blocks) for node in tree.nodes() if node.pins and not node.kept_by)
    return CacheView(
        request_id=request_id,
        time_s=now,
        budget_bytes=store.budget_bytes,
        pinned_bytes=kept * block,
        live_bytes=running * block + store.lane_bytes,
        reusable_bytes=(len(tree) - kept - running) * block,
        evicted_bytes=evicted_bytes,
        cached_tokens=len(tree) * BLOCK_TOKENS,
    )


def node_views(
    tree: PrefixTree,
    bytes_per_block: int,
    now: float,
    decode: Callable[[Sequence[int]], str] = lambda _: "",
    tier: str = "memory",
) -> tuple[NodeView, ...]:
    """All runs, parents before their children. A chain of nodes that nothing branches off is one run."""
    views: list[NodeView] = []
    stack = [(node, -1, 0) for node in tree.tops()]
    while stack:
        node, parent, start = stack.pop()
        last, blocks, owners = _run(node)
        tokens = blocks * BLOCK_TOKENS
        pinned = bool(last.kept_by)
        if node.text is None:
            node.text = decode([token for key in node.keys[:TEXT_BLOCKS] for token in key])[:TEXT_CHARACTERS]
        idle, size = now - last.last_used, blocks * bytes_per_block
        block, text = last.blocks[-1], node.text
        views.append(NodeView(parent, start, tokens, size, idle, node.hits, pinned, owners, block, text, tier))
        if last.children:
            at, end = len(views) - 1, start + tokens
            stack.extend([(child, at, end) for child in last.children.values()])
    return tuple(views)


def tier_of(layout: KVLayout) -> str:
    """Where the cache of such a layout lies, as `NodeView.tier` says it."""
    return "memory" if layout.device.type == "cpu" else "device"


def run_start(node: Node) -> Node:
    """The first node of the run that `node` lies in."""
    parent = node.parent
    while parent is not None and parent.parent is not None and len(parent.children) == 1 and not parent.forks:
        if bool(parent.kept_by) != bool(node.kept_by):
            break
        node, parent = parent, parent.parent
    return node


def _run(node: Node) -> tuple[Node, int, tuple[str, ...]]:
    """What hangs on `node` without a branch, on disk neither, as far as both are kept or both are not: its last node,
    the number of its blocks, its owners in order."""
    last, blocks, owners = node, len(node.blocks), node.owners
    while len(last.children) == 1 and not last.forks:
        (child,) = last.children.values()
        if bool(child.kept_by) != bool(node.kept_by):
            break
        last, blocks = child, blocks + len(child.blocks)
        if child.owners - owners:
            owners = owners | child.owners
    return last, blocks, tuple(owners) if len(owners) < 2 else tuple(sorted(owners))

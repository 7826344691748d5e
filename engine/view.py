"""The prefix tree as plain values for whoever draws it: one entry for each unbranched run."""

from __future__ import annotations

from engine.events import NodeView
from engine.tree import Node, PrefixTree
from engine.types import BLOCK_TOKENS


def node_views(tree: PrefixTree, bytes_per_block: int, now: float) -> tuple[NodeView, ...]:
    """All runs, parents before their children. A chain of nodes that nothing branches off is one run."""
    views: list[NodeView] = []
    stack = [(node, -1, 0) for node in tree.tops()]
    while stack:
        node, parent, start = stack.pop()
        last, blocks, owners = _run(node)
        tokens = blocks * BLOCK_TOKENS
        pinned = bool(last.kept_by)
        views.append(
            NodeView(parent, start, tokens, blocks * bytes_per_block, now - last.last_used, node.hits, pinned, owners)
        )
        if last.children:
            at, end = len(views) - 1, start + tokens
            stack.extend([(child, at, end) for child in last.children.values()])
    return tuple(views)


def _run(node: Node) -> tuple[Node, int, tuple[str, ...]]:
    """What hangs on `node` without a branch, as far as both are kept or both are not: its last node, the number of its
    blocks, its owners in order."""
    last, blocks, owners = node, len(node.blocks), node.owners
    while len(last.children) == 1:
        (child,) = last.children.values()
        if bool(child.kept_by) != bool(node.kept_by):
            break
        last, blocks = child, blocks + len(child.blocks)
        if child.owners - owners:
            owners = owners | child.owners
    return last, blocks, tuple(owners) if len(owners) < 2 else tuple(sorted(owners))

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
        run = _run(node)
        blocks = sum(len(part.blocks) for part in run)
        last = run[-1]
        views.append(
            NodeView(
                parent=parent,
                start=start,
                tokens=blocks * BLOCK_TOKENS,
                bytes=blocks * bytes_per_block,
                idle_s=max(0.0, now - last.last_used),
                hits=node.hits,
                pinned=bool(last.kept_by),
                conversations=tuple(sorted(set().union(*(part.owners for part in run)))),
            )
        )
        stack.extend((child, len(views) - 1, start + blocks * BLOCK_TOKENS) for child in last.children.values())
    return tuple(views)


def _run(node: Node) -> list[Node]:
    """`node` and what hangs on it without a branch, as far as both are kept or both are not."""
    run = [node]
    while len(run[-1].children) == 1:
        (child,) = run[-1].children.values()
        if bool(child.kept_by) != bool(node.kept_by):
            break
        run.append(child)
    return run

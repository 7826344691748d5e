"""Where each run of the prefix tree lies: from left to right along the prompt, as tall as all that begins with it.

Pure: no Qt, no state. A run stands right of the run before it, its height is the number of ends behind it, so a long
run that many prompts share is a large block.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from engine import BLOCK_TOKENS, NodeView

NARROWEST, PER_DOUBLING = 28.0, 44.0
"""Pixels at natural size: of a run without tokens, and for each doubling of its blocks."""


class Box(NamedTuple):
    """One run. `x` and `width` in pixels at natural size, `y` and `height` in rows.

    `tokens_below` and `runs_below` count the run itself and everything behind it.
    """

    x: float
    y: float
    width: float
    height: float
    depth: int
    tokens_below: int
    runs_below: int

    def holds(self, x: float, y: float) -> bool:
        """Whether a point lies inside."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """`boxes[i]` is where `nodes[i]` lies; `children[i]` are the runs behind it from the top down."""

    nodes: tuple[NodeView, ...] = ()
    boxes: tuple[Box, ...] = ()
    children: tuple[tuple[int, ...], ...] = ()
    roots: tuple[int, ...] = ()
    width: float = 0.0
    rows: float = 0.0

    def at(self, x: float, y: float) -> int:
        """The run at a point, -1 where there is none."""
        row = self.roots
        while row:
            found = next((i for i in row if self.boxes[i].y <= y < self.boxes[i].y + self.boxes[i].height), -1)
            if found < 0 or self.boxes[found].holds(x, y):
                return found
            row = self.children[found]
        return -1

    def siblings(self, index: int) -> tuple[int, ...]:
        """The runs with the same parent, this one among them, from the top down."""
        parent = self.nodes[index].parent
        return self.children[parent] if 0 <= parent < index else self.roots


def lay_out(nodes: Sequence[NodeView]) -> TreeLayout:
    """Places for the runs of a `CacheView`, where parents come before their children."""
    children, roots = _children(nodes)
    ends = [0] * len(nodes)
    tokens = [node.tokens for node in nodes]
    runs = [1] * len(nodes)
    for index in range(len(nodes) - 1, -1, -1):
        for child in children[index]:
            ends[index] += ends[child]
            tokens[index] += tokens[child]
            runs[index] += runs[child]
        ends[index] = ends[index] or 1
    boxes: list[Box | None] = [None] * len(nodes)
    stack, top = [], 0.0
    for root in roots:
        stack.append((root, 0.0, top, 0))
        top += ends[root]
    while stack:
        index, x, y, depth = stack.pop()
        width = run_width(nodes[index].tokens)
        boxes[index] = Box(x, y, width, ends[index], depth, tokens[index], runs[index])
        for child in children[index]:
            stack.append((child, x + width, y, depth + 1))
            y += ends[child]
    placed = tuple(box for box in boxes if box is not None)
    right = max((box.x + box.width for box in placed), default=0.0)
    return TreeLayout(tuple(nodes), placed, children, roots, right, top)


def run_width(tokens: int) -> float:
    """Pixels at natural size: a run with twice the tokens is one step longer, and none is too short to be seen."""
    return NARROWEST + PER_DOUBLING * math.log2(1 + tokens / BLOCK_TOKENS)


def find_again(node: NodeView, nodes: Sequence[NodeView]) -> int:
    """The same run in a newer picture, -1 where it is gone. Its last block changes as it grows; its start does not."""
    for index, other in enumerate(nodes):
        if other.block == node.block and other.start == node.start:
            return index
    same = [i for i, other in enumerate(nodes) if (other.start, other.text) == (node.start, node.text)]
    shared = [i for i in same if set(nodes[i].conversations) & set(node.conversations)]
    return shared[0] if len(shared) == 1 else -1


class ListedRun(NamedTuple):
    """A run in the short list: its index among the nodes, how deep it is indented, and the row of the run before it,
    -1 for none."""

    run: int
    depth: int
    parent_row: int


def largest_runs(layout: TreeLayout, most: int) -> list[ListedRun]:
    """At most `most` runs, those with the most tokens behind them, none without the run before it; in tree order."""
    heap = [(-layout.boxes[root].tokens_below, root) for root in layout.roots]
    heapify(heap)
    chosen: set[int] = set()
    while heap and len(chosen) < most:
        _, index = heappop(heap)
        chosen.add(index)
        for child in layout.children[index]:
            heappush(heap, (-layout.boxes[child].tokens_below, child))
    rows: list[ListedRun] = []
    places: dict[int, int] = {}
    for index in sorted(chosen, key=lambda i: (layout.boxes[i].y, layout.boxes[i].depth)):
        places[index] = len(rows)
        rows.append(ListedRun(index, layout.boxes[index].depth, places.get(layout.nodes[index].parent, -1)))
    return rows


def _children(nodes: Sequence[NodeView]) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """The runs behind each run and the roots; the newest last, so that what is there already stays where it is."""
    below: list[list[int]] = [[] for _ in nodes]
    roots: list[int] = []
    for index in range(len(nodes) - 1, -1, -1):
        parent = nodes[index].parent
        (below[parent] if 0 <= parent < index else roots).append(index)
    return tuple(map(tuple, below)), tuple(roots)

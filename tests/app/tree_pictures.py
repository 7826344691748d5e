"""Pictures of a prefix tree, small and large, for the tests of what draws them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from engine import CacheView, NodeView

KV_BYTES = 23_040


def run(
    parent: int,
    start: int,
    tokens: int,
    block: int,
    conversations: tuple[str, ...] = (),
    pinned: bool = False,
    idle_s: float = 1.0,
    hits: int = 0,
    text: str = "",
    tier: str = "memory",
) -> NodeView:
    """One run of cached tokens."""
    size = tokens * KV_BYTES
    return NodeView(
        parent, start, tokens, size, idle_s, hits, pinned, conversations, block, text or f"run {block}", tier
    )


FEW = (
    run(-1, 0, 3008, 1, ("#1", "#2"), pinned=True, hits=12, text="You are the support bot."),
    run(0, 3008, 512, 2, ("#2",), idle_s=1900, hits=3, text="A jacket from\nthe sale"),
    run(0, 3008, 96, 3, ("#1",), idle_s=340, hits=1, text="Has it left?"),
    run(0, 3008, 184, 4, ("#1",), hits=7, text="Can I change the address?"),
    run(3, 3192, 32, 5, ("#1",), text="Yes."),
)
"""A kept system prompt, two conversations behind it, one of them with a branch and an answer."""

ON_DISK = (
    run(-1, 0, 3008, 1, ("#1", "#2"), pinned=True, hits=12, text="You are the support bot."),
    run(0, 3008, 96, 3, ("#1",), idle_s=40, hits=1, text="Has it left?"),
    run(0, 3008, 512, -1, ("#2",), idle_s=90_000, text="A jacket from\nthe sale", tier="disk"),
    run(2, 3520, 64, -2, ("#2",), idle_s=90_000, text="May I send it back?", tier="disk"),
    run(2, 3520, 160, -3, ("#2",), idle_s=95_000, text="Is there a smaller one?", tier="disk"),
    run(-1, 0, 1008, -4, ("#1",), idle_s=700_000, text="You translate.", tier="disk"),
)
"""The same after a restart: one conversation went on, the rest is on disk only."""

TITLES = {1: "Parcels", 2: "Returns"}


def view(nodes: Sequence[NodeView], time_s: float = 1.0) -> CacheView:
    """A picture of the cache with these runs."""
    near = [node for node in nodes if node.tier != "disk"]
    size = sum(node.bytes for node in near)
    kept = sum(node.bytes for node in nodes if node.pinned)
    return CacheView(0, time_s, 10**9, kept, 0, size - kept, 0, sum(node.tokens for node in near), tuple(nodes))


def many(count: int, seed: int = 3) -> tuple[NodeView, ...]:
    """A tree of `count` runs under four system prompts, up to eleven runs deep; the same one for the same seed."""
    chance = random.Random(seed)
    nodes: list[NodeView] = []
    depth: list[int] = []
    for index in range(count):
        parent = -1 if index < 4 else chance.randrange(4)
        if index >= 4 and chance.random() < 0.75:
            near = chance.randrange(max(0, index - 120), index)
            parent = near if depth[near] < 10 else parent
        start = nodes[parent].start + nodes[parent].tokens if parent >= 0 else 0
        depth.append(depth[parent] + 1 if parent >= 0 else 0)
        tokens, number = chance.choice((16, 32, 96, 400)), chance.randrange(300)
        idle = chance.expovariate(1 / 1800)
        nodes.append(run(parent, start, tokens, index + 1, (f"#{number}",), parent < 0, idle, index % 9))
    return tuple(nodes)

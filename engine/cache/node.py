"""A run of blocks in the prefix tree."""

from __future__ import annotations

from collections.abc import Iterator

from engine.cache.disk_index import next_digest

Key = tuple[int, ...]
"""The ids of one block."""

Keeper = str | int
"""Who asked to keep a prefix resident: a conversation, or the user, who chose the run that ends with this block."""


class Node:
    """A run of blocks. `keys[i]` are the 16 ids of block `blocks[i]`.

    `pins` counts the running requests that need this node or one below it; `kept_by` names those who
    asked to keep it resident. Neither may be evicted. A split keeps the object as the *lower* part, so that whoever
    holds a node as the deepest of a path goes on holding the whole path. `text`: how it begins, once it was asked for.
    `digests` are the names on disk of its first blocks, as far as they were asked for; `forks` name the blocks on disk
    only that come behind its last block, as the newest picture shows them.
    """

    __slots__ = (
        "blocks", "children", "digests", "forks", "hits", "kept_by", "keys", "last_used", "owners", "parent", "pins",
        "text",
    )  # fmt: skip

    def __init__(self, parent: Node | None, keys: list[Key], blocks: list[int]) -> None:
        self.parent = parent
        self.keys = keys
        self.blocks = blocks
        self.children: dict[Key, Node] = {}
        self.last_used = 0.0
        self.pins = 0
        self.hits = 0
        self.kept_by: set[Keeper] = set()
        self.owners: set[str] = set()
        self.text: str | None = None
        self.digests: list[str] = []
        self.forks: tuple[str, ...] = ()

    @property
    def is_evictable(self) -> bool:
        """A leaf that no running request needs and nobody asked to keep."""
        return not self.children and not self.pins and not self.kept_by and self.parent is not None

    def digest(self, number: int, before: str) -> str:
        """The name on disk of block `number`, computed once; `before` is the name of the block before it."""
        if number == len(self.digests):
            self.digests.append(next_digest(before, self.keys[number]))
        return self.digests[number]

    def path(self) -> Iterator[Node]:
        """This node and all above it, without the root."""
        node = self
        while node.parent is not None:
            yield node
            node = node.parent

"""A run of blocks in the prefix tree."""

from __future__ import annotations

from collections.abc import Iterator

Key = tuple[int, ...]
"""The ids of one block."""


class Node:
    """A run of blocks. `keys[i]` are the 16 ids of block `blocks[i]`.

    `pins` counts the running requests that need this node or one below it; `kept_by` names the conversations that
    asked to keep it resident. Neither may be evicted. A split keeps the object as the *lower* part, so that whoever
    holds a node as the deepest of a path goes on holding the whole path. `text`: how it begins, once it was asked for.
    """

    __slots__ = ("blocks", "children", "hits", "kept_by", "keys", "last_used", "owners", "parent", "pins", "text")

    def __init__(self, parent: Node | None, keys: list[Key], blocks: list[int]) -> None:
        self.parent = parent
        self.keys = keys
        self.blocks = blocks
        self.children: dict[Key, Node] = {}
        self.last_used = 0.0
        self.pins = 0
        self.hits = 0
        self.kept_by: set[str] = set()
        self.owners: set[str] = set()
        self.text: str | None = None

    @property
    def is_evictable(self) -> bool:
        """A leaf that no running request needs and nobody asked to keep."""
        return not self.children and not self.pins and not self.kept_by and self.parent is not None

    def path(self) -> Iterator[Node]:
        """This node and all above it, without the root."""
        node = self
        while node.parent is not None:
            yield node
            node = node.parent

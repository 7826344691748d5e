"""The index of the prefix cache: which token runs are cached, in which blocks, and which may go first.

Pure Python, no torch. A root per namespace; below it each node is a run of 16-token blocks without a branch. A child is
found by the tuple of its first 16 ids, so token ids themselves are compared and a hash can never lie.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from engine.cache.blocks import Key, block_keys, chain, next_digest
from engine.types import BLOCK_TOKENS

ENTRY_BYTES = 800
"""About what the tree takes for a block, measured: 16 ids and the tuple of them take 680, its places in the node and in
the index the rest. A node adds 800, which is little where its run is long."""

Keeper = str | int | tuple[str, str]
"""Who asked to keep a prefix resident: a conversation; the user, who chose the run that ends with this block; or a
request, for a time, with the name of the block that the prefix ends with."""


class Node:
    """A run of blocks. `keys[i]` are the 16 ids of block `blocks[i]`.

    `pins` counts the running requests that need this node or one below it; `kept_by` names those who asked to keep it
    resident. Neither may be evicted. A split keeps the object as the *lower* part, so that whoever holds a node as the
    deepest of a path goes on holding the whole path. `digests` are the names of its first blocks, as far as somebody
    asked for them. `is_ahead`: it was read ahead, and no request has come for it yet; nor for any below it.
    """

    __slots__ = (
        "blocks", "children", "digests", "hits", "is_ahead", "kept_by", "keys", "last_used", "owners", "parent", "pins",
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
        self.digests: list[str] = []
        self.is_ahead = False

    @property
    def is_evictable(self) -> bool:
        """A leaf that no running request needs and nobody asked to keep."""
        return not self.children and not self.pins and not self.kept_by and self.parent is not None

    def digest(self, number: int, before: str) -> str:
        """The name of block `number`, computed once; `before` is the name of the block before it."""
        if number == len(self.digests):
            self.digests.append(next_digest(before, self.keys[number]))
        return self.digests[number]

    def path(self) -> Iterator[Node]:
        """This node and all above it, without the root."""
        node = self
        while node.parent is not None:
            yield node
            node = node.parent


@dataclass(frozen=True, slots=True)
class Match:
    """The longest cached start of a prompt: `blocks` in order, ending exactly at the end of `node`."""

    node: Node
    blocks: tuple[int, ...]

    @property
    def num_tokens(self) -> int:
        """Tokens covered, a multiple of 16."""
        return len(self.blocks) * BLOCK_TOKENS


class PrefixTree:
    """Prefix tree over 16-token blocks: match, insert, split, pin, keep, evict in leaf-only LRU order.

    The tree hands out and takes back block numbers; what is in a block is the store's business. `clock` gives the
    time stamps for the LRU order. `version` grows with every change of which blocks are cached.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.version = 0
        self._clock = clock
        self._roots: dict[str, Node] = {}
        self._where: dict[int, Node] = {}
        self._kept: dict[Keeper, Node] = {}

    def __len__(self) -> int:
        """Number of cached blocks, over all namespaces."""
        return len(self._where)

    @property
    def nbytes(self) -> int:
        """About what the tree itself takes in memory."""
        return len(self) * ENTRY_BYTES

    def root(self, namespace: str) -> Node:
        """The root of a namespace; nothing of one namespace is ever found from another."""
        return self._roots.setdefault(namespace, Node(None, [], []))

    def peek(self, namespace: str, ids: Sequence[int]) -> int:
        """Tokens that `match` would cover, without touching anything."""
        return len(self.blocks(namespace, block_keys(ids))) * BLOCK_TOKENS

    def blocks(self, namespace: str, keys: list[Key]) -> list[int]:
        """The cached blocks at the start of a path, without touching anything."""
        return [block for node, count in _walk(self._roots.get(namespace), keys) for block in node.blocks[:count]]

    def digest(self, node: Node) -> str:
        """The name of a node's first block."""
        above = list(node.path())[:0:-1]
        (space,) = (space for space, root in self._roots.items() if root is (above or [node])[0].parent)
        return chain(space, [*(key for part in above for key in part.keys), node.keys[0]])[-1]

    def evictable(self) -> int:
        """Blocks that are neither pinned nor kept."""
        return sum(len(node.blocks) for node in self.nodes() if not node.pins and not node.kept_by)

    def evictable_on(self, namespace: str, ids: Sequence[int]) -> int:
        """How many of the cached blocks of `ids` are neither pinned nor kept."""
        found = _walk(self._roots.get(namespace), block_keys(ids))
        return sum(count for node, count in found if not node.pins and not node.kept_by)

    def match(self, namespace: str, ids: Sequence[int], *, is_hit: bool = True) -> Match:
        """The longest cached start of `ids`. Marks it as used now, and splits the last node where the match ends.

        `is_hit` False looks up on behalf of the writer and is not counted in `Node.hits`.
        """
        node = self.root(namespace)
        blocks: list[int] = []
        now = self._clock()
        for found, count in list(_walk(node, block_keys(ids))):
            node = found if count == len(found.keys) else self.split(found, count)
            node.last_used = now
            node.hits += is_hit
            blocks += node.blocks
        return Match(node, tuple(blocks))

    def insert(self, at: Match, keys: list[Key], blocks: list[int], *, is_ahead: bool = False) -> Match:
        """Append written, final blocks below the match `at`. None of them may be cached there already. `is_ahead`: they
        are evicted before all others, until `ask` says that a request came for them."""
        if not keys:
            return at
        assert len(keys) == len(blocks)
        assert keys[0] not in at.node.children
        node = Node(at.node, keys, blocks)
        node.last_used = self._clock()
        node.is_ahead = is_ahead
        at.node.children[keys[0]] = node
        for block in blocks:
            self._where[block] = node
        self.version += 1
        return Match(node, at.blocks + tuple(blocks))

    def pin(self, node: Node) -> None:
        """Hold a path for a running request."""
        for part in node.path():
            part.pins += 1

    def unpin(self, node: Node) -> None:
        """Give back what `pin` held."""
        for part in node.path():
            assert part.pins > 0
            part.pins -= 1

    def own(self, node: Node, owner: str) -> None:
        """Note that the path belongs to a conversation (for the view only)."""
        if owner:
            for part in node.path():
                part.owners.add(owner)

    def ask(self, node: Node) -> None:
        """A request came for this path: it is no longer what was merely read ahead."""
        for part in node.path():
            part.is_ahead = False

    def keep(self, node: Node, owner: Keeper) -> None:
        """Keep a path resident on behalf of `owner`, in place of what it kept before."""
        if self._kept.get(owner) is node:
            self._kept[owner] = self._kept.pop(owner)
            return
        self.release(owner)
        if node.parent is not None:
            self._kept[owner] = node
        for part in node.path():
            part.kept_by.add(owner)

    def release(self, owner: Keeper) -> None:
        """Keep nothing for `owner` any more."""
        node = self._kept.pop(owner, None)
        if node is not None:
            for part in node.path():
                part.kept_by.discard(owner)

    def kept(self) -> dict[Keeper, Node]:
        """Who keeps what: owner -> the deepest node of its path, whoever asked last at the end."""
        return dict(self._kept)

    def release_below(self, node: Node) -> None:
        """Keep this node and all below it no longer, whoever asked for it."""
        below = set(self.below(node))
        for owner in [owner for owner, kept in self._kept.items() if kept in below]:
            self.release(owner)

    def kept_tokens(self, namespace: str, ids: Sequence[int]) -> int:
        """Tokens at the start of `ids` that are cached and kept."""
        found = _walk(self._roots.get(namespace), block_keys(ids))
        return sum(count for node, count in found if node.kept_by) * BLOCK_TOKENS

    def find(self, block: int) -> Node | None:
        """The node that holds a block, None where it is not cached."""
        return self._where.get(block)

    def drop(self, node: Node) -> list[int]:
        """Remove a node and all below it, except paths that are pinned or kept; the freed blocks."""
        freed: list[int] = []
        for part in reversed(list(self.below(node))):
            if part.is_evictable:
                freed += self._cut(part, 0)
        return freed

    def names(self, node: Node) -> list[str]:
        """The names of a node's blocks, behind that of the block before them ("" at the start of a path)."""
        above = list(node.path())[::-1]
        (space,) = (space for space, root in self._roots.items() if root is above[0].parent)
        (before,), names = chain(space, ()), [""]
        for part in above:
            names = names[-1:]
            for number in range(len(part.keys)):
                before = part.digest(number, before)
                names.append(before)
        return names

    def evict(
        self,
        count: int,
        leaving: Callable[[Node, int], None] = lambda node, length: None,
        *,
        is_ahead_only: bool = False,
    ) -> list[int]:
        """Remove up to `count` blocks: first what was merely read ahead, then the least recently used leaf, and each
        leaf from its end. `leaving` is told of each node before it is shortened, and to which length. `is_ahead_only`:
        nothing but what was read ahead.

        Returns the freed block numbers; fewer than `count` where everything left is pinned or kept.
        """

        def may_go(node: Node) -> bool:
            return node.is_evictable and (node.is_ahead or not is_ahead_only)

        leaves = [_in_order(node) for node in self.nodes() if may_go(node)]
        heapq.heapify(leaves)
        freed: list[int] = []
        while leaves and len(freed) < count:
            *_, node = heapq.heappop(leaves)
            parent = node.parent
            assert parent is not None
            length = max(0, len(node.blocks) - (count - len(freed)))
            leaving(node, length)
            freed += self._cut(node, length)
            if not node.blocks and may_go(parent):
                heapq.heappush(leaves, _in_order(parent))
        return freed

    def roots(self) -> list[tuple[str, Node]]:
        """The namespaces with their roots."""
        return list(self._roots.items())

    def tops(self) -> list[Node]:
        """The nodes right below the roots."""
        return [child for root in self._roots.values() for child in root.children.values()]

    def nodes(self) -> Iterator[Node]:
        """Every node but the roots, parents before their children."""
        return _below(self.tops())

    def below(self, node: Node) -> Iterator[Node]:
        """A node and all below it, parents before their children."""
        return _below([node])

    def check(self) -> None:
        """Raise AssertionError where an invariant of the tree is broken."""
        seen: dict[int, Node] = {}
        for node in self.nodes():
            assert node.parent is not None
            assert node.parent.children[node.keys[0]] is node
            assert node.keys
            assert len(node.keys) == len(node.blocks)
            assert all(len(key) == BLOCK_TOKENS for key in node.keys)
            assert len(node.digests) <= len(node.keys)
            assert node.pins >= sum(child.pins for child in node.children.values())
            assert all(child.kept_by <= node.kept_by for child in node.children.values())
            assert all(child.is_ahead >= node.is_ahead for child in node.children.values())
            for block in node.blocks:
                assert block not in seen
                seen[block] = node
        assert seen == self._where
        for owner, node in self._kept.items():
            assert all(owner in part.kept_by for part in node.path())

    def split(self, node: Node, count: int) -> Node:
        """Put the first `count` blocks of `node` into a new node above it and return that one."""
        parent = node.parent
        assert parent is not None
        assert 0 < count < len(node.keys)
        upper = Node(parent, node.keys[:count], node.blocks[:count])
        upper.last_used, upper.pins, upper.hits = node.last_used, node.pins, node.hits
        upper.kept_by, upper.owners, upper.is_ahead = set(node.kept_by), set(node.owners), node.is_ahead
        upper.digests, node.digests = node.digests[:count], node.digests[count:]
        node.keys, node.blocks, node.parent = node.keys[count:], node.blocks[count:], upper
        parent.children[upper.keys[0]] = upper
        upper.children[node.keys[0]] = node
        for block in upper.blocks:
            self._where[block] = upper
        return upper

    def _cut(self, node: Node, length: int) -> list[int]:
        """Shorten a leaf to its first `length` blocks, remove it when nothing is left; the freed blocks, last first."""
        freed = node.blocks[length:][::-1]
        first = node.keys[0]
        del node.blocks[length:], node.keys[length:], node.digests[length:]
        self.version += 1
        for block in freed:
            del self._where[block]
        if not node.blocks and node.parent is not None:
            del node.parent.children[first]
        return freed


def _in_order(node: Node) -> tuple[bool, float, int, Node]:
    """A leaf with what it is sorted by: what goes first comes first. Equal times are told apart by a number."""
    return not node.is_ahead, node.last_used, id(node), node


def _below(stack: list[Node]) -> Iterator[Node]:
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.children.values())


def _walk(root: Node | None, keys: list[Key]) -> Iterator[tuple[Node, int]]:
    """The nodes along `keys`, each with the number of its blocks that agree; stops at the first that does not."""
    node, at = root, 0
    while node is not None and at < len(keys) and (child := node.children.get(keys[at])) is not None:
        count = 1
        for mine, theirs in zip(child.keys[1:], keys[at + 1 :], strict=False):
            if mine != theirs:
                break
            count += 1
        yield child, count
        if count < len(child.keys):
            return
        node, at = child, at + count

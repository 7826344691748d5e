"""What the window sees of the cache: its memory, and the tree with one entry for each unbranched stretch of blocks.

Such a stretch is called a run here; it has nothing to do with `contract.Run`, the time for which a request holds a
lane. A run lies in the tree's memory, or in a tier behind it only: the computer's memory behind a GPU's, or the disk.
The tree is compared with the tiers from the roots down, as far as both agree: both are prefix-closed, so what is in a
tier only begins right behind a block that is in both, or at a root.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from engine.cache.blocks import Key, chain
from engine.cache.disk_index import Entry, owner_digest
from engine.cache.disk_tier import DiskTier
from engine.cache.memory_tier import MemoryTier
from engine.cache.store import KVStore
from engine.cache.tree import Node, PrefixTree
from engine.events import CacheView, NodeView
from engine.remembered import Remembered
from engine.types import BLOCK_TOKENS, InvalidRequestError

TEXT_BLOCKS = 3
"""How many blocks at the start of a run are shown as text."""

TEXT_CHARACTERS = 400
"""How much of that text is kept: more than a picture shows, also where each token is a long one."""

START_BYTES = 600
"""About what such a text takes in memory, with its entry."""

MOST_TEXTS = 64
"""Runs whose files one picture opens to see how they begin; the next picture goes on."""

TEXT_BYTES = 4 << 20
"""What the texts of runs on disk may take in memory; the runs of a picture that do not fit are read again."""

ON_DISK_ONLY = (
    "This run is on disk only, so there is nothing in memory to keep. Send a message that begins with it, then keep it."
)

IN_MEMORY_ONLY = (
    "This run is in the computer's memory only, so there is nothing on the graphics card to keep. Send a message that "
    "begins with it, then keep it."
)


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


@dataclass(eq=False, slots=True)
class DiskRun:
    """Blocks on disk only that nothing branches off, with the names of those behind it. `owners` are the index's names
    for the conversations that used all of it."""

    entries: list[Entry]
    behind: tuple[str, ...]
    nbytes: int
    owners: frozenset[str]

    @property
    def start(self) -> tuple[str, str]:
        """The first and the last of the blocks that are shown as text."""
        return self.entries[0].digest, self.entries[:TEXT_BLOCKS][-1].digest


class Picture:
    """The runs of `tree`, and those that `disk` holds beyond it, as values for whoever draws them.

    Blocks of `bytes_per_block` bytes lie in `tier` ("memory" or "device"); `decode` gives the text of token ids. What
    the comparison with the disk found is kept until the tree or what lies on disk changes.
    """

    def __init__(
        self,
        tree: PrefixTree,
        disk: DiskTier,
        bytes_per_block: int,
        tier: str = "memory",
        decode: Callable[[Sequence[int]], str] = lambda _: "",
        memory: MemoryTier | None = None,
    ) -> None:
        self._tree = tree
        self._disk = disk
        self._memory = memory or MemoryTier(None, 0, bytes_per_block)
        self._bytes_per_block = bytes_per_block
        self._tier = tier
        self._decode = decode
        self._texts: dict[Node, tuple[Key, int, str]] = {}
        """How nodes begin: the first key, the number of blocks shown, and their text."""
        self._disk_texts = Remembered(self._read_start, TEXT_BYTES)
        self._reads_left = 0
        self._seen: tuple[int, int, tuple[int, int]] | None = None
        self._entries: dict[str, Entry] = {}
        self._starts: tuple[str, ...] = ()
        """The blocks on disk only at the start of a path."""
        self._forks: dict[Node, tuple[str, ...]] = {}
        """The blocks on disk only that come right behind the last block of a node."""
        self._runs: dict[str, DiskRun] = {}
        self._names: dict[str, int] = {}
        """The numbers of the runs on disk only, by their first blocks: -1 and down, none of them used twice."""
        self._numbers = itertools.count(-1, -1)

    @property
    def text_bytes(self) -> int:
        """About what the texts take that are kept for the next picture."""
        return len(self._texts) * START_BYTES + self._disk_texts.nbytes

    def nodes(self, now: float) -> tuple[NodeView, ...]:
        """All runs, those in memory and those on disk only, parents before their children."""
        self._compare()
        runs = self._memory_runs(now)
        return (*runs, *self._disk_runs(runs)) if self._runs else runs

    def run_start(self, node: Node) -> Node:
        """The first node of the run that `node` lies in."""
        above = node.parent
        while above is not None and above.parent is not None and len(above.children) == 1:
            if above in self._forks or bool(above.kept_by) != bool(node.kept_by):
                break
            node, above = above, above.parent
        return node

    def refuse_disk_only(self, block: int) -> None:
        """Raise InvalidRequestError where `NodeView.block` is that of a run on disk only."""
        if name := self.disk_name(block):
            raise InvalidRequestError(ON_DISK_ONLY if self._entries[name].folder else IN_MEMORY_ONLY)

    def disk_name(self, block: int) -> str:
        """The first block of the run that `NodeView.block` names, "" where that is none on disk only, now."""
        if block >= 0:
            return ""
        self._compare()
        return next((digest for digest, name in self._names.items() if name == block), "")

    def _memory_runs(self, now: float) -> tuple[NodeView, ...]:
        """The runs in memory. A chain of nodes that nothing branches off is one run."""
        views: list[NodeView] = []
        stack = [(node, -1, 0) for node in self._tree.tops()]
        while stack:
            node, parent, start = stack.pop()
            last, blocks, owners = self._run_of(node)
            tokens, size, pinned = blocks * BLOCK_TOKENS, blocks * self._bytes_per_block, bool(last.kept_by)
            idle, text = now - last.last_used, self._memory_text(node)
            where = (last.blocks[-1], text, self._tier)
            views.append(NodeView(parent, start, tokens, size, idle, node.hits, pinned, owners, *where))
            if last.children:
                at, end = len(views) - 1, start + tokens
                stack.extend([(child, at, end) for child in last.children.values()])
        if len(self._texts) > 2 * len(views):  # most are of nodes that are gone
            self._texts.clear()
        return tuple(views)

    def _run_of(self, node: Node) -> tuple[Node, int, tuple[str, ...]]:
        """What hangs on `node` without a branch, on disk neither, as far as both are kept or both are not: its last
        node, the number of its blocks, its owners in order."""
        last, blocks, owners = node, len(node.blocks), node.owners
        while len(last.children) == 1 and last not in self._forks:
            (child,) = last.children.values()
            if bool(child.kept_by) != bool(node.kept_by):
                break
            last, blocks = child, blocks + len(child.blocks)
            if child.owners - owners:
                owners = owners | child.owners
        return last, blocks, tuple(owners) if len(owners) < 2 else tuple(sorted(owners))

    def _memory_text(self, node: Node) -> str:
        """How a node begins, decoded once for as long as it begins with the same blocks."""
        keys = node.keys
        known = self._texts.get(node)
        if known is not None and known[0] is keys[0] and known[1] == min(len(keys), TEXT_BLOCKS):
            return known[2]
        shown = keys[:TEXT_BLOCKS]
        text = self._decode([token for key in shown for token in key])[:TEXT_CHARACTERS]
        self._texts[node] = keys[0], len(shown), text
        return text

    def _compare(self) -> None:
        """Compare memory and disk, where either changed."""
        if self._seen == (now := (self._tree.version, self._memory.version, self._disk.version())):
            return
        self._seen, self._entries = now, self._behind()
        self._forks.clear()
        starts = {*self._disk.starts(), *(name for name, held in self._memory.held().items() if not held.parent)}
        for space, root in self._tree.roots() if starts or self._memory.held() else ():
            (before,) = chain(space, ())
            starts.difference_update(child.digest(0, before) for child in root.children.values())
            stack = [(child, before) for child in root.children.values()]
            while stack:
                node, before = stack.pop()
                if end := self._compare_node(node, before):
                    stack.extend((child, end) for child in node.children.values())
        self._starts = tuple(sorted(starts))
        self._runs = dict(self._runs_beyond_memory())
        self._names = {digest: self._names.get(digest) or next(self._numbers) for digest in self._runs}

    def _behind(self) -> dict[str, Entry]:
        """The blocks of all tiers behind the tree. What is in the computer's memory has no folder."""
        on_disk = self._disk.entries()
        if not self._memory.held():
            return on_disk
        found = {name: replace(entry, children=set(entry.children)) for name, entry in on_disk.items()}
        for name, held in self._memory.held().items():
            owners = {owner_digest(owner) for owner in held.owners}
            children = (found[name].children if name in found else set()) | self._memory.behind(name)
            found[name] = Entry(name, held.parent, "", self._bytes_per_block, held.last_used, owners, children)
        for name, held in self._memory.held().items():
            if held.parent in found:
                found[held.parent].children.add(name)
        return found

    def _children(self, name: str) -> set[str] | None:
        """The blocks in a tier right behind one of the tree; None where no tier has any further down."""
        entry = self._entries.get(name)
        if not self._memory.held():
            return None if entry is None else entry.children
        return self._memory.behind(name) | (set() if entry is None else entry.children)

    def _compare_node(self, node: Node, before: str) -> str:
        """Note where blocks on disk only branch off this node, which is split there. The name of its last block, ""
        where it is not on disk to its end."""
        at = 0
        while at < len(node.keys):
            before = node.digest(at, before)
            if (children := self._children(before)) is None:
                return ""
            at += 1
            is_end = at == len(node.keys)
            here = [each.digest(0, before) for each in node.children.values()] if is_end else [node.digest(at, before)]
            if others := children.difference(here):
                upper = node if is_end else self._tree.split(node, at)  # then the node itself goes on below
                self._forks[upper] = tuple(sorted(others))
                at = at if is_end else 0
        return before

    def _runs_beyond_memory(self) -> Iterator[tuple[str, DiskRun]]:
        """Each run on disk only by the name of its first block."""
        index = self._entries
        left = [digest for forks in (self._starts, *self._forks.values()) for digest in forks]
        while left:
            entries = [index[left.pop()]]
            while len(entries[-1].children) == 1:
                (child,) = entries[-1].children
                if bool(index[child].folder) != bool(entries[0].folder):
                    break
                entries.append(index[child])
            behind = tuple(sorted(entries[-1].children))
            owners = frozenset(entries[0].owners)  # all that used a later block used the first
            nbytes = sum(entry.nbytes for entry in entries)
            yield entries[0].digest, DiskRun(entries, behind, nbytes, owners)
            left += behind

    def _disk_runs(self, runs: Sequence[NodeView]) -> list[NodeView]:
        """The runs on disk only, behind those in memory."""
        at = {run.block: index for index, run in enumerate(runs)}
        forked = [(at[node.blocks[-1]], forks) for node, forks in self._forks.items()]
        left = [(-1, 0, self._starts), *((i, runs[i].start + runs[i].tokens, forks) for i, forks in forked)]
        self._reads_left, views = MOST_TEXTS, []
        while left:
            parent, start, digests = left.pop()
            for digest in digests:
                run = self._runs[digest]
                views.append(self._disk_view(run, parent, start))
                if run.behind:
                    left.append((len(runs) + len(views) - 1, start + views[-1].tokens, run.behind))
        return views

    def _disk_view(self, run: DiskRun, parent: int, start: int) -> NodeView:
        return NodeView(
            parent=parent,
            start=start,
            tokens=len(run.entries) * BLOCK_TOKENS,
            bytes=run.nbytes,
            idle_s=max(0, self._disk.now() - run.entries[-1].last_used) / 1e9,
            hits=0,
            pinned=False,
            conversations=self._disk.names_of(run.owners) if run.entries[0].folder else self._owners(run),
            block=self._names[run.entries[0].digest],
            text=self._disk_text(run),
            tier="disk" if run.entries[0].folder else "memory",
        )

    def _owners(self, run: DiskRun) -> tuple[str, ...]:
        """The conversations that used a run in the computer's memory."""
        return tuple(sorted(self._memory.held()[run.entries[0].digest].owners))

    def _disk_text(self, run: DiskRun) -> str:
        """How a run on disk begins, "" where its files do not say so now, or enough files were opened already."""
        if run.start not in self._disk_texts:
            if not self._reads_left:
                return ""
            self._reads_left -= 1
        with suppress(OSError):
            return self._disk_texts(*run.start)
        return ""

    def _read_start(self, first: str, _: str) -> str:
        """The text of the first blocks of a run, as far as its files say so. Raises OSError where none does."""
        ids: list[int] = []
        with suppress(OSError):
            for entry in self._runs[first].entries[:TEXT_BLOCKS]:
                ids += self._disk.files.read_ids(entry) if entry.folder else self._memory.held()[entry.digest].key
        if not ids:
            raise OSError
        return self._decode(ids)[:TEXT_CHARACTERS]

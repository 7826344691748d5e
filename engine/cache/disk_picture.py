"""The runs that lie on disk only, hung where they branch off what is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from engine.cache.disk_index import Entry, chain
from engine.cache.disk_notes import ON_DISK_ONLY
from engine.cache.disk_tier import DiskTier
from engine.cache.node import Node
from engine.cache.picture import TEXT_BLOCKS, TEXT_CHARACTERS, node_views, tier_of
from engine.cache.store import KVLayout
from engine.cache.texts import KeptTexts
from engine.cache.tree import PrefixTree
from engine.events import NodeView
from engine.types import BLOCK_TOKENS, InvalidRequestError

MOST_TEXTS = 64
"""Runs whose files one picture opens to see how they begin; the next picture goes on."""

TEXT_BYTES = 4 << 20
"""What the texts of runs on disk may take in memory; the runs of a picture that do not fit are read again."""


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


class DiskNodes:
    """What `disk` holds beyond the tree. What is found is kept until the tree or what lies on disk changes.

    Memory is compared with the disk from the roots down, as far as both agree: both are prefix-closed, so what is on
    disk only begins right behind a block that is in both, or at a root.
    """

    def __init__(self, disk: DiskTier) -> None:
        self._disk = disk
        self._seen: tuple[int, tuple[int, int]] | None = None
        self._entries: dict[str, Entry] = {}
        self._forked: list[Node] = []
        self._starts: tuple[str, ...] = ()
        self._runs: dict[str, DiskRun] = {}
        self._names: dict[str, int] = {}
        self._texts = KeptTexts(TEXT_BYTES)

    def views(
        self, tree: PrefixTree, layout: KVLayout, now: float, decode: Callable[[Sequence[int]], str]
    ) -> tuple[NodeView, ...]:
        """All runs, those in memory and those on disk only, parents before their children."""
        self._look(tree)
        runs = node_views(tree, layout.bytes_per_block, now, decode, tier_of(layout))
        return (*runs, *self._hang(runs, decode)) if self._runs else runs

    def refuse(self, block: int) -> None:
        """Raise InvalidRequestError where the name is that of a run on disk only."""
        if self.digest(block):
            raise InvalidRequestError(ON_DISK_ONLY)

    def digest(self, block: int) -> str:
        """The first block of the run that `NodeView.block` named, "" where it named none on disk."""
        return next((digest for digest, name in self._names.items() if name == block), "")

    def _look(self, tree: PrefixTree) -> None:
        """Compare memory and disk, where either changed."""
        if self._seen == (now := (tree.version, self._disk.version())):
            return
        self._seen, self._entries = now, self._disk.entries()
        for node in self._forked:
            node.forks = ()
        self._forked.clear()
        starts = set(self._disk.starts())
        for space, root in tree.roots() if starts else ():
            (before,) = chain(space, ())
            starts.difference_update(child.digest(0, before) for child in root.children.values())
            stack = [(child, before) for child in root.children.values()]
            while stack:
                node, before = stack.pop()
                if end := self._compare(tree, node, before):
                    stack.extend((child, end) for child in node.children.values())
        self._starts = tuple(sorted(starts))
        self._runs = dict(self._read_runs())

    def _compare(self, tree: PrefixTree, node: Node, before: str) -> str:
        """Note where blocks on disk only branch off this node, which is split there. The name of its last block, ""
        where it is not on disk to its end."""
        index, at = self._entries, 0
        while at < len(node.keys):
            before = node.digest(at, before)
            if before not in index:
                return ""
            at += 1
            is_end = at == len(node.keys)
            here = [each.digest(0, before) for each in node.children.values()] if is_end else [node.digest(at, before)]
            if others := index[before].children.difference(here):
                upper = node if is_end else tree.split(node, at)  # then the node itself goes on below
                upper.forks = tuple(sorted(others))
                self._forked.append(upper)
                at = at if is_end else 0
        return before

    def _read_runs(self) -> Iterator[tuple[str, DiskRun]]:
        """Each run by the name of its first block."""
        index = self._entries
        left = [digest for forks in (self._starts, *(node.forks for node in self._forked)) for digest in forks]
        while left:
            entries = [index[left.pop()]]
            while len(entries[-1].children) == 1:
                entries += [index[child] for child in entries[-1].children]
            behind = tuple(sorted(entries[-1].children))
            owners = frozenset(entries[0].owners)  # all that used a later block used the first
            nbytes = sum(entry.nbytes for entry in entries)
            yield entries[0].digest, DiskRun(entries, behind, nbytes, owners)
            left += behind

    def _hang(self, runs: Sequence[NodeView], decode: Callable[[Sequence[int]], str]) -> list[NodeView]:
        """The runs on disk only, behind those in memory."""
        now, at = self._disk.now(), {run.block: index for index, run in enumerate(runs)}
        forked = [(at[node.blocks[-1]], node.forks) for node in self._forked]
        left = [(-1, 0, self._starts), *((i, runs[i].start + runs[i].tokens, forks) for i, forks in forked)]
        texts_left, views = MOST_TEXTS, []
        while left:
            parent, start, digests = left.pop()
            for digest in digests:
                run = self._runs[digest]
                text = ""
                if run.start in self._texts or texts_left:
                    texts_left -= run.start not in self._texts
                    text = self._texts.get(run.start, partial(self._read_text, run, decode))
                idle, tokens = max(0, now - run.entries[-1].last_used) / 1e9, len(run.entries) * BLOCK_TOKENS
                name = self._names.setdefault(digest, -1 - len(self._names))
                owners = self._disk.names_of(run.owners)
                views.append(NodeView(parent, start, tokens, run.nbytes, idle, 0, False, owners, name, text, "disk"))
                if run.behind:
                    left.append((len(runs) + len(views) - 1, start + tokens, run.behind))
        return views

    def _read_text(self, run: DiskRun, decode: Callable[[Sequence[int]], str]) -> str:
        """How a run begins, as far as its files say so."""
        ids: list[int] = []
        with suppress(OSError):
            for entry in run.entries[:TEXT_BLOCKS]:
                ids += self._disk.files.read_ids(entry)
        return decode(ids)[:TEXT_CHARACTERS] if ids else ""

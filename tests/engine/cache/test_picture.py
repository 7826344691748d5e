"""The tree as values: what a run is called, and keeping, releasing and dropping it by that name."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine import NodeView
from engine.cache.blocks import block_keys
from engine.cache.disk_tier import no_disk
from engine.cache.picture import Picture
from engine.cache.tree import PrefixTree
from tests.engine.fake_kv import LAYOUT

SHARED = list(range(64))
ONE, OTHER = SHARED + [1] * 32, SHARED + [2] * 32


def decode(ids: Sequence[int]) -> str:
    return " ".join(map(str, ids))


@pytest.fixture
def tree() -> PrefixTree:
    """Two conversations that share four blocks, blocks numbered from 0."""
    tree = PrefixTree(lambda: 1.0)
    number = 0
    for ids, owner in ((ONE, "one"), (OTHER, "other")):
        match = tree.match("a", ids, is_hit=False)
        keys = block_keys(ids, len(match.blocks))
        tree.own(tree.insert(match, keys, list(range(number, number + len(keys)))).node, owner)
        number += len(keys)
    tree.check()
    return tree


def picture(tree: PrefixTree) -> Picture:
    """Of a tree whose blocks take 10 bytes each, nothing on disk."""
    return Picture(tree, no_disk(LAYOUT), 10, decode=decode)


def views(tree: PrefixTree) -> dict[str, NodeView]:
    """The runs, by the conversations they belong to."""
    return {"+".join(view.conversations): view for view in picture(tree).nodes(3.0)}


def test_runs_are_the_unbranched_stretches(tree: PrefixTree) -> None:
    seen = views(tree)
    assert {name: (view.start, view.tokens, view.bytes) for name, view in seen.items()} == {
        "one+other": (0, 64, 40),
        "one": (64, 32, 20),
        "other": (64, 32, 20),
    }
    order = picture(tree).nodes(3.0)
    assert order[0].parent == -1
    assert {view.parent for view in order[1:]} == {0}
    assert all(view.idle_s == 2.0 for view in order)


def test_a_run_shows_how_it_begins_also_after_a_split(tree: PrefixTree) -> None:
    seen = picture(tree)
    texts = {"+".join(view.conversations): view.text for view in seen.nodes(3.0)}
    assert texts["one+other"] == decode(SHARED[:48])
    assert texts["one"] == decode([1] * 32)
    tree.match("a", ONE[:80])
    tree.insert(tree.match("a", [*ONE[:80], *[9] * 16]), [(9,) * 16], [99]).node.owners.add("third")
    assert {view.text for view in seen.nodes(3.0)} == {
        decode(SHARED[:48]),
        decode([1] * 16),
        decode([9] * 16),
        decode([2] * 32),
    }


def test_a_run_is_found_by_its_block(tree: PrefixTree) -> None:
    for view in picture(tree).nodes(3.0):
        node = tree.find(view.block)
        assert node is not None
        assert node.blocks[-1] == view.block
    assert tree.find(12345) is None


def test_releasing_a_run_releases_all_that_is_kept_below_it(tree: PrefixTree) -> None:
    tree.keep(tree.match("a", ONE).node, "one")
    tree.keep(tree.match("a", OTHER).node, "other")
    assert tree.kept_tokens("a", ONE) == 96
    shared = tree.find(views(tree)["one+other"].block)
    assert shared is not None
    one = tree.find(views(tree)["one"].block)
    assert one is not None
    tree.release_below(one)
    assert (tree.kept_tokens("a", ONE), tree.kept_tokens("a", OTHER)) == (64, 96)
    tree.release_below(shared)
    assert tree.kept() == {}
    tree.check()


def test_dropping_a_run_drops_what_is_behind_it_but_nothing_pinned(tree: PrefixTree) -> None:
    pinned = tree.match("a", ONE).node
    tree.pin(pinned)
    shared = tree.find(views(tree)["one+other"].block)
    assert shared is not None
    assert sorted(tree.drop(shared)) == [6, 7]
    assert tree.peek("a", ONE) == 96
    tree.unpin(pinned)
    assert len(tree.drop(shared)) == 6
    assert len(tree) == 0
    tree.check()

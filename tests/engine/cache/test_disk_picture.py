"""Runs that lie on disk only, in the view: where they hang, what they say, and what can be done to them."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import NodeView
from engine.cache.disk_tier import DiskTier
from engine.cache.picture import MOST_TEXTS, Picture
from engine.cache.prefix_cache import PrefixCache
from engine.types import InvalidRequestError
from tests.engine.disk_driver import BLOCK_BYTES, ONE, THREE, TWO, keep
from tests.engine.fake_kv import LAYOUT, DigestModel, check_contents, make_cache, run_prompt
from tests.engine.inside import check_runs, drawn_names, forget_lanes, lanes

MODEL = DigestModel()
FOUR = [4] * 16
LAST = [9]


def every_block(ids: Sequence[int]) -> str:
    """The first token of each block."""
    return " ".join(str(token) for token in ids[::16])


class Computer:
    """A cache over a folder that outlives it. `now_ns` is the time of day."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.now_ns = 10**9
        self.caches: list[PrefixCache] = []
        self.names: dict[str, str] = {}
        self.restart()

    @property
    def cache(self) -> PrefixCache:
        """The one that runs."""
        return self.caches[-1]

    @property
    def nodes(self) -> tuple[NodeView, ...]:
        """What the view shows, which is checked."""
        check_runs(self.cache)
        check_contents(self.cache, MODEL)
        return self.cache.view(with_nodes=True).nodes

    def restart(self) -> None:
        """A new cache with nothing in memory."""
        self.close()
        disk = DiskTier(self.root, "a", LAYOUT, 1000 * BLOCK_BYTES, lambda: self.now_ns)
        disk.names = self.names
        disk.open()
        self.caches.append(make_cache(tokens=4096, context=512, disk=disk, decode=every_block))

    def ask(self, ids: list[int], owner: str = "#1") -> int:
        """Answer a prompt and have everything written; how much of it was reused."""
        reused, _ = run_prompt(self.cache, MODEL, [*ids, *LAST], owner=owner)
        list(self.cache.write_back())
        return reused

    def close(self) -> None:
        """End the program."""
        for cache in self.caches:
            cache.disk.close()


@pytest.fixture
def computer(tmp_path: Path) -> Iterator[Computer]:
    made = Computer(tmp_path / "blocks")
    yield made
    made.close()


def short(nodes: tuple[NodeView, ...]) -> list[tuple[int, int, int, str, str]]:
    """Parent, start and blocks of each run, how it begins, and where it lies."""
    return [(node.parent, node.start // 16, node.tokens // 16, node.text, node.tier) for node in nodes]


def test_after_a_restart_all_of_it_is_on_disk(computer: Computer) -> None:
    computer.ask(ONE + TWO + THREE, "#1")
    computer.ask(ONE + FOUR, "#2")
    in_memory = {(node.start, node.tokens, node.conversations) for node in computer.nodes}
    assert {node.tier for node in computer.nodes} == {"memory"}
    computer.now_ns += 60 * 10**9
    computer.restart()
    nodes = computer.nodes
    assert {(node.start, node.tokens, node.conversations) for node in nodes} == in_memory
    assert (nodes[0].text, nodes[0].bytes, nodes[0].idle_s, nodes[0].hits) == ("1", BLOCK_BYTES, 60.0, 0)
    assert {node.text for node in nodes[1:]} == {"2 3", "4"}
    assert {node.tier for node in nodes} == {"disk"}
    assert all(not node.pinned and node.block < 0 for node in nodes)
    assert computer.cache.view().cached_tokens == 0


def test_a_run_in_memory_is_split_where_one_on_disk_branches_off(computer: Computer) -> None:
    computer.ask(ONE + TWO + THREE)
    computer.restart()
    computer.ask(ONE + FOUR)
    assert short(computer.nodes) == [
        (-1, 0, 1, "1", "memory"),
        (0, 1, 1, "4", "memory"),
        (0, 1, 2, "2 3", "disk"),
    ]
    computer.ask(ONE + TWO)
    assert short(computer.nodes)[-1] == (1, 2, 1, "3", "disk"), "behind a run in memory that nothing else goes on"
    computer.ask(ONE + TWO + THREE)
    assert {node.tier for node in computer.nodes} == {"memory"}
    assert sorted(node.tokens for node in computer.nodes) == [16, 16, 32], "one run again"


def test_a_run_in_memory_is_split_in_its_middle(computer: Computer) -> None:
    computer.ask(ONE + TWO + THREE)
    computer.ask(ONE + TWO + FOUR)
    computer.restart()
    computer.ask(ONE + TWO + THREE)
    upper, lower, other = computer.nodes
    assert short((upper, lower, other)) == [
        (-1, 0, 2, "1 2", "memory"),
        (0, 2, 1, "3", "memory"),
        (0, 2, 1, "4", "disk"),
    ]
    computer.cache.keep_block(upper.block)
    assert [node.pinned for node in computer.nodes] == [True, False, False]
    computer.cache.release_block(upper.block)
    computer.cache.drop_block(lower.block)
    assert short(computer.nodes) == [(-1, 0, 2, "1 2", "memory"), (0, 2, 1, "4", "disk")], "it alone"
    computer.cache.drop_block(upper.block)
    assert (computer.nodes, computer.cache.disk.used_bytes) == ((), 0)


def test_what_memory_lost_is_shown_as_on_disk(computer: Computer) -> None:
    computer.ask(ONE + TWO + THREE)
    forget_lanes(computer.cache)
    assert len(computer.nodes) == 1
    computer.cache.store.free(computer.cache.tree.evict(1))
    assert short(computer.nodes) == [(-1, 0, 2, "1 2", "memory"), (0, 2, 1, "3", "disk")]
    computer.cache.clear()
    assert short(computer.nodes) == [(-1, 0, 3, "1 2 3", "disk")]


def test_a_run_on_disk_is_dropped_with_all_behind_it_and_leaves_lanes_too(computer: Computer) -> None:
    """Else the next turn would find it there, and write it again."""
    computer.ask(ONE + TWO + THREE)
    computer.ask(ONE + TWO + FOUR)
    computer.cache.store.free(computer.cache.tree.evict(100))
    (lane,) = lanes(computer.cache)
    run = computer.nodes[0]
    assert (run.tokens, run.tier, len(lane.ids)) == (32, "disk", 49)
    computer.cache.drop_block(run.block)
    assert (computer.nodes, computer.cache.disk.used_bytes, lane.ids) == ((), 0, [])
    computer.cache.drop_block(run.block)
    assert computer.ask(ONE + TWO) == 0


def test_dropping_what_is_gone_drops_nothing(computer: Computer) -> None:
    """Neither a run that was dropped already nor a number that nothing ever had; another model's blocks stay, too."""
    computer.close()
    other = DiskTier(computer.root, "b", LAYOUT, 1000 * BLOCK_BYTES)
    other.open()
    keep(other, THREE, space="b")
    other.close()
    computer.restart()
    computer.ask(ONE)
    computer.ask(TWO)
    run = computer.nodes[0]
    computer.cache.drop_block(run.block)
    assert computer.cache.disk.used_bytes == 2 * BLOCK_BYTES
    for number in (run.block, 12345, -99):
        computer.cache.drop_block(number)
        assert (computer.cache.disk.used_bytes, len(computer.nodes)) == (2 * BLOCK_BYTES, 1)


def test_a_run_on_disk_cannot_be_kept(computer: Computer) -> None:
    computer.ask(ONE)
    computer.restart()
    (run,) = computer.nodes
    with pytest.raises(InvalidRequestError, match="on disk only"):
        computer.cache.keep_block(run.block)
    computer.cache.release_block(run.block)
    computer.cache.keep_block(-99)
    assert computer.nodes == (run,)


def test_a_run_that_came_into_memory_is_on_disk_only_no_more(computer: Computer) -> None:
    """Its old number is that of no run then, and of no other run ever."""
    computer.ask(ONE)
    computer.ask(TWO)
    computer.restart()
    old = {run.block for run in computer.nodes}
    computer.ask(ONE)
    computer.ask(TWO)
    for number in old:
        computer.cache.keep_block(number)
        computer.cache.drop_block(number)
    assert [(run.tier, run.pinned) for run in computer.nodes] == [("memory", False)] * 2
    assert computer.cache.disk.used_bytes == 2 * BLOCK_BYTES
    computer.cache.clear()
    assert not old & {run.block for run in computer.nodes}


def test_names_of_runs_that_are_gone_are_forgotten(computer: Computer) -> None:
    for number in range(20):
        computer.ask([number] * 16)
        computer.cache.clear()
        (run,) = computer.nodes
        computer.cache.drop_block(run.block)
        assert computer.nodes == ()
    assert drawn_names(computer.cache) == 0


def test_another_models_runs_are_not_shown(computer: Computer) -> None:
    computer.ask(ONE)
    computer.close()
    other = DiskTier(computer.root, "b", LAYOUT, 1000 * BLOCK_BYTES)
    other.open()
    cache = make_cache(disk=other)
    assert (cache.view(with_nodes=True).nodes, other.used_bytes) == ((), BLOCK_BYTES)
    other.close()


def test_nothing_is_compared_while_nothing_changed(computer: Computer, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no file is opened twice; only ages go on."""
    computer.ask(ONE + TWO)
    computer.ask(ONE + THREE)
    computer.restart()
    computer.ask(ONE + TWO)
    before = computer.cache.view(with_nodes=True).nodes
    with monkeypatch.context() as patch:
        patch.setattr(Picture, "_compare_node", None)
        patch.setattr(Path, "open", None)
        computer.now_ns += 10**9
        after = computer.cache.view(with_nodes=True).nodes
    assert [node._replace(idle_s=0) for node in after] == [node._replace(idle_s=0) for node in before]
    assert after[-1].idle_s == before[-1].idle_s + 1.0
    computer.cache.disk.set_budget(0)
    assert {node.tier for node in computer.nodes} == {"memory"}
    assert len(computer.nodes) == 1


def test_names_of_blocks_are_computed_once(computer: Computer, monkeypatch: pytest.MonkeyPatch) -> None:
    computer.ask(ONE + TWO)
    assert len(computer.nodes) == 1
    computer.ask(ONE + TWO + THREE)
    calls = itertools.count()
    from engine.cache.blocks import next_digest

    monkeypatch.setattr("engine.cache.tree.next_digest", lambda *block: (next(calls), next_digest(*block))[1])
    assert computer.cache.view(with_nodes=True).nodes[0].tokens == 48
    assert next(calls) == 1


def test_texts_are_read_a_few_at_a_time(computer: Computer) -> None:
    """A folder with thousands of runs does not hold up the picture."""
    for number in range(MOST_TEXTS + 3):
        computer.ask([100 + number] * 16)
    computer.restart()
    assert sum(not node.text for node in computer.cache.view(with_nodes=True).nodes) == 3
    assert sorted(int(node.text) for node in computer.nodes) == list(range(100, 103 + MOST_TEXTS))


blocks = st.lists(st.sampled_from([ONE, TWO, THREE]), min_size=1, max_size=5)
steps = st.one_of(
    st.tuples(st.just("ask"), blocks, st.sampled_from("ab")),
    st.tuples(st.just("answer"), blocks, st.sampled_from("ab")),
    st.tuples(st.sampled_from(["evict", "drop", "keep", "shrink"]), st.integers(0, 9)),
    st.tuples(st.sampled_from(["restart", "clear"])),
)


@given(st.lists(steps, min_size=1, max_size=12))
def test_memory_and_disk_together_are_shown_to_the_block(todo: list[tuple[Any, ...]]) -> None:
    """Whatever was asked, written, evicted, dropped, kept or lost with a restart. `Computer.nodes` checks the view."""
    with tempfile.TemporaryDirectory() as folder, closing(Computer(Path(folder, "blocks"))) as computer:
        for name, *values in todo:
            nodes = computer.nodes
            if name in ("ask", "answer"):
                path, owner = [token for block in values[0] for token in block], values[1]
                on_disk = computer.cache.disk.extent("a", path)
                if name == "ask":
                    assert computer.ask(path, owner) >= on_disk
                else:
                    run_prompt(computer.cache, MODEL, path, owner=owner)
            elif name == "evict":
                computer.cache.store.free(computer.cache.tree.evict(values[0]))
            elif name == "shrink":
                computer.cache.disk.set_budget((values[0] + 1) * BLOCK_BYTES)
            elif name in ("restart", "clear"):
                computer.restart() if name == "restart" else computer.cache.clear()
            elif nodes:
                node = nodes[values[0] % len(nodes)]
                if name == "drop":
                    computer.cache.drop_block(node.block)
                    assert node not in computer.nodes
                elif node.tier != "disk":
                    computer.cache.keep_block(node.block)
        assert all(node.tokens for node in computer.nodes)


@pytest.mark.parametrize("damage", [b"", b"x" * BLOCK_BYTES, None])
def test_a_file_that_says_nothing_true_has_no_text(computer: Computer, damage: bytes | None) -> None:
    computer.ask(ONE)
    computer.restart()
    (path,) = computer.root.glob("*/*.kv")
    path.unlink()
    if damage is not None:
        path.write_bytes(damage)
    assert short(computer.nodes) == [(-1, 0, 1, "", "disk")]
    assert computer.ask(ONE) == 0
    assert short(computer.nodes) == [(-1, 0, 1, "1", "memory")]


def test_only_conversations_that_are_known_are_named(computer: Computer) -> None:
    """On disk they are digests: whoever is not heard of again stays one."""
    computer.ask(ONE, "#1")
    computer.ask(ONE + TWO, "#2")
    computer.names.clear()
    computer.restart()
    assert computer.nodes[0].conversations == ()
    computer.ask(ONE + THREE, "#1")
    computer.cache.clear()
    assert [node.conversations for node in computer.nodes] == [("#1",), (), ("#1",)] or [
        node.conversations for node in computer.nodes
    ] == [("#1",), ("#1",), ()]

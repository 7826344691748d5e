"""Where the runs of a prefix tree lie, how they are found again, and which of them make the short list."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.charts.tree.layout import find_again, largest_runs, lay_out, run_width
from engine import NodeView
from tests.app.tree_pictures import FEW, many, run


@st.composite
def trees(draw: st.DrawFn) -> list[NodeView]:
    """Any forest whose parents come before their children."""
    parents = draw(st.lists(st.integers(-1, 40), max_size=40))
    nodes: list[NodeView] = []
    for index, wanted in enumerate(parents):
        parent = min(wanted, index - 1)
        start = nodes[parent].start + nodes[parent].tokens if parent >= 0 else 0
        nodes.append(run(parent, start, 16 * draw(st.integers(1, 300)), index))
    return nodes


@given(trees())
def test_every_run_has_its_own_place_behind_the_run_before_it(nodes: Sequence[NodeView]) -> None:
    layout = lay_out(nodes)
    assert len(layout.boxes) == len(nodes)
    assert layout.rows == sum(1 for below in layout.children if not below), "one row for each end"
    for index, (node, box) in enumerate(zip(nodes, layout.boxes, strict=True)):
        assert layout.at(box.x + box.width / 2, box.y + box.height / 2) == index, "found where it lies, and only it"
        if node.parent < 0:
            assert (box.x, box.depth) == (0.0, 0)
        else:
            before = layout.boxes[node.parent]
            assert box.x == before.x + before.width
            assert before.y <= box.y
            assert box.y + box.height <= before.y + before.height
        assert box.tokens_below == node.tokens + sum(
            layout.boxes[child].tokens_below for child in layout.children[index]
        )


@given(trees(), st.integers(1, 12))
def test_the_short_list_holds_the_largest_runs_and_never_one_without_its_stem(
    nodes: Sequence[NodeView], most: int
) -> None:
    layout = lay_out(nodes)
    rows = largest_runs(layout, most)
    assert len(rows) == min(most, len(nodes))
    shown = [row.run for row in rows]
    for number, row in enumerate(rows):
        parent = nodes[row.run].parent
        assert row.parent_row == (shown.index(parent) if parent >= 0 else -1)
        assert row.parent_row < number
    hidden = set(range(len(nodes))) - set(shown)
    edge = [layout.boxes[i].tokens_below for i in hidden if nodes[i].parent < 0 or nodes[i].parent in shown]
    ends = [layout.boxes[i].tokens_below for i in shown]
    assert not edge or max(edge) <= min(ends) or any(nodes[i].parent in shown for i in shown)


def test_a_longer_run_is_wider_and_a_short_one_can_be_seen() -> None:
    widths = [run_width(tokens) for tokens in (16, 32, 96, 3008)]
    assert widths == sorted(widths)
    assert widths[0] >= 28
    assert run_width(64) - run_width(16) < run_width(3008) - run_width(16)


def test_the_few_runs_lie_as_they_are_drawn() -> None:
    layout = lay_out(FEW)
    assert layout.rows == 3
    assert [layout.boxes[i].height for i in range(5)] == [3, 1, 1, 1, 1]
    assert layout.boxes[3].y < layout.boxes[2].y < layout.boxes[1].y, "the engine tells the newest branch first"
    assert layout.at(layout.width + 1, 0.5) == -1
    assert layout.siblings(1) == (3, 2, 1)
    assert layout.siblings(0) == (0,)


def test_an_empty_tree_has_no_place_for_anything() -> None:
    layout = lay_out(())
    assert (layout.rows, layout.width, layout.at(0, 0), largest_runs(layout, 5)) == (0, 0, -1, [])


@pytest.mark.parametrize("parent", [1, 7, -9])
def test_a_parent_that_is_not_there_makes_a_root(parent: int) -> None:
    layout = lay_out([run(-1, 0, 16, 1), run(parent, 16, 16, 2)])
    assert layout.boxes[1].x == 0
    assert layout.siblings(1) == (1, 0)


def test_two_thousand_runs_are_laid_out_in_one_pass() -> None:
    nodes = many(2000)
    layout = lay_out(nodes)
    assert sum(layout.boxes[root].runs_below for root in layout.roots) == 2000
    assert sum(layout.boxes[root].tokens_below for root in layout.roots) == sum(node.tokens for node in nodes)


def test_a_chain_of_two_thousand_runs_is_no_recursion() -> None:
    chain = [run(index - 1, 16 * index, 16, index) for index in range(2000)]
    assert lay_out(chain).boxes[0].runs_below == 2000


def test_a_run_is_found_again_by_its_block_or_where_it_grew_by_its_beginning() -> None:
    grown = FEW[4]._replace(tokens=48, block=9)
    assert find_again(FEW[3], FEW) == 3
    assert find_again(FEW[4], (*FEW[:4], grown)) == 4
    assert find_again(FEW[4], FEW[:4]) == -1
    reused_block = run(-1, 0, 16, FEW[4].block, ("#9",))
    assert find_again(FEW[4], (*FEW[:4], reused_block)) == -1, "its block holds something else now"


def test_two_runs_that_begin_alike_are_not_taken_for_each_other() -> None:
    twins = (FEW[0], FEW[2]._replace(block=20), FEW[2]._replace(block=21))
    assert find_again(FEW[2], twins) == -1

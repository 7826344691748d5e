"""What is said of a run: whose it is, how it begins, how old it is, what dropping it gives back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.charts.tree import words as tree_words
from app.charts.tree.layout import lay_out
from tests.app.tree_pictures import FEW, ON_DISK, TITLES, run, view

LAYOUT = lay_out(FEW)


def test_a_run_is_named_by_its_own_first_words() -> None:
    names = [tree_words.label(LAYOUT, index, TITLES) for index in range(5)]
    assert names == [
        "You are the support bot., pinned",
        *("A jacket from the sale", "Has it left?", "Can I change the address?", "Yes."),
    ]
    templated = run(-1, 0, 64, 1, ("#1",), text="system\nYou are brief.\nuser\nWhy?")
    assert tree_words.label(lay_out([templated]), 0, TITLES) == "You are brief. Why?"
    assert len(tree_words.label(lay_out([run(-1, 0, 64, 1, text="word " * 99)]), 0, {})) <= tree_words.LONGEST_NAME


def test_a_run_without_words_has_the_name_of_its_conversation() -> None:
    nodes = [run(-1, 0, 16, number, owners, text=" ") for number, owners in enumerate((("#1",), ("#1", "#2"), ()), 1)]
    layout = lay_out(nodes)
    assert [tree_words.label(layout, index, TITLES) for index in range(3)] == [
        "Parcels",
        "2 conversations",
        "from a proof or a title",
    ]


def test_titles_are_the_present_ones_and_a_deleted_conversation_cannot_be_opened() -> None:
    renamed = {1: "Where is my parcel"}
    assert tree_words.owners(FEW[0], renamed) == [("Where is my parcel", 1), (tree_words.DELETED, 0)]
    assert tree_words.owners(run(-1, 0, 16, 1, ("editor",)), renamed) == [("editor", 0)]
    assert tree_words.owners(run(-1, 0, 16, 1, ("#3",)), {3: ""}) == [("Untitled", 3)]
    assert tree_words.titles_of(FEW[0], renamed, most=1) == "Where is my parcel and 1 more"


def test_figures_are_those_of_the_run() -> None:
    assert tree_words.figures(FEW[1]) == "512 tokens · tokens 3,008 to 3,520 · 12 MB · used 31 min ago · 3 hits"
    assert tree_words.figures(FEW[0]).endswith("used just now · 12 hits · pinned")
    assert tree_words.beginning(FEW[1]) == "A jacket from the sale"
    assert tree_words.beginning(FEW[1]._replace(text="x" * 999)) == "x" * 239 + "…"


def test_dropping_a_run_frees_what_stands_behind_it_too() -> None:
    assert tree_words.freed(LAYOUT, 4) == "frees 32 tokens"
    assert tree_words.freed(LAYOUT, 3) == "frees 216 tokens, with 1 run behind it"
    assert tree_words.freed(LAYOUT, 0) == "frees 3,832 tokens, with 4 runs behind it"


def test_the_whole_tree_is_summed_up() -> None:
    assert tree_words.totals(view(FEW)) == "5 runs · 3,832 tokens · 88 MB · 3,008 pinned"
    assert tree_words.totals(view(())) == "Nothing is remembered yet."
    beside = replace(view(FEW), overhead_bytes=12_400_000)
    assert tree_words.totals(beside).endswith(" · 88 MB · 3,008 pinned · 12 MB beside it for texts and token ids")


@pytest.mark.parametrize(("idle_s", "step"), [(0, 0), (59, 0), (61, 1), (700, 2), (3601, 3), (1e9, 3)])
def test_ages_have_four_steps(idle_s: float, step: int) -> None:
    assert tree_words.age_step(idle_s) == step


@pytest.mark.parametrize(
    ("idle_s", "text"), [(0, "just now"), (42, "42 s ago"), (120, "2 min ago"), (7200, "2 h ago"), (7e5, "8 days ago")]
)
def test_an_age_in_words(idle_s: float, text: str) -> None:
    assert tree_words.age(idle_s) == text


def test_a_run_on_disk_only_says_so_everywhere() -> None:
    """And nothing that is not known of it: hits are counted in memory only."""
    layout = lay_out(ON_DISK)
    figures = tree_words.figures(ON_DISK[2])
    assert figures == "512 tokens · tokens 3,008 to 3,520 · 12 MB · used 25 h ago · on disk only"
    assert [tree_words.tokens_of(node) for node in ON_DISK[1:3]] == ["96", "512 on disk"]
    assert tree_words.freed(layout, 2) == "frees 736 tokens on disk, with 2 runs behind it"
    assert tree_words.totals(view(ON_DISK)) == (
        "2 runs · 3,104 tokens · 72 MB · 3,008 pinned · on disk only: 4 runs · 1,744 tokens · 40 MB"
    )
    assert tree_words.totals(view(ON_DISK[5:])) == "On disk only: 1 run · 1,008 tokens · 23 MB"

"""Titles and text on their way into a conversation."""

from __future__ import annotations

import pytest

from app.branch import TITLE_LENGTH, make_title, repair_text


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Short", "Short"),
        ("  two\n\n lines\t", "two lines"),
        ("x" * TITLE_LENGTH, "x" * TITLE_LENGTH),
        ("x" * 99, "x" * TITLE_LENGTH + "…"),
        ("What is the difference between a and the other one", "What is the difference between a and the…"),
        ("سلام دنیا", "سلام دنیا"),
    ],
)
def test_a_title_is_one_line_cut_between_words(question: str, title: str) -> None:
    assert make_title(question) == title


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("plain \r\n\t\0 👩‍👩‍👧 é", "plain \r\n\t\0 👩‍👩‍👧 é"),
        ("\ufeffwith a mark", "\ufeffwith a mark"),
        ("\ud83d\ude00", "😀"),
        ("half \ud83d", "half \ufffd"),
        ("\ude00 half", "\ufffd half"),
    ],
)
def test_only_halves_of_characters_are_repaired(typed: str, kept: str) -> None:
    assert repair_text(typed) == kept

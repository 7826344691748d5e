"""Titles and text on their way into a conversation."""

from __future__ import annotations

from datetime import date

import pytest

from app.chat.branch import TITLE_LENGTH, Branch, make_title
from app.history.records import Conversation, label_of, read_label, repair_text
from engine import Sampling


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Short", "Short"),
        ("  two\n\n lines\t", "two lines"),
        ("x" * TITLE_LENGTH, "x" * TITLE_LENGTH),
        ("x" * 199, "x" * TITLE_LENGTH + "…"),
        (f"{'What is it? ' * 10}a longword", f"{'What is it? ' * 10}".strip() + "…"),
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


@pytest.mark.parametrize("title", ["Support bot", "", "C #3"])
def test_the_engines_name_of_a_conversation_does_not_follow_its_title(title: str) -> None:
    conversation = Conversation(7, title, "", Sampling(), date(2026, 3, 14))
    name = Branch(conversation).with_draft("Hi").request(use_cache=True).conversation
    assert (name, read_label(name)) == (label_of(7), 7)


@pytest.mark.parametrize("label", ["editor", "", "#", "#x", "issue #3"])
def test_a_foreign_name_has_no_id(label: str) -> None:
    assert read_label(label) == 0

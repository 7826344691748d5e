"""A search finds what Python's own caseless comparison finds, at places of the text as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.matching import excerpt, spans

LETTERS = st.text(alphabet="aAß ẞſsSİiıΣςσ😀\n", max_size=30)


@given(LETTERS, LETTERS)
def test_every_place_folds_to_what_is_searched_for(text: str, needle: str) -> None:
    found = list(spans(text, needle))
    assert bool(found) == bool(needle and needle.casefold() in text.casefold())
    for start, end in found:
        assert needle.casefold() in text[start:end].casefold()
    assert found == sorted(found)


@pytest.mark.parametrize(
    ("text", "needle", "line"),
    [
        ("Short and sweet", "SWEET", "Short and sweet"),
        ("Nothing", "else", ""),
        ("A longer text with\n\n- a list in front of the match", "match", "…front of the match"),
        ("x" * 40 + "needle", "needle", "…" + "x" * 16 + "needle"),
    ],
)
def test_an_excerpt_is_one_line_that_begins_a_few_words_before(text: str, needle: str, line: str) -> None:
    assert excerpt(text, needle) == line


def test_an_excerpt_is_short() -> None:
    assert len(excerpt("word " * 10_000, "word")) < 200

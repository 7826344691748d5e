"""The settings of a conversation: texts that end an answer, written on one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.composer.sampling import read_stop, written_stop


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        ("", ()),
        ("END", ("END",)),
        ("END,User:", ("END", "User:")),
        (r"\n\n,a\,b", ("\n\n", "a,b")),
        (r"a\\n", (r"a\n",)),
        ("a, ,a,", ("a",)),
        ("\\", ("\\",)),
    ],
)
def test_a_line_holds_texts_with_commas_between_them(line: str, texts: tuple[str, ...]) -> None:
    assert read_stop(line) == texts


@given(st.lists(st.text(alphabet="ab,\\\n\t ", min_size=1).filter(lambda text: text.strip(" ")), unique=True))
def test_texts_come_back_as_they_were(texts: list[str]) -> None:
    assert read_stop(written_stop(tuple(texts))) == tuple(texts)

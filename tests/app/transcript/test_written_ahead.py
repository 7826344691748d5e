"""Which drawn words are underlined, where some of an answer's text was written ahead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from app.transcript.answer_view import AnswerView
from app.transcript.written_ahead import drawn_stretches


@pytest.mark.parametrize(
    ("text", "ahead", "drawn"),
    [
        ("Your parcel is in Leeds.", "parcel is", ["parcel is"]),
        ("It is **in the depot** of [Leeds](https://a.org/leeds) now.", "depot** of [Leeds", ["depot of Leeds"]),
        ("See [it](https://example.org/a/very/long/path) and then wait.", " and then", [" and then"]),
        ("- one\n- two\n- three", "two", ["two"]),
        ("```python\nprint('two')\n```\n\nprint two", "print('two')", ["print('two')"]),
        ("| a | b |\n|---|---|\n| one | two |", "two", ["two"]),
        ("Fish &amp; chips for two", "chips", ["chips"]),
        ("👩‍👩‍👧 and 𝒳 are here", "𝒳 are", ["𝒳 are"]),
        ("It costs $x^2$ pounds in all", "pounds in", ["pounds in"]),
    ],
)
def test_the_words_that_were_written_ahead(qtbot: QtBot, text: str, ahead: str, drawn: list[str]) -> None:
    view = AnswerView()
    qtbot.addWidget(view)
    view.set_text(text)
    start = text.index(ahead)
    view.underline(((start, start + len(ahead)),))
    assert [mark.cursor.selectedText() for mark in view.extraSelections()] == drawn
    view.mark(drawn[0])
    assert len(view.extraSelections()) >= 2, "what is searched for is marked, too"
    view.mark("")
    view.underline(())
    assert view.extraSelections() == []


def test_a_search_goes_to_what_it_found(qtbot: QtBot) -> None:
    """And not to what is underlined."""
    view = AnswerView()
    qtbot.addWidget(view)
    view.resize(600, 100)
    view.show()
    view.set_text("one\n\ntwo")
    view.underline(((0, 3),))
    assert view.marked_top is None
    view.mark("two")
    assert view.marked_top is not None
    assert view.marked_top > 0


LETTERS = st.text("ab *_`[](\n&;|é𝒳", max_size=40)
STRETCHES = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=4)


@given(LETTERS, LETTERS, STRETCHES)
def test_whatever_is_drawn_no_stretch_lies_outside(text: str, drawn: str, stretches: list[tuple[int, int]]) -> None:
    units = len(drawn.encode("utf-16-le")) // 2
    found = drawn_stretches(text, drawn, [(start, start + length) for start, length in stretches])
    assert all(0 <= start < end <= units for start, end in found)
    assert found == sorted(found)


@given(LETTERS, STRETCHES)
def test_of_what_is_drawn_as_it_is_all_is_found(text: str, stretches: list[tuple[int, int]]) -> None:
    ahead = {place for start, length in stretches for place in range(start, start + length)}
    expected = sum(2 if letter > "\uffff" else 1 for place, letter in enumerate(text) if place in ahead)
    found = drawn_stretches(text, text, [(start, start + length) for start, length in stretches])
    assert sum(end - start for start, end in found) == expected

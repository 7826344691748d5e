"""Texts in the language of the window: what is put in, singular and plural, numbers, and sentences made in English."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import language
from app.language import ENGLISH, Language, numeral, plural, tr, translated

GERMAN = {
    ("Saved {count:,} tokens", ""): "{count:,} Token gespart",
    ("Open", "a state"): "Offen",
    ("Open", ""): "Öffnen",
    ("{count:,} turns", ""): "{count:,} Runden",
    ("{1} is a folder. Give the files in it.", ""): "{1} ist ein Ordner. Geben Sie die Dateien darin an.",
    ("It could not be stored ({1}): {2}", ""): "{2} Nicht gespeichert: {1}.",
    ("The disk is full.", ""): "Die Platte ist voll.",
    ("It has {1} tokens.", ""): "Es hat {1} Token.",
}


def in_german(text: str, about: str, count: int) -> str:
    return "{count:,} Runde" if (text, count) == ("{count:,} turns", 1) else GERMAN.get((text, about), "")


@pytest.fixture
def german() -> Iterator[None]:
    sentences = tuple(text for text, about in GERMAN if not about)
    language.use(Language("de", in_german, ".", ",", sentences))
    yield
    language.use(ENGLISH)


def test_english_is_what_stands_in_the_code() -> None:
    assert language.current() is ENGLISH
    assert tr("Saved {count:,} tokens", count=1234) == "Saved 1,234 tokens"
    assert tr("Braces {date} stay where nothing is put in") == "Braces {date} stay where nothing is put in"
    assert plural("{count} turn", "{count:,} turns", 1) == "1 turn"
    assert plural("{count} turn", "{count:,} turns", 1200) == "1,200 turns"
    assert translated("The disk is full.") == "The disk is full."


@pytest.mark.usefixtures("german")
def test_a_translation_puts_the_same_values_where_it_wants_them() -> None:
    assert tr("Saved {count:,} tokens", count=1234) == "1.234 Token gespart"
    assert (tr("Open"), tr("Open", about="a state")) == ("Öffnen", "Offen")
    assert plural("{count} turn", "{count:,} turns", 1) == "1 Runde"
    assert plural("{count} turn", "{count:,} turns", 1200) == "1.200 Runden"


@pytest.mark.usefixtures("german")
def test_what_has_no_translation_stays_english_with_the_numbers_of_the_language() -> None:
    assert tr("{seconds:.2f} s of {count:,}", seconds=1.5, count=3000) == "1,50 s of 3.000"
    assert plural("{count} row", "{count} rows", 1) == "1 row"
    assert numeral(1234.5, ",.1f") == "1.234,5"
    assert tr("{what} {is_so}", what="3.5", is_so=True) == "3.5 True", "only numbers are written anew"


@pytest.mark.usefixtures("german")
def test_sentences_made_in_english_are_translated_one_by_one() -> None:
    said = "a, b is a folder. Give the files in it."
    assert translated(said) == "a, b ist ein Ordner. Geben Sie die Dateien darin an."
    assert translated(f"{said} The disk is full.") == f"{translated(said)} Die Platte ist voll."
    assert translated(f"{said}\nNobody knows this. The disk is full.") == (
        f"{translated(said)}\nNobody knows this. The disk is full."
    ), "where it is not known any more, the rest stays"
    assert translated("It could not be stored (x): The disk is full.") == "Die Platte ist voll. Nicht gespeichert: x."
    assert translated("It has 12,345 tokens.") == "Es hat 12.345 Token."
    assert translated("") == ""


@given(st.text(), st.integers(), st.floats(allow_nan=False, allow_infinity=False))
def test_whatever_is_put_in_stands_there(name: str, count: int, value: float) -> None:
    assert (
        tr("{name}: {count:,}, {value:.3f}", name=name, count=count, value=value) == f"{name}: {count:,}, {value:.3f}"
    )


@given(st.text())
def test_no_text_is_lost(text: str) -> None:
    assert translated(text) == text

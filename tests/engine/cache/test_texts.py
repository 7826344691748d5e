"""Texts of blocks are kept within a number of bytes, whatever they are."""

from __future__ import annotations

import pytest

from engine.cache.texts import KeptTexts


@pytest.fixture
def made() -> list[str]:
    """The texts that had to be made, one after the other."""
    return []


def ask(texts: KeptTexts, key: object, made: list[str], length: int = 10) -> str:
    def make() -> str:
        made.append(str(key))
        return str(key) * length

    return texts.get(key, make)


def test_a_text_is_made_once(made: list[str]) -> None:
    texts = KeptTexts(10_000)
    assert ask(texts, (1, 2), made) == ask(texts, (1, 2), made) == "(1, 2)" * 10
    assert made == ["(1, 2)"]


@pytest.mark.parametrize("length", [1, 100, 100_000])
def test_all_of_them_take_no_more_than_they_may(made: list[str], length: int) -> None:
    """Those asked for last stay; one that alone is too long does not."""
    texts = KeptTexts(50_000)
    for number in range(300):
        assert ask(texts, number, made, length)
        assert texts.used_bytes <= 50_000
        ask(texts, 0, made, length)
    assert (0 in texts) == (length < 100_000)
    assert 299 not in texts or length < 100_000
    assert 1 not in texts or length == 1

"""Ids to text that can be shown: whole characters, no stop string, and nothing lost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.turn.detokenize import BROKEN, Detokenizer
from tests.engine.tiny_models import make_tokenizer

TEXTS = (
    "plain",
    "👩‍👩‍👧 family, 🇩🇪 flag, 👍🏽 tone",
    "カタカナとガギグ、漢字",
    "e\u0301 n\u0303 combining",
    "سلام به همه",
    "हिन्दी में क्षत्रिय",
    " leading and trailing  ",
    "\n\nlines\r\n\ttab\n",
    "ﬁ ligature ½ ™",
)


@cache
def tokenizer():  # type: ignore[no-untyped-def]
    return make_tokenizer()


def decode(ids: Sequence[int]) -> str:
    """As LoadedModel.decode."""
    return tokenizer().decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)


def as_bytes(text: str) -> list[int]:
    """A token for each byte: every character of several bytes is split."""
    alphabet = tokenizer().backend_tokenizer.pre_tokenizer.pre_tokenize_str(text)
    return [tokenizer().convert_tokens_to_ids(char) for piece, _ in alphabet for char in piece]


def shown(ids: Sequence[int], stop: Sequence[str] = ()) -> tuple[str, list[str]]:
    """All text, and the parts in which it came."""
    text, parts = Detokenizer(decode, stop), []
    for token in ids:
        parts.append(text.add(token))
        if text.stopped:
            break
    parts.append(text.finish())
    assert "".join(parts) == text.text
    return text.text, parts


@pytest.mark.parametrize("text", TEXTS)
def test_split_characters_come_whole(text: str) -> None:
    """Scenario 31: emoji, kana, combining marks cut at every byte never show a replacement character."""
    whole, parts = shown(as_bytes(text))
    assert whole == text
    assert not any(BROKEN in part for part in parts)


@pytest.mark.parametrize("text", TEXTS)
def test_text_comes_as_soon_as_it_can(text: str) -> None:
    """A character is held back for its own missing bytes only."""
    detokenizer = Detokenizer(decode)
    for count, char in enumerate(text, 1):
        for token in as_bytes(char):
            detokenizer.add(token)
        assert detokenizer.text == text[:count]


@given(st.text(max_size=40))
def test_any_text_comes_back(text: str) -> None:
    for ids in (as_bytes(text), tokenizer()(text, add_special_tokens=False, split_special_tokens=True).input_ids):
        whole, _ = shown(ids)
        assert whole == text.replace(BROKEN, "")


@given(st.lists(st.integers(0, 332), max_size=30))
def test_no_tokens_at_all_show_a_replacement_character(ids: list[int]) -> None:
    """A model may write bytes that are no text: they are left out, and the rest stays."""
    whole, parts = shown(ids)
    assert not any(BROKEN in part for part in parts)
    assert whole == decode(ids).replace(BROKEN, "")


def test_half_a_character_in_the_middle_is_left_out() -> None:
    half = as_bytes("🙂")[:2]
    assert shown([*as_bytes("a"), *half, *as_bytes("b"), *half])[0] == "ab"


def test_special_tokens_are_not_shown() -> None:
    assert shown([*as_bytes("a"), tokenizer().convert_tokens_to_ids("<|im_start|>"), *as_bytes("b")])[0] == "ab"


@given(st.text("ab\n", max_size=30), st.lists(st.text("ab\n", min_size=1, max_size=4), min_size=1, max_size=3))
def test_stop_strings_end_the_text_before_they_are_shown(text: str, stops: list[str]) -> None:
    """Whatever overlaps whatever: the text up to the first stop string that is complete, and never a part of it."""
    ends = [text.find(stop) + len(stop) for stop in stops if stop in text]
    ids = as_bytes(text)
    whole, parts = shown(ids, stops)
    if not ends:
        assert whole == text
    else:
        first = text[: min(ends)]
        begins = [first.find(stop) for stop in stops if stop in first]
        assert whole == first[: min(begins)]
    assert not any(stop in whole for stop in stops)
    assert len(parts) >= 1


def test_what_may_become_a_stop_string_is_held_back_and_then_shown() -> None:
    detokenizer = Detokenizer(decode, ["###"])
    assert [detokenizer.add(token) for token in as_bytes("a##b##")] == ["a", "", "", "##b", "", ""]
    assert not detokenizer.stopped
    assert detokenizer.finish() == "##"
    assert detokenizer.text == "a##b##"


def test_nothing_comes_after_a_stop_string() -> None:
    detokenizer = Detokenizer(decode, ["#"])
    parts = [detokenizer.add(token) for token in as_bytes("a#b")]
    assert (parts, detokenizer.finish(), detokenizer.text, detokenizer.stopped) == (["a", "", ""], "", "a", True)


def test_an_empty_stop_string_stops_nothing() -> None:
    assert shown(as_bytes("ab"), ["", "x"])[0] == "ab"


def test_a_stop_string_of_several_bytes() -> None:
    assert shown(as_bytes("a👍b"), ["👍"])[0] == "a"


def test_a_tokenizer_that_drops_the_first_blank() -> None:
    """Some tokenizers decode a token differently at the start of a text than inside it: blanks between words stay."""
    words = {0: "▁Hello", 1: "▁big", 2: "▁world", 3: "!"}

    def decode_pieces(ids: Sequence[int]) -> str:
        return "".join(words[i] for i in ids).replace("▁", " ").removeprefix(" ")

    detokenizer = Detokenizer(decode_pieces)
    assert [detokenizer.add(token) for token in (0, 1, 2, 3)] == ["Hello", " big", " world", "!"]


def test_decoding_stays_cheap() -> None:
    """Each token decodes the last few tokens, not the whole answer."""
    longest = 0

    def counted(ids: Sequence[int]) -> str:
        nonlocal longest
        longest = max(longest, len(ids))
        return decode(ids)

    detokenizer = Detokenizer(counted)
    for token in as_bytes("some words, and 👍 " * 40):
        detokenizer.add(token)
    assert longest <= 12

"""Ids to text that can be shown: whole characters, no stop string, and nothing lost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models
from transformers import PreTrainedTokenizerFast
from transformers.convert_slow_tokenizer import bytes_to_unicode

from engine.prompt.token_text import CONTROL, CONTROL_END, HALF, TokenText, readable, without_control
from engine.turn.detokenize import MOST_TOKENS, Detokenizer, StopStrings
from tests.engine.tiny_models import SPECIAL, make_tokenizer

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
    "a \ufffd that was written, two \ufffd\ufffd of them, ï¿½ as letters, one last \ufffd",
)


@cache
def tokenizer():  # type: ignore[no-untyped-def]
    return make_tokenizer()


@cache
def text_of() -> TokenText:
    return TokenText(tokenizer())


def decode(ids: Sequence[int]) -> str:
    return text_of().marked(ids)


def whole_characters(ids: Sequence[int]) -> str:
    """What the bytes of these tokens say, by Python's own decoder."""
    letters = {letter: byte for byte, letter in bytes_to_unicode().items()}
    special = {index for index, token in tokenizer().added_tokens_decoder.items() if token.special}
    names = [tokenizer().convert_ids_to_tokens(token) for token in ids if token not in special]
    return bytes(letters[letter] for name in names if name for letter in name).decode("utf-8", "ignore")


def as_bytes(text: str) -> list[int]:
    """A token for each byte: every character of several bytes is split."""
    alphabet = tokenizer().backend_tokenizer.pre_tokenizer.pre_tokenize_str(text)
    return [tokenizer().convert_tokens_to_ids(char) for piece, _ in alphabet for char in piece]


def shown(ids: Sequence[int], stop: Sequence[str] = ()) -> tuple[str, list[str]]:
    """All text, and the parts in which it came."""
    characters, text, parts = Detokenizer(decode), StopStrings(stop), []
    for token in ids:
        parts.append(text.add(characters.add(token)))
        if text.is_met:
            break
    parts.append(text.add(characters.finish(), is_last=True))
    assert "".join(parts) == text.text
    return text.text, parts


@pytest.mark.parametrize("text", TEXTS)
def test_split_characters_come_whole(text: str) -> None:
    """Scenario 31: emoji, kana, combining marks cut at every byte show no replacement character but written ones."""
    whole, parts = shown(as_bytes(text))
    assert whole == text
    assert sum(part.count(HALF) for part in parts) == text.count(HALF)


@pytest.mark.parametrize("text", TEXTS)
def test_text_comes_as_soon_as_it_can(text: str) -> None:
    """A character is held back for its own missing bytes only."""
    detokenizer, known = Detokenizer(decode), ""
    for count, char in enumerate(text, 1):
        known += "".join(detokenizer.add(token) for token in as_bytes(char))
        assert known == text[:count]


@given(st.text(max_size=40))
def test_any_text_comes_back(text: str) -> None:
    for ids in (as_bytes(text), tokenizer()(text, add_special_tokens=False, split_special_tokens=True).input_ids):
        whole, _ = shown(ids)
        assert whole == text


@given(st.lists(st.integers(0, 332), max_size=30))
def test_no_tokens_at_all_show_half_a_character(ids: list[int]) -> None:
    """A model may write bytes that are no text: they are left out, and the rest stays."""
    whole, parts = shown(ids)
    assert whole == whole_characters(ids) == readable(decode(ids))
    assert sum(part.count(HALF) for part in parts) == whole.count(HALF)


@given(st.lists(st.integers(0, 332), max_size=30))
def test_special_tokens_are_shown_by_their_names_where_they_are_asked_for(ids: list[int]) -> None:
    """They come at their place, and take nothing of the text around them, however many bytes of it are there yet."""
    names = text_of().special_names
    detokenizer = Detokenizer(decode, names)
    text = "".join(map(detokenizer.add, ids)) + detokenizer.finish()
    assert without_control(text) == whole_characters(ids)
    assert re.findall(f"{CONTROL}(.*?){CONTROL_END}", text) == [names[index] for index in ids if index in names]


@given(st.lists(st.sampled_from([0xE2, 0x82, 0xAC, 0xF0, 0x9F, 0x99, 0x82, 0xEF, 0xBF, 0xBD, 0x61]), max_size=60))
def test_any_bytes_at_all(raw: list[int]) -> None:
    """However long half characters follow each other, what is whole between them is shown."""
    names = bytes_to_unicode()
    ids = [tokenizer().convert_tokens_to_ids(names[byte]) for byte in raw]
    assert shown(ids)[0] == bytes(raw).decode("utf-8", "ignore")


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
    text = StopStrings(["###"])
    assert [text.add(char) for char in "a##b##"] == ["a", "", "", "##b", "", ""]
    assert not text.is_met
    assert text.add("", is_last=True) == "##"
    assert text.text == "a##b##"


def test_nothing_comes_after_a_stop_string() -> None:
    text = StopStrings(["#"])
    parts = [text.add(char) for char in "a#b"]
    assert (parts, text.add("", is_last=True), text.text, text.is_met) == (["a", "", ""], "", "a", True)


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


def byte_tokens(*decoder: decoders.Decoder, names: Sequence[str]) -> TokenText:
    """A tokenizer of these tokens alone, as SentencePiece models have them: numbered in order, and one blank each."""
    backend = Tokenizer(models.WordLevel({name: number for number, name in enumerate(names)}, unk_token=names[0]))
    backend.decoder = decoders.Sequence(list(decoder))
    return TokenText(PreTrainedTokenizerFast(tokenizer_object=backend))


def test_a_byte_as_a_token() -> None:
    """As in Llama-2 and Gemma: a blank is a low line, a byte has its number, some characters are as they are."""
    names = ["▁a", "\ufffd", *(f"<0x{byte:02X}>" for byte in "\ufffd🙂".encode()), "▁ï¿½"]
    text = byte_tokens(decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), names=names)
    detokenizer = Detokenizer(text.marked)
    parts = [detokenizer.add(token) for token in (0, 1, 2, 3, 4, 0, 5, 6, 7, 8, 5, 6, 0, 9)]
    assert parts == [" a", "\ufffd", "", "", "\ufffd", " a", "", "", "", "🙂", "", "", " a", " ï¿½"]
    assert detokenizer.finish() == ""


@pytest.mark.parametrize("piece", ["some words, and 👍 ", "\ufffd", "<|im_start|>", "half a character"])
def test_the_work_for_a_token_is_constant(piece: str) -> None:
    """Each token decodes the last few tokens, not the whole answer: twice at most, whatever the model writes."""
    asked: list[int] = []

    def counted(ids: Sequence[int]) -> str:
        asked.append(len(ids))
        return decode(ids)

    ids = as_bytes("€")[:1] if piece == "half a character" else as_bytes(piece)
    if piece in SPECIAL:
        ids = [tokenizer().convert_tokens_to_ids(piece)]
    detokenizer = Detokenizer(counted)
    for token in ids * 40:
        detokenizer.add(token)
    assert max(asked) <= MOST_TOKENS <= 12
    assert len(asked) <= 2 * len(ids) * 40


def test_a_stop_string_within_what_was_there_before_counts_for_nothing() -> None:
    text = StopStrings(["##"], kept=3)
    assert "".join(map(text.add, "##a")) == "##a"
    assert text.add("#") == ""
    assert text.add("#") == ""
    assert (text.text, text.is_met) == ("##a", True)
    across = StopStrings(["##"], kept=1)
    assert [across.add("#"), across.add("#"), across.text] == ["", "", ""]

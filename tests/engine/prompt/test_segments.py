"""Texts cut in front of added tokens: encoded one by one, the parts have the tokens and the places of the whole."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from engine.prompt.segments import Segments

PIECES = (
    "<|a|>",
    "<|ab|>",
    "<|a|>b|>",
    "<s>",
    "</s>",
    "<|im_start|>",
    "<|im_end|>",
    "[INST]",
    " [X] ",
    "<1>",
    "<12>",
    "<",
)
WORDS = (
    "system",
    "Ähre",
    "  ",
    "\n",
    "\r\n",
    "e\u0301",
    "ﬁ",
    "123",
    "<|",
    "|>",
    "b",
    "\u2581",
    "\u00a0",
    "x<",
    "word",
    " ",
)
CORPUS = ["system word 123 Ähre fi e b x", "<|a|> system\n word"]


def _byte_level(tokenizer: Tokenizer) -> None:
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)


def _first_blank(tokenizer: Tokenizer) -> None:
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")


def _prepended(tokenizer: Tokenizer) -> None:
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])


def _normalised(tokenizer: Tokenizer) -> None:
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Strip(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.Whitespace()])


KINDS: dict[str, Callable[[Tokenizer], None]] = {
    "byte level": _byte_level,
    "a blank before the first word": _first_blank,
    "a blank before all": _prepended,
    "normalised": _normalised,
}
TOKENS = {
    "firm": {},
    "takes blanks before": {"lstrip": True},
    "takes blanks behind": {"rstrip": True},
    "takes both": {"lstrip": True, "rstrip": True},
    "whole words": {"single_word": True},
    "normalised": {"normalized": True},
}


@cache
def _tokenizer(kind: str, odd: str) -> PreTrainedTokenizerFast:
    """A tokenizer some of whose added tokens are firm and every third is odd."""
    tokenizer = Tokenizer(models.BPE(unk_token="?"))
    KINDS[kind](tokenizer)
    tokenizer.train_from_iterator(
        CORPUS, trainers.BpeTrainer(vocab_size=400, special_tokens=["?"], show_progress=False)
    )
    for number, piece in enumerate(PIECES):
        options = {"normalized": False} | (TOKENS[odd] if number % 3 == 1 else {})
        tokenizer.add_tokens([AddedToken(piece, **options)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def _check(tokenizer: PreTrainedTokenizerFast, text: str) -> int:
    """That the parts say what the whole says; how many there are."""
    whole = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    ids: list[int] = []
    places: list[tuple[int, int]] = []
    at = 0
    parts = list(Segments(tokenizer).of(text))
    for part in parts:
        found = tokenizer(part, add_special_tokens=False, return_offsets_mapping=True)
        ids += found["input_ids"]
        places += [(at + start, at + end) for start, end in found["offset_mapping"]]
        at += len(part)
    assert "".join(parts) == text
    assert ids == whole["input_ids"]
    assert places == [tuple(place) for place in whole["offset_mapping"]]
    return len(parts)


@pytest.mark.parametrize("odd", TOKENS)
@pytest.mark.parametrize("kind", KINDS)
@given(words=st.lists(st.sampled_from(PIECES + WORDS), max_size=12))
def test_parts_have_the_tokens_and_places_of_the_whole(kind: str, odd: str, words: list[str]) -> None:
    _check(_tokenizer(kind, odd), "".join(words))


def test_a_chat_is_cut_at_its_messages() -> None:
    text = "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n"
    assert _check(_tokenizer("byte level", "firm"), text) == 4


def test_no_cut_where_a_token_counts_by_its_neighbours() -> None:
    assert _check(_tokenizer("byte level", "whole words"), "a<|im_start|>b<|im_end|>") == 1


def test_a_thousand_tokens_of_deep_names_are_found() -> None:
    names = ["<" + "x" * length + f"{number}>" for number in range(10) for length in range(1, 100)]
    tokenizer = Tokenizer(models.BPE(unk_token="?"))
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(special_tokens=["?"], show_progress=False))
    tokenizer.add_tokens([AddedToken(name, normalized=False) for name in names])
    assert _check(PreTrainedTokenizerFast(tokenizer_object=tokenizer), "b" + "b".join(names)) == len(names) + 1

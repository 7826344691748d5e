"""Tokenizers made from GGUF files: the same ids as llama.cpp finds, and what a file cannot tell is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from engine.gguf.splitting import SPLITTINGS
from engine.gguf.tokenizer import read_tokenizer
from engine.models.from_gguf import open_tokenizer
from engine.types import ModelError
from tests.engine.gguf_files import write_byte_level, write_plain_text, write_sentencepiece
from tests.engine.gguf_pins import MODEL_TEXTS, PINNED, TEXTS, plain_files

PINS: dict[str, Any] = json.loads(PINNED.read_text(encoding="utf-8"))
MERGES, PIECES = PINS["merges"], PINS["pieces"]


def differences(tokenizer: Any, texts: tuple[str, ...], expected: list[list[int]]) -> dict[str, Any]:
    """The texts whose ids are not the expected ones."""
    found = [tokenizer(text)["input_ids"] for text in texts]
    return {text: pair for text, *pair in zip(texts, found, expected, strict=True) if pair[0] != pair[1]}


@pytest.mark.parametrize("name", PINS["same"])
def test_ids_of_a_rule_for_words_are_llama_cpps(name: str, tmp_path: Path) -> None:
    tokenizer = open_tokenizer(write_byte_level(tmp_path / "tiny.gguf", MERGES, pre=name))
    assert differences(tokenizer, TEXTS, PINS["words"][PINS["same"][name]]) == {}


@pytest.mark.parametrize("name", PINS["plain"])
def test_ids_without_words_are_llama_cpps(name: str, tmp_path: Path) -> None:
    tokenizer = open_tokenizer(plain_files(PINS)[name](tmp_path / "tiny.gguf"))
    assert differences(tokenizer, TEXTS, PINS["plain"][name]) == {}


def test_ids_of_the_default_model_are_llama_cpps(default_model: Path) -> None:
    assert differences(open_tokenizer(default_model), MODEL_TEXTS, PINS["default model"]) == {}


def test_every_rule_is_held_against_llama_cpp() -> None:
    assert SPLITTINGS.keys() - PINS["plain"].keys() == {*PINS["same"], "granite-embed-multi-311m"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"pre": "wonderful"}, 'cuts texts into words by a rule that is not known here \\("wonderful"\\): get'),
        ({"model": "bert"}, 'has a tokenizer of a kind that is not known here \\("bert"\\): get'),
        ({"merges": ["a b", "ab c"], "tokens": ["a", "b", "c", "ab"]}, "has an incomplete tokenizer: get"),
        ({"merges": [], "pre": "kimi-k2"}, "has an incomplete tokenizer: get"),
        ({"model": "llama", "scores": [-1000.0] * 5000}, "does not say which of its tokens are joined"),
    ],
)
def test_what_cannot_be_followed_is_said(fields: dict[str, Any], reason: str, tmp_path: Path) -> None:
    path = write_byte_level(tmp_path / "odd.gguf", **{"merges": MERGES, **fields})
    with pytest.raises(ModelError, match=rf"^odd\.gguf {reason}"):
        read_tokenizer(path)


@pytest.mark.parametrize("part", [0.02, 0.3, 0.9, 0.999])
def test_cut_file_is_said_to_be_damaged(part: float, tmp_path: Path) -> None:
    path = write_byte_level(tmp_path / "cut.gguf", MERGES)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * part)])
    with pytest.raises(ModelError, match=r"tokenizer in cut\.gguf cannot be read: download the file again"):
        read_tokenizer(path)


@pytest.mark.parametrize("lists", [{"token_type": [1, 1]}, {"scores": [0.5]}, {"tokens": ["a", "a"]}])
def test_lists_that_do_not_fit_together_are_damage(lists: dict[str, Any], tmp_path: Path) -> None:
    path = write_byte_level(tmp_path / "odd.gguf", MERGES, **lists)
    with pytest.raises(ModelError, match="cannot be read: download"):
        read_tokenizer(path)


@pytest.mark.parametrize(
    ("fields", "first", "last"),
    [
        ({}, [], []),
        ({"add_bos_token": True}, [1], []),
        ({"pre": "llama-bpe"}, [1], []),
        ({"pre": "llama-bpe", "add_bos_token": False}, [], []),
        ({"pre": "tekken", "add_eos_token": True}, [1], [2]),
    ],
)
def test_prompt_begins_with_bos_where_the_file_says_so(
    fields: dict[str, Any], first: list[int], last: list[int], tmp_path: Path
) -> None:
    tokenizer = open_tokenizer(write_byte_level(tmp_path / "tiny.gguf", MERGES, **fields))
    inside = tokenizer("Hi", add_special_tokens=False)["input_ids"]
    assert tokenizer("Hi")["input_ids"] == [*first, *inside, *last]
    assert (tokenizer.bos_token, tokenizer.eos_token, tokenizer.unk_token) == ("<s>", "</s>", "<unk>")


def test_chat_templates_are_kept_by_name(tmp_path: Path) -> None:
    long = "{# " + 70_000 * "x" + " #}{{ messages[0].content }}"
    one = write_byte_level(tmp_path / "one.gguf", MERGES, **{"tokenizer.chat_template": long})
    assert open_tokenizer(one).get_chat_template() == long
    named = {"tokenizer.chat_template": "plain", "tokenizer.chat_template.tool_use": "with tools"}
    tokenizer = open_tokenizer(write_byte_level(tmp_path / "two.gguf", MERGES, **named))
    assert (tokenizer.get_chat_template(), tokenizer.get_chat_template("tool_use")) == ("plain", "with tools")
    assert open_tokenizer(write_byte_level(tmp_path / "none.gguf", MERGES)).chat_template is None


def test_special_tokens_are_told_from_those_of_the_user(tmp_path: Path) -> None:
    added = open_tokenizer(write_sentencepiece(tmp_path / "tiny.gguf", PIECES)).added_tokens_decoder
    assert {str(token): token.special for token in added.values()} == {
        "<unk>": True, "<s>": True, "</s>": True, "<user>": False, "<|endoftext|>": True,
    }  # fmt: skip


def test_token_that_llama_cpp_knows_by_its_name_is_special(tmp_path: Path) -> None:
    """Files of 2023 call all tokens normal ones."""
    merges = ["< e", "<e o", "<eo s", "<eos >"]
    tokenizer = open_tokenizer(write_byte_level(tmp_path / "tiny.gguf", merges))
    index = tokenizer.convert_tokens_to_ids("<eos>")
    assert tokenizer("a<eos>")["input_ids"][-1] == index
    assert tokenizer.added_tokens_decoder[index].special


TOKENIZERS: dict[str, Any] = {}


@given(text=some.text(max_size=60), kind=some.sampled_from(["words", "plain", "scores"]))
def test_ids_decode_to_the_text(text: str, kind: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever somebody writes comes back, unless it spells out a special token."""
    if not TOKENIZERS:
        folder = tmp_path_factory.mktemp("tokenizers")
        TOKENIZERS["words"] = open_tokenizer(write_byte_level(folder / "a.gguf", MERGES, pre="smollm"))
        TOKENIZERS["plain"] = open_tokenizer(write_plain_text(folder / "b.gguf", PINS["plain_merges"]))
        TOKENIZERS["scores"] = open_tokenizer(write_sentencepiece(folder / "c.gguf", PIECES))
    ids = TOKENIZERS[kind](text, add_special_tokens=False)["input_ids"]
    decoded = TOKENIZERS[kind].decode(ids, clean_up_tokenization_spaces=False)
    assert decoded == (text if kind == "words" else text.replace("▁", " "))

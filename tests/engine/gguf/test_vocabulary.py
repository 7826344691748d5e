"""Vocabularies read by the compiled part and without it: one outcome, whatever a file has in its lists."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from engine.gguf.header import GgufDamagedError, read_header
from engine.gguf.tokenizer import build_tokenizer, read_tokenizer
from engine.gguf.vocabulary import TokenType, read_vocabulary
from engine.native import library as native_library
from engine.native import strings
from engine.types import ModelError
from tests.engine.gguf_files import write_vocabulary

STRING, ARRAY, INT32 = 8, 9, 5
NAMES = ("<unk>", "<s>", "</s>", "<eos>", "<|plamo:eos|>", "[EMPTY_3]")


def outcome(path: Path) -> tuple[Any, ...]:
    """All that can be seen of a file's tokenizer, or why it cannot be made."""
    try:
        vocabulary = read_vocabulary(path)
        tokenizer, config = read_tokenizer(path)
    except ModelError as error:
        return str(error), error.detail
    lists = (vocabulary.tokens, vocabulary.text, vocabulary.ids, vocabulary.types, vocabulary.scores)
    return *lists, list(vocabulary.merges), tokenizer.to_str(), config


def outcome_without(path: Path) -> tuple[Any, ...]:
    """The same where the compiled part is not in use."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native_library, "library", lambda: None)
        return outcome(path)


letters = some.text("abĠ▁ä中🙂", min_size=1, max_size=3)
odd_letters = some.text("abĠ▁ä \0🙂", max_size=3)
tokens = some.lists(letters | some.sampled_from(NAMES), unique=True, max_size=20).map(lambda found: [*"ab", *found])


@some.composite
def vocabularies(draw: some.DrawFn) -> dict[str, Any]:
    """Most have sound lists; some have tokens and merges that no program writes."""
    found = list(
        dict.fromkeys([*draw(tokens), *(draw(some.lists(odd_letters, max_size=3)) if draw(some.booleans()) else [])])
    )
    pair = some.tuples(some.sampled_from(found), some.sampled_from(found))
    pairs = draw(some.lists(pair.filter(all), max_size=12))
    made = [*found, *({"".join(each) for each in pairs} if draw(some.booleans()) else set())]
    if draw(some.integers(0, 9)):
        made = list(dict.fromkeys(made))
    merges = [" ".join(each) for each in pairs]
    if draw(some.integers(0, 3)) == 0:
        merges += draw(some.lists(odd_letters, max_size=3))
    size = len(made)
    types = draw(some.lists(some.integers(-1, 8), min_size=size, max_size=size + 1))
    scores = draw(some.just([]) | some.lists(some.floats(width=32, allow_nan=False), min_size=size, max_size=size + 1))
    model = draw(some.sampled_from(["gpt2", "llama", "gemma4"]))
    return {"model": model, "tokens": made, "token_type": types, "scores": scores, "merges": merges}


@given(fields=vocabularies())
def test_the_compiled_part_reads_what_python_does(
    fields: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = write_vocabulary(tmp_path_factory.mktemp("lists") / "tiny.gguf", {}, **fields)
    assert outcome(path) == outcome_without(path)


def pairs_of(merges: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs, each once. The first token has one letter at least."""
    cut = [(merge, merge.index(" ", 1)) for merge in merges]
    return list(dict.fromkeys((merge[:at], merge[at + 1 :]) for merge, at in cut))


def cuts_of(scores: dict[str, float]) -> Iterator[tuple[str, str]]:
    for token in sorted(scores, key=lambda token: (-scores[token], -len(token))):
        for cut in range(len(token) - 1, 0, -1):
            if token[:cut] in scores and token[cut:] in scores:
                yield token[:cut], token[cut:]


@pytest.mark.parametrize("is_compiled", [True, False])
@given(found=tokens, ranks=some.permutations(range(22)))
def test_pairs_of_tokens_are_in_the_order_of_their_scores(
    is_compiled: bool, found: list[str], ranks: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    scores = dict(zip(dict.fromkeys(found), (float(rank // 2) for rank in ranks), strict=False))
    fields = {"tokens": list(scores), "token_type": [4] * len(scores), "scores": list(scores.values())}
    path = write_vocabulary(tmp_path_factory.mktemp("scores") / "tiny.gguf", {}, model="llama", **fields)
    said = outcome(path) if is_compiled else outcome_without(path)
    expected = ",".join(f'["{a}","{b}"]' for a, b in cuts_of(scores))
    assert f'"merges":[{expected}]' in "".join(said[6].split())


@pytest.mark.parametrize("is_compiled", [True, False])
@pytest.mark.parametrize(
    "merges",
    [
        ["a b", "ab c", "a b", "b c"],
        ["a b", "  b", " \0 c"],
        ["a  b", "a b c"],
        ["a b", "ab "],
        ["ä 🙂", "a\0b c"],
    ],
)
def test_merges_are_cut_at_their_first_blank(merges: list[str], is_compiled: bool, tmp_path: Path) -> None:
    known = dict.fromkeys(["a", "b", "c", "ab", " ", "ä", "🙂"], 1)
    path = write_vocabulary(tmp_path / "tiny.gguf", known, model="gpt2", merges=merges)
    with pytest.MonkeyPatch.context() as patch:
        if not is_compiled:
            patch.setattr(native_library, "library", lambda: None)
        found = read_vocabulary(path).merges
    assert list(found) == pairs_of(merges)
    assert (len(found), found[0], found[-1]) == (len(pairs_of(merges)), pairs_of(merges)[0], pairs_of(merges)[-1])


def test_the_first_merges_that_are_incomplete_are_told(tmp_path: Path) -> None:
    merges = ["a b", "ab c", "b a", "ab ", "ab a", "c ab", "b b", "a x"]
    path = write_vocabulary(tmp_path / "odd.gguf", dict.fromkeys("abc", 1) | {"ab": 1}, model="gpt2", merges=merges)
    with pytest.raises(ModelError, match=r"^has an incomplete tokenizer: get") as refused:
        build_tokenizer(read_vocabulary(path))
    assert refused.value.detail == (
        "merges: 8, without a token: [('ab', 'c'), ('b', 'a'), ('ab', ''), ('ab', 'a'), ('c', 'ab')]"
    )


def test_what_is_behind_a_zero_is_cut_off(tmp_path: Path) -> None:
    known = ["a", "b\0c", "", "\0", "ab"]
    path = write_vocabulary(tmp_path / "tiny.gguf", {}, model="gpt2", tokens=known, token_type=[], merges=["a b"])
    found = read_vocabulary(path)
    assert found.tokens == ("a", "b", "[EMPTY_2]", "[EMPTY_3]", "ab")
    assert found.types == (TokenType.NORMAL,) * 5
    assert build_tokenizer(found).encode("ab").ids == [4]


@pytest.mark.parametrize("name", ["tokens", "merges"])
def test_a_list_of_something_else_is_damage(name: str, tmp_path: Path) -> None:
    fields: dict[str, Any] = {"tokens": ["a"], "token_type": [1], "merges": ["a a"], name: [1, 2, 3]}
    path = write_vocabulary(tmp_path / "odd.gguf", {}, model="gpt2", **fields)
    with pytest.raises(ModelError, match=r"tokenizer in odd\.gguf cannot be read: download"):
        read_vocabulary(path)


def packed(text: bytes, length: int | None = None) -> bytes:
    return struct.pack("<Q", len(text) if length is None else length) + text


def write_list(path: Path, count: int, listed: bytes, name: bytes = b"tokenizer.ggml.tokens") -> Path:
    """A GGUF file without tensors, which has one list of strings and is no longer than that."""
    path.write_bytes(
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + packed(name) + struct.pack("<IIQ", ARRAY, STRING, count) + listed
    )
    return path


DAMAGED = [
    (1, packed(b"abc", 2**63)),
    (1, packed(b"abc", 2**64 - 1)),
    (1, packed(b"abc", 2**63 - 8)),
    (1, packed(b"abc", 4)),
    (3, packed(b"ab") + packed(b"c", 2**64 - 8) + packed(b"d")),
    (3, packed(b"ab") + packed(b"c") + b"\1\0\0"),
    (2, packed(b"ab")),
    (10**6, packed(b"ab")),
    (2**62, packed(b"ab")),
    (2**64 - 1, packed(b"ab")),
]


@pytest.mark.parametrize(("count", "listed"), DAMAGED)
def test_a_list_that_reaches_past_the_end_is_damage(count: int, listed: bytes, tmp_path: Path) -> None:
    for name in (b"tokenizer.ggml.tokens", b"tokenizer.ggml.merges", b"general.tags"):
        path = write_list(tmp_path / "odd.gguf", count, listed, name)
        with pytest.raises(GgufDamagedError) as refused:
            read_header(path)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(native_library, "library", lambda: None)
            with pytest.raises(GgufDamagedError) as refused_without:
                read_header(path)
        assert str(refused.value) == str(refused_without.value)
        assert outcome(path)[0] == "The tokenizer in odd.gguf cannot be read: download the file again."
        assert outcome(path) == outcome_without(path)


@pytest.mark.parametrize("name", [b"tokenizer.ggml.tokens", b"tokenizer.ggml.merges", b"general.tags"])
@pytest.mark.parametrize("text", [b"\xff", b"\xe4\xb8", b"\xed\xa0\x80"])
def test_a_string_that_is_no_text_is_damage(text: bytes, name: bytes, tmp_path: Path) -> None:
    path = write_list(tmp_path / "odd.gguf", 3, packed(b"a") + packed(text) + packed(b"\xad"), name)
    assert outcome(path)[0] == "The tokenizer in odd.gguf cannot be read: download the file again."
    assert "can't decode" in outcome(path)[1]
    assert outcome(path) == outcome_without(path)


@pytest.mark.skipif(native_library.library() is None, reason="the compiled part is not here")
def test_sound_lists_are_read_by_the_compiled_part(tmp_path: Path) -> None:
    listed = b"".join(packed(text.encode()) for text in ("a", "ä🙂", "", "a ä🙂"))
    path = write_list(tmp_path / "tiny.gguf", 4, listed)
    start, end = path.stat().st_size - len(listed), path.stat().st_size
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        known = strings.Tokens(["ä🙂", "aä🙂", "a"], "ä🙂\0aä🙂\0a".encode())
        assert strings.end_of_strings(data, start, 4) == end
        assert strings.end_of_strings(data, start, 3) == end - len(packed("a ä🙂".encode()))
        assert strings.read_strings(data, start, 4) == (["a", "ä🙂", "", "a ä🙂"], "a\0ä🙂\0\0a ä🙂".encode(), end)
        assert strings.read_merges(data, end - len(packed("a ä🙂".encode())), 1, known) == ["a", "ä🙂"]
    assert strings.find_cuts(known, [1, 0, 2]) == ["a", "ä🙂"]
    assert strings.find_cuts(known, [1, 0]) == []


@pytest.mark.skipif(native_library.library() is None, reason="the compiled part is not here")
def test_two_tokens_that_make_none_are_no_merge(tmp_path: Path) -> None:
    listed = packed(b"a b") + packed(b"b a")
    path = write_list(tmp_path / "tiny.gguf", 2, listed)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        known, start = strings.Tokens(["a", "b", "ab"], b"a\0b\0ab"), len(data) - len(listed)
        assert strings.read_merges(data, start, 1, known) == ["a", "b"]
        assert strings.read_merges(data, start, 2, known) is None

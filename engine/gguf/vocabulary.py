"""Reads what a GGUF file says about its tokenizer: the tokens with their kinds, scores and merges, and the templates.

The header's reader leaves long lists out, and the gguf package takes half a minute for the lists of a large vocabulary.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import repeat
from pathlib import Path
from typing import Any, overload

from engine.gguf.fields import ARRAY, SCALARS, STRING, FieldReader, StringList, compiled_strings
from engine.types import ModelError

_PREFIX, _TEMPLATE = "tokenizer.ggml.", "tokenizer.chat_template"

_ENDS = """
<|eot_id|> <|im_end|> <|end|> <|return|> <|call|> <|flush|> <|calls|> <end_of_turn> <|endoftext|> </s> <|eom_id|> <EOT>
_<EOT> [EOT] [EOS] <|end_of_text|> <end_of_utterance> <eos> <turn|> <|tool_response> <｜end▁of▁sentence｜> [e~["""
_STRUCTURE = "<|channel|> <|message|> <|start|> <|constrain|>"
_INFILL = """
<|fim_prefix|> <fim-prefix> <fim_prefix> <｜fim▁begin｜> <PRE> ▁<PRE> <|code_prefix|> <|prefix|>
<|fim_suffix|> <fim-suffix> <fim_suffix> <｜fim▁hole｜> <SUF> ▁<SUF> <|code_suffix|> <|suffix|>
<|fim_middle|> <fim-middle> <fim_middle> <｜fim▁end｜> <MID> ▁<MID> <|code_middle|> <|middle|>
<|fim_pad|> <fim-pad> <fim_pad> <PAD> [PAD] <|fim_repo|> <|repo_name|> <fim-repo> <REPO> <reponame> <|file_sep|>"""
_CONTROL_BY_NAME = frozenset(f"{_ENDS} {_STRUCTURE} {_INFILL}".split())
"""Tokens that are control tokens whatever a file calls them: those that llama.cpp knows by their names."""

_READ_LATER = {f"{_PREFIX}tokens", f"{_PREFIX}merges"}
"""Lists by their names of which more is asked than their strings."""


class TokenType(IntEnum):
    """What sort of token an entry of a vocabulary is: the numbers of `tokenizer.ggml.token_type`."""

    UNDEFINED = 0
    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


class Pairs(Sequence[tuple[str, str]]):
    """Pairs of tokens, which lie in one list behind each other. A pair is made when it is asked for: to make and to
    collect 100,000 of them would take as long as all else."""

    def __init__(self, tokens: Sequence[str], *, are_whole: bool) -> None:
        """`are_whole`: it is known that all of them, and what each pair makes, are in the vocabulary."""
        self._tokens, self.are_whole = tokens, are_whole

    def __len__(self) -> int:
        return len(self._tokens) // 2

    def __iter__(self) -> Iterator[tuple[str, str]]:
        tokens = iter(self._tokens)
        return zip(tokens, tokens, strict=True)

    @overload
    def __getitem__(self, index: int) -> tuple[str, str]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[str, str]]: ...
    def __getitem__(self, index: int | slice) -> tuple[str, str] | list[tuple[str, str]]:
        return list(self)[index]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The fields `tokenizer.*` of a GGUF file, and the name of its model.

    `tokens[i]` is the token with id i, `types[i]` its sort and `scores[i]` its score; `scores` may be empty. `text` is
    all tokens in UTF-8 with a zero between them, `ids` has the tokens' ids. `merges` are pairs of tokens, each once,
    the first to be joined first. `templates` are the chat templates by name; that without a name is "default". `fields`
    are all other single values, without the prefix `tokenizer.ggml.`.
    """

    name: str
    tokens: tuple[str, ...]
    text: bytes
    ids: dict[str, int]
    types: tuple[TokenType, ...]
    scores: tuple[float, ...]
    merges: Pairs
    templates: Mapping[str, str]
    fields: Mapping[str, Any]

    def token(self, name: str, default: int | None = None) -> str | None:
        """The token that a field such as "eos_token_id" names, or that with the id `default`, or None."""
        index = self.fields.get(name, default)
        return self.tokens[index] if isinstance(index, int) and 0 <= index < len(self.tokens) else None

    def flag(self, name: str, default: bool) -> bool:
        """A field that is true or false."""
        return bool(self.fields.get(name, default))


def read_vocabulary(path: Path) -> Vocabulary:
    """Read the tokenizer of the GGUF file `path`. Raises ModelError, OSError."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            return _vocabulary(_entries(FieldReader(data, position=8)))  # behind the magic and the version
        except (
            struct.error,
            LookupError,
            ValueError,
            TypeError,
            AttributeError,
            OverflowError,
            RecursionError,
        ) as error:
            raise ModelError(
                f"The tokenizer in {path.name} cannot be read: download the file again.", str(error)
            ) from error


def _vocabulary(entries: Mapping[str, Any]) -> Vocabulary:
    fields = {name.removeprefix(_PREFIX): value for name, value in entries.items() if name.startswith(_PREFIX)}
    tokens, text = _tokens(fields.pop("tokens", ()))
    types = fields.pop("token_type", None) or [TokenType.NORMAL] * len(tokens)
    scores, merges = fields.pop("scores", ()), fields.pop("merges", ())
    ids = dict(zip(tokens, range(len(tokens)), strict=True))
    if len(ids) < len(tokens):
        raise ValueError("two tokens are the same")
    if len(types) < len(tokens) or 0 < len(scores) < len(tokens):
        raise ValueError(f"{len(tokens)} tokens, {len(types)} types and {len(scores)} scores")
    return Vocabulary(
        str(entries.get("general.name", "")),
        tuple(tokens),
        text,
        ids,
        _known_types(ids, types),
        tuple(map(float, scores)),
        _merges(merges, tokens, text),
        {name: template for key, template in entries.items() if (name := _template_name(key))},
        {name: value for name, value in fields.items() if not isinstance(value, (list, tuple))},
    )


def _tokens(listed: Any) -> tuple[Sequence[str], bytes]:
    """Each string up to its first zero, as a language sees it in which a zero ends a string: that is how files are made
    and read. One that is empty gets a name by its id. Also all of them in UTF-8, with a zero between them."""
    strings, text = listed.read() if isinstance(listed, StringList) else (listed, "\0".join(listed).encode("utf-8"))
    if text.count(0) < len(strings) and all(strings):
        return strings, text
    tokens = [string.partition("\0")[0] or f"[EMPTY_{index}]" for index, string in enumerate(strings)]
    return tokens, "\0".join(tokens).encode("utf-8")


def _known_types(ids: Mapping[str, int], numbers: Sequence[int]) -> tuple[TokenType, ...]:
    """The types, corrected where a token's name says more than the file. Gemma-4 and PLaMo have a plain "</s>"."""
    known = {int(type_): type_ for type_ in TokenType}
    types = list(map(known.get, numbers[: len(ids)], repeat(TokenType.UNDEFINED)))
    for token in _CONTROL_BY_NAME & ids.keys():
        types[ids[token]] = TokenType.CONTROL
    if "</s>" in ids and ids.keys() & {"<|tool_response>", "<|plamo:eos|>"}:
        types[ids["</s>"]] = TokenType.NORMAL
    return tuple(types)


def _merges(merges: Any, tokens: Sequence[str], text: bytes) -> Pairs:
    """The tokens of each merge, which is written as both with a blank between them. Where all of them are among the
    tokens, as nearly always, they are looked up in the file, and not one of them is read."""
    compiled = compiled_strings() if isinstance(merges, StringList) else None
    if compiled is not None:
        known = compiled.Tokens(tokens, text)
        found = compiled.read_merges(merges.data, merges.position, merges.count, known)
        if found is not None:
            return Pairs(found, are_whole=True)
    return Pairs([token for merge in dict.fromkeys(_read(merges)) for token in _pair(merge)], are_whole=False)


def _pair(merge: str) -> tuple[str, str]:
    """The first token has one letter at least, so a blank at its beginning is its own."""
    at = merge.index(" ", 1)
    return merge[:at], merge[at + 1 :]


def _template_name(key: str) -> str:
    """The name of the chat template that an entry holds; empty where it holds none."""
    if key == _TEMPLATE:
        return "default"
    return key.removeprefix(f"{_TEMPLATE}.") if key.startswith(f"{_TEMPLATE}.") else ""


def _entries(fields: FieldReader) -> dict[str, Any]:
    """All entries of metadata by their names, lists included."""
    _, count = fields.number("Q"), fields.number("Q")
    entries = {fields.string(): _value(fields, fields.number("I")) for _ in range(count)}
    return {name: value if name in _READ_LATER else _read(value) for name, value in entries.items()}


def _value(fields: FieldReader, kind: int) -> Any:
    if kind == STRING:
        return fields.string()
    if kind != ARRAY:
        return fields.number(SCALARS[kind])
    of, count = fields.number("I"), fields.number("Q")
    if of == STRING:
        return fields.skip_strings(count)
    return fields.numbers(SCALARS[of], count) if of in SCALARS else [_read(_value(fields, of)) for _ in range(count)]


def _read(value: Any) -> Any:
    return value.read()[0] if isinstance(value, StringList) else value

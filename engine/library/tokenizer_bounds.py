"""What a tokenizer's files may ask for: how many added tokens, and how much longer a text may become. No torch.

A tokenizer is a small program. Rules that replace a letter by a thousand, one after the other, turn a greeting into
gigabytes, and a hundred thousand added tokens take minutes to be added. Nothing could stop either in the middle.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

MOST_ADDED = 50_000
"""Added tokens of a file, which take 3 s. Known: 256 in Llama-3, 6,400 in Gemma-3, 28,700 in a model for speech."""

MOST_NAMED = 5_000
"""Tokens that a configuration adds by their names, which take 1 s, and four times that for twice as many."""

MOST_STEPS = 500
"""Rules for texts that a tokenizer may have, with all that is inside of them. Real ones have up to 30."""

MOST_GROWTH = 100
"""How many times longer all rules together may make a text. Known: 8 where characters are normalised, else 2."""

MOST_HEAD_BYTES = 16_000_000
"""Where in tokenizer.json the vocabulary begins at the latest. Known: 1.4 MB in Gemma-3."""

MOST_PARTS = 2_000_000
"""Lists, objects and commas that a JSON text may have: each may become 64 bytes of memory."""

_RULES = ("normalizer", "pre_tokenizer", "decoder")
_BEHIND = re.compile(
    rb'"(?:added_tokens|normalizers?|pre_?tokenizers?|decoders?|content|prepend|precompiled_charsmap)"\s*:\s*[\[{"]'
    rb"|\\u00(?:[2-6]|7[0-9a-eA-E])"
)
"""A rule or an added token behind the vocabulary, or a letter written so that the name of one could not be found."""

_PIECE_BYTES = 1 << 20
"""How much is searched at once: other threads stand still meanwhile."""

_NORMALISED_CHARACTERS = 64
"""Bytes that one character becomes at most where characters are normalised; the longest known has 33."""


def check_tokenizer_json(data: bytes) -> None:
    """Raise ValueError where the content of a tokenizer.json is none, or asks for more than any model needs.

    The vocabulary is most of it, and usually the end of it. Its parsing would stop a window for a second, so it is only
    searched for names that do not belong there, and everything is parsed only where there are some.
    """
    head, end = _head(data)
    if _is_in(data, end):
        if _parts(data) > MOST_PARTS:
            raise ValueError("it has more parts than any model needs")
        head = list(json.loads(data.decode("utf-8")).items())
    for name, value in head:
        if name == "added_tokens":
            check_added(name, value, MOST_ADDED)
        elif name in _RULES:
            _check_growth(name, value)


def check_added_tokens(name: str, content: Mapping[str, Any]) -> None:
    """Raise ValueError where a file besides tokenizer.json, `name`, adds more tokens than any model needs."""
    check_added(name, content, MOST_ADDED if name == "added_tokens.json" else MOST_NAMED)
    check_added("added_tokens_decoder", content.get("added_tokens_decoder"), MOST_ADDED)
    for key, value in content.items():
        if key != "added_tokens_decoder":
            check_added(key, value, MOST_NAMED)


def check_added(name: str, tokens: object, most: int) -> None:
    """Raise ValueError where there are more than `most` tokens in a list or object."""
    if isinstance(tokens, (list, dict)) and len(tokens) > most:
        raise ValueError(f"{len(tokens):,} tokens in {name}")


def _head(data: bytes) -> tuple[list[tuple[str, Any]], int]:
    """The entries of a JSON object up to "model", and at which byte they end."""
    start = data[:MOST_HEAD_BYTES]
    if _parts(start) > MOST_PARTS:
        raise ValueError("it has more parts than any model needs")
    text, decoder, found = start.decode("utf-8", "replace"), json.JSONDecoder(), []
    at = _after(text, 0, "{")
    while text[at : at + 1] not in ("", "}"):
        name, at = decoder.raw_decode(text, at)
        at = _after(text, at, ":")
        if name == "model":
            break
        value, at = decoder.raw_decode(text, at)
        found.append((str(name), value))
        at = _after(text, at, ",}")
    return found, len(text[:at].encode("utf-8"))


def _after(text: str, at: int, marks: str) -> int:
    """Where the text goes on behind one of these marks and the blanks around it."""
    blank = re.compile(r"\s*")
    at = blank.match(text, at).end()  # type: ignore[union-attr]
    if text[at : at + 1] not in tuple(marks):
        raise ValueError(f"one of {marks} is missing at {at}")
    return blank.match(text, at + 1).end()  # type: ignore[union-attr]


def _is_in(data: bytes, at: int) -> bool:
    """Whether a rule or an added token stands behind byte `at`.

    Each piece that is searched ends with a comma, so that no match is cut in two.
    """
    while at < len(data):
        comma = data.find(b",", at + _PIECE_BYTES)
        end = len(data) if comma < 0 else comma + 1
        if _BEHIND.search(data, at, end):
            return True
        at = end
    return False


def _parts(data: bytes) -> int:
    return sum(map(data.count, (b"[", b"{", b",")))


def _check_growth(name: str, rules: object) -> None:
    """Raise ValueError where the rules, one after the other, could make a text far longer."""
    growth = 1.0
    for number, step in enumerate(_steps(rules)):
        growth *= _growth(step)
        if number >= MOST_STEPS or growth > MOST_GROWTH:
            raise ValueError(f"the {name} has too many rules, or makes a text {growth:,.0f} times longer")


def _steps(rules: object) -> Iterator[Mapping[str, Any]]:
    """All rules, also those inside others."""
    left = [rules]
    while left:
        rule = left.pop()
        if isinstance(rule, dict):
            yield rule
            left += rule.values()
        elif isinstance(rule, list):
            left += rule


def _growth(step: Mapping[str, Any]) -> float:
    """How many times longer one rule makes a text at most; 1 where it makes it shorter."""
    content, pattern, charsmap = step.get("content"), step.get("pattern"), step.get("precompiled_charsmap")
    if "pattern" in step and isinstance(content, str):
        replaced = pattern.get("String") if isinstance(pattern, dict) else pattern
        return max(1.0, len(content) / max(1, len(replaced))) if isinstance(replaced, str) else max(1, len(content))
    if isinstance(charsmap, str):
        longest = _longest_normalised(charsmap)
        return 8.0 if longest <= _NORMALISED_CHARACTERS else longest
    if isinstance(prepended := step.get("prepend"), str):
        return 1 + len(prepended)
    return 2.0 if step.get("type") == "ByteLevel" else 1.0


def _longest_normalised(charsmap: str) -> int:
    """Bytes of the longest text that a table of SentencePiece puts in place of a character.

    The table is a tree, preceded by its size in bytes, and then all the texts, each with a zero behind it.
    """
    table = base64.b64decode(charsmap)
    size = int.from_bytes(table[:4], "little")
    return max(map(len, table[4 + size :].split(b"\0")), default=0)

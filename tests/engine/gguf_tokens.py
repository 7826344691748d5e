"""Compares the tokenizers made from GGUF files with llama.cpp's: python -m tests.engine.gguf_tokens FOLDER [COUNT]

For each GGUF file in the folder it prints how many texts have equal ids, and the first that differs. Without
llama-cpp-python it only says which files' tokenizers can be made.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from engine.gguf.vocabulary import TokenType, Vocabulary, read_vocabulary
from engine.models.from_gguf import open_tokenizer
from engine.types import ModelError
from tests.engine.gguf_texts import texts

ROW = "| {:<28} | {:<18} | {:>5} | {:>5} | {}"


def special_tokens(vocabulary: Vocabulary, most: int = 40) -> list[str]:
    """Tokens that a template may write, from the start, the end and between."""
    found = [
        token
        for token, kind in zip(vocabulary.tokens, vocabulary.types, strict=True)
        if kind in (TokenType.CONTROL, TokenType.USER_DEFINED, TokenType.UNKNOWN)
    ]
    step = max(1, len(found) // most)
    return [*found[:8], *found[::step], *found[-8:]]


def compare(gguf: Path, count: int) -> None:
    """Print one row of the table."""
    vocabulary = read_vocabulary(gguf)
    kind = f"{vocabulary.fields.get('model')} {vocabulary.fields.get('pre', '')}"
    try:
        tokenizer = open_tokenizer(gguf)
    except ModelError as error:
        print(ROW.format(gguf.stem[-28:], kind, 0, 0, error), flush=True)
        return
    asked = texts(special_tokens(vocabulary), count)
    ours = [tokenizer(text)["input_ids"] for text in asked]
    if find_spec("llama_cpp") is None:
        print(ROW.format(gguf.stem[-28:], kind, len(asked), "-", "llama-cpp-python is not installed"), flush=True)
        return
    theirs = _llama_cpp(gguf, asked)
    differ = [row for row in zip(asked, ours, theirs, strict=True) if row[1] != row[2]]
    first = _first_difference(tokenizer, *differ[0]) if differ else ""
    print(ROW.format(gguf.stem[-28:], kind, len(asked), len(asked) - len(differ), first), flush=True)


def _llama_cpp(gguf: Path, asked: Sequence[str]) -> list[list[int]]:
    from llama_cpp import Llama

    model = Llama(str(gguf), vocab_only=True, verbose=False)
    return [list(model.tokenize(text.encode(), add_bos=True, special=True)) for text in asked]


def _first_difference(tokenizer: Any, text: str, ours: Sequence[int], theirs: Sequence[int]) -> str:
    shorter = min(len(ours), len(theirs))
    at = next((place for place in range(shorter) if ours[place] != theirs[place]), shorter)
    seen = [tokenizer.convert_ids_to_tokens(list(ids[max(0, at - 1) : at + 4])) for ids in (ours, theirs)]
    return f"{text[:40]!r}: {seen[0]} here, {seen[1]} there"


def main(arguments: Sequence[str]) -> None:
    """Each file in a process of its own, since llama.cpp may end its process."""
    place, count = Path(arguments[0]), arguments[1] if len(arguments) > 1 else "1000"
    if place.is_file():
        compare(place, int(count))
        return
    print(ROW.format("file", "tokenizer", "texts", "equal", "first difference"))
    for gguf in sorted(place.glob("*.gguf")):
        command = [sys.executable, "-m", "tests.engine.gguf_tokens", str(gguf), count]
        ended = subprocess.run(command, stderr=subprocess.DEVNULL, check=False)
        if ended.returncode:
            print(ROW.format(gguf.stem[-28:], "", "", "", f"ended with {ended.returncode}"), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

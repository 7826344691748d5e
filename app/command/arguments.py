"""What can be typed behind `headstart`, and a parser that names what was probably meant where a word is misspelt."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from app.settings import MEGABYTE, MOST_CONTEXT, MOST_MEGABYTES, Settings, model_spec
from engine import DEVICES, DTYPES, LEAST_CONTEXT, ModelSpec

_CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from (.*)\)")
_WORD = re.compile(r"[\w-]+")
_OPTION = re.compile(r"--[a-z][a-z-]*")


class Parser(argparse.ArgumentParser):
    """As argparse's, with one more sentence: "Did you mean --model?". `others` are the parsers of its commands, whose
    options count as known, too."""

    others: Sequence[argparse.ArgumentParser] = ()
    _given: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self._given = args or ()
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        known = {name for parser in (self, *self.others) for name in _OPTION.findall(parser.format_help())}
        words = (word.partition("=")[0] for word in self._given if word.startswith("--"))
        option = next((word for word in words if not any(name.startswith(word) for name in known)), "")
        if option:  # what stands behind it was perhaps taken for something else
            super().error(f"There is no option {option}.{_meant(option, known)}")
        if choice := _CHOICE.search(message):
            message += "." + _meant(choice.group(1), _WORD.findall(choice.group(2)))
        super().error(message)


def _meant(word: str, known: Iterable[str]) -> str:
    """A sentence that names the nearest of the known words, "" where none is near."""
    near = difflib.get_close_matches(word, sorted(known), n=1)
    return f" Did you mean {near[0]}?" if near else ""


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Which model the window opens with, and how. What is not given is taken from the settings."""
    parser.add_argument("--model", metavar="PATH", help="a folder with safetensors, or a GGUF file")
    parser.add_argument("--device", choices=DEVICES, help="where the model runs")
    parser.add_argument("--dtype", choices=DTYPES, help="number format of the weights")
    parser.add_argument("--context", type=tokens, metavar="TOKENS", help="how long a conversation may grow")
    parser.add_argument("--kv-bits", type=int, choices=(8, 16), help="bits of cached keys and values")
    parser.add_argument("--draft", metavar="PATH", help="a small model of the same family that guesses what is written")
    parser.add_argument(
        "--cache-mb", type=megabytes, metavar="MB", help="memory for cached prompts; 0 chooses by itself"
    )


def spec_of(options: argparse.Namespace, settings: Settings) -> ModelSpec:
    """What the settings ask for, with what the command line says in its place."""
    asked = {
        "device": options.device,
        "dtype": options.dtype,
        "context_tokens": options.context,
        "kv_bits": options.kv_bits,
        "draft": options.draft,
    }
    found = model_spec(settings, options.model)
    spec = replace(found, **{name: value for name, value in asked.items() if value is not None})
    if options.cache_mb is not None:
        spec = replace(spec, cache_bytes=options.cache_mb * MEGABYTE or None)
    return spec


def tokens(text: str) -> int:
    """A count of tokens that a conversation may have."""
    if not text.isdecimal() or len(text) > len(str(MOST_CONTEXT)):
        raise argparse.ArgumentTypeError(f"give a whole number of tokens, not {text[:40]!r}")
    if not LEAST_CONTEXT <= int(text) <= MOST_CONTEXT:
        raise argparse.ArgumentTypeError(f"give at least {LEAST_CONTEXT:,} tokens and at most {MOST_CONTEXT:,}")
    return int(text)


def megabytes(text: str) -> int:
    """A count of megabytes, from 0 to more than any computer has."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"give a whole number of megabytes, not {text[:40]!r}")
    if len(text) > len(str(MOST_MEGABYTES)) or int(text) > MOST_MEGABYTES:
        raise argparse.ArgumentTypeError(f"give at most {MOST_MEGABYTES:,} megabytes")
    return int(text)

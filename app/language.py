"""The language of the window: texts stand in the code in English, and a translation holds them in another. No Qt.

`tr` and `plural` give a text as the window shows it; `packaging/translations.py` finds their calls and keeps Qt's
translation files in resources/translations by them. `translated` is for sentences that are made where nobody knows of
a window (the engine, the files of conversations): these stay English there, in the log and on the command line.
As long as nobody calls `use`, everything is English.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from string import Formatter
from typing import Any


def _nothing(text: str, about: str, count: int) -> str:
    return ""


@dataclass(frozen=True)
class Language:
    """How texts and numbers are written. `translate` is given an English text, what tells it from another text of the
    same words, and a number that decides between singular and plural (-1 for none); it gives "" for what it has not.
    `sentences` are those that `translated` may meet, with {1}, {2} and so on for what changes in them.
    """

    code: str = "en"
    translate: Callable[[str, str, int], str] = _nothing
    group: str = ","
    decimal: str = "."
    sentences: tuple[str, ...] = ()

    @cached_property
    def patterns(self) -> tuple[tuple[re.Pattern[str], str], ...]:
        """Each sentence as a pattern, the one with the most words of its own first."""
        longest_first = sorted(self.sentences, key=lambda each: -len(_PLACE.sub("", each)))
        return tuple((_pattern(each), each) for each in longest_first)


ENGLISH = Language()
_PLACE = re.compile(r"\{\d+\}")
_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
_current = ENGLISH


def use(language: Language) -> None:
    """From now on texts are in this language."""
    global _current
    _current = language


def current() -> Language:
    """The language in use."""
    return _current


def tr(text: str, /, *, about: str = "", **values: Any) -> str:
    """`text` in the language in use, with `values` put in for the {names} in it; numbers are written as that language
    writes them. `about` tells a text from another one of the same words: "a verb"."""
    found = _current.translate(text, about, -1) or text
    return _FILLING.vformat(found, (), values) if values else found


def plural(one: str, many: str, /, count: int, **values: Any) -> str:
    """`one` or `many` in English, and whichever form another language has for `count`, which is a value as well."""
    found = _current.translate(many, "", count) or (one if count == 1 else many)
    return _FILLING.vformat(found, (), {"count": count, **values})


def numeral(value: float, form: str = ",") -> str:
    """A number in this form of Python's, with the separators of the language in use: 1,234.5 or 1.234,5."""
    return format(value, form).translate({ord(","): _current.group, ord("."): _current.decimal})


def translated(text: str) -> str:
    """A text made of sentences that were written in English, in the language in use; what is not known stays as it is.
    What changes in a sentence is put into the translation; where it is a sentence of its own it is translated, too."""
    if _current.translate is _nothing or not text:
        return text
    if (whole := _sentence(text)) is not None:
        return whole
    for end in re.finditer(r"[.!?](?=\s)", text):
        head, rest = text[: end.end()], text[end.end() :]
        if (first := _sentence(head)) is not None:
            gap = len(rest) - len(rest.lstrip())
            return first + rest[:gap] + translated(rest[gap:])
    return text


def _sentence(text: str) -> str | None:
    """The translation of a text that is one of the sentences, None where it is none of them."""
    for pattern, source in _current.patterns:
        if (match := pattern.fullmatch(text)) and (found := _current.translate(source, "", -1)):
            return _filled(found, [_sentence(each) or _number(each) for each in match.groups()])
    return None


def _number(part: str) -> str:
    """What changes in a sentence; a number with its thousands apart is written as the language does."""
    return part.replace(",", _current.group) if _THOUSANDS.fullmatch(part) else part


def _filled(text: str, parts: Iterable[str]) -> str:
    """A sentence with each part in its {number}."""
    places = {f"{{{number}}}": part for number, part in enumerate(parts, 1)}
    return _PLACE.sub(lambda place: places.get(place[0], place[0]), text)


def _pattern(sentence: str) -> re.Pattern[str]:
    """What a sentence looks like once something stands in each of its places."""
    return re.compile("(.+?)".join(map(re.escape, _PLACE.split(sentence))), re.DOTALL)


class _Filling(Formatter):
    """Python's own, but that numbers are written as the language in use writes them."""

    def format_field(self, value: Any, format_spec: str) -> str:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return numeral(value, format_spec) if is_number else str(format(value, format_spec))


_FILLING = _Filling()

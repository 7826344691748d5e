"""Finds again, in a rendered prompt, the texts that messages put into it.

The template is rendered once more with a frame around each text: characters that nobody writes, with the text's number.
What lies inside of a frame there is what the template made of the text, what lies outside is the template's own. Both
are looked for in the first rendering, from its start to its end.

A template may treat a framed text otherwise: it trims blanks that the frame now hides, or asks what a text begins with.
Then only the texts around that place are left without a frame, and the rest is looked for once more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_FIRST, _LAST = 0xE000, 0xF8FF
"""The characters of Unicode's private use area."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of rendered text. `number` is that of the framed text, -1 for the template's own. `is_plain`: it spells
    out a special token, and is none."""

    text: str
    number: int = -1
    is_plain: bool = False


class Frames:
    """Frames of characters that occur in none of the texts `used`."""

    def __init__(self, used: Sequence[str]) -> None:
        everything = "".join(used)
        free = (chr(code) for code in range(_FIRST, _LAST) if chr(code) not in everything)
        self._open, self._close, self._end = next(free), next(free), next(free)
        self._edge = re.compile(f"([{self._open}{self._close}])(\\d+){self._end}")

    def around(self, text: str, number: int) -> str:
        """The text in the frame of this number."""
        return f"{self._open}{number}{self._end}{text}{self._close}{number}{self._end}"

    def read(self, framed: str) -> tuple[list[Stretch], set[int]]:
        """A rendering cut at its frames, and the numbers of those that the template broke."""
        stretches: list[Stretch] = []
        broken: set[int] = set()
        opened, at = -1, 0
        for edge in self._edge.finditer(framed):
            number, is_open = int(edge[2]), edge[1] == self._open
            if is_open is (opened >= 0) or (not is_open and number != opened):
                broken |= {number, opened} - {-1}
                opened = -1
            stretches.append(Stretch(framed[at : edge.start()], -1 if is_open else opened))
            opened, at = number if is_open else -1, edge.end()
        stretches.append(Stretch(framed[at:]))
        return stretches, broken | ({opened} - {-1})


def align(text: str, stretches: Sequence[Stretch]) -> list[Stretch] | tuple[int, ...]:
    """The stretches, by turns the template's own and framed ones, as they stand in the text; or, where they do not, the
    numbers of the frames at that place, the likelier one first."""
    found: list[Stretch] = []
    at = 0
    for index, stretch in enumerate(stretches):
        said = _standing(text, at, stretches, index)
        if said is None:
            return _around(stretches, index)
        found.append(Stretch(said, stretch.number))
        at += len(said)
    return found if at == len(text) else _around(stretches, len(stretches) - 1)


def _standing(text: str, at: int, stretches: Sequence[Stretch], index: int) -> str | None:
    """The form in which a stretch stands at this place, with the template's own behind it; None where it does not."""
    stretch = stretches[index]
    if stretch.number < 0:
        return stretch.text if text.startswith(stretch.text, at) else None
    behind = stretches[index + 1].text
    is_last = index + 2 == len(stretches)
    for said in _trimmed(stretch.text):
        end = at + len(said)
        if text.startswith(said, at) and (text[end:] == behind if is_last else text.startswith(behind, end)):
            return said
    return None


def _trimmed(inner: str) -> Iterator[str]:
    """A framed text in the forms in which it may stand without its frame."""
    yield inner
    core = inner.strip()
    if core == inner:
        return
    before, after = inner[: len(inner) - len(inner.lstrip())], inner[len(inner.rstrip()) :]
    if not core:
        before = ""
    befores = dict.fromkeys((before, before.lstrip("\n"), ""))
    afters = dict.fromkeys((after, after.rstrip("\n"), ""))
    yield from (one + core + two for one in befores for two in afters)


def _around(stretches: Sequence[Stretch], index: int) -> tuple[int, ...]:
    """The numbers of the frame at a place, or of the frames behind and before the template's own text there."""
    if stretches[index].number >= 0:
        return (stretches[index].number,)
    behind = [stretch.number for stretch in stretches[index + 1 : index + 2]]
    return (*behind, *(stretch.number for stretch in stretches[max(0, index - 1) : index]))

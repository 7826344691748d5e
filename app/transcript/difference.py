"""What differs between two short texts: the words around it plain, the difference marked. No Qt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from app.language import tr

BEFORE, INSIDE, BEHIND = 24, 40, 16
"""Characters shown of what is equal before, of what differs, and of what is equal behind."""
_WORDS = re.compile(r"\s*\S+|\s+$")


@dataclass(frozen=True, slots=True)
class Difference:
    """`before` + `old` + `behind` became `before` + `new` + `behind`, each shortened and on one line."""

    before: str
    old: str
    new: str
    behind: str

    @property
    def is_one_word(self) -> bool:
        """Whether one word took the place of one other."""
        return len(self.old.split()) == len(self.new.split()) == 1

    @property
    def text(self) -> str:
        """What became of what, with the words around it; "" where nothing differs."""
        return self._say(f"{self.before}{self.old}{self.behind}", f"{self.before}{self.new}{self.behind}")

    @property
    def html(self) -> str:
        """The same as rich text, with the difference bold and underlined."""
        return self._say(self._marked(self.old), self._marked(self.new))

    @property
    def spoken(self) -> str:
        """The same without the words around it: what a reader who sees no marks must hear."""
        return self._say(self.old.strip(), self.new.strip())

    def _say(self, old: str, new: str) -> str:
        if self.old and self.new:
            return tr("“{old}” became “{new}”", old=old, new=new)
        if self.new:
            return tr("“{new}” is new", new=new)
        return tr("“{old}” is gone", old=old) if self.old else ""

    def _marked(self, middle: str) -> str:
        lead = middle[: len(middle) - len(middle.lstrip())]
        return f"{escape(self.before)}{lead}<b><u>{escape(middle[len(lead) :])}</u></b>{escape(self.behind)}"


def difference(old: str, new: str) -> Difference:
    """Where two texts that begin alike differ, in whole words. Both may be cut off at their end."""
    one, other = _WORDS.findall(old), _WORDS.findall(new)
    equal = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    before, one, other = "".join(one[:equal]), one[equal:], other[equal:]
    a, b = _meet(one, other)
    behind = other[b:] if sum(map(len, other[b:])) >= sum(map(len, one[a:])) else one[a:]
    return Difference(_last(before), _inside("".join(one[:a])), _inside("".join(other[:b])), _first("".join(behind)))


def _meet(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """How many words of each stand before the place from which both go on alike. The last word of a text may have been
    cut off: it is alike to any word that begins with it."""
    pairs = [(i, j) for i in range(len(one)) for j in range(len(other))]
    for i, j in sorted(pairs, key=sum):
        a, b = one[i], other[j]
        is_cut = (i == len(one) - 1 and b.startswith(a)) or (j == len(other) - 1 and a.startswith(b))
        if i + j and (a == b or is_cut):
            return i, j
    return len(one), len(other)


def _one_line(text: str) -> str:
    return text.replace("\r", "").replace("\n", "⏎").replace("\t", "⇥")


def _inside(text: str) -> str:
    line = _one_line(text)
    line = line if line.strip() else line.replace(" ", "␣")
    return line if len(line) <= INSIDE else line[:INSIDE].rstrip() + "…"


def _last(text: str) -> str:
    line = _one_line(text).lstrip()
    return line if len(line) <= BEFORE else "…" + line[-BEFORE:].lstrip()


def _first(text: str) -> str:
    """The beginning of what is equal behind. It ends with an ellipsis, because the whole text always goes on."""
    line = _one_line(text)
    return line[:BEHIND].rstrip() + "…" if line.strip() else line

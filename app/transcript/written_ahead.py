"""Where in a drawn answer the stretches of its text stand that were written ahead. No Qt.

What is drawn is the text without its Markdown: its letters in their order, fewer of them, and some that it does not
have (what parts paragraphs, a drawing in place of a formula).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Stretch = tuple[int, int]

SIGHT = ((8, 4_000), (3, 60), (1, 6))
"""How far ahead in the text the next drawn letters are looked for: so many letters alike are enough at so many
characters. Few stand close by, behind the marks of bold text; many behind the address of a link."""


def drawn_stretches(text: str, drawn: str, stretches: Iterable[Stretch]) -> list[Stretch]:
    """The stretches of a text as stretches of what is drawn of it. These are counted as Qt does: in UTF-16 units, which
    are two for some characters."""
    is_ahead = bytearray(len(text))
    for start, end in stretches:
        is_ahead[start:end] = b"\1" * (min(end, len(text)) - start)
    found: list[Stretch] = []
    begins = ends = 0
    for letter, place in zip(drawn, _places(text, drawn), strict=True):
        begins, ends = ends, ends + (2 if letter > "\uffff" else 1)
        if place is None or not is_ahead[place]:
            continue
        if found and found[-1][1] == begins:
            found[-1] = (found[-1][0], ends)
        else:
            found.append((begins, ends))
    return found


def _places(text: str, drawn: str) -> Sequence[int | None]:
    """Where in the text each drawn letter stands; None for one that is not there."""
    places: list[int | None] = []
    next_ = 0
    for position, letter in enumerate(drawn):
        if text[next_ : next_ + 1] == letter:
            place = next_
        else:
            place = _next_place(text, next_, drawn[position : position + SIGHT[0][0]])
        places.append(place if place >= 0 else None)
        next_ = place + 1 if place >= 0 else next_
    return places


def _next_place(text: str, start: int, drawn: str) -> int:
    for letters, characters in SIGHT:
        place = text.find(drawn[:letters], start, start + characters) if len(drawn) >= letters else -1
        if place >= 0:
            return place
    return -1

"""Where a text holds what is searched for, in any case, and the words around it. No Qt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

BEFORE, BEHIND = 16, 160
"""Characters of an excerpt before and behind what was found."""


def spans(text: str, needle: str) -> Iterator[tuple[int, int]]:
    """Every place of `needle` in `text` from its first to behind its last character, in order; none for ""."""
    wanted, folded = needle.casefold(), text.casefold()
    if not wanted:
        return
    places: Sequence[int] = range(len(text) + 1)
    if len(folded) != len(text):  # "ß" folds to two letters: each folded one is followed back to where it came from
        places = [place for place, letter in enumerate(text) for _ in letter.casefold()]
    start = folded.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        yield places[start], places[end - 1] + 1
        start = folded.find(wanted, end)


def excerpt(text: str, needle: str) -> str:
    """The first place of `needle` with the words around it, on one line; "" where it is not there."""
    for start, end in spans(text, needle):
        first = max(0, start - BEFORE)
        space = text.find(" ", first, start) if first else -1
        cut = text[space + 1 if space >= 0 else first : end + BEHIND]
        return " ".join([*(["…"] if first else []), *cut.split()]).replace("… ", "…", 1)
    return ""

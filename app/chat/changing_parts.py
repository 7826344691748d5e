"""What changes in a system prompt from turn to turn, and what looks as if it were changed by hand. Pure; no Qt.

A placeholder changes by itself. A clock, date or id that stands there as text costs nothing while it stays as it is:
it is mentioned because whoever edits it, or writes the prompt by a program, pays for each change.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from app.placeholders import EVERY_TURN, PLACEHOLDER

Changes = Literal["every turn", "every day", "when edited"]

_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_DATE = (
    rf"(?:\d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}}|\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}"
    rf"|{_DAY}\s+{_MONTH}(?:,?\s+\d{{4}})?|{_MONTH}\s+{_DAY}(?:,?\s+\d{{4}})?)"
)
_CLOCK = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:\s*[ap]m\b|\s*[ap]\.m\.)?"
_NOW = r"(?:current(?:ly)?|today|now|the\s+date|the\s+time|date\s+and\s+time|timestamp|as\s+of|it\s+is|time|date)"
_ID_OF = r"(?:session|request|conversation|chat|trace|run|user|build|correlation)[ _-]?(?:id|key|token)"

# What a pattern captures is the part that changes. A date or clock alone may be anything (an opening hour, a founding
# year), so it counts only behind a word that makes it "now", or where it names a moment to the second.
_LITERALS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("datetime", re.compile(r"\b(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)")),
    ("uuid", re.compile(r"\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b", re.IGNORECASE)),
    ("uuid", re.compile(rf"\b{_ID_OF}\s*[:=]?\s*[\"']?((?=[\w-]*\d)[\w-]{{4,}})", re.IGNORECASE)),
    ("time", re.compile(rf"\b{_NOW}(?:\s+(?:is|time|now))?\s*[:=]?\s*({_CLOCK})", re.IGNORECASE)),
    ("date", re.compile(rf"\b{_NOW}(?:\s+(?:is|date))?\s*[:=,]?\s*(?:[a-z]+day,?\s+)?({_DATE})", re.IGNORECASE)),
    ("time", re.compile(r"(?<![\d:.])((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?![\d:])")),
)

_KINDS = (("placeholder", PLACEHOLDER), *_LITERALS)
STEP_LENGTH = 16_000
"""Characters that are looked through at once: about 20 ms."""
_LONGEST_MATCH = 1_000
"""Characters behind the end of a step that are looked at for what begins in it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing at `start` to `end` (exclusive) of the prompt, in characters. `text` is what stands there.

    `name` is the placeholder it is, or would be. `changes` says when it becomes another text.
    """

    start: int
    end: int
    text: str
    name: str
    changes: Changes

    @property
    def by_itself(self) -> bool:
        """Whether it changes without anybody editing the prompt."""
        return self.changes != "when edited"


class Search:
    """Looks through a prompt a step at a time, so that whoever waits for keys can do so in between.

    `step_length` is how many characters a step reads. The findings are the same in whatever steps they are found.
    """

    def __init__(self, prompt: str, step_length: int = STEP_LENGTH) -> None:
        self._prompt = prompt
        self._step_length = step_length
        self._end = 0  # of what was read
        self._next = [0] * len(_KINDS)  # where each pattern goes on: behind its last match, which may cross a border
        self._found: list[list[Finding]] = [[] for _ in _KINDS]

    def step(self) -> bool:
        """Read on. True once the whole prompt was read."""
        self._end = min(len(self._prompt), self._end + self._step_length)
        for kind, (name, pattern) in enumerate(_KINDS):
            for match in self._matches(kind, pattern):
                self._found[kind].append(_finding(name, match))
        return self._end == len(self._prompt)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found so far, in order. Of two that overlap, the first kind counts."""
        kept: list[Finding] = []
        for found in self._found:
            starts = [finding.start for finding in kept]
            free = [finding for finding in found if _is_free(finding, kept, starts)]
            kept = sorted(kept + free, key=lambda finding: finding.start)
        return tuple(kept)

    def _matches(self, kind: int, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """The matches that begin in what was read last."""
        limit = self._end + _LONGEST_MATCH
        while self._next[kind] < self._end:
            match = pattern.search(self._prompt, self._next[kind], limit)
            if match is None or match.start() >= self._end:
                self._next[kind] = self._end
                return
            whole = match if match.end() < limit else pattern.match(self._prompt, match.start())
            self._next[kind] = whole.end() if whole else match.start() + 1
            if whole:
                yield whole


def find(prompt: str) -> tuple[Finding, ...]:
    """Everything in the prompt that changes or looks changed, in order. Of two that overlap, the first kind counts."""
    search = Search(prompt)
    while not search.step():
        pass
    return search.findings


def payers(findings: tuple[Finding, ...], cured: frozenset[str]) -> tuple[Finding, ...]:
    """Those that make something be read again by themselves, uncured. What stands behind one that changes as often
    costs nothing more: it is read again anyway."""
    paying: list[Finding] = []
    for finding in findings:
        if not finding.by_itself or finding.name in cured:
            continue
        if all(before.changes == "every day" and finding.changes == "every turn" for before in paying):
            paying.append(finding)
    return tuple(paying)


def _is_free(finding: Finding, kept: list[Finding], starts: list[int]) -> bool:
    """Whether a finding overlaps none of those that are kept, which begin at `starts`, in order."""
    place = bisect_left(starts, finding.start)
    is_free_before = place == 0 or kept[place - 1].end <= finding.start
    return is_free_before and (place == len(kept) or finding.end <= kept[place].start)


def _finding(name: str, match: re.Match[str]) -> Finding:
    if name != "placeholder":
        return Finding(match.start(1), match.end(1), match.group(1), name, "when edited")
    name = match.group(1).lower()
    changes: Changes = "every turn" if name in EVERY_TURN else "every day"
    return Finding(match.start(), match.end(), match.group(), name, changes)

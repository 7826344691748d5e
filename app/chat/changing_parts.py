"""What changes in a system prompt from turn to turn, and what looks as if it were changed by hand. Pure; no Qt.

A placeholder changes by itself. A clock, date or id that stands there as text costs nothing while it stays as it is:
it is mentioned because whoever edits it, or writes the prompt by a program, pays for each change.
"""

from __future__ import annotations

import re
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


def find(prompt: str) -> tuple[Finding, ...]:
    """Everything in the prompt that changes or looks changed, in order. Of two that overlap, the first kind counts."""
    found: list[Finding] = []
    for finding in (*_placeholders(prompt), *_literals(prompt)):
        if all(finding.end <= other.start or other.end <= finding.start for other in found):
            found.append(finding)
    return tuple(sorted(found, key=lambda finding: finding.start))


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


def _placeholders(prompt: str) -> Iterator[Finding]:
    for match in PLACEHOLDER.finditer(prompt):
        name = match.group(1).lower()
        changes: Changes = "every turn" if name in EVERY_TURN else "every day"
        yield Finding(match.start(), match.end(), match.group(), name, changes)


def _literals(prompt: str) -> Iterator[Finding]:
    for name, pattern in _LITERALS:
        for match in pattern.finditer(prompt):
            yield Finding(match.start(1), match.end(1), match.group(1), name, "when edited")

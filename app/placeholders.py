"""Placeholders in a system prompt, filled in when a question is sent: {{date}}, {{time}}, {{datetime}}, {{weekday}},
{{uuid}}. Pure; no Qt.

A value that differs from turn to turn makes everything behind it be read again. Two cures keep the system prompt
constant within a conversation: a placeholder can be frozen at one value, or moved to the end of the newest question.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

NAMES = ("date", "time", "datetime", "weekday", "uuid")
PLACEHOLDER = re.compile(r"\{\{\s*(" + "|".join(NAMES) + r")\s*\}\}", re.IGNORECASE)
OWN = re.compile(r"\{\{\s*([^\W\d][\w-]{0,39})\s*\}\}")
"""A variable of a saved system prompt: {{name}}, of letters, digits and dashes."""
EVERY_TURN = ("time", "datetime", "uuid")
"""These differ at each turn; the others once a day."""

# Not strftime's: its names follow the system's language, and the same prompt must come of the same moment everywhere.
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

Values = Mapping[str, str]
"""What each placeholder stands for at one moment, by its name."""


@dataclass(frozen=True, slots=True)
class Cure:
    """What keeps a placeholder from changing the system prompt, in one conversation.

    "frozen": it stays at `value`. "moved": its value of the moment stands at the end of each new question instead.
    """

    name: str
    kind: Literal["frozen", "moved"]
    value: str = ""


def values_at(now: datetime, new_id: str) -> dict[str, str]:
    """What the placeholders stand for at `now`; `new_id` is what {{uuid}} becomes."""
    day, clock = f"{now.day} {_MONTHS[now.month - 1]} {now.year}", f"{now:%H:%M:%S}"
    return {
        "date": day,
        "time": clock,
        "datetime": f"{day}, {clock}",
        "weekday": _WEEKDAYS[now.weekday()],
        "uuid": new_id,
    }


def current_values() -> dict[str, str]:
    """What the placeholders stand for now."""
    return values_at(datetime.now(), str(uuid.uuid4()))


def names_in(text: str) -> tuple[str, ...]:
    """The placeholders of a text by name, each once, in order."""
    return tuple(dict.fromkeys(match.group(1).lower() for match in PLACEHOLDER.finditer(text)))


def fill(text: str, values: Values) -> str:
    """The text with its placeholders filled in. One that has no value, or that nobody knows, stays as it is."""
    return PLACEHOLDER.sub(lambda match: values.get(match.group(1).lower(), match.group()), text)


def own_names_in(text: str) -> tuple[str, ...]:
    """The names between double braces that nobody but the writer of a text knows, each once, in order."""
    names = (match.group(1) for match in OWN.finditer(text))
    return tuple(dict.fromkeys(name for name in names if name.lower() not in NAMES))


def fill_own(text: str, values: Values) -> str:
    """The text with its writer's variables filled in; one without a value stays as it is."""

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        return (values.get(name) or match.group()) if name.lower() not in NAMES else match.group()

    return OWN.sub(value, text)


def system_as_sent(prompt: str, values: Values, cures: Iterable[Cure] = ()) -> str:
    """A system prompt as the model gets it."""
    cured = {cure.name: cure.value if cure.kind == "frozen" else moved_away(cure.name) for cure in cures}
    return fill(prompt, {**values, **cured})


def question_as_sent(question: str, prompt: str, values: Values, cures: Iterable[Cure] = ()) -> str:
    """A question as the model gets it: with the values that were moved out of the system prompt at its end."""
    moved = {cure.name for cure in cures if cure.kind == "moved"}
    notes = [f"[{name}: {values[name]}]" for name in names_in(prompt) if name in moved and name in values]
    return f"{question}\n\n{' '.join(notes)}" if notes else question


def used_values(prompt: str, values: Values, cures: Iterable[Cure] = ()) -> tuple[tuple[str, str], ...]:
    """What the placeholders of a prompt stand for, as (name, value), but for those that are frozen."""
    frozen = {cure.name for cure in cures if cure.kind == "frozen"}
    return tuple((name, values[name]) for name in names_in(prompt) if name in values and name not in frozen)


def moved_away(name: str) -> str:
    """What stands in the system prompt in place of a placeholder that was moved."""
    return f"[{name}: see the newest message]"


def with_cure(cures: Iterable[Cure], cure: Cure) -> tuple[Cure, ...]:
    """The cures with this one in place of what there was for the same placeholder."""
    return (*without_cure(cures, cure.name), cure)


def without_cure(cures: Iterable[Cure], name: str) -> tuple[Cure, ...]:
    """The cures but that of this placeholder, which is filled in at each turn again."""
    return tuple(cure for cure in cures if cure.name != name)

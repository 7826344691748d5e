"""What a chat template lets one choose about thoughts, and how it is told.

Templates have no common name for it: most know a variable (`enable_thinking`, `thinking`, `reasoning_effort`,
`thinking_budget`), some look for "/no_think" in the system prompt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LEVELS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_PRINTED_LEVELS = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class Switch:
    """How a template is told one choice: by `variables` that it sees, or `words` in the system prompt."""

    variables: Mapping[str, Any] = field(default_factory=dict)
    words: str = ""


def thinking_switches(template: str) -> dict[str, Switch]:
    """What may be chosen about thoughts in this template's source, each with how the template is told; empty where it
    knows no switch. Whether it heeds one shows when it is rendered."""
    switches: dict[str, Switch] = {}
    if name := next((name for name in ("enable_thinking", "thinking") if _is_asked_for(name, template)), ""):
        switches = {"on": Switch({name: True}), "off": Switch({name: False})}
    elif _is_asked_for("thinking_budget", template):
        switches = {"on": Switch(), "off": Switch({"thinking_budget": 0})}
    elif "/no_think" in template:
        switches = {"on": Switch(words="/think" if "'/think'" in template else ""), "off": Switch(words="/no_think")}
    levels = _levels(template)
    if levels == ("none",) and not switches:
        return {"on": Switch(), "off": Switch({"reasoning_effort": "none"})}
    both = {**switches["on"].variables} if switches else {}
    return switches | {level: Switch({**both, "reasoning_effort": level}) for level in levels if level != "none"}


def _is_asked_for(name: str, template: str) -> bool:
    """Whether a template asks if this variable is there, or takes a default where it is not."""
    return (
        re.search(
            rf"(?<![.\w])({name}\s+is\s+(not\s+)?(defined|undefined)|{name}\s*\|\s*default)|\bnot {name}\b", template
        )
        is not None
    )


def _levels(template: str) -> tuple[str, ...]:
    """The efforts that a template compares with; the three usual ones where it only prints what it is given."""
    if "reasoning_effort" not in template:
        return ()
    compared = re.findall(r"reasoning_effort\b[^%{}]{0,40}?(?:==|in)\s*([^%{}]{0,80})", template)
    named = {word for part in compared for word in re.findall(r"['\"](\w+)['\"]", part)}
    if found := tuple(level for level in LEVELS if level in named):
        return found
    is_printed = re.search(r"(\+|{{-?)\s*reasoning_effort\b", template)
    return _PRINTED_LEVELS if is_printed else ()

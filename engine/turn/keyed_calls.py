"""Calls whose arguments stand one by one between marks of their own: the rules of a grammar that hold an answer there.

Texts are written as they are, all other values as JSON that fits the schema of their argument. The arguments come in
the order of the schema; those that it does not require may be left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from engine.prompt.call_form import CallForm, KeyedForm, ValueForm

SAYS_NOTHING = frozenset(("title", "description", "default", "examples", "deprecated", "$schema", "$comment"))
OBJECT_KEYS = SAYS_NOTHING | {"type", "properties", "required", "additionalProperties", "$defs", "definitions"}
TEXT_KEYS = SAYS_NOTHING | {"type", "enum", "const"}


AS_TEMPLATES_DO = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
ANY_TEXT = r"/(.|\n)*/"
_SPECIAL = re.compile(r"<\[\d+\]>")
"""A special token in a grammar."""


class NotKeyedError(Exception):
    """These parameters cannot be held to where arguments are written one by one. Its text says why."""


def keyed_rules(
    rule: str, form: CallForm, name: str, schema: Mapping[str, Any] | None, text: Callable[[str], str]
) -> list[str]:
    """The rules for one call of the tool `name`, from its name to its end; `rule` is the first of them. Without a
    `schema` anything may stand up to that end. `text` writes a text in a grammar. Raises NotKeyedError."""
    assert form.keyed is not None
    named = text(name)
    if schema is None:
        loose = _loose(f"{rule}_loose", form.middle, form.keyed, text)
        return [f"{rule}: {named} ({text(form.keyed.empty)} | {text(form.middle)} {rule}_loose)", *loose]
    keys, required = _arguments(schema)
    shared = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    rules = [f"{rule}: {named} ({' | '.join(_first(rule, form, keys, required, text))})"]
    for number, (key, value) in enumerate(keys.items()):
        kind = form.keyed.text if _is_text(value) else form.keyed.other
        rules.append(f"{rule}_{number}: {text(key + kind.middle)} {rule}_{number}_value {rule}_{number}_rest")
        rules += _value(f"{rule}_{number}_value", value, shared, form.keyed, text)
        rules.append(f"{rule}_{number}_rest: {' | '.join(_rest(rule, number, kind, keys, required, text))}")
    return rules


def _arguments(schema: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """The arguments with their schemas, and which are required. Raises NotKeyedError."""
    if unknown := sorted(set(schema) - OBJECT_KEYS):
        raise NotKeyedError(f"this model writes arguments one by one, and {unknown[0][:40]} is about all of them")
    keys, required = dict(schema.get("properties") or {}), set(schema.get("required") or ())
    if missing := sorted(required - set(keys)):
        raise NotKeyedError(f"{missing[0][:40]} is required, and not among the properties")
    return {key: value if isinstance(value, dict) else {} for key, value in keys.items()}, required


def _next(start: int, keys: Mapping[str, Any], required: set[str]) -> tuple[list[int], bool]:
    """Which arguments may come next from this one on, and whether none needs to."""
    found = []
    for number, key in list(enumerate(keys))[start:]:
        found.append(number)
        if key in required:
            return found, False
    return found, True


def _first(
    rule: str, form: CallForm, keys: Mapping[str, Any], required: set[str], text: Callable[[str], str]
) -> Iterator[str]:
    assert form.keyed is not None
    following, may_end = _next(0, keys, required)
    if may_end:
        yield text(form.keyed.empty)
    yield from (f"{text(form.middle)} {rule}_{number}" for number in following)


def _rest(
    rule: str, number: int, kind: ValueForm, keys: Mapping[str, Any], required: set[str], text: Callable[[str], str]
) -> Iterator[str]:
    """What may stand behind a value and what ends it: the next argument, or the end of the call."""
    following, may_end = _next(number + 1, keys, required)
    if may_end:
        yield text(kind.closes.removeprefix(kind.ends))
    yield from (f"{text(kind.between.removeprefix(kind.ends))} {rule}_{each}" for each in following)


def _is_text(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "string"


def _value(
    rule: str, schema: Mapping[str, Any], shared: Mapping[str, Any], form: KeyedForm, text: Callable[[str], str]
) -> Sequence[str]:
    """The rules for one value and what ends it."""
    if not _is_text(schema):
        held = json.dumps({**schema, **shared, "x-guidance": AS_TEMPLATES_DO})
        return [f"{rule}: {rule}_json {text(form.other.ends)}", f"{rule}_json: %json {held}"]
    if unknown := sorted(set(schema) - TEXT_KEYS):
        raise NotKeyedError(f"this model writes texts as they are, which cannot be held to {unknown[0][:40]}")
    listed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if listed is None:
        return _up_to(rule, form.text.ends, text)
    texts = [each for each in listed if isinstance(each, str) and form.text.ends not in each]
    if not texts:
        raise NotKeyedError("an enum holds no text that can be written")
    return [f"{rule}: ({' | '.join(map(text, texts))}) {text(form.text.ends)}"]


def _loose(rule: str, opens: str, form: KeyedForm, text: Callable[[str], str]) -> Sequence[str]:
    """Any arguments behind `opens`, with special tokens where the form has them, and what closes the call whether the
    last of them is a text or not."""
    kinds = (form.text, form.other)
    closing = _SPECIAL.search(text(form.closes))
    inside = _SPECIAL.findall(text("".join([opens, *(part for kind in kinds for part in (kind.middle, kind.between))])))
    marks = " | ".join(each for each in dict.fromkeys(inside) if closing is None or each != closing[0])
    # What stands before the first special token of the end is a text like any other.
    last = [f"{rule}_last: {ANY_TEXT} {closing.string[closing.start() :]}"] if closing else []
    last = last or _up_to(f"{rule}_last", form.closes, text)
    if not marks:
        return [f"{rule}: {rule}_last", *last]
    return [f"{rule}: ({rule}_piece ({marks}))* {rule}_last", f"{rule}_piece: {ANY_TEXT}", *last]


def _up_to(rule: str, end: str, text: Callable[[str], str]) -> list[str]:
    """Any text, and this end, which does not stand in it. A special token in the end cannot stand in a text."""
    written = text(end)
    return [f"{rule}{'' if '<[' in written else '[lazy]'}: {ANY_TEXT} {written}"]

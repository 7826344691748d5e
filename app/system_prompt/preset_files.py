"""Presets in a file, to be taken to another computer or given to somebody: JSON, or a text of any other program."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

from app.files import refuse_pipe
from app.history.presets import NameTakenError, Preset, PresetTable
from app.placeholders import Cure
from engine import HeadstartError

KIND = "headstart presets"
LARGEST_FILE = 20_000_000
"""Bytes; system prompts are far smaller."""

NO_PRESETS = "This file holds no presets. Choose one that Headstart wrote, or a text file with one system prompt."
_KINDS = get_args(get_type_hints(Cure)["kind"])


class Named(NamedTuple):
    """What a file holds of a preset."""

    name: str
    system_prompt: str
    cures: tuple[Cure, ...] = ()
    folder: str = ""
    variables: tuple[tuple[str, str], ...] = ()


def written(presets: Sequence[Preset]) -> bytes:
    """The content of a file with these presets."""
    listed = [
        {
            "name": preset.name,
            "system_prompt": preset.system_prompt,
            "folder": preset.folder,
            "variables": dict(preset.variables),
            "cures": [{"name": cure.name, "kind": cure.kind, "value": cure.value} for cure in preset.cures],
        }
        for preset in presets
    ]
    return json.dumps({"kind": KIND, "version": 1, "presets": listed}, ensure_ascii=False, indent=2).encode() + b"\n"


def read(path: Path) -> list[Named]:
    """The presets of a file; a text that is no JSON is one of the file's name. Raises HeadstartError."""
    try:
        refuse_pipe(path)
        if path.stat().st_size > LARGEST_FILE:
            raise HeadstartError(NO_PRESETS, f"{path} is larger than {LARGEST_FILE} bytes")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise HeadstartError(f"{path.name} cannot be read. Check its permissions.", str(error)) from error
    except ValueError as error:
        raise HeadstartError(NO_PRESETS, str(error)) from error
    if path.suffix.lower() != ".json":
        return [Named(path.stem, text)] if text.strip() else []
    try:
        said = json.loads(text)
        if said["kind"] != KIND:
            raise ValueError(said["kind"])
        return [_named(each) for each in said["presets"]]
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise HeadstartError(NO_PRESETS, str(error)) from error


def take_in(found: Sequence[Named], table: PresetTable) -> tuple[int, int]:
    """Keep presets that were read: how many are new, and how many were there already. One whose name another text has
    gets a number behind it. Raises HeadstartError where a name or a text is of no use; then none is kept."""
    new = 0
    with table.together():
        for each in found:
            if not any(_is_same(known, each.name, each.system_prompt) for known in table.all()):
                added = _add(table, each.name, each.system_prompt, each.cures)
                table.move(added.id, each.folder)
                table.set_variables(added.id, each.variables)
                new += 1
    return new, len(found) - new


def _is_same(preset: Preset, name: str, text: str) -> bool:
    """Whether this preset is there already, perhaps with a number behind its name."""
    known, wanted = preset.name.casefold(), " ".join(name.split()).casefold()
    return preset.system_prompt == text and (known == wanted or known.startswith(f"{wanted} ("))


def _add(table: PresetTable, name: str, text: str, cures: tuple[Cure, ...]) -> Preset:
    number = 1
    while True:
        try:
            return table.add(name if number == 1 else f"{name} ({number})", text, cures)
        except NameTakenError:
            number += 1


def _named(each: Any) -> Named:
    """One preset from JSON. Raises ValueError, TypeError or LookupError where it is none."""
    name, text = each["name"], each["system_prompt"]
    cures = tuple(
        Cure(_text(cure["name"]), cure["kind"], _text(cure.get("value", ""))) for cure in each.get("cures", [])
    )
    if any(cure.kind not in _KINDS for cure in cures):
        raise ValueError("no kind of cure")
    variables = tuple((name, _text(value)) for name, value in dict(each.get("variables", {})).items())
    return Named(_text(name), _text(text), cures, _text(each.get("folder", "")), variables)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value

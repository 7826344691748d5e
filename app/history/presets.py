"""System prompts kept under a name, in the file of the conversations. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from app.history.file import HistoryFile
from app.history.names import clean_name
from app.history.records import UNREADABLE_TITLE, Row, read_cures, read_moment, read_text, to_json
from app.placeholders import Cure
from engine import HeadstartError


@dataclass(frozen=True, slots=True)
class Preset:
    """A system prompt with its name, and what is cured in it. `updated` is in seconds since the epoch."""

    id: int
    name: str
    system_prompt: str
    cures: tuple[Cure, ...] = ()
    updated: float = 0.0


class NameTakenError(HeadstartError):
    """Another preset has this name; its text is shown to the user. Attributes: preset_id."""

    def __init__(self, preset: Preset) -> None:
        super().__init__(f"There is a preset “{preset.name}” already.")
        self.preset_id = preset.id


class PresetTable:
    """The presets of one user. Every method raises HeadstartError with a sentence for the user."""

    def __init__(self, file: HistoryFile, clock: Callable[[], float]) -> None:
        self._file = file
        self._clock = clock

    def together(self) -> AbstractContextManager[None]:
        """Changes made inside are stored all or none."""
        return self._file.together()

    def all(self) -> tuple[Preset, ...]:
        """Every preset, by its name."""
        rows = self._file.rows("SELECT id, name, system_prompt, cures, updated FROM preset")
        return tuple(sorted(map(_read, rows), key=lambda preset: preset.name.casefold()))

    def preset(self, preset_id: int) -> Preset:
        """The preset with this id."""
        for preset in self.all():
            if preset.id == preset_id:
                return preset
        raise HeadstartError("This preset is no longer there. Choose another one.")

    def add(self, name: str, system_prompt: str, cures: tuple[Cure, ...] = ()) -> Preset:
        """Keep a system prompt under a new name. Raises NameTakenError where there is such a one."""
        _refuse_empty(system_prompt)
        with self._file.together():
            insert = "INSERT INTO preset(name, system_prompt, cures, updated) VALUES (?, ?, ?, ?)"
            values = (self._free_name(name, 0), system_prompt, to_json(cures), self._clock())
            return self.preset(self._file.change(insert, *values))

    def replace(self, preset_id: int, system_prompt: str, cures: tuple[Cure, ...] = ()) -> None:
        """Keep another system prompt under the name of this one."""
        _refuse_empty(system_prompt)
        query = "UPDATE preset SET system_prompt = ?, cures = ?, updated = ? WHERE id = ?"
        with self._file.erasing():
            self._file.change(query, system_prompt, to_json(cures), self._clock(), preset_id)

    def rename(self, preset_id: int, name: str) -> None:
        """Give a preset another name. Raises NameTakenError where another one has it."""
        with self._file.erasing():
            self._file.change("UPDATE preset SET name = ? WHERE id = ?", self._free_name(name, preset_id), preset_id)

    def delete(self, preset_id: int) -> None:
        """Forget a preset. Conversations that were begun with it keep their system prompt."""
        self._file.delete(lambda: self._file.change("DELETE FROM preset WHERE id = ?", preset_id))

    def _free_name(self, name: str, preset_id: int) -> str:
        """The name as it is stored, for this preset (0: a new one). Raises HeadstartError where it is of no use."""
        name = clean_name(name, "preset")
        for preset in self.all():
            if preset.id != preset_id and preset.name.casefold() == name.casefold():
                raise NameTakenError(preset)
        return name


def _refuse_empty(system_prompt: str) -> None:
    if not system_prompt.strip():
        raise HeadstartError("There is no text to keep yet. Write a system prompt first.")


def _read(row: Row) -> Preset:
    return Preset(
        id=row.id,
        name=row.read("name", read_text, UNREADABLE_TITLE),
        system_prompt=row.read("system_prompt", read_text, ""),
        cures=row.read("cures", read_cures, ()),
        updated=row.read("updated", read_moment, 0.0),
    )

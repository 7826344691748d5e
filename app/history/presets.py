"""System prompts kept under a name, in the file of the conversations. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from app.history.file import HistoryFile
from app.history.names import clean_name
from app.history.records import (
    UNREADABLE_TITLE,
    Row,
    read_count,
    read_cures,
    read_filled,
    read_moment,
    read_text,
    to_json,
)
from app.placeholders import Cure, fill_own
from engine import HeadstartError

_COLUMNS = ("name", "system_prompt", "cures", "updated", "folder", "variables", "is_kept")


@dataclass(frozen=True, slots=True)
class Preset:
    """A system prompt with its name, and what is cured in it. `updated` is in seconds since the epoch. `folder` is ""
    for none. `variables` are what its own variables stand for by themselves, as (name, value). `is_kept`: it is to be
    resident whenever a model is open."""

    id: int
    name: str
    system_prompt: str
    cures: tuple[Cure, ...] = ()
    updated: float = 0.0
    folder: str = ""
    variables: tuple[tuple[str, str], ...] = ()
    is_kept: bool = False

    @property
    def filled(self) -> str:
        """Its text with the values of its own variables, as far as there are any."""
        return fill_own(self.system_prompt, dict(self.variables))


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
        """Every preset, by folder and name; those in no folder come first."""
        rows = self._file.rows(f"SELECT id, {', '.join(_COLUMNS)} FROM preset")
        return tuple(sorted(map(_read, rows), key=lambda each: (each.folder.casefold(), each.name.casefold())))

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

    def put_back(self, preset: Preset) -> Preset:
        """Keep a preset that was deleted, as it was, under another number. Raises NameTakenError."""
        with self._file.together():
            made = self.add(preset.name, preset.system_prompt, preset.cures)
            self.move(made.id, preset.folder)
            self.set_variables(made.id, preset.variables)
            self.keep(made.id, preset.is_kept)
            return self.preset(made.id)

    def move(self, preset_id: int, folder: str) -> None:
        """Put a preset into the folder of this name, "" for none. A folder is there as long as something is in it."""
        name = clean_name(folder, "folder") if folder.strip() else ""
        same = next((each.folder for each in self.all() if each.folder.casefold() == name.casefold()), name)
        with self._file.erasing():
            self._file.change("UPDATE preset SET folder = ? WHERE id = ?", same, preset_id)

    def set_variables(self, preset_id: int, variables: Iterable[tuple[str, str]]) -> None:
        """What the preset's own variables stand for by themselves."""
        with self._file.erasing():
            values = to_json(dict(variables))  # type: ignore[arg-type]
            self._file.change("UPDATE preset SET variables = ? WHERE id = ?", values, preset_id)

    def keep(self, preset_id: int, is_kept: bool) -> None:
        """Whether a preset is to be resident."""
        self._file.change("UPDATE preset SET is_kept = ? WHERE id = ?", int(is_kept), preset_id)

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
        folder=row.read("folder", read_text, ""),
        variables=row.read("variables", read_filled, ()),
        is_kept=row.read("is_kept", read_count, 0) == 1,
    )

"""Presets in files: written, read again, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.history.history import History
from app.history.presets import Preset, PresetTable
from app.placeholders import Cure
from app.system_prompt.preset_files import KIND, Named, read, take_in, written
from engine import HeadstartError

ODD_CURE = {"name": "a", "kind": 3}
CURES = (Cure("date", "frozen", "14 March"), Cure("time", "moved"))


@pytest.fixture
def table(tmp_path: Path) -> Iterator[PresetTable]:
    history = History(tmp_path / "data" / "history.sqlite3")
    yield history.presets
    history.close()


def file(tmp_path: Path, content: bytes, name: str = "presets.json") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.text(), st.text())
def test_what_was_written_is_read_again(tmp_path: Path, name: str, text: str) -> None:
    path = file(tmp_path, written([Preset(1, name, text, CURES, folder=text, variables=((name, text),))]))
    assert read(path) == [Named(name, text, CURES, text, ((name, text),))]


def test_a_text_file_is_one_preset_of_its_name(tmp_path: Path) -> None:
    assert read(file(tmp_path, "\ufeffBe brief.".encode(), "Short ones.md")) == [Named("Short ones", "Be brief.")]
    assert read(file(tmp_path, b" ", "nothing.txt")) == []


def test_what_is_there_already_is_not_taken_in_twice(table: PresetTable) -> None:
    table.add("Support", "Be brief.")
    found = [
        Named("support", "Be brief."),
        Named("SUPPORT", "Be kind.", CURES, "Work", (("city", "Graz"),)),
        Named("Pirate", "Arr."),
    ]
    assert take_in(found, table) == (2, 1)
    assert [(each.name, each.system_prompt) for each in table.all()] == [
        ("Pirate", "Arr."),
        ("Support", "Be brief."),
        ("SUPPORT (2)", "Be kind."),
    ]
    assert (table.all()[-1].folder, table.all()[-1].variables) == ("Work", (("city", "Graz"),))
    assert take_in(found, table) == (0, 3)


def test_one_of_no_use_and_none_is_taken_in(table: PresetTable) -> None:
    with pytest.raises(HeadstartError, match="Give the preset a name"):
        take_in([Named("Pirate", "Arr."), Named("", "x")], table)
    assert table.all() == ()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"kind": "other"}',
        json.dumps({"kind": KIND, "presets": [{"name": 1, "system_prompt": ""}]}).encode(),
        json.dumps({"kind": KIND, "presets": [{"name": "x"}]}).encode(),
        json.dumps(
            {"kind": KIND, "presets": [{"name": "x", "system_prompt": "", "cures": [{"name": "a", "kind": 3}]}]}
        ).encode(),
        *(
            json.dumps({"kind": KIND, "presets": [{"name": "x", "system_prompt": "", **odd}]}).encode()
            for odd in ({"variables": {"a": 1}}, {"variables": [1]}, {"variables": 3}, {"folder": None})
        ),
        b"[" * 100_000,
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(HeadstartError, match="holds no presets"):
        read(file(tmp_path, content))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(HeadstartError, match=r"gone\.json cannot be read"):
        read(tmp_path / "gone.json")

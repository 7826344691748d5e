"""What the user wrote is for nobody else, and gone where it was deleted."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from app.history.history import History
from engine import Sampling, ToolCall
from tests.app.odd_rows import make_old_file

DAY = date(2026, 3, 14)
SECRET = "the heron stands in the reeds "

needs_permissions = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "history.sqlite3"


def modes(path: Path) -> dict[str, str]:
    """The permissions of the folder and of what is in it."""
    return {each.name: oct(each.stat().st_mode & 0o777) for each in (path.parent, *path.parent.iterdir())}


def is_found(path: Path) -> bool:
    """Whether the secret stands in any file of the folder."""
    return any(SECRET.encode() in each.read_bytes() for each in path.parent.iterdir())


@needs_permissions
@pytest.mark.parametrize("is_there_already", [False, True])
def test_nobody_else_can_read_the_conversations(path: Path, is_there_already: bool) -> None:
    if is_there_already:
        History(path).close()
        path.chmod(0o644)
        path.parent.chmod(0o755)
    history = History(path)
    history.create(SECRET, Sampling(), DAY)
    files = dict.fromkeys(("history.sqlite3", "history.sqlite3-opened", "history.sqlite3-wal"), "0o600")
    assert modes(path) == {"data": "0o700", **files}
    history.close()


@needs_permissions
def test_a_file_that_its_owner_protects_stays_protected(path: Path) -> None:
    History(path).close()
    path.chmod(0o444)
    History(path).close()
    assert modes(path)["history.sqlite3"] == "0o400"


@needs_permissions
def test_a_folder_of_everybody_stays_open(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    History(tmp_path / "history.sqlite3").close()
    assert tmp_path.stat().st_mode & 0o7777 == 0o1777


def begin(history: History, text: str, title: str = "") -> int:
    number = history.create("", Sampling(), DAY, title).id
    history.append(number, None, "user", text)
    return number


def delete_conversation(history: History) -> None:
    for texts in (1, 400, 4_000):
        number = begin(history, SECRET * texts, SECRET)
        history.note_system_prompt(history.append(number, None, "assistant", "").id, SECRET * texts)
        assert is_found(history.path)
        history.delete(number)


def delete_parts_of_answers(history: History) -> None:
    """Thought and tool calls of a conversation that holds nothing else of the secret, and a thought written so far."""
    number = begin(history, "Kept")
    calls = (ToolCall("look_up", SECRET * 400),)
    history.finish(replace(history.append(number, None, "assistant", "Kept"), thought=SECRET * 400, tool_calls=calls))
    history.save_text(replace(history.append(number, None, "assistant", ""), thought=SECRET * 400))
    assert is_found(history.path)
    history.delete(number)


def discard_message(history: History) -> None:
    number = begin(history, "Kept")
    for texts in (1, 400):
        history.discard(history.append(number, None, "user", SECRET * texts).id, None)


def discard_answer(history: History) -> None:
    """The system prompt that only it was written under goes along, one that another answer was written under stays."""
    number = begin(history, "Kept")
    (question,) = history.messages(number)
    kept, answer = (history.append(number, question.id, "assistant", "") for _ in range(2))
    history.note_system_prompt(kept.id, "Kept, too")
    history.note_system_prompt(answer.id, SECRET * 300)
    history.discard(answer.id, kept.id)
    assert history.sent_system_prompt(kept.id) == "Kept, too"


def rename_conversation(history: History) -> None:
    number = begin(history, "Kept", SECRET)
    history.rename(number, "x")


def change_system_prompt(history: History) -> None:
    number = history.create(SECRET * 300, Sampling(), DAY).id
    history.set_system_prompt(number, "x")


def delete_preset(history: History) -> None:
    history.presets.delete(history.presets.add("One", SECRET * 300).id)


def change_preset(history: History) -> None:
    preset = history.presets.add(SECRET, SECRET * 300)
    history.presets.replace(preset.id, "x")
    history.presets.rename(preset.id, "y")


WAYS = [
    delete_conversation,
    delete_parts_of_answers,
    discard_message,
    discard_answer,
    rename_conversation,
    change_system_prompt,
    delete_preset,
    change_preset,
]


class Careless(sqlite3.Connection):
    """SQLite as many build it: without overwriting what is deleted."""

    def __init__(self, *values: object, **options: object) -> None:
        super().__init__(*values, **options)  # type: ignore[arg-type]
        self.execute("PRAGMA secure_delete=OFF")


@pytest.fixture
def careless(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *values, **options: connect(*values, factory=Careless, **options))


@pytest.mark.usefixtures("careless")
@pytest.mark.parametrize("remove", WAYS)
def test_what_was_removed_is_in_no_file(path: Path, remove: Callable[[History], None]) -> None:
    history = History(path)
    for number in range(20):
        begin(history, f"Other {number} " * 50, f"Title {number}")
    remove(history)
    history.words.forget_all()
    assert not is_found(path)
    assert len(history.conversations("Other")) == 20
    history.close()


@pytest.mark.usefixtures("careless")
def test_what_an_older_version_deleted_goes_with_the_update(path: Path) -> None:
    make_old_file(path, 4, SECRET * 400)
    with closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM message")
        db.commit()
    assert is_found(path)
    History(path).close()
    assert not is_found(path)

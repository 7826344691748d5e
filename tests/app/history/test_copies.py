"""A file that was copied back is what the user sees: a log of another state is kept beside it and never mixed in."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

from app.history.history import History
from engine import Sampling

DAY = date(2026, 1, 1)


def titles(history: History) -> list[str]:
    return [entry.title for entry in history.conversations()]


def crashed(history: History, folder: Path) -> Path:
    """What a computer that goes off now leaves of the file and of all beside it."""
    folder.mkdir()
    for path in history.path.parent.glob(f"{history.path.name}*"):
        if not path.name.endswith("-shm"):
            shutil.copy(path, folder / path.name)
    return folder / history.path.name


def begun(path: Path, *names: str) -> History:
    history = History(path)
    for name in names:
        history.create("", Sampling(), DAY, name)
    return history


def test_a_copied_back_file_is_what_is_seen_and_the_log_of_the_other_is_kept(tmp_path: Path) -> None:
    begun(tmp_path / "h.sqlite3", "first").close()
    shutil.copy(tmp_path / "h.sqlite3", tmp_path / "copy")
    history = begun(tmp_path / "h.sqlite3", "second")
    path = crashed(history, tmp_path / "off")
    history.close()
    shutil.copy(tmp_path / "copy", path)
    back = History(path)
    assert titles(back) == ["first"]
    assert "it was copied back" in back.notice
    assert len(list(path.parent.glob("h.sqlite3-wal.of-another-state-*"))) == 1
    back.close()


def test_what_a_crash_left_in_the_log_is_there_at_the_next_start(tmp_path: Path) -> None:
    history = begun(tmp_path / "h.sqlite3", "first")
    path = crashed(history, tmp_path / "off")
    history.close()
    again = begun(path, "second")
    assert (titles(again), again.notice) == (["second", "first"], "")
    twice = crashed(again, tmp_path / "off twice")
    again.close()
    third = History(twice)
    assert (titles(third), third.notice) == (["second", "first"], "")
    third.close()


def test_a_file_without_a_note_beside_it_is_trusted(tmp_path: Path) -> None:
    history = begun(tmp_path / "h.sqlite3", "first")
    path = crashed(history, tmp_path / "off")
    history.close()
    path.with_name("h.sqlite3-opened").unlink()
    again = History(path)
    assert (titles(again), again.notice) == (["first"], "")
    again.close()

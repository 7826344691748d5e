"""Everything in one file and back: whole, checked before it is used, and what was there is kept."""

from __future__ import annotations

import zipfile
from datetime import date
from pathlib import Path

import pytest

from app.exchange.backup import put_back, unpack, write_backup
from app.history.history import History
from app.history.talks import Talk, read_talk, store_talk
from engine import HeadstartError, Sampling
from tests.app.exchange.test_reading import OWN
from tests.app.odd_archives import ODD, odd


def with_talk(path: Path, title: str) -> History:
    history = History(path)
    history.create("", Sampling(), date(2026, 1, 1), title)
    return history


def titles(path: Path) -> list[str]:
    history = History(path)
    try:
        return [entry.title for entry in history.conversations()]
    finally:
        history.close()


def test_everything_comes_back_and_what_was_there_is_kept(tmp_path: Path) -> None:
    data, settings = tmp_path / "history.sqlite3", tmp_path / "settings.json"
    settings.write_text('{"theme": "dark"}')
    history = with_talk(data, "first")
    write_backup(history, settings, tmp_path / "backup.zip")
    history.create("", Sampling(), date(2026, 1, 1), "second")
    history.close()
    settings.write_text('{"theme": "light"}')
    folder = tmp_path / "unpacked"
    folder.mkdir()
    unpack(tmp_path / "backup.zip", folder)
    kept = put_back(folder, data, settings)
    assert titles(data) == ["first"]
    assert settings.read_text() == '{"theme": "dark"}'
    assert (titles(kept[0]), kept[1].read_text()) == (["second", "first"], '{"theme": "light"}')
    assert not [path for path in tmp_path.iterdir() if path.name.endswith((".copy", ".tmp"))]


@pytest.mark.parametrize("fails", ["no room", "no folder for settings", "a companion"])
def test_a_backup_that_cannot_be_put_back_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    data, settings, folder = tmp_path / "history.sqlite3", tmp_path / "config" / "settings.json", tmp_path / "unpacked"
    history = with_talk(data, "present")
    write_backup(history, tmp_path / "none", tmp_path / "backup.zip")
    history.close()
    folder.mkdir()
    unpack(tmp_path / "backup.zip", folder)
    (folder / "settings.json").write_text("{}")
    note = data.with_name(data.name + "-opened")
    before, rename = (data.read_bytes(), note.read_bytes()), Path.rename

    def full(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device", str(target))

    if fails == "no room":
        monkeypatch.setattr("shutil.move", full)
    elif fails == "a companion":
        monkeypatch.setattr(Path, "rename", lambda part, to: full(part, to) if part == note else rename(part, to))
    else:
        settings.parent.write_text("a file where the folder would be")
    with pytest.raises(HeadstartError, match=r"could not be put back: .* What was there is there again\."):
        put_back(folder, data, settings)
    assert (data.read_bytes(), note.read_bytes()) == before
    assert not [path for path in tmp_path.iterdir() if "restore" in path.name]


@pytest.mark.parametrize("made", ["no zip", "another zip", "damaged", "no conversations"])
def test_what_is_no_backup_is_refused_before_anything_changes(tmp_path: Path, made: str) -> None:
    path, folder = tmp_path / "x.zip", tmp_path / "unpacked"
    folder.mkdir()
    if made == "no zip":
        path.write_text("hello")
    else:
        with zipfile.ZipFile(path, "w") as archive:
            if made != "another zip":
                archive.writestr("backup.json", '{"kind": "headstart.backup"}')
            if made == "damaged":
                archive.writestr("history.sqlite3", b"SQLite format 3\0" + bytes(5000))
    with pytest.raises(HeadstartError, match=r"is no backup of Headstart|belongs to another program"):
        unpack(path, folder)


@pytest.mark.parametrize("kind", ODD)
def test_a_backup_that_cannot_be_unpacked_is_refused(tmp_path: Path, kind: str) -> None:
    path, history = tmp_path / "backup.zip", with_talk(tmp_path / "history.sqlite3", "first")
    write_backup(history, tmp_path / "none", path)
    history.close()
    path.write_bytes(odd(path.read_bytes(), kind))
    with pytest.raises(HeadstartError, match="password" if kind == "locked" else "is damaged"):
        unpack(path, tmp_path)


def test_a_conversation_is_taken_in_as_it_was_written(tmp_path: Path) -> None:
    history = History(tmp_path / "h.sqlite3")
    number = store_talk(history, OWN, Sampling(), 9.0)
    assert read_talk(history, number) == OWN
    assert [each.content for each in history.messages(number)] == ["Is it *wet*?", "", "rain"]
    odd = Talk("", (), "half \ud83d", 0.0, 0.0)
    stored = history.conversation(store_talk(history, odd, Sampling(), 9.0))
    assert (stored.system_prompt, stored.title[:8], stored.created) == ("half �", "Imported", 9.0)
    history.close()

"""The conversation file when something is wrong with it: a sentence, and nothing lost."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from app.history.errors import InUseError
from app.history.history import History
from app.history.schema import MIGRATIONS
from engine import DiskFullError, HeadstartError, Sampling, TemplateSettings
from tests.app.odd_rows import make_old_file

DAY = date(2026, 3, 14)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "history.sqlite3"


def fill(path: Path, text: str = "Hi") -> None:
    """A file with one conversation of one message."""
    history = History(path)
    number = history.create("", Sampling(), DAY, "Kept").id
    history.append(number, None, "user", text)
    history.close()


def titles(path: Path) -> list[str]:
    history = History(path)
    found = [conversation.title for conversation in history.conversations()]
    history.close()
    return found


def cut(content: bytes, length: int) -> bytes:
    return content[:length]


def aside(path: Path) -> list[Path]:
    return sorted(path.parent.glob("*.damaged-*"))


def test_a_new_file_is_made_with_its_folder(path: Path) -> None:
    history = History(path)
    assert (history.conversations(), history.notice) == ([], "")
    history.close()
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    db.close()


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"this is no database at all" * 100,
        lambda content: b"SQLite format 3\0" + b"\xff" * 5000,
        lambda content: content[:4096] + b"\xa5" * 4096 + content[8192:],
        *(partial(cut, length=length) for length in (1, 50, 100, 511, 512, 4095, 4096, 8192)),
    ],
)
def test_a_damaged_file_is_set_aside_and_a_new_one_begun(path: Path, damage: Callable[[bytes], bytes]) -> None:
    fill(path, "long " * 5000)
    content = damage(path.read_bytes())
    path.write_bytes(content)
    history = History(path)
    (kept,) = aside(path)
    assert kept.read_bytes() == content
    assert str(kept) in history.notice
    found = [entry.title for entry in history.conversations()]
    assert found in ([], ["Kept"], ["Untitled"])  # what can be read of it
    history.close()
    assert titles(path) == found


def test_an_empty_file_is_said_and_begun_anew(path: Path) -> None:
    fill(path)
    path.write_bytes(b"")
    history = History(path)
    assert "was empty" in history.notice
    assert "damaged" not in history.notice
    assert (history.conversations(), aside(path)) == ([], [])
    history.close()
    assert titles(path) == []


def test_the_log_of_an_empty_file_is_kept(path: Path) -> None:
    """SQLite deletes a log whose file is empty, and all that stands in the log alone."""
    fill(path)
    leave_a_log(path)
    log = log_of(path).read_bytes()
    path.write_bytes(b"")
    history = History(path)
    (kept,) = (each for each in aside(path) if each.name.endswith("-wal"))
    assert kept.read_bytes() == log
    assert "damaged" in history.notice
    history.close()


@pytest.mark.parametrize("content", [b"", b"x"])
def test_a_file_that_another_start_is_just_making_is_left_alone(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with closing(sqlite3.connect(path, isolation_level=None)) as first:
        first.execute("PRAGMA locking_mode=EXCLUSIVE")
        first.execute("BEGIN EXCLUSIVE")
        with pytest.raises(InUseError):
            History(path)
        assert (path.read_bytes(), aside(path)) == (content, [])


def test_two_damaged_files_on_one_day_are_both_kept(path: Path) -> None:
    path.parent.mkdir()
    for content in (b"one" * 999, b"two" * 999):
        path.write_bytes(content)
        History(path).close()
    assert sorted(kept.read_bytes()[:3] for kept in aside(path)) == [b"one", b"two"]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (f"PRAGMA user_version = {len(MIGRATIONS) + 1}", "newer Headstart"),
        ("PRAGMA application_id = 0", "another program"),
    ],
)
def test_a_file_that_is_not_for_this_version_is_refused_untouched(path: Path, statement: str, said: str) -> None:
    fill(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()
    before = path.read_bytes()
    with pytest.raises(HeadstartError, match=said):
        History(path)
    assert path.read_bytes() == before
    assert aside(path) == []


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
def test_a_file_of_an_older_version_opens_and_goes_on(path: Path, version: int) -> None:
    make_old_file(path, version, "Why?")
    history = History(path)
    conversation, (question, answer) = history.conversation(1), history.messages(1)
    assert (conversation.title, conversation.sampling, conversation.unread) == ("Old", Sampling(temperature=0.5), ())
    assert (conversation.template, conversation.notices) == (TemplateSettings(), ())
    assert (question.content, answer.content, answer.thought, answer.tool_calls) == ("Why?", "Because.", "", ())
    assert answer.accepted == ()
    history.finish(replace(answer, thought="So that it is.", accepted=((0, 2),)))
    assert (history.message(answer.id).thought, history.message(answer.id).accepted) == ("So that it is.", ((0, 2),))
    history.close()


def test_a_second_headstart_is_told_and_the_first_goes_on(path: Path) -> None:
    fill(path)
    first = History(path)
    with pytest.raises(HeadstartError, match="Close it and try again"):
        History(path)
    first.create("", Sampling(), DAY, "Another")
    assert len(first.conversations()) == 2
    first.close()
    assert len(titles(path)) == 2
    assert aside(path) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(HeadstartError, match="cannot be made"):
        History(tmp_path / "file" / "history.sqlite3")


def test_a_path_that_is_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(HeadstartError, match="cannot be written") as caught:
        History(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_a_full_disk_is_said_and_what_was_there_stays(path: Path) -> None:
    fill(path)
    history = History(path)
    (conversation,) = history.conversations()
    fill_disk(history)
    with pytest.raises(DiskFullError, match="disk is full"):
        history.append(conversation.id, None, "user", "x" * 500_000)
    assert [message.content for message in history.messages(conversation.id)] == ["Hi"]
    free_disk(history)
    history.append(conversation.id, None, "user", "x" * 500_000)
    history.close()
    assert titles(path) == ["Kept"]


def test_a_full_disk_does_not_keep_the_conversations_closed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = History(path)
    number = history.create("", Sampling(), DAY, "Kept").id
    history.append(number, None, "user", "Hi")
    history.append(number, 1, "assistant", "")
    history.close()

    def refuse(*values: object) -> None:
        raise DiskFullError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(History, "discard", refuse)
        history = History(path)
    assert history.notice == "The disk is full."
    assert len(history.messages(number)) == 2
    history.close()


def test_the_file_has_the_room_for_what_was_stored(path: Path) -> None:
    """It does not need it only when its log is emptied: a disk that is full by then would let nothing be deleted."""
    history = History(path)
    for text in ("Hi", "x" * 50_000):
        number = history.create("", Sampling(), DAY).id
        history.append(number, None, "user", text)
        (pages,), (page_bytes,) = (history.file.query(f"PRAGMA {name}")[0] for name in ("page_count", "page_size"))
        assert path.stat().st_size == pages * page_bytes
    history.close()


def test_what_is_stored_in_haste_has_its_room_at_the_end(path: Path) -> None:
    """It is stored at once all the same, and inside of other changes nothing is carried over before they are."""

    def has_room() -> bool:
        (pages,), (page_bytes,) = (history.file.query(f"PRAGMA {name}")[0] for name in ("page_count", "page_size"))
        return bool(path.stat().st_size == pages * page_bytes)

    history = History(path)
    with history.in_haste():
        with history.in_haste():
            number = history.create("", Sampling(), DAY).id
            history.append(number, None, "user", "x" * 50_000)
        assert len(history.messages(number)) == 1
        assert not has_room()
    assert has_room()
    with history.together(), history.in_haste():
        history.append(number, 1, "assistant", "y" * 50_000)
    assert has_room()
    with pytest.raises(HeadstartError), history.in_haste():
        history.conversation(history.append(number, 2, "user", "z" * 50_000).id + 1000)
    assert has_room()
    history.close()


@contextmanager
def files_up_to(limit: int) -> Iterator[None]:
    """No file can be written behind its first `limit` bytes, as on a full disk: a file that is there can be changed."""
    resource = pytest.importorskip("resource", reason="Windows has no such limit")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def used(path: Path) -> Iterator[History]:
    """Two conversations and a preset, and more in the log than in the file itself, of which the log needs a part."""
    history = History(path)
    for title in ("Long", "Kept"):
        number = history.create("", Sampling(), DAY, title).id
        history.append(number, None, "user", f"{title} " * 4000)
    history.presets.add("One", "Preset " * 1000)
    for number in range(10):
        history.save_text(replace(history.message(1), content=f"Long{number} " * 3000))
    assert log_of(path).stat().st_size > path.stat().st_size
    yield history
    history.close()


def log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def test_on_a_full_disk_deletions_are_carried_out(used: History) -> None:
    with files_up_to(log_of(used.path).stat().st_size):
        with pytest.raises(DiskFullError, match="not stored yet"):
            used.append(2, None, "user", "x" * 500_000)
        used.delete(1)
        used.presets.delete(1)
    assert [(entry.id, entry.title) for entry in used.conversations()] == [(2, "Kept")]
    assert used.presets.all() == ()
    assert not any(word in used.path.read_bytes() for word in (b"Long9 Long9", b"Preset Preset"))
    assert used.messages(2)[0].content == "Kept " * 4000


def test_a_deletion_without_any_room_is_said_and_can_be_repeated(used: History) -> None:
    with files_up_to(0), pytest.raises(DiskFullError, match="could not be deleted"):
        used.delete(1)
    assert [len(used.messages(number)) for number in (1, 2)] == [1, 1]
    used.delete(1)
    assert len(used.messages(2)) == 1
    used.close()
    assert titles(used.path) == ["Kept"]


def test_an_old_file_is_brought_up_to_date(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    monkeypatch.setattr(
        "app.history.schema.MIGRATIONS", [*MIGRATIONS, lambda: ("ALTER TABLE message ADD COLUMN star INTEGER",)]
    )
    assert titles(path) == ["Kept"]
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT star FROM message").fetchall() == [(None,)]
    db.close()


def test_a_migration_that_fails_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    broken = [*MIGRATIONS, lambda: ("ALTER TABLE message ADD COLUMN star INTEGER", "this is no SQL")]
    with monkeypatch.context() as patch:
        patch.setattr("app.history.schema.MIGRATIONS", broken)
        with pytest.raises(HeadstartError):
            History(path)
    assert titles(path) == ["Kept"]


@pytest.mark.parametrize("version", [0, 1, 3, len(MIGRATIONS)])
def test_a_wrong_number_of_the_version_costs_nothing(path: Path, version: int) -> None:
    fill(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {version}")
    assert titles(path) == ["Kept"]
    assert titles(path) == ["Kept"]


@pytest.mark.parametrize("harm", ["DROP TABLE preset", "ALTER TABLE message RENAME COLUMN content TO text"])
def test_tables_of_no_version_are_set_aside(path: Path, harm: str) -> None:
    fill(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute(harm)
    history = History(path)
    assert "was kept as" in history.notice
    assert f"one conversation with {'one message' if 'preset' in harm else '0 messages'} could" in history.notice
    assert [entry.title for entry in history.conversations()] == ["Kept"]
    history.close()
    assert len(list(path.parent.glob("*.sqlite3*"))) >= 2


def test_use_after_close_is_a_sentence(path: Path) -> None:
    history = History(path)
    history.close()
    history.close()
    with pytest.raises(HeadstartError, match="cannot be stored"):
        history.create("", Sampling(), DAY)


def fill_disk(history: History) -> None:
    """No page more than there is."""
    pages = history.file.db.execute("PRAGMA page_count").fetchone()[0]
    history.file.db.execute(f"PRAGMA max_page_count = {pages}")


def free_disk(history: History) -> None:
    history.file.db.execute("PRAGMA max_page_count = 1000000")


def protect(path: Path, monkeypatch: pytest.MonkeyPatch, error: str) -> None:
    """The file can only be read, also for an administrator, whom permissions do not stop: SQLite opens it for reading,
    or, where it finds no place for its log, not at all."""
    connect = sqlite3.connect

    def open_it(database: object, **options: Any) -> sqlite3.Connection:
        if database != path:
            return connect(database, **options)  # type: ignore[call-overload, no-any-return]
        if error:
            return connect(path.parent / "not there" / "x", **options)
        return connect(f"file:{path}?mode=ro", uri=True, **options)

    monkeypatch.setattr(sqlite3, "connect", open_it)


@pytest.mark.parametrize("error", ["", "cannot open"])
@pytest.mark.parametrize("with_log", [False, True])
def test_a_file_that_cannot_be_written_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch, error: str, with_log: bool
) -> None:
    fill(path)
    if with_log:
        leave_a_log(path)
    before = path.read_bytes()
    protect(path, monkeypatch, error)
    history = History(path)
    assert f"{path} cannot be written: your conversations can be read" in history.notice
    assert [message.content for message in history.messages(1)] == ["Hi", "In the log"][: 1 + with_log]
    with pytest.raises(HeadstartError, match="cannot be written"):
        history.append(1, None, "user", "More")
    with pytest.raises(HeadstartError, match="cannot be written"):
        history.delete(1)
    assert len(history.conversations("Hi")) == 1
    history.close()
    assert path.read_bytes() == before
    assert aside(path) == []


def leave_a_log(path: Path) -> None:
    """Write a message that stands in SQLite's log alone, as after a crash."""
    history = History(path)
    history.append(1, 1, "user", "In the log")
    files = [path, path.with_name(path.name + "-wal")]
    contents = [each.read_bytes() for each in files]
    history.close()
    for each, content in zip(files, contents, strict=True):
        each.write_bytes(content)


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_a_folder_in_place_of_a_file_beside_it_is_named(path: Path, ending: str) -> None:
    fill(path)
    beside = path.with_name(path.name + ending)
    beside.mkdir()
    with pytest.raises(HeadstartError, match=f"{ending} cannot be written: it is no file"):
        History(path)
    beside.rmdir()
    assert titles(path) == ["Kept"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe with a name is Unix's")
@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_a_pipe_in_place_of_a_file_beside_it_is_not_waited_for(path: Path, ending: str) -> None:
    fill(path)
    os.mkfifo(path.with_name(path.name + ending))
    with pytest.raises(HeadstartError, match=f"{ending} cannot be written: it is no file"):
        History(path)
    assert aside(path) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe with a name is Unix's")
def test_a_pipe_in_place_of_the_file_is_not_waited_for(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)
    with pytest.raises(HeadstartError, match="cannot be written"):
        History(path)

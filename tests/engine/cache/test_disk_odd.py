"""The disk tier where the system refuses, files are odd, folders are empty, or another program is at work."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from engine.cache.disk_files import forget_files, keep_only_files
from engine.cache.disk_index import DiskIndex, Entry, index_path
from engine.cache.disk_tier import DiskTier, no_disk
from engine.types import HeadstartError, InvalidRequestError, ModelSpec
from tests.engine.disk_driver import BLOCK_BYTES, ONE, TWO, Open, digest, files, keep, read
from tests.engine.fake_kv import LAYOUT

PASSING = [OSError(errno.EMFILE, "Too many open files"), OSError(errno.EIO, "I/O error"), PermissionError(13, "no")]


@pytest.mark.parametrize("error", PASSING)
def test_a_block_that_cannot_be_read_now_is_a_miss_and_stays(
    reopen: Open, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    tier = reopen()
    keep(tier, ONE + TWO)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", _raising(error))
        assert read(tier, ONE + TWO) == 0
    assert (read(tier, ONE + TWO), len(files(tier))) == (2, 2)


def test_an_index_that_another_program_holds_costs_nothing(reopen: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tier stays off this time. That something cannot be deleted now is said, and the next start does it."""
    monkeypatch.setattr("engine.cache.disk_index.WAIT_S", 0.01)
    keep(reopen(), ONE)
    tier = reopen()
    keep(tier, TWO, owner="other")
    tier.close()
    with closing(sqlite3.connect(index_path(tier.files.root), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        tier = reopen()
        assert (tier.is_on, "cannot be used" in tier.note) == (False, True)
        for forget in (partial(forget_files, tier.files.root), tier.forget):
            with pytest.raises(HeadstartError, match="could not be deleted now"):
                forget("other")
    tier = reopen()
    tier.keep_only(["chat"])
    assert (read(tier, ONE), read(tier, TWO), len(files(tier))) == (1, 0, 1)


@pytest.mark.parametrize(
    "change",
    [
        "nbytes = 'x'",
        "nbytes = x'00'",
        "nbytes = -1",
        "nbytes = 9223372036854775807",
        "last_used = 'x'",
        "folder = 'a' || char(0)",
        "folder = x'ff'",
        "folder = CAST(x'ff' AS TEXT)",
        "folder = '../..'",
        "digest = digest || char(0)",
        "digest = CAST(digest AS BLOB)",
        "parent = digest",
        "parent = (SELECT max(digest) FROM block)",
        "parent = 'nowhere'",
        "parent = x'00'",
    ],
)
def test_an_index_with_rows_that_were_never_written_begins_anew(reopen: Open, change: str) -> None:
    """A lost bit, or another program: every row is looked at once, when the index is opened."""
    tier = reopen()
    keep(tier, ONE + TWO)
    tier.close()
    with closing(sqlite3.connect(index_path(tier.files.root))) as db:
        db.execute(f"UPDATE block SET {change}")
        db.commit()
    tier = reopen()
    assert (tier.is_on, tier.note, files(tier), tier.used_bytes) == (True, "", [], 0)
    keep(tier, ONE + TWO)
    assert read(reopen(), ONE + TWO) == 2


@pytest.mark.parametrize("moment", ["user_version", "sqlite_master", "CREATE TABLE"])
def test_two_programs_may_begin_the_index_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """The slower one finds what the faster one began, and noted, in the midst of its own looking and beginning."""
    faster, slower, path = DiskIndex(), DiskIndex(), index_path(tmp_path)
    waiting = [faster]

    class Slow(sqlite3.Connection):
        def execute(self, query: str, *values: Any) -> sqlite3.Cursor:
            self.wait(query)
            return super().execute(query, *values)

        def executescript(self, script: str) -> sqlite3.Cursor:
            self.wait(script)
            return super().executescript(script)

        def wait(self, query: str) -> None:
            while waiting and moment in query:
                waiting.pop().open(path)
                assert faster.add(Entry("first", "", "folder", 1, 1), "owner")

    monkeypatch.setattr("engine.cache.disk_index.sqlite3.connect", partial(sqlite3.connect, factory=Slow))
    slower.open(path)
    assert (slower.extent(["first"]), faster.extent(["first"])) == (1, 1)
    slower.close()
    faster.close()


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("is_forgetting", [True, False])
def test_files_that_cannot_be_removed_are_no_deletion(
    reopen: Open, monkeypatch: pytest.MonkeyPatch, is_open: bool, is_forgetting: bool
) -> None:
    """It is said, and the next start deletes them: the index does not know them any more."""
    tier = reopen()
    keep(tier, ONE, owner="gone")
    keep(tier, TWO, owner="here")
    if not is_open:
        tier.close()
    by_hand = partial(forget_files if is_forgetting else keep_only_files, tier.files.root)
    delete: Callable[[Any], None] = (tier.forget if is_forgetting else tier.keep_only) if is_open else by_hand
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", _raising(PermissionError(13, "held by another program")))
        with pytest.raises(HeadstartError, match="could not be deleted now"):
            delete("gone" if is_forgetting else ["here"])
    assert (tier.is_on, len(files(tier))) == (is_open, 2)
    tier = reopen()
    assert (tier.is_on, len(files(tier)), read(tier, ONE), read(tier, TWO)) == (True, 1, 0, 1)


ORDERS = ["clear", "nothing", "forget", "keep_only"]


@pytest.mark.parametrize(("order", "is_open"), [*product(ORDERS, [True, False]), ("drop", True)])
@pytest.mark.parametrize("is_damaged", [True, False])
def test_what_could_not_be_deleted_is_said(
    reopen: Open, monkeypatch: pytest.MonkeyPatch, is_open: bool, order: str, is_damaged: bool
) -> None:
    """Whatever was to be deleted, and where the index is damaged, too. The next start says it as long as something is
    left, and deletes it when it can."""
    tier = reopen()
    keep(tier, ONE, owner="gone")
    if is_damaged:
        with index_path(tier.files.root).open("r+b") as file:
            file.write(b"x" * 50_000)
    if not is_open:
        tier.close()
    orders: dict[str, Callable[[], None]] = {
        "clear": tier.clear,
        "nothing": partial(tier.set_budget, 0),
        "drop": partial(tier.drop, digest(ONE)),
        "forget": partial(tier.forget, "gone"),
        "keep_only": partial(tier.keep_only, ["here"]),
    }
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", _raising(PermissionError(13, "held by another program")))
        with pytest.raises(HeadstartError, match=r"could (not )?be deleted now"):
            orders[order]()
        if not is_damaged:
            assert "could be deleted now" in reopen().note
    tier = reopen()
    assert (tier.is_on, tier.note, files(tier)) == (True, "", [])


@pytest.mark.parametrize("kind", ["folder", "pipe", "read-only"])
def test_an_index_that_cannot_be_opened_switches_the_tier_off(reopen: Open, kind: str) -> None:
    root = reopen().files.root
    reopen().close()
    path = index_path(root)
    if kind == "read-only":
        root.chmod(0o500)
        path.chmod(0o400)
        if os.access(path, os.W_OK):
            pytest.skip("this user may write everything")
    else:
        path.unlink()
        path.mkdir() if kind == "folder" else os.mkfifo(path)
    tier = reopen()
    root.chmod(0o700)
    keep(tier, ONE)
    assert (tier.is_on, "cannot be used" in tier.note, read(tier, ONE)) == (False, True, 0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", [f"{'0' * 40}.owner", f"{'0' * 40}.kv", "odd.tmp"])
def test_what_is_no_file_is_never_opened(reopen: Open, name: str) -> None:
    tier = reopen()
    keep(tier, ONE)
    os.mkfifo(files(tier)[0].parent / name)
    tier = reopen()
    assert (read(tier, ONE), [path.name for path in tier.files.paths() if path.is_fifo()]) == (1, [])
    path = files(tier)[0]
    path.unlink()
    os.mkfifo(path)
    assert (read(tier, ONE), path.exists()) == (0, False)


def test_folders_of_models_that_have_nothing_left_go(reopen: Open) -> None:
    """But never while another program holds the folder."""
    keep(reopen(namespace="other"), ONE, space="other")
    tier = reopen()
    keep(tier, TWO)
    tier.forget("chat")
    second = DiskTier(tier.files.root, "third", LAYOUT, 5 * BLOCK_BYTES)
    second.open()
    second.close()
    assert len([path for path in tier.files.root.iterdir() if path.is_dir()]) == 2
    tier.close()
    assert [path.name for path in tier.files.root.iterdir() if path.is_dir()] == []
    (tier.files.root / "emptied").mkdir()
    (tier.files.root / "foreign").mkdir()
    (tier.files.root / "foreign" / "note.txt").write_text("mine")
    tier = reopen()
    assert [path.name for path in tier.files.root.iterdir() if path.is_dir()] == ["foreign"]


def test_clearing_reaches_the_files_also_where_another_program_holds_the_folder(reopen: Open) -> None:
    """Those of this model only, as where the tier is open; nothing where it is to keep nothing."""
    keep(reopen(namespace="other"), ONE, space="other")
    first = reopen()
    keep(first, TWO)
    for budget, left in ((0, 2), (5 * BLOCK_BYTES, 1)):
        second = DiskTier(first.files.root, "model", LAYOUT, budget)
        second.open()
        second.clear()
        assert len(files(first)) == left
    assert read(first, TWO) == 0


def test_a_budget_below_nothing_is_refused() -> None:
    for refused in (lambda: ModelSpec(disk_bytes=-1), lambda: no_disk(LAYOUT).set_budget(-(10**6))):
        with pytest.raises(InvalidRequestError, match="0 MB or more"):
            refused()


def _raising(error: OSError) -> Callable[..., bytes]:
    def refused(path: Path, *_: object, **__: object) -> bytes:
        raise error

    return refused

"""The disk tier: what is read back is what was written, for these tokens, or nothing."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from torch import Tensor

from engine.cache.blocks import Key, block_keys
from engine.cache.disk_files import HEADER_BYTES, forget_files, keep_only_files
from engine.cache.disk_index import index_path, owner_digest
from engine.cache.disk_tier import OTHER_HEADSTART, SPARED_BYTES, DiskTier
from tests.engine.disk_driver import BLOCK_BYTES, ONE, THREE, TWO, Open, digest, files, keep, read, tensor
from tests.engine.fake_kv import LAYOUT


def test_a_path_survives_a_restart(reopen: Open) -> None:
    keep(reopen(), ONE + TWO + THREE)
    tier = reopen()
    assert (tier.extent("model", ONE + TWO + ONE), tier.used_bytes) == (32, 3 * BLOCK_BYTES)
    assert (read(tier, ONE + TWO + THREE), read(tier, ONE + TWO + ONE), read(tier, ONE + TWO, first=1)) == (3, 2, 1)
    assert read(tier, TWO + THREE) == read(tier, ONE + TWO, space="model/long") == 0


def test_another_namespace_sees_nothing_and_shares_the_budget(reopen: Open) -> None:
    keep(reopen(), ONE + TWO)
    other = reopen(namespace="other", blocks=3)
    assert (other.extent("other", ONE), other.used_bytes) == (0, 2 * BLOCK_BYTES)
    keep(other, TWO + THREE, space="other")
    assert (other.extent("model", ONE + TWO), other.extent("other", TWO + THREE)) == (16, 32)


def cut(data: bytearray) -> bytearray:
    return data[:-1]


def cut_in_the_header(data: bytearray) -> bytearray:
    return data[: HEADER_BYTES - 1]


def lengthened(data: bytearray) -> bytearray:
    return data + b"\0"


def emptied(data: bytearray) -> bytearray:
    return bytearray()


def flipped(at: int) -> Callable[[bytearray], bytearray]:
    def damage(data: bytearray) -> bytearray:
        data[at] ^= 1
        return data

    return damage


DAMAGES = [cut, cut_in_the_header, lengthened, emptied, *map(flipped, (0, 8, 17, 40, 100, HEADER_BYTES, -1))]


@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_a_miss_and_goes(
    reopen: Open, damage: Callable[[bytearray], bytearray], is_restarted: bool
) -> None:
    """So does all that only it leads to; what is written afterwards is good again."""
    tier = reopen()
    keep(tier, ONE + TWO + THREE)
    path = tier.files.path(tier.index.entries()[digest(ONE + TWO)])
    path.write_bytes(damage(bytearray(path.read_bytes())))
    tier = reopen() if is_restarted else tier
    assert read(tier, ONE + TWO + THREE) == 1
    assert len(files(tier)) == 1
    tier.check()
    keep(tier, ONE + TWO + THREE)
    assert read(tier, ONE + TWO + THREE) == 3


def test_a_file_under_the_name_of_another_is_a_miss(reopen: Open) -> None:
    """The ids themselves are compared, and where they stand: no name is believed."""
    tier = reopen()
    keep(tier, ONE + TWO)
    keep(tier, ONE + THREE)
    keep(tier, TWO + TWO)
    for other in (ONE + THREE, TWO + TWO):
        keep(tier, ONE + TWO)
        mine, theirs = (tier.files.path(tier.index.entries()[digest(ids)]) for ids in (ONE + TWO, other))
        mine.write_bytes(theirs.read_bytes())
        assert (read(tier, ONE + TWO), mine.exists()) == (1, False)


def test_a_file_that_is_gone_or_unreadable_is_a_miss(reopen: Open) -> None:
    tier = reopen()
    keep(tier, ONE + TWO)
    path = tier.files.path(tier.index.entries()[digest(ONE + TWO)])
    path.unlink()
    path.mkdir()
    assert read(tier, ONE + TWO) == 1
    path.rmdir()
    assert read(tier, ONE + TWO) == 1


def test_the_least_recently_used_leaf_goes_first(reopen: Open) -> None:
    tier = reopen(blocks=4)
    keep(tier, ONE + TWO)
    keep(tier, TWO + THREE)
    read(tier, ONE + TWO)
    keep(tier, THREE)
    assert [tier.extent("model", ids) for ids in (ONE + TWO, TWO + THREE, THREE)] == [32, 16, 16]
    tier = reopen(blocks=4)  # the order outlives the program
    keep(tier, THREE + ONE + TWO)
    assert [tier.extent("model", ids) for ids in (ONE + TWO, TWO + THREE, THREE + ONE + TWO)] == [16, 0, 48]


def test_writing_what_lies_there_counts_as_using_it(reopen: Open) -> None:
    tier = reopen(blocks=2)
    keep(tier, ONE)
    keep(tier, TWO)
    keep(tier, ONE)
    keep(tier, THREE)
    assert [tier.extent("model", ids) for ids in (ONE, TWO, THREE)] == [16, 0, 16]


def test_a_path_longer_than_the_budget_keeps_its_start(reopen: Open) -> None:
    tier = reopen(blocks=2)
    keep(tier, ONE + TWO + THREE)
    assert (tier.extent("model", ONE + TWO + THREE), len(files(tier))) == (32, 2)


def test_what_does_not_fit_any_more_goes_at_the_start(reopen: Open) -> None:
    keep(reopen(), ONE + TWO + THREE)
    tier = reopen(blocks=1)
    tier.check()
    assert (read(tier, ONE + TWO + THREE), len(files(tier))) == (1, 1)


def test_a_budget_of_nothing_deletes_everything(reopen: Open, tmp_path: Path) -> None:
    keep(reopen(namespace="other"), TWO)
    tier = reopen()
    keep(tier, ONE)
    tier.set_budget(BLOCK_BYTES)
    assert (tier.extent("model", ONE), tier.extent("model", TWO), tier.used_bytes) == (16, 0, BLOCK_BYTES)
    tier.set_budget(0)
    keep(tier, ONE)
    assert (files(tier), tier.used_bytes, tier.is_on, tier.note) == ([], 0, False, "")
    tier.set_budget(None)
    keep(tier, ONE)
    assert (read(tier, ONE), tier.budget_bytes > BLOCK_BYTES) == (1, True)
    closed = DiskTier(tmp_path / "blocks", "model", LAYOUT, 0)
    tier.close()
    closed.set_budget(0)
    assert files(tier) == []


def test_a_tier_that_is_off_touches_nothing(tmp_path: Path) -> None:
    tier = DiskTier(tmp_path / "blocks", "model", LAYOUT, 0)
    tier.open()
    keep(tier, ONE)
    tier.forget("chat")
    tier.clear()
    assert (tier.extent("model", ONE), read(tier, ONE), list(tmp_path.iterdir())) == (0, 0, [])


def test_left_overs_go_at_the_start(reopen: Open) -> None:
    """Half-written files, blocks that the index does not know or nothing leads to, lists of older versions; no other
    file."""
    tier = reopen()
    keep(tier, ONE + TWO + THREE)
    folder = files(tier)[0].parent
    for name in ("half.tmp", "nonsense.kv", f"{'0' * 40}.kv", f"{'0' * 40}.owner", "note.txt"):
        (folder / name).write_bytes(b"left")
    (folder.parent / "copy").mkdir()
    (folder.parent / "copy" / files(tier)[0].name).write_bytes(files(tier)[0].read_bytes())
    tier.files.path(tier.index.entries()[digest(ONE)]).unlink()
    tier = reopen()
    tier.check()
    assert (tier.used_bytes, [path.name for path in tier.files.root.glob("*/*")]) == (0, ["note.txt"])


@pytest.mark.parametrize("damage", ["torn", "nonsense", "newer", "empty", "without tables"])
@pytest.mark.parametrize("is_forgetting", [False, True])
def test_an_index_that_cannot_be_used_goes_with_all_blocks(
    reopen: Open, caplog: pytest.LogCaptureFixture, damage: str, is_forgetting: bool
) -> None:
    """Nobody knows any more whose they are. One line in the log, and what is written afterwards is good again."""
    tier = reopen()
    keep(tier, ONE + TWO)
    tier.close()
    path = index_path(tier.files.root)
    if damage in ("newer", "without tables"):
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA user_version = 3" if damage == "newer" else "DROP TABLE owner")
    else:
        whole = path.read_bytes()
        path.write_bytes({"torn": whole[:5000], "nonsense": b"x" * len(whole), "empty": b""}[damage])
    if is_forgetting and damage != "empty":
        forget_files(tier.files.root, "chat")
        assert files(tier) == []
    with caplog.at_level(logging.WARNING, "headstart"):
        tier = reopen()
    assert (tier.is_on, tier.note, files(tier), read(tier, ONE)) == (True, "", [], 0)
    assert len(caplog.records) == (damage != "empty" and not is_forgetting)
    keep(tier, ONE + TWO)
    assert read(reopen(), ONE + TWO) == 2


def test_an_index_that_is_damaged_while_it_is_used_goes_with_all_blocks(reopen: Open) -> None:
    tier = reopen()
    keep(tier, ONE + TWO)
    with index_path(tier.files.root).open("r+b") as file:
        file.write(b"x" * 50_000)
    assert tier.extent("model", ONE + TWO) == 0
    tier.forget("chat")
    assert (tier.is_on, files(tier)) == (False, [])
    keep(reopen(), ONE + TWO)
    assert read(reopen(), ONE + TWO) == 2


def test_blocks_of_conversations_that_are_gone_are_deleted(reopen: Open) -> None:
    """Of every model; what a living one uses too stays. Without an open tier, too."""
    for is_open in (True, False):
        keep(reopen(namespace="other"), TWO, owner="gone", space="other")
        tier = reopen()
        keep(tier, ONE + TWO, owner="gone")
        keep(tier, ONE + THREE, owner="here")
        if is_open:
            tier.keep_only(["here", "new"])
        else:
            tier.close()
            keep_only_files(tier.files.root, ["here", "new"])
            tier = reopen()
        tier.check()
        assert (read(tier, ONE + TWO), read(tier, ONE + THREE), len(files(tier))) == (1, 2, 2)


def test_nothing_is_written_in_nobodys_name(reopen: Open) -> None:
    """No deletion would ever reach it."""
    tier = reopen()
    keep(tier, ONE + TWO, owner="")
    assert files(tier) == []


@pytest.mark.parametrize("name", ["half a surrogate \ud800", "\0", "block 5", "'; DROP TABLE block; --", "../../x"])
def test_any_name_of_a_conversation_does(reopen: Open, name: str) -> None:
    tier = reopen()
    keep(tier, ONE, owner=name)
    keep(tier, ONE + TWO, owner="other")
    tier.forget(name)
    assert (tier.is_on, tier.note, read(tier, ONE + TWO)) == (True, "", 2)
    tier.forget("other")
    assert files(tier) == []


def test_a_folder_named_like_a_block_is_in_nobodys_way(reopen: Open) -> None:
    """That block is not written, all others are."""
    tier = reopen()
    keep(tier, ONE + TWO)
    place = tier.files.path(tier.index.entries()[digest(ONE + TWO)])
    tier.drop(digest(ONE + TWO))
    (place / "mine").mkdir(parents=True)
    tier = reopen()
    keep(tier, ONE + TWO + THREE)
    keep(tier, THREE)
    assert (tier.is_on, tier.note, read(tier, ONE + TWO), read(tier, THREE)) == (True, "", 1, 1)
    assert (place / "mine").is_dir()


def test_forgetting_deletes_what_only_this_conversation_used(reopen: Open) -> None:
    tier = reopen()
    keep(tier, ONE + TWO, owner="a")
    keep(tier, ONE + THREE, owner="b")
    keep(reopen(namespace="other"), ONE, owner="a", space="other")
    tier = reopen()
    tier.forget("a")
    tier.check()
    assert [tier.extent("model", ids) for ids in (ONE + TWO, ONE + THREE)] == [16, 32]
    assert tier.extent("other", ONE) == 0
    tier.forget("b")
    assert list(tier.files.root.glob("*/*")) == []


def test_forgetting_without_an_open_tier(reopen: Open) -> None:
    tier = reopen()
    keep(tier, ONE + TWO, owner="a")
    keep(tier, ONE, owner="b")
    tier.close()
    forget_files(tier.files.root, "a")
    assert (reopen().extent("model", ONE + TWO), len(files(tier))) == (16, 1)
    forget_files(tier.files.root / "nowhere", "a")


def test_what_is_forgotten_while_it_is_written_is_written_no_further(reopen: Open) -> None:
    tier = reopen()
    tier.enqueue("model", ONE + TWO + THREE, "a")
    tier.enqueue("model", TWO, "b")
    writing = tier.write_back(lambda space, keys: [tensor(key) for key in keys])
    for _ in range(5):
        next(writing)
    tier.forget("a")
    assert sum(1 for _ in writing) == 0
    assert (tier.extent("model", ONE), tier.extent("model", TWO)) == (0, 16)


def test_what_waits_of_conversations_that_are_gone_is_not_written(reopen: Open) -> None:
    """Neither the path that is being written nor those behind it."""
    tier = reopen()
    for ids, owner, is_kept in ((THREE, "here", False), (TWO, "gone", True), (ONE + TWO + THREE, "gone", False)):
        tier.enqueue("model", ids, owner, is_kept=is_kept)
    tier.enqueue("model", ONE + TWO, "going", is_kept=True)
    writing = tier.write_back(lambda space, keys: [tensor(key) for key in keys])
    next(writing)
    next(writing)
    assert tier.extent("model", ONE + TWO) == 16
    tier.keep_only(["here"])
    list(writing)
    assert [tier.extent("model", ids) for ids in (ONE, TWO, THREE)] == [0, 0, 16]
    tier.check()


def test_writing_goes_on_where_it_was_broken_off(reopen: Open) -> None:
    tier = reopen()
    tier.enqueue("model", ONE + TWO + THREE, "a")
    writing = tier.write_back(lambda space, keys: [tensor(key) for key in keys])
    next(writing)
    next(writing)
    writing.close()  # type: ignore[attr-defined]
    assert tier.extent("model", ONE + TWO + THREE) == 16
    tier.enqueue("model", TWO, "b")
    keep(tier, THREE, owner="c")
    assert [tier.extent("model", ids) for ids in (ONE + TWO + THREE, TWO, THREE)] == [48, 16, 16]


def test_what_is_kept_is_written_first_then_the_newest(reopen: Open) -> None:
    tier = reopen()
    tier.enqueue("model", ONE, "a")
    tier.enqueue("model", TWO, "b")
    tier.enqueue("model", THREE, "a", is_kept=True)
    order: list[int] = []
    for _ in tier.write_back(lambda space, keys: [tensor(key) for key in keys]):
        order += [ids[0] for ids in (ONE, TWO, THREE) if tier.extent("model", ids) and ids[0] not in order]
    assert order == [3, 2, 1]


def test_only_what_is_cached_is_written(reopen: Open) -> None:
    """What was evicted from memory meanwhile cannot be written; it is no error."""
    tier = reopen()
    tier.enqueue("model", ONE + TWO + THREE, "a")
    cached = [tensor(key) for key in block_keys(ONE + TWO)]
    for _ in tier.write_back(lambda space, keys: cached):
        del cached[1:]
    assert (tier.extent("model", ONE + TWO), read(tier, ONE)) == (16, 1)


def test_dropping_and_clearing(reopen: Open) -> None:
    keep(reopen(namespace="other"), ONE, space="other")
    tier = reopen()
    keep(tier, ONE + TWO + THREE)
    tier.drop(digest(ONE + TWO))
    assert read(tier, ONE + TWO) == 1
    tier.drop("")
    assert read(tier, ONE + TWO) == 1, "the parent of every first block is no block"
    tier.clear()
    tier.check()
    assert (tier.extent("model", ONE), tier.extent("other", ONE)) == (0, 16)


@pytest.mark.parametrize("place", ["blocks", "blocks/below"])
def test_a_folder_that_cannot_be_written_switches_the_tier_off(
    reopen: Open, tmp_path: Path, caplog: pytest.LogCaptureFixture, place: str
) -> None:
    (tmp_path / "blocks").write_text("in the way")
    with caplog.at_level(logging.WARNING, "headstart"):
        tier = reopen(root=tmp_path / place)
        keep(tier, ONE)
    assert (tier.is_on, tier.extent("model", ONE), len(caplog.records)) == (False, 0, 1)
    assert "cannot be used" in tier.note


@pytest.mark.parametrize("part", ["files", "index"])
def test_a_full_disk_switches_the_tier_off(
    reopen: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, part: str
) -> None:
    """And says so until something was written again."""
    tier = reopen()
    keep(tier, ONE)
    monkeypatch.setattr(tier.files if part == "files" else tier.index, "write" if part == "files" else "add", _full)
    with caplog.at_level(logging.WARNING, "headstart"):
        keep(tier, ONE + TWO, owner="other")
        keep(tier, TWO)
    assert (tier.is_on, tier.extent("model", ONE), len(caplog.records)) == (False, 0, 1)
    assert "full" in tier.note
    tier.set_budget(5 * BLOCK_BYTES)
    assert "full" in tier.note, "that the folder could be opened says nothing"
    monkeypatch.undo()
    keep(tier, TWO)
    assert (tier.is_on, tier.note) == (True, "")
    tier = reopen()
    tier.check()
    assert (tier.note, read(tier, ONE + TWO)) == ("", 1)


class Disk:
    """The disk as the tier sees it: with room for so many blocks besides what it leaves to the user."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.blocks = 0
        self._root = root
        monkeypatch.setattr("engine.cache.disk_tier.shutil.disk_usage", self.usage)

    def usage(self, path: Path) -> SimpleNamespace:
        used = sum(file.stat().st_size for file in self._root.glob("*/*.kv"))
        return SimpleNamespace(free=max(0, SPARED_BYTES + self.blocks * BLOCK_BYTES - used))


def test_the_last_of_the_disk_is_left_to_the_user(
    reopen: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the budget is: blocks make room for the user's own files, the least recently used first."""
    disk = Disk(tmp_path / "blocks", monkeypatch)
    disk.blocks = 3
    tier = reopen(blocks=100)
    keep(tier, ONE + TWO)
    keep(tier, THREE + TWO)
    assert (read(tier, ONE + TWO), read(tier, THREE + TWO), tier.note) == (1, 2, "")
    disk.blocks = 2
    keep(tier, TWO)
    assert (tier.used_bytes, read(tier, TWO)) == (2 * BLOCK_BYTES, 1)
    disk.blocks = 1
    keep(tier, TWO)
    assert (tier.used_bytes, read(tier, TWO)) == (BLOCK_BYTES, 1), "also where nothing is to be written"
    disk.blocks = -5000
    keep(tier, THREE)
    assert (tier.is_on, files(tier)) == (True, [])
    assert "almost full" in tier.note
    disk.blocks = 1
    keep(tier, THREE)
    assert (read(tier, THREE), tier.note) == (1, "")
    disk.blocks = 0
    assert files(reopen(blocks=100)) == [], "a new start makes room, too"


def test_blocks_make_room_on_a_disk_without_any(reopen: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Taking them out of the index needs no room of its own."""
    tier = reopen(blocks=4)
    keep(tier, ONE + TWO + THREE)
    changing = tier.index._changing

    @contextmanager
    def without_room() -> Iterator[sqlite3.Connection]:
        with changing() as db:
            if db.execute("PRAGMA journal_mode").fetchone()[0] != "memory":
                _full()
            yield db

    monkeypatch.setattr(tier.index, "_changing", without_room)
    tier.set_budget(BLOCK_BYTES)
    assert (tier.is_on, len(files(tier)), tier.extent("model", ONE + TWO)) == (True, 1, 16)
    with changing() as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",), "only for that deletion"


def test_an_index_that_refuses_on_a_full_disk_switches_the_tier_off(
    reopen: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    tier = reopen()
    keep(tier, ONE + TWO)

    class Refusing:
        """The index's connection, with another program in its way whenever the journal is to move."""

        def __init__(self, db: sqlite3.Connection) -> None:
            self.db = db
            self.close = db.close

        def execute(self, query: str, *values: object) -> sqlite3.Cursor:
            if "journal_mode" in query:
                raise sqlite3.OperationalError("database is locked")
            return self.db.execute(query, *values)

    monkeypatch.setattr(tier.index, "_db", Refusing(tier.index._db))  # type: ignore[arg-type]
    monkeypatch.setattr(tier.index, "_changing", _full)
    tier.set_budget(BLOCK_BYTES)
    assert (tier.is_on, "cannot be used" in tier.note) == (False, True)


def test_half_a_file_is_never_left(reopen: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    tier = reopen()
    monkeypatch.setattr("engine.cache.disk_files.os.replace", _full)
    keep(tier, ONE)
    assert list(tier.files.root.glob("*/*")) == []


def test_a_program_that_is_killed_costs_the_block_it_wrote(
    reopen: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The folder as it is right before and after each file gets its name: whoever opens it finds whole blocks, and no
    file that the index does not know."""
    replace, moments = os.replace, []

    def snapshot() -> None:
        moments.append(shutil.copytree(tmp_path / "blocks", tmp_path / f"moment {len(moments)}"))

    def watched(*names: Path) -> None:
        snapshot()
        replace(*names)
        snapshot()

    monkeypatch.setattr("engine.cache.disk_files.os.replace", watched)
    keep(reopen(), ONE + TWO + THREE)
    monkeypatch.undo()
    for number, moment in enumerate(moments):
        tier = reopen(root=moment)
        assert read(tier, ONE + TWO + THREE) == len(files(tier)) == (number + 1) // 2
        tier.forget("chat")
        assert list(moment.glob("*/*")) == []


def test_a_second_program_leaves_the_folder_alone(
    reopen: Open, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tier = reopen()
    keep(tier, ONE)
    second = DiskTier(tmp_path / "blocks", "model", LAYOUT, 10 * BLOCK_BYTES)
    second.open()
    keep(second, TWO)
    assert (second.is_on, second.note, second.extent("model", ONE)) == (False, OTHER_HEADSTART, 0)
    tier.close()
    second.open()
    assert (read(second, ONE), second.note) == (1, "")
    second.close()


def test_only_the_user_may_look_into_the_folder(reopen: Open) -> None:
    tier = reopen()
    keep(tier, ONE)
    modes = {path.stat().st_mode & 0o077 for path in tier.files.root.rglob("*")}
    assert modes == {0}


def _full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_conversation_without_blocks_is_named_nowhere(reopen: Open) -> None:
    """Whatever deleted the last of its blocks."""
    tier = reopen(2)
    keep(tier, ONE + TWO, "first")
    keep(tier, THREE + ONE, "second")
    assert tier.index.owners() == {owner_digest("second")}
    tier.clear()
    assert tier.index.owners() == set()
    for name in ("first", "second"):
        assert owner_digest(name).encode() not in index_path(tier.files.root).read_bytes()


def test_the_index_says_nothing_about_a_conversation(reopen: Open) -> None:
    tier = reopen()
    keep(tier, ONE, "a telling name")
    assert b"telling" not in index_path(tier.files.root).read_bytes()


def test_no_memory_for_a_copy_is_no_error(reopen: Open) -> None:
    tier = reopen()
    tier.enqueue("model", ONE, "chat")

    def scarce(space: str, keys: list[Key]) -> list[Tensor]:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    list(tier.write_back(scarce))
    assert tier.is_on
    assert not list(tier.write_back(scarce)), "it is not tried again"


def test_nothing_is_left_where_another_program_holds_the_folder(reopen: Open, tmp_path: Path) -> None:
    keep(reopen(), ONE, "chat")
    second = DiskTier(tmp_path / "blocks", "model", LAYOUT, 5 * BLOCK_BYTES)
    second.open()
    assert second.note == OTHER_HEADSTART
    second.set_budget(0)
    assert not list(second.files.paths())

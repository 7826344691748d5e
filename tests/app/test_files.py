"""Files are written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.files import write_whole


def test_the_new_file_takes_the_place_of_the_old_one_and_no_draft_is_left(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    for data in (b"old", b"new"):
        write_whole(path, data)
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_where_it_cannot_be_written_the_old_one_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kept.json"
    path.write_bytes(b"old")

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "gone" / "kept.json", b"")

"""Weights are told apart by every byte of them, and read once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from engine.library.fingerprint import content_digest
from engine.library.places import blocks_dir
from engine.types import HeadstartError

SIZE = 3_000_000
LONG_AGO = 1_000_000_000


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSTART_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model in two files, of which its index names one that lies beside the folder."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    index = {"weight_map": {"a": "one.safetensors", "b": "../two.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    for file in (folder / "one.safetensors", tmp_path / "two.safetensors"):
        file.write_bytes(bytes(SIZE))
        os.utime(file, (LONG_AGO, LONG_AGO))
    return folder


def digest(folder: Path) -> str:
    return content_digest(folder, lambda stage, fraction: None)


def read_bytes(folder: Path) -> bool:
    """Whether the weights had to be read."""
    told: list[str] = []
    content_digest(folder, lambda stage, fraction: told.append(stage))
    return bool(told)


@pytest.mark.parametrize("name", ["one.safetensors", "../two.safetensors"])
@pytest.mark.parametrize("at", [0, 12_345, SIZE // 2 + 7, SIZE - 1])
def test_one_byte_anywhere_makes_another_model(folder: Path, name: str, at: int) -> None:
    """Also where size and time stay what they were."""
    before = digest(folder)
    with (folder / name).open("r+b") as file:
        file.seek(at)
        file.write(b"x")
    os.utime(folder / name, (LONG_AGO, LONG_AGO))
    assert digest(folder) != before


@pytest.mark.parametrize(("name", "is_read"), [("three", True), ("original/x", False), ("onnx/deep/x", False)])
def test_weights_that_are_never_loaded_are_not_read(folder: Path, name: str, is_read: bool) -> None:
    """Those in folders below, unless the index names them."""
    before, file = digest(folder), folder / f"{name}.safetensors"
    file.parent.mkdir(parents=True, exist_ok=True)
    os.truncate(os.open(file, os.O_CREAT | os.O_RDWR), SIZE)
    os.utime(file, (LONG_AGO, LONG_AGO))
    assert read_bytes(folder) == is_read
    assert (digest(folder) != before) == is_read


def test_weights_below_that_the_index_names_are_read(folder: Path) -> None:
    before = digest(folder)
    (folder / "below").mkdir()
    (folder / "below/x.safetensors").write_bytes(b"x" * SIZE)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": "below/x.safetensors"}}))
    assert digest(folder) != before


def test_weights_are_read_once(folder: Path) -> None:
    before = digest(folder)
    assert not read_bytes(folder)
    (folder / "one.safetensors").rename(folder / "old")
    (folder / "one.safetensors").write_bytes(bytes(SIZE))
    os.utime(folder / "one.safetensors", (LONG_AGO, LONG_AGO))
    assert read_bytes(folder), "another file under the same name, of the same size and time"
    assert digest(folder) == before


def test_what_was_written_just_now_is_read_again(folder: Path) -> None:
    """It may be written to once more without getting another time."""
    (folder / "one.safetensors").touch()
    digest(folder)
    assert read_bytes(folder)


@pytest.mark.parametrize("damage", [b"", b"[1]", b"{", b'{"a": 1}', b"[" * 100_000, None])
def test_what_is_remembered_may_be_damaged(folder: Path, damage: bytes | None) -> None:
    """Then everything is read again. A folder in its place costs nothing else."""
    before, path = digest(folder), blocks_dir().with_name("weights.json")
    path.unlink()
    path.write_bytes(damage) if damage is not None else path.mkdir()
    assert read_bytes(folder)
    assert digest(folder) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe with a name is Unix's")
def test_a_pipe_in_place_of_what_is_remembered_is_not_waited_for(folder: Path) -> None:
    before, path = digest(folder), blocks_dir().with_name("weights.json")
    path.unlink()
    os.mkfifo(path)
    assert digest(folder) == before


@pytest.mark.parametrize(
    "index", ["{", "[]", '{"weight_map": []}', '{"weight_map": {"a": 7}}', '{"weight_map": {"a": "?"}}']
)
def test_an_index_that_says_nothing_is_passed_over(folder: Path, index: str) -> None:
    (folder / "model.safetensors.index.json").write_text(index)
    assert digest(folder)


def test_reading_can_be_stopped(folder: Path) -> None:
    def stop(stage: str, fraction: float | None) -> None:
        raise HeadstartError("stopped")

    with pytest.raises(HeadstartError, match="stopped"):
        content_digest(folder, stop)


def test_only_the_user_may_read_what_is_remembered(folder: Path) -> None:
    digest(folder)
    assert blocks_dir().with_name("weights.json").stat().st_mode & 0o077 == 0

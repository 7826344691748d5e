"""Weights that stay in their file: what happens when that is changed, replaced, or cannot be read any more."""

from __future__ import annotations

import errno
import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.native import library as native_library
from engine.types import ModelError
from engine.weights.mapped_file import MappedFile, MappedFiles

pytestmark = pytest.mark.skipif(native_library.library() is None, reason="the compiled part is not here")
PAGES = 64
SIZE = PAGES * 4096


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "weights.gguf"
    path.write_bytes(bytes(range(256)) * (SIZE // 256))
    return path


def test_bytes_are_those_of_the_file(file: Path) -> None:
    part = MappedFile(file).part(300, 5)
    gc.collect()  # the tensor keeps the memory
    assert part.tolist() == [44, 45, 46, 47, 48]


def test_a_file_is_mapped_once(file: Path) -> None:
    files = MappedFiles()
    assert files.of(file) is files.of(file)
    files.check()


@pytest.mark.parametrize("change", ["longer", "written over", "touched"])
def test_a_file_that_is_written_to(file: Path, change: str) -> None:
    files = MappedFiles()
    files.of(file)
    if change == "longer":
        with file.open("ab") as end:
            end.write(b"more")
    else:
        with file.open("r+b") as begin:
            begin.write(b"other" if change == "written over" else b"")
        os.utime(file, ns=(1, 1))
    with pytest.raises(ModelError, match=r"weights\.gguf was changed while its model was open.*open it again"):
        files.check()


def test_a_file_that_is_replaced_or_deleted_is_still_the_old_one(file: Path) -> None:
    mapped = MappedFile(file)
    other = file.with_name("new")
    other.write_bytes(bytes(SIZE))
    other.replace(file)
    mapped.check()
    assert mapped.part(1, 1).tolist() == [1]
    file.unlink()
    mapped.check()


def test_a_file_that_the_system_says_nothing_of_any_more(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mapped = MappedFile(file)

    def stale(descriptor: int) -> os.stat_result:
        raise OSError(errno.ESTALE, "Stale file handle")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", stale)
        with pytest.raises(ModelError, match="its disk cannot be read any more"):
            mapped.check()


def test_a_change_that_is_taken_back_is_remembered(file: Path) -> None:
    mapped, before = MappedFile(file), file.stat()
    os.utime(file, ns=(1, 1))
    assert not mapped.is_whole
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not mapped.is_whole


def test_many_files_are_watched_one_after_the_other(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(600):
        MappedFile(file)
    assert "not watched" not in caplog.text
    many = [MappedFile(file) for _ in range(300)]
    assert "not watched" in caplog.text
    assert all(mapped.is_whole for mapped in many)


def run(code: str, file: Path) -> subprocess.CompletedProcess[str]:
    """In a process of its own, which a signal may end."""
    begin = f"from pathlib import Path\nfrom engine.weights.mapped_file import MappedFile\nfile = Path({str(file)!r})\n"
    return subprocess.run([sys.executable, "-c", begin + code], capture_output=True, text=True, timeout=120)


def test_a_file_that_is_cut_off_does_not_end_the_process(file: Path) -> None:
    code = f"""
mapped, other = MappedFile(file), MappedFile(Path(__import__("engine").__file__))
all = mapped.part(0, {SIZE})
with file.open("r+b") as open_file:
    open_file.truncate(4096)
print(int(all[:4096].sum()), int(all[4096:].sum()), mapped.is_whole, other.is_whole)
"""
    done = run(code, file)
    assert (done.returncode, done.stdout.split()) == (0, [str(16 * sum(range(256))), "0", "False", "True"]), done.stderr


def test_memory_that_is_not_watched_ends_the_process_as_ever(file: Path) -> None:
    code = f"""
import mmap
mapped = MappedFile(Path(__import__("engine").__file__))
with file.open("r+b") as open_file:
    other = mmap.mmap(open_file.fileno(), {SIZE})
    open_file.truncate(4096)
other[{SIZE - 1}]
"""
    assert run(code, file).returncode == -signal.SIGBUS


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.gguf"
    path.touch()
    with pytest.raises(ValueError, match="empty"):
        MappedFile(path)

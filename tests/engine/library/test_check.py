"""Model files are judged by their headers, before anything is loaded: every refusal says what to do."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.gguf.header import GgufDamagedError, read_header
from engine.library.check_gguf import check_gguf
from engine.library.resolve import check_model
from engine.types import ModelError
from tests.engine.model_files import write_folder, write_gguf, write_safetensors


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "model")


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    return write_gguf(tmp_path / "tiny.gguf")


def cut(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])


def replace_weights(folder: Path, name: str) -> None:
    (folder / "model.safetensors").rename(folder / name)


def add_shard_index(folder: Path) -> None:
    weights = {"a": "model.safetensors", "b": "model-2.safetensors", "c": "model-3.safetensors"}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weights}))


def be_lfs_pointer(folder: Path) -> None:
    (folder / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")


def be_adapter(folder: Path) -> None:
    (folder / "config.json").rename(folder / "adapter_config.json")


def overlong_header(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes((1 << 40).to_bytes(8, "little") + b"{}")


def foreign_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0[]")


DAMAGE: list[tuple[Callable[[Path], object], str]] = [
    (lambda folder: cut(folder / "model.safetensors", 200), "cut short"),
    (lambda folder: cut(folder / "model.safetensors", 20), "not a readable safetensors file"),
    (lambda folder: cut(folder / "model.safetensors", 0), "not a readable safetensors file"),
    (overlong_header, "not a readable safetensors file"),
    (foreign_weights, "not a readable safetensors file"),
    (be_lfs_pointer, "git lfs pull"),
    (add_shard_index, "model-2.safetensors and 1 more missing"),
    (lambda folder: replace_weights(folder, "pytorch_model.bin"), "pickles only"),
    (lambda folder: replace_weights(folder, "model.onnx"), "no safetensors files"),
    (lambda folder: (folder / "tokenizer.json").unlink(), "no tokenizer"),
    (lambda folder: (folder / "config.json").unlink(), "no config.json"),
    (lambda folder: (folder / "config.json").write_text("{"), "config.json in model is damaged"),
    (lambda folder: (folder / "config.json").write_text("[]"), "config.json in model is damaged"),
    (lambda folder: (folder / "config.json").write_text("{}"), "names no model type"),
    (be_adapter, "an adapter without its model"),
]


@pytest.mark.parametrize(("damage", "words"), DAMAGE)
def test_damaged_folder_is_refused(folder: Path, damage: Callable[[Path], object], words: str) -> None:
    check_model(str(folder))
    damage(folder)
    with pytest.raises(ModelError, match=words):
        check_model(str(folder))


def test_folder_of_pickles_without_config_is_refused(tmp_path: Path) -> None:
    (tmp_path / "weights.pt").write_bytes(b"\x80\x04")
    with pytest.raises(ModelError, match="a pickle can run any program"):
        check_model(str(tmp_path))


def test_pickles_beside_safetensors_do_no_harm(folder: Path) -> None:
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04")
    check_model(str(folder))


@pytest.mark.parametrize(
    ("name", "words"),
    [("model.bin", "pickle"), ("model.safetensors", "the folder it lies in"), ("letter.docx", "is not a model")],
)
def test_foreign_file_is_refused(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / name).write_bytes(b"anything")
    with pytest.raises(ModelError, match=words):
        check_model(str(tmp_path / name))


def test_missing_path_and_empty_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="There is no model at"):
        check_model(str(tmp_path / "nowhere"))
    with pytest.raises(ModelError, match="holds no model"):
        check_model(str(tmp_path))


def test_gguf_is_found_by_content_and_in_its_folder(gguf: Path) -> None:
    check_model(str(gguf))
    check_model(str(gguf.parent))
    plain = gguf.rename(gguf.with_suffix(""))
    check_model(str(plain))


def test_one_of_two_gguf_files_has_to_be_named(gguf: Path) -> None:
    write_gguf(gguf.with_name("other.gguf"))
    with pytest.raises(ModelError, match="2 GGUF models: choose one"):
        check_model(str(gguf.parent))


def test_gguf_header_knows_the_size(gguf: Path) -> None:
    header = read_header(gguf)
    assert (header.architecture, header.dtype, header.end) == ("llama", "bf16", gguf.stat().st_size)


def test_gguf_cut_anywhere_is_refused(gguf: Path) -> None:
    """In the header, at its end, in the tensors, one byte before the end."""
    size = gguf.stat().st_size
    for length in (size - 1, size // 2, 6000, 3000, 300, 30, 12, 5, 4, 0):
        cut(gguf, length)
        with pytest.raises(ModelError, match=r"cut short|not a readable GGUF file"):
            check_gguf(gguf)


def test_gguf_with_flipped_header_bytes_never_crashes(gguf: Path) -> None:
    """A garbled header is damage or a header, never another exception and never an endless loop."""
    whole = gguf.read_bytes()
    refused = 0
    for position in range(4, 2000, 7):
        garbled = bytearray(whole)
        garbled[position] ^= 0xFF
        gguf.write_bytes(garbled)
        try:
            read_header(gguf)
        except GgufDamagedError:
            refused += 1
    assert refused > 20


@pytest.mark.parametrize(
    ("key", "kind", "value"),
    [
        ("general.alignment", 4, struct.pack("<I", 0)),
        ("general.alignment", 8, struct.pack("<Q1s", 1, b"x")),
        ("split.count", 8, struct.pack("<Q1s", 1, b"x")),
    ],
)
def test_gguf_with_nonsense_in_its_header_is_refused(tmp_path: Path, key: str, kind: int, value: bytes) -> None:
    name = struct.pack("<Q", len(key)) + key.encode()
    path = tmp_path / "nonsense.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + name + struct.pack("<I", kind) + value)
    with pytest.raises(ModelError, match="not a readable GGUF file"):
        check_model(str(path))


def test_unreadable_file_is_refused(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.unlink()
    weights.mkdir()
    with pytest.raises(ModelError, match="cannot be read"):
        check_model(str(folder))


def test_a_path_that_may_not_be_looked_at_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", refuse)
    with pytest.raises(ModelError, match=r"cannot be read \(Permission denied\)"):
        check_model(str(folder))


def test_second_shard_is_checked_too(folder: Path) -> None:
    write_safetensors(folder / "model-2.safetensors")
    check_model(str(folder))
    cut(folder / "model-2.safetensors", 200)
    with pytest.raises(ModelError, match=r"model-2\.safetensors is cut short"):
        check_model(str(folder))

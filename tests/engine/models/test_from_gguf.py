"""GGUF files of every type, opened as they are: the numbers are transformers' over the same file, reading is exact, and
nothing is written."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch

from engine import Engine
from engine.cache.store import Lane
from engine.events import Failed, Loaded
from engine.gguf.header import read_header
from engine.models import choice, from_gguf
from engine.models.choice import require_memory
from engine.models.loaded import LoadedModel, load
from engine.native import library as native_library
from engine.types import ModelError, ModelFit, ModelSpec, OutOfMemoryError
from engine.weights import from_gguf as reading
from engine.weights.compiled_matrix import can_read
from tests.engine.gguf_packed import HALVES, in_full, write_packed
from tests.engine.worker_driver import Driver, request

KINDS = [*HALVES, "F32", "F16", "BF16"]
IDS = [(7 * i * i + 3 * i) % 261 for i in range(200)]
MIXED = {"attn_v": "Q6_K", "ffn_down": "Q5_K", "token_embd": "Q8_0", "attn_output": "F16"}


def logits(model: LoadedModel, *cuts: int) -> torch.Tensor:
    """After all IDS, read in pieces that end at the cuts."""
    lane = Lane(model.layout, len(IDS))
    ends = [*cuts, len(IDS)]
    return [model.forward(IDS[start:end], lane, start) for start, end in zip([0, *cuts], ends, strict=True)][-1]


def written(model: LoadedModel, count: int) -> torch.Tensor:
    """After all IDS, the last `count` of them one by one, as an answer is written."""
    lane, start = Lane(model.layout, len(IDS)), len(IDS) - count
    model.forward(IDS[:start], lane, 0)
    return [model.forward([IDS[i]], lane, i, is_answer=True) for i in range(start, len(IDS))][-1]


def never_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """No room for full copies."""
    for module in (choice, from_gguf):
        monkeypatch.setattr(module, "full_is_cheap", lambda nbytes, device: False)


@pytest.fixture(params=["compiled", "torch"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "torch":
        monkeypatch.setattr(native_library, "library", lambda: None)
        for name in ("engine.weights.compiled_matrix.library", "engine.weights.from_gguf.library"):
            monkeypatch.setattr(name, lambda: None)
    elif native_library.library() is None:
        pytest.skip("the compiled part is not here")
    return str(request.param)


@pytest.mark.parametrize("kind", [*KINDS, "mixed"])
def test_logits_are_those_of_the_file(kind: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    never_full(monkeypatch)
    is_mixed = kind == "mixed"
    path = write_packed(tmp_path / "tiny.gguf", "Q4_K" if is_mixed else kind, others=MIXED if is_mixed else {})
    model, expected = load(path, "cpu", "fp32"), in_full(path)(torch.tensor([IDS])).logits[0, -1]
    torch.testing.assert_close(logits(model), expected, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(written(model, 3), expected, rtol=1e-3, atol=1e-3)
    for cuts in ((1,), (64, 65), (57, 100, 163)):
        assert torch.equal(logits(model, *cuts), logits(model))


@pytest.mark.parametrize("dtype", ["bf16", "fp32"])
def test_full_copies_change_no_bit(dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether there is memory for them is no reason for another answer. Nor is into how many tiles a matrix is cut."""
    path = write_packed(tmp_path / "tiny.gguf", "Q4_K", others=MIXED)
    full = load(path, "cpu", dtype)  # type: ignore[arg-type]
    never_full(monkeypatch)
    packed = load(path, "cpu", dtype)  # type: ignore[arg-type]
    if native_library.library() is not None:
        keeps = not can_read(full.layout.dtype)  # else they would be slower
        assert (packed.weights_bytes < full.weights_bytes) is keeps
        assert torch.equal(logits(packed), logits(full))
        assert torch.equal(written(packed, 3), written(full, 3))


def test_weights_stay_as_small_as_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    never_full(monkeypatch)
    for kind in ("Q4_0", "Q4_1", "Q4_K", "Q8_0"):
        path = write_packed(tmp_path / f"{kind}.gguf", kind)
        stored = sum(tensor.n_bytes for tensor in gguf.GGUFReader(path).tensors)
        assert load(path, "cpu", "bf16").weights_bytes < 1.1 * stored


def test_large_matrices_are_read_in_tiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    never_full(monkeypatch)
    monkeypatch.setattr("engine.weights.row_products.TILE", 128 * 256)
    path = write_packed(tmp_path / "tiny.gguf", "Q5_K")
    model = load(path, "cpu", "fp32")
    assert torch.equal(logits(model, 70), logits(model))
    expected = in_full(path)(torch.tensor([IDS])).logits[0, -1]
    torch.testing.assert_close(logits(model), expected, rtol=1e-3, atol=1e-3)


def test_nothing_is_written(tmp_path: Path) -> None:
    path = write_packed(tmp_path / "tiny.gguf", "Q4_K")
    load(path, "cpu", "auto")
    assert [each.name for each in path.parent.iterdir()] == ["tiny.gguf"]


@pytest.mark.parametrize("what", ["longer", "cut", "emptied", "deleted"])
@pytest.mark.parametrize("at", [1, 2, 5, 12])
def test_a_file_that_changes_while_it_is_read(
    what: str, at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything of it is read, or mapped into memory, and afterwards."""
    path = write_packed(tmp_path / "tiny.gguf", "Q4_K")
    content, read, calls = path.read_bytes(), reading.read_packed, count(1)

    def meanwhile(*given: Any) -> object:
        if next(calls) == at:
            if what == "deleted":
                path.unlink()
            else:
                path.write_bytes(
                    {"longer": content + b"more", "cut": content[: len(content) // 3], "emptied": b""}[what]
                )
        return read(*given)

    monkeypatch.setattr(from_gguf, "read_packed", meanwhile)
    with pytest.raises(ModelError, match=r"tiny\.gguf changed while it was read: open it again"):
        from_gguf.open_network(path, torch.device("cpu"), "auto", lambda stage, fraction: None)


@pytest.mark.skipif(native_library.library() is None, reason="the compiled part is not here")
def test_a_file_that_is_written_to_while_its_model_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    never_full(monkeypatch)
    path = write_packed(tmp_path / "tiny.gguf", "Q4_K")
    content, model = path.read_bytes(), load(path, "cpu", "auto")
    before = logits(model)
    path.write_bytes(bytes(len(content)))
    with pytest.raises(ModelError, match=r"tiny\.gguf was changed while its model was open"):
        logits(model)
    with pytest.raises(ModelError, match=r"tiny\.gguf was changed while its model was open"):
        written(model, 3)
    path.write_bytes(content)
    assert torch.equal(logits(load(path, "cpu", "auto")), before)


@pytest.mark.parametrize("kind", ["Q4_0", "Q4_K", "Q8_0"])
@pytest.mark.skipif(native_library.library() is None, reason="the compiled part is not here")
def test_weights_that_are_computed_with_in_their_file_take_no_memory_of_ours(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never_full(monkeypatch)
    path = write_packed(tmp_path / "tiny.gguf", kind)
    copied = 0

    def counted(*given: Any) -> Any:
        nonlocal copied
        copied += 1
        return repack(*given)

    repack = reading.repack
    monkeypatch.setattr(reading, "repack", counted)
    load(path, "cpu", "auto")
    assert copied == 0


def first_pass(path: Path) -> None:
    model = load(path, "cpu", "auto")
    model.forward(IDS[:3], Lane(model.layout, 8), 0)


@pytest.mark.parametrize("kind", ["Q4_K", "Q8_0", "Q5_K"])
@pytest.mark.parametrize(
    "name", ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down", "output", "token_embd"]
)
def test_a_weight_that_is_no_number(name: str, kind: str, tmp_path: Path) -> None:
    """It is found by the first pass at the latest, the file is blamed, and nothing else."""
    path = write_packed(tmp_path / "tiny.gguf", kind)
    tensors = read_header(path).tensors
    found = next((tensors[each] for each in (f"blk.1.{name}.weight", f"{name}.weight") if each in tensors), None)
    if found is None:
        pytest.skip("it has no output matrix of its own")
    for value in (float("nan"), float("inf")):
        with path.open("r+b") as file:
            file.seek(found.offset)
            file.write(np.array([value], np.float16).tobytes())
        with pytest.raises(ModelError, match=r"tiny\.gguf is not a readable GGUF file: download it again"):
            first_pass(path)


def test_the_present_model_stays_where_weights_are_no_numbers(
    tmp_path: Path, engine: Engine, driver: Driver, tiny_folder: Path
) -> None:
    assert isinstance(driver.end(engine.load(ModelSpec(str(tiny_folder)))), Loaded)
    path = write_packed(tmp_path / "tiny.gguf", "Q8_0")
    with path.open("r+b") as file:
        file.seek(read_header(path).tensors["blk.1.ffn_down.weight"].offset)
        file.write(np.array([float("nan")], np.float16).tobytes())
    failed = driver.end(engine.load(ModelSpec(str(path))))
    assert isinstance(failed, Failed)
    assert failed.sentence == "tiny.gguf is not a readable GGUF file: download it again."
    driver.finished(engine.submit(request()))


def test_too_large_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A family that our own forward pass does not fit is widened: where it does not fit into memory, with figures."""
    from tests.engine.gguf.test_models import CASES
    from tests.engine.gguf_models import write_model

    case = next(case for case in CASES if case.name == "Gemma")
    path = write_model(tmp_path / "tiny.gguf", case.model(), case.architecture, case.said)
    monkeypatch.setattr(choice, "free_bytes", lambda device: 1000)
    with pytest.raises(OutOfMemoryError, match=r"tiny takes 0\.0 GB .*, and 0\.0 GB are free: .* fewer bits"):
        load(path, "cpu", "fp32")


@pytest.mark.parametrize("kind", ["Q4_0", "Q4_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "Q8_0", "IQ4_XS", "BF16"])
def test_what_a_model_takes_is_known_before(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the header alone, and refused with figures where it is too much."""
    never_full(monkeypatch)
    seen: list[ModelFit] = []
    monkeypatch.setattr(from_gguf, "require_memory", seen.append)
    path = write_packed(tmp_path / "tiny.gguf", kind)
    taken = load(path, "cpu", "bf16").weights_bytes
    assert taken == pytest.approx(seen[0].weights, rel=0.02)
    assert seen[0].token == 2 * 2 * 2 * 64 * 2


def test_a_model_that_no_memory_is_enough_for() -> None:
    """It is refused for good, so that no other model is closed to make room."""
    huge = ModelFit("huge", "bf16", 2 * 10**10, 10**9, 10**6, 1024, 8192, free=9 * 10**9, total=10**10)
    words = (
        r"^huge takes 22\.0 GB of memory \(20\.0 for its weights, 1\.0 to compute in, 1\.0 for a conversation of "
        r"1,024 tokens\), and 10\.0 GB are there: close other programs, get the model in fewer bits, or choose a "
        r"smaller one\.$"
    )
    with pytest.raises(ModelError, match=words):
        require_memory(huge)
    with pytest.raises(OutOfMemoryError, match=r"and 9\.0 GB are free"):
        require_memory(replace(huge, weights=95 * 10**8, scratch=0, token=0))
    with pytest.raises(OutOfMemoryError, match=r"choose a shorter conversation \(up to 3,072 tokens fit\), close"):
        require_memory(replace(huge, weights=55 * 10**8, scratch=0, context=4096))
    require_memory(replace(huge, weights=8 * 10**9, scratch=0, token=0))

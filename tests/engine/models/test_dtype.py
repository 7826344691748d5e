"""Which number type a model gets by itself: what is faster here, and what fits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from transformers import LlamaConfig

from engine.cache.store import KVLayout, Lane, LayerGroup
from engine.llama.forward import LlamaForward
from engine.models import choice
from engine.models.from_transformers import weights_of
from engine.native import library as native_library
from engine.weights import few_bits as packing
from tests.engine.llama.test_forward import IDS, SIZES, build

CPU = torch.device("cpu")
GIB = 2**30


@pytest.fixture
def free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_fastest_dtype", lambda width: torch.float32)
    monkeypatch.setattr(choice.psutil, "virtual_memory", lambda: SimpleNamespace(total=12 * GIB))


@pytest.mark.parametrize(
    ("config", "sizes", "index", "expected"),
    [
        ({}, {"model.safetensors": 5, "consolidated.safetensors": 7}, None, 5),
        ({}, {"model.safetensors": 5, "a.safetensors": 7}, ["a.safetensors"], 5),
        (
            {},
            {"below/a.safetensors": 3, "below/b.safetensors": 4, "c.safetensors": 8},
            ["below/a.safetensors", "below/b.safetensors"],
            7,
        ),
        ({"transformers_weights": "own.safetensors"}, {"model.safetensors": 5, "own.safetensors": 6}, None, 6),
        ({}, {"other.safetensors": 5}, None, 0),
    ],
    ids=["a second copy", "one file and an index", "shards in a folder below", "named by config.json", "none"],
)
def test_the_size_is_that_of_the_files_that_are_loaded(
    tmp_path: Path, config: dict[str, str], sizes: dict[str, int], index: list[str] | None, expected: int
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    for name, size in sizes.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(bytes(size))
    if index is not None:
        names = dict(zip("ab", index, strict=False))
        (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))
    assert choice.checkpoint_bytes(tmp_path) == expected


@pytest.mark.parametrize(
    ("checkpoint_gib", "stored_as", "expected"),
    [
        (1, torch.bfloat16, torch.float32),
        (3, torch.bfloat16, torch.bfloat16),
        (3, torch.float32, torch.float32),
        (5, torch.float32, torch.bfloat16),
    ],
)
@pytest.mark.usefixtures("free_memory")
def test_fp32_only_where_it_fits(checkpoint_gib: int, stored_as: torch.dtype, expected: torch.dtype) -> None:
    assert choice.cpu_dtype(64, stored_as, checkpoint_gib * GIB) is expected


@pytest.mark.usefixtures("free_memory")
@pytest.mark.parametrize("pays", [True, False])
def test_few_bits_where_they_are_faster(pays: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "few_bits_are_faster", lambda dtype: pays)
    assert choice.choose_dtype("auto", CPU, 64, torch.bfloat16) == (torch.float32, "fitting" if pays else None)
    assert choice.choose_dtype("int4", CPU, 64, torch.bfloat16) == (torch.float32, "int4")
    assert choice.choose_dtype("auto", CPU, 64, torch.bfloat16, 5 * GIB) == (torch.bfloat16, None)


@pytest.fixture
def fresh() -> Iterator[None]:
    packing.few_bits_are_faster.cache_clear()
    yield
    packing.few_bits_are_faster.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_the_measurement_gives_an_answer_and_asks_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_library, "library", lambda: None)
    assert packing.few_bits_are_faster(torch.float32) in (True, False)
    packing.few_bits_are_faster(torch.float32)
    assert packing.few_bits_are_faster.cache_info().hits == 1


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_beside_the_compiled_part_nothing_is_measured(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix that a large cache holds made the measurement a draw: one load in ten took full weights, four times
    slower for the whole session."""
    monkeypatch.setattr(native_library, "library", lambda: object())
    monkeypatch.setattr(packing, "fastest", lambda *_: pytest.fail("measured"))
    assert packing.few_bits_are_faster(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("compiled", [True, False])
@torch.inference_mode()
def test_few_bits_beside_either_number_type(
    compiled: bool, dtype: torch.dtype, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decoding with int8 beside full weights says nearly what the full weights say, one row or some, with the compiled
    step where it is here and without."""
    if not compiled:
        monkeypatch.setattr(native_library, "library", lambda: None)
    module = build(LlamaConfig(**SIZES)).to(dtype)
    layout = KVLayout((LayerGroup((0, 1, 2), 2, 16, 16),), dtype, CPU)
    lanes = [Lane(layout, 80, fill=float("nan")) for _ in range(2)]
    plain, packed = LlamaForward(weights_of(module, None)), LlamaForward(weights_of(module, "int8"))
    for forward, lane in zip((plain, packed), lanes, strict=True):
        forward(IDS[:40], lane, 0)
    full = plain(IDS[40 : 40 + rows], lanes[0], 40).float()
    few = packed(IDS[40 : 40 + rows], lanes[1], 40, is_answer=True).float()
    assert float((few - full).norm() / full.norm()) < 0.05

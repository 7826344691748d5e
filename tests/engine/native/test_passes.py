"""A pass over a few tokens of an answer has, bit for bit, the numbers of as many passes over one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from unittest.mock import patch

import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig

from engine.cache.store import Lane
from engine.llama.checkpoint import LeanNetwork
from engine.llama.forward import LlamaForward
from engine.models import from_gguf
from engine.models.from_transformers import weights_of
from engine.native import library as native_library
from engine.weights.quantise import Bits
from tests.depth import cases
from tests.engine.gguf_packed import Shape, write_packed
from tests.engine.llama.test_forward import SIZES, build
from tests.engine.tiny_models import EVERY_FORM

pytestmark = pytest.mark.skipif(
    native_library.library() is None, reason="without the compiled part a pass has one token"
)
SHAPE = Shape(256, 256, 2, 8, 2, 64, 300)
IDS = [7, 299, 7, 31, 8, 8, 100, 254]
KINDS = ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "every")
Model = LlamaForward | LeanNetwork
Dtype = Literal["fp32", "bf16"]


@lru_cache(maxsize=32)
def from_file(kind: str, dtype: Dtype) -> LeanNetwork:
    """A Llama all of whose matrices are packed as a GGUF type has them, or each as another one."""
    forms = EVERY_FORM if kind == "every" else {}
    with TemporaryDirectory() as folder, patch.object(from_gguf, "full_is_cheap", lambda *_: False):
        path = write_packed(Path(folder) / "tiny.gguf", "Q4_1" if kind == "every" else kind, SHAPE, forms)
        network = from_gguf.open_network(path, torch.device("cpu"), dtype, lambda *_: None)
    assert isinstance(network, LeanNetwork)
    return network


@lru_cache(maxsize=8)
def packed_at_load(bits: Bits, dtype: torch.dtype) -> LlamaForward:
    """A Llama with biases and sizes of no round number, whose full weights are packed for decoding."""
    config = LlamaConfig(
        **{**SIZES, "max_position_embeddings": 1024, "hidden_size": 40, "intermediate_size": 88, "vocab_size": 300},
        attention_bias=True,
    )
    return LlamaForward(weights_of(build(config).to(dtype), bits))


def numbers(model: Model, before: int, sizes: list[int]) -> list[Tensor]:
    """The logits after each of the tokens IDS, in passes of these sizes behind `before` made-up ones, and what they
    left in the lane."""
    lane, start, found = Lane(model.layout, before + len(IDS), fill=float("nan")), before, []
    random = torch.Generator().manual_seed(1)
    for buffer in lane.keys + lane.values:
        buffer[:, :, :before] = torch.randn(buffer[:, :, :before].shape, generator=random).to(buffer.dtype)
    for size in sizes:
        found.append(model.steps(IDS[start - before : start - before + size], lane, start))
        start += size
    return [torch.cat(found), *(buffer[:, :, :start] for buffer in lane.keys + lane.values)]


@pytest.fixture(params=["as wide as it can", "eight at a time", "portable"])
def form(request: pytest.FixtureRequest) -> Iterator[str]:
    """The forms of the compiled part that this processor runs."""
    library = native_library.library()
    assert library is not None
    if request.param == "portable":
        request.getfixturevalue("portable")
    is_wide = library.headstart_widen_rows(request.param == "as wide as it can")
    from_file.cache_clear()
    packed_at_load.cache_clear()
    yield request.param
    from_file.cache_clear()
    packed_at_load.cache_clear()
    library.headstart_widen_rows(True if is_wide else torch.backends.cpu.get_cpu_capability() == "AVX512")


def check(model: Model, before: int, passes: list[list[int]]) -> None:
    assert model.at_once == 8
    torch.set_num_threads(1)
    expected = numbers(model, before, [1] * 8)
    assert expected[0].isfinite().all()
    for count, sizes in enumerate(passes, 1):
        torch.set_num_threads(count)
        found = numbers(model, before, sizes)
        for ours, alone in zip(found, expected, strict=True):
            assert torch.equal(ours, alone), (count, sizes)


PASSES = [[8], [5, 3], [1, 7], [6, 2]]
"""In passes of these sizes, by one thread, by two, and so on."""


@pytest.mark.usefixtures("threads", "form")
@pytest.mark.parametrize("kind", cases(KINDS, always=["Q4_1", "every"]))
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@torch.inference_mode()
def test_of_every_type_of_a_file(kind: str, dtype: Dtype) -> None:
    check(from_file(kind, dtype), 252, PASSES)


@pytest.mark.usefixtures("threads", "form")
@pytest.mark.parametrize("bits", ["int4", "int8"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@torch.inference_mode()
def test_of_weights_packed_at_load(bits: Bits, dtype: torch.dtype) -> None:
    check(packed_at_load(bits, dtype), 0, PASSES)


PROGRAM = """
import sys
from pathlib import Path
import torch
from engine.cache.store import Lane
from engine.models.from_gguf import open_network
network = open_network(Path(sys.argv[1]), torch.device("cpu"), "fp32", lambda *_: None)
lane = Lane(network.layout, 16)
with torch.inference_mode():
    for ids in [7, 299, 31, 8, 100], [254], [3, 4]:
        print(network.steps(ids, lane, len(lane.ids)).double().sum(1).tolist())
        lane.ids += ids
"""


def test_threads_within_threads_are_not_counted(tmp_path: Path) -> None:
    """OMP_NUM_THREADS may say how many each of them would start: a pass starts none within."""
    path = write_packed(tmp_path / "tiny.gguf", "Q4_1", SHAPE, {})
    said = []
    for threads in ("2", "2,7"):
        command = [sys.executable, "-c", PROGRAM, path]
        environment = os.environ | {"OMP_NUM_THREADS": threads}
        said.append(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert said[0] == said[1] != ""

"""The compiled part where it could do harm: outside the lane, beside other threads, over weights it does not know."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.cache.store import KVLayout, Lane
from engine.llama.forward import LlamaForward
from engine.models.from_transformers import fits, weights_of
from engine.models.lane_cache import probe_layout
from engine.native import library as native_library
from engine.weights.few_bits import pack
from engine.weights.quantise import Bits
from tests.depth import cases
from tests.engine.inside import forget_lanes
from tests.engine.llama.test_forward import build
from tests.engine.native.test_native import CONFIGS, IDS, needs_native
from tests.engine.tiny_models import make_model
from tests.engine.turn.test_hot_cold import make_cache
from tests.engine.turns import NAN, cold_logits, prompt_logits

pytestmark = needs_native
ROOT = Path(__file__).parents[3]


def make() -> tuple[LlamaForward, KVLayout]:
    """A small model in few bits, and the layout of its lanes."""
    model = build(CONFIGS["qwen3"])
    return LlamaForward(weights_of(model, "int4")), probe_layout(model)


@pytest.mark.parametrize(("n", "start"), [(1, 64), (3, 62), (20, 50), (1, -1), (20, -1), (1, 2**31)])
@torch.inference_mode()
def test_nothing_is_written_outside_of_the_lane(n: int, start: int) -> None:
    """It writes to addresses: what torch would refuse was a crash, or another tensor's numbers."""
    forward, layout = make()
    with pytest.raises(IndexError, match="64"):
        forward(IDS[:n], Lane(layout, 64), start)


@pytest.mark.parametrize("n", [1, 20])
@torch.inference_mode()
def test_the_last_slots_are_of_the_lane(n: int) -> None:
    forward, layout = make()
    assert forward(IDS[:n], Lane(layout, n, fill=float("nan")), 0).isfinite().all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("n", [1, 20])
@torch.inference_mode()
def test_a_lane_of_other_numbers_is_refused(dtype: torch.dtype, n: int) -> None:
    forward, layout = make()
    with pytest.raises(ValueError, match="layout"):
        forward(IDS[:n], Lane(replace(layout, dtype=dtype), 64), 0)


@torch.inference_mode()
def test_a_lane_of_another_model_is_refused() -> None:
    forward, layout = make()
    for change in ({"kv_heads": 1}, {"key_dim": 8}, {"value_dim": 8}, {"layers": (0, 1)}):
        other = replace(layout, groups=(replace(layout.groups[0], **change),))
        with pytest.raises(ValueError, match="layout"):
            forward(IDS[:1], Lane(other, 64), 0)


def test_threads_do_not_share_what_they_compute_in() -> None:
    """Calls let other threads run: each has its own room."""
    forward, layout = make()
    found: list[Tensor] = []

    @torch.inference_mode()
    def read() -> None:
        lane = Lane(layout, 600)
        forward(IDS[:5], lane, 0)
        found.append(torch.stack([forward([IDS[at]], lane, at, is_answer=True) for at in range(5, 400)]))

    read()
    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert len(found) == 4
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("part", ["self_attn.q_proj", "mlp.down_proj", "input_layernorm"])
@torch.inference_mode()
def test_weights_of_several_number_types_are_left_to_torch(part: str) -> None:
    model = build(CONFIGS["qwen3"]).bfloat16()
    model.model.layers[2].get_submodule(part).float()
    assert not weights_of(model, "int4").is_native


@torch.inference_mode()
def test_query_heads_that_belong_to_no_kv_head_are_left_to_transformers() -> None:
    """Which then refuses them: here their sums would be of memory that nobody wrote."""
    model = build(deepcopy(CONFIGS["qwen3"]))
    model.config.num_attention_heads = 5
    assert not fits(model)


@pytest.mark.parametrize("n", [1, 20])
@torch.inference_mode()
def test_torchs_default_number_type_is_not_asked(n: int) -> None:
    """transformers changes it while it loads: buffers of half the size would be written past their end."""
    expected = make()[0](IDS[:n], Lane(make()[1], 64), 0, is_answer=n == 1)
    forward, layout = make()
    torch.set_default_dtype(torch.float64)
    try:
        logits = forward(IDS[:n], Lane(layout, 64), 0, is_answer=n == 1)
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.equal(logits, expected)


@pytest.mark.parametrize("kind", ["int4", "int8"])
def test_nor_by_a_product(kind: Bits) -> None:
    weight, x = torch.randn(32, 64), torch.randn(2, 64)
    packed = pack(weight, kind, is_native=True)
    assert packed is not None
    expected = packed(x)
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.equal(packed(x), expected)
    finally:
        torch.set_default_dtype(torch.float32)


def test_a_library_that_was_cut_off_is_not_loaded(tmp_path: Path) -> None:
    """A build on a full disk: loading half a file ends the program, and no `except` sees it."""
    loaded = native_library.library()
    assert loaded is not None
    whole = Path(loaded._name).read_bytes()
    lengths = [len(whole) * share // 10 for share in range(10)] + [100, len(whole) - 1]
    for length in lengths:
        (tmp_path / str(length)).write_bytes(whole[:length])
    probe = "import sys; from engine.native.library import load; print({load(path) for path in sys.argv[1:]})"
    command = [sys.executable, "-c", probe, *(str(tmp_path / str(length)) for length in lengths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "{None}\n"), done.stderr


def test_what_is_no_library_is_not_loaded(tmp_path: Path) -> None:
    for name, content in (("text", b"hello " * 999), ("empty", b""), ("zeros", bytes(9999)), ("head", b"\x7fELF")):
        (tmp_path / name).write_bytes(content)
        assert native_library.load(str(tmp_path / name)) is None
    assert native_library.load(str(tmp_path)) is None
    assert native_library.load(str(tmp_path / "nowhere")) is None
    assert native_library.load(torch._C.__file__) is None


@pytest.mark.parametrize(
    ("dtype", "count"),
    cases(
        itertools.product((torch.float32, torch.bfloat16), (1, 2, 3)),
        always=((torch.float32, 1), (torch.float32, 3), (torch.bfloat16, 2)),
    ),
)
@torch.inference_mode()
def test_a_prompt_is_exact_over_few_bits(dtype: torch.dtype, count: int, request: pytest.FixtureRequest) -> None:
    """A prompt from the lane, from blocks and cold, and the answer's first tokens behind it."""
    request.addfinalizer(partial(torch.set_num_threads, torch.get_num_threads()))
    torch.set_num_threads(count)
    model = make_model(dtype, bits="int4")
    for length in (1, 4, 5, 16, 17, 33, 63, 64, 65):
        cache, ids = make_cache(model), IDS[:length]
        cold = cold_logits(model, ids)
        for _ in range(2):
            prompt_logits(cache, model, ids)
            assert torch.equal(prompt_logits(cache, model, ids)[1], cold)
            forget_lanes(cache)
        cache.check_integrity()
    lanes = [Lane(model.layout, capacity, fill=fill) for capacity, fill in ((300, NAN), (1024, 1e4))]
    for start, step in ((0, 250), *((at, 1) for at in range(250, 270))):
        one, other = (model.forward(IDS[start : start + step], lane, start, is_answer=step == 1) for lane in lanes)
        assert torch.equal(one, other)

"""The compiled part of the engine against the codes it multiplies, and against the same steps in torch."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional
from transformers import LlamaConfig, PreTrainedConfig, Qwen2Config, Qwen3Config

from engine.cache.store import Lane
from engine.llama.compiled_attention import attend
from engine.llama.compiled_rows import NativeRows
from engine.llama.forward import LlamaForward
from engine.llama.one_token import DecodeStep
from engine.llama.torch_rows import TorchRows
from engine.llama.weights import Projection, Weights
from engine.models.from_transformers import weights_of
from engine.models.lane_cache import probe_layout
from engine.native import library as native_library
from engine.weights import few_bits
from engine.weights.compiled_matrix import CompiledStack
from engine.weights.quantise import Bits, quantise_int4, quantise_int8
from engine.weights.stack import Stack
from tests.depth import cases
from tests.engine.llama.test_forward import SIZES, build

needs_native = pytest.mark.skipif(
    native_library.library() is None, reason="torch's kernels do the work on this machine"
)
ENGINE = Path(native_library.__file__).parent.parent
LONG = {**SIZES, "max_position_embeddings": 1024}
CONFIGS = {
    "llama with biases": LlamaConfig(**LONG, attention_bias=True, mlp_bias=True),
    "llama, tied": LlamaConfig(**LONG, tie_word_embeddings=True),
    "qwen2": Qwen2Config(**LONG),
    "qwen3": Qwen3Config(**LONG),
    "heads of 72, one KV head": LlamaConfig(**{**LONG, "head_dim": 72, "num_key_value_heads": 1}),
    "odd sizes": LlamaConfig(**{**LONG, "hidden_size": 40, "intermediate_size": 88, "head_dim": 8}),
}
IDS = [(7 * i * i + 3 * i) % 96 for i in range(600)]


def test_it_is_there_where_it_can_be_built() -> None:
    """Falling back to torch without a word would make every answer slow and no test red."""
    compiler = (sysconfig.get_config_var("CC") or "").split()[:1]
    if not native_library._is_for_this_machine() or "gcc" not in "".join(compiler) or not shutil.which(compiler[0]):
        pytest.skip("no compiler for it here, or not the processor")
    assert native_library.library() is not None, "build it: pip install --editable ."


@needs_native
def test_it_was_built_of_these_sources() -> None:
    path = native_library._path()
    assert path is not None
    built = Path(path).stat().st_mtime
    newer = [source.name for source in (ENGINE / "native").glob("*.[ch]") if source.stat().st_mtime > built]
    assert Path(path).parent != ENGINE or not newer, "build it again: pip install --editable ."


@needs_native
@pytest.mark.parametrize("place", range(len(native_library.LAYOUT)))
def test_a_build_of_other_structures_is_not_used(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    other = list(native_library.LAYOUT)
    other[place] += 4
    monkeypatch.setattr(native_library, "LAYOUT", other)
    native_library.library.cache_clear()
    native_library.fingerprint.cache_clear()
    try:
        assert native_library.library() is None
        assert native_library.fingerprint() == "torch"
        assert "of another version" in native_library.state()
    finally:
        native_library.library.cache_clear()
        native_library.fingerprint.cache_clear()


@needs_native
def test_a_build_has_a_name_of_its_own() -> None:
    assert len(native_library.fingerprint()) == 16


@needs_native
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="Linux says what is loaded")
def test_there_is_one_team_of_threads() -> None:
    """A second OpenMP library would start threads that wait for the same processors. In a process of its own: what
    other tests import (sentencepiece) brings one that the engine never uses."""
    program = "from engine.native.library import library; library(); print(open('/proc/self/maps').read())"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300)
    loaded = {line.split()[-1] for line in said.stdout.splitlines() if re.search(r"lib[gi]?omp[^/]*\.so", line)}
    assert len(loaded) == 1, loaded


@pytest.mark.parametrize(
    ("built", "processor", "machine", "said"),
    [
        (True, "AVX2", "x86_64", "compiled for this processor (AVX2)"),
        (True, "AVX512", "x86_64", "compiled for this processor (AVX-512)"),
        (True, "DEFAULT", "x86_64", "plain C"),
        (True, "DEFAULT", "aarch64", "NEON"),
        (False, "AVX2", "x86_64", "Install gcc"),
        (False, "DEFAULT", "aarch64", "Install gcc"),
        (False, "AVX2", "AMD64", "for Linux on x86-64 and ARM"),
        (False, "DEFAULT", "riscv64", "for Linux on x86-64 and ARM"),
    ],
)
def test_a_user_is_told_what_writes_tokens(
    built: bool, processor: str, machine: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = SimpleNamespace(headstart_step_avx2=None) if built else None
    monkeypatch.setattr(native_library, "library", lambda: loaded)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: processor)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(native_library, "_path", lambda: None)
    assert said in native_library.state()


def codes_of(weight: Tensor, kind: str) -> Tensor:
    """The weights that the codes stand for, fp32."""
    if kind == "int8":
        codes, scale = quantise_int8(weight)
        return codes * scale[:, None]
    codes, scale, zero = quantise_int4(weight)
    scale, zero = scale.bfloat16().float()[..., None], zero.bfloat16().float()[..., None]
    return ((codes.reshape(*scale.shape[:2], 32) - 8) * scale + zero).reshape(weight.shape)


@needs_native
@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(["int4", "int8"]),
    rows=st.integers(1, 100),
    columns=st.integers(1, 12),
    rest=st.integers(0, 31),
    seed=st.integers(0, 2**20),
)
@torch.inference_mode()
def test_a_product_is_that_with_its_codes(kind: Bits, rows: int, columns: int, rest: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    width = 32 * columns + (rest if kind == "int8" else 0)
    weight, x = torch.randn(rows, width, generator=generator), torch.randn(3, width, generator=generator)
    packed = few_bits.pack(weight, kind, is_native=True)
    assert packed is not None
    assert packed.kind == kind
    torch.testing.assert_close(packed(x), x @ codes_of(weight, kind).T, atol=2e-5 * width, rtol=1e-4)


@needs_native
def test_few_bits_take_what_they_should() -> None:
    four, eight = few_bits.pack(torch.randn(960, 576), "int4", True), few_bits.pack(torch.randn(64, 96), "int8", True)
    assert four is not None
    assert eight is not None
    assert four.nbytes / (960 * 576) == pytest.approx((4 + 32 * 24 / 18 / 32) / 8)
    assert eight.nbytes == 64 * (128 + 4)


@needs_native
@pytest.mark.usefixtures("portable")
@pytest.mark.parametrize("kind", ["int4", "int8"])
@torch.inference_mode()
def test_the_portable_form_multiplies_row_by_row(kind: Bits) -> None:
    weight, x = torch.randn(37, 320), torch.randn(1, 320)
    together = few_bits.pack(weight, kind, is_native=True)
    assert together is not None
    alone = torch.cat(
        [CompiledStack([part.between(at, at + 1)]).multiply(x) for part in together.parts for at in range(37)], 1
    )
    assert torch.equal(together(x), alone)
    torch.testing.assert_close(alone, x @ codes_of(weight, kind).T, atol=2e-3, rtol=1e-4)


@needs_native
@pytest.mark.usefixtures("portable")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@torch.inference_mode()
def test_the_portable_form_attends_token_by_token(dtype: torch.dtype) -> None:
    query, key, value = (torch.randn(1, heads, 300, 40).to(dtype) for heads in (6, 2, 2))
    whole = attend(query[:, :, -90:], key, value, 0.2, 0)
    cut = attend(query[:, :, -90:-33], key[:, :, :-33], value[:, :, :-33], 0.2, 0)
    expected = functional.scaled_dot_product_attention(query, key, value, is_causal=True, scale=0.2, enable_gqa=True)
    close = {"atol": 1e-5, "rtol": 1e-5} if dtype is torch.float32 else {"atol": 0.02, "rtol": 0.02}
    assert torch.equal(whole[:, :, :57], cut)
    torch.testing.assert_close(whole, expected[:, :, -90:], **close)


class InFull:
    """Few-bit weights as a plain matrix: what the compiled step is compared with."""

    def __init__(self, weight: Tensor, kind: str) -> None:
        self.kind, self.nbytes, self.exact = kind, 0, False
        self._weight = codes_of(weight.float(), kind)

    def __call__(self, rows: Tensor) -> Tensor:
        return rows.float() @ self._weight.T


def unpacked(weights: Weights) -> DecodeStep:
    """The step in torch over the weights that the codes stand for."""

    def full(projection: Projection) -> None:
        assert isinstance(projection.packed, Stack)
        assert projection.weight is not None
        object.__setattr__(projection, "packed", InFull(projection.weight, projection.packed.kind))

    for layer in weights.layers:
        for projection in (layer.qkv, layer.output, layer.gate_up, layer.down):
            full(projection)
    full(weights.head)
    return DecodeStep(weights)


@needs_native
@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("before", cases([0, 1, 7, 254, 255, 256, 597], always=[0, 255, 597]))
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@torch.inference_mode()
def test_a_step_equals_the_one_in_torch(name: str, before: int, dtype: torch.dtype) -> None:
    model = build(CONFIGS[name]).to(dtype)
    layout = probe_layout(model)
    weights = weights_of(model, "int4")
    forward = LlamaForward(weights)
    assert weights.is_native
    ours, torchs = Lane(layout, 600, fill=float("nan")), Lane(layout, 600, fill=float("nan"))
    if before:
        forward(IDS[:before], ours, 0)
        for mine, theirs in zip(torchs.keys + torchs.values, ours.keys + ours.values, strict=True):
            mine.copy_(theirs)
    logits = forward([IDS[before]], ours, before, is_answer=True)
    expected = unpacked(weights)(IDS[before], torchs, before)
    # The compiled part rounds activations to 16 bits.
    close = {"atol": 2e-4, "rtol": 1e-4} if dtype is torch.float32 else {"atol": 0.02, "rtol": 0.02}
    torch.testing.assert_close(logits, expected.float(), **close)
    for mine, theirs in zip(ours.keys + ours.values, torchs.keys + torchs.values, strict=True):
        torch.testing.assert_close(mine, theirs, equal_nan=True, **close)


@needs_native
@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("n", [1, 5, 70])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@torch.inference_mode()
def test_steps_between_the_products_equal_those_in_torch(name: str, n: int, dtype: torch.dtype) -> None:
    model = build(CONFIGS[name]).to(dtype)
    weights = weights_of(model, "int8")
    layout, layer = probe_layout(model), weights.layers[1]
    width, inner = weights.embedding.shape[1], layer.down.weight.shape[1]
    fused_width = layer.qkv.weight.shape[0]
    hidden, added = torch.randn(n, width).to(dtype), torch.randn(n, width).to(dtype)
    fused, gate_up = torch.randn(n, fused_width).to(dtype), 5 * torch.randn(n, 2 * inner).to(dtype)
    found = []
    for rows in (NativeRows(weights), TorchRows(weights)):
        lane, own = Lane(layout, 80, fill=float("nan")), hidden.clone()
        normed = rows.normalise(own, None, layer.input_norm), rows.normalise(own, added, layer.post_norm)
        queries = rows.place(1, layer, fused.clone(), lane, 7, rows.angles(weights.rotary, 7, n))
        found.append((own, *normed, queries, rows.gate(gate_up), *lane.keys, *lane.values))
    close = {"atol": 1e-5, "rtol": 1e-5} if dtype is torch.float32 else {"atol": 0.05, "rtol": 0.02}
    for ours, torchs in zip(*found, strict=True):
        torch.testing.assert_close(ours, torchs, equal_nan=True, **close)


@needs_native
@torch.inference_mode()
def test_bf16_is_rounded_as_torch_rounds() -> None:
    weights = weights_of(build(CONFIGS["llama, tied"]).bfloat16(), "int8")
    odd = torch.tensor([0.0, -0.0, 1.00390625, 1.01171875, 3.3895e38, float("inf"), float("nan"), 1e-40] * 8)
    hidden, half = odd.bfloat16()[None], torch.linspace(-3, 3, 64)[None].bfloat16() / 256
    own = hidden.clone()
    NativeRows(weights).normalise(own, half, weights.norm)
    torch.testing.assert_close(own, hidden + half, rtol=0, atol=0, equal_nan=True)


STEPS = 4


def read(config: PreTrainedConfig, pieces: list[int]) -> Tensor:
    """The logits behind the last piece, pieces of up to four tokens in few bits, as answers are."""
    model = build(config)
    forward, lane, start = LlamaForward(weights_of(model, "int4")), Lane(probe_layout(model), 600), 0
    for size in pieces:
        logits = forward(IDS[start : start + size], lane, start, is_answer=size <= STEPS)
        start += size
    return logits


@needs_native
@pytest.mark.usefixtures("threads")
@torch.inference_mode()
def test_the_number_of_threads_changes_no_bit() -> None:
    found = []
    for count in (1, 2, 3):
        torch.set_num_threads(count)
        found.append(read(CONFIGS["qwen3"], [1] * 300))
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


@needs_native
@pytest.mark.usefixtures("threads")
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="Linux says where threads may compute")
@torch.inference_mode()
def test_threads_may_compute_where_they_might_before() -> None:
    """While a pass is computed each may stay on one processor, but not behind it."""

    def processors() -> set[str]:
        return {
            line.split()[1]
            for task in Path("/proc/self/task").iterdir()
            for line in (task / "status").read_text().splitlines()
            if line.startswith("Cpus_allowed:")
        }

    before = processors()
    for count in (2, 3, 2):
        torch.set_num_threads(count)
        read(CONFIGS["qwen3"], [300, 1, 1])
        Stack([torch.randn(64, 64)])(torch.randn(1, 64))
    assert processors() == before


@needs_native
@torch.inference_mode()
def test_a_few_tokens_at_once_are_as_many_steps() -> None:
    at_once, one_by_one = (
        read(CONFIGS["qwen2"], [50, STEPS]),
        read(CONFIGS["qwen2"], [50] + [1] * STEPS),
    )
    assert torch.equal(at_once, one_by_one)


@needs_native
@pytest.mark.parametrize("place", ["keys", "values"])
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@torch.inference_mode()
def test_what_is_no_number_does_not_get_lost(place: str, number: float) -> None:
    """A model whose numbers left their range is refused by its logits: no maximum may swallow them."""
    model = build(CONFIGS["qwen3"])
    forward, lane = LlamaForward(weights_of(model, "int4")), Lane(probe_layout(model), 600)
    forward(IDS[:300], lane, 0)
    getattr(lane, place)[0][0, :, 100] = number
    assert not forward(IDS[300:301], lane, 300, is_answer=True).isfinite().any()


@torch.inference_mode()
def test_without_it_torch_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_library, "library", lambda: None)
    model = build(CONFIGS["qwen3"])
    weights = weights_of(model, "int4")
    assert not weights.is_native
    assert {type(packed) for packed in weights.packed} <= {few_bits.Int4, few_bits.Int8}
    forward, lane = LlamaForward(weights), Lane(probe_layout(model), 600)
    forward(IDS[:50], lane, 0)
    assert forward(IDS[50:51], lane, 50, is_answer=True).isfinite().all()


@needs_native
@torch.inference_mode()
def test_heads_it_cannot_run_are_left_to_torch() -> None:
    model = build(LlamaConfig(**{**LONG, "head_dim": 12}))
    assert not weights_of(model, "int4").is_native


@needs_native
@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@torch.inference_mode()
def test_nor_between_the_products(number: float) -> None:
    """What is no number stays none in a gate and on its way into the lane."""
    model = build(CONFIGS["qwen2"])
    weights = weights_of(model, "int8")
    rows, layer, lane = NativeRows(weights), weights.layers[0], Lane(probe_layout(model), 16)
    gate_up = torch.ones(2, 2 * layer.down.shape[1])
    gate_up[1, 3] = number
    out = rows.gate(gate_up)
    assert out[0].isfinite().all()
    assert not out[1, 3].isfinite()
    fused = torch.full((1, layer.qkv.shape[0]), number)
    rows.place(0, layer, fused, lane, 0, rows.angles(weights.rotary, 0, 1))
    assert not lane.keys[0][0, :, 0].isfinite().any()
    assert not lane.values[0][0, :, 0].isfinite().any()

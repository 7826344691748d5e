"""Checkpoints opened without transformers' model classes: what they compute is what those classes compute."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForCausalLM,
    Gemma2Config,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    Phi3Config,
    PreTrainedConfig,
)

from engine.cache.store import Lane
from engine.library.check import weight_files
from engine.llama import checkpoint as plain
from engine.llama.checkpoint import LeanNetwork, NotPlainError, open_folder
from engine.models import from_folder
from engine.models.from_transformers import TransformersNetwork
from engine.models.loaded import load
from engine.native import library as native_library
from engine.types import Dtype, ModelError
from tests.engine.gguf_packed import SHAPES, in_full
from tests.engine.llama.test_forward import CONFIGS, IDS, SIZES, build, own_logits
from tests.engine.tiny_models import make_tokenizer

CPU = torch.device("cpu")
OTHERS = {
    "gemma-2": Gemma2Config(**SIZES, sliding_window=16, query_pre_attn_scalar=12),
    "phi-3": Phi3Config(
        **{key: value for key, value in SIZES.items() if key != "head_dim"}, sliding_window=16, pad_token_id=0
    ),
}


def saved(folder: Path, config: PreTrainedConfig, **how: str) -> torch.nn.Module:
    config.architectures = None
    model = build(config)
    model.save_pretrained(folder, **how)
    return model


def open_plainly(folder: Path) -> LeanNetwork:
    config = plain.read_config(folder)
    assert config is not None
    return open_folder(config, folder, torch.float32, CPU, None)


@torch.inference_mode()
def logits_of(network: LeanNetwork) -> torch.Tensor:
    """Of the last of all ids, read at once."""
    return network.forward(IDS, Lane(network.layout, 80, fill=float("nan")), 0)


@pytest.mark.parametrize("name", CONFIGS)
@torch.inference_mode()
def test_logits_equal_the_class_own(name: str, tmp_path: Path) -> None:
    expected = own_logits(saved(tmp_path, CONFIGS[name]), IDS)
    network = open_plainly(tmp_path)
    lane = Lane(network.layout, 80, fill=float("nan"))
    network.forward(IDS[:40], lane, 0)
    torch.testing.assert_close(network.forward(IDS[40:], lane, 40), expected, atol=2e-5, rtol=2e-5)
    assert network.forward(IDS[-1:], lane, len(IDS) - 1).allclose(expected, atol=2e-5)


@pytest.mark.parametrize("name", CONFIGS)
def test_facts_equal_those_of_the_class(name: str, tmp_path: Path) -> None:
    config = CONFIGS[name]
    model = saved(tmp_path, config)
    ours, theirs = open_plainly(tmp_path), TransformersNetwork(model)
    for fact in ("architecture", "context_length", "end_ids", "reuse", "layout", "weights_bytes"):
        assert getattr(ours, fact) == getattr(theirs, fact), fact


@pytest.mark.parametrize(
    "changes",
    [
        {"rope_parameters": {"rope_theta": 1e4, "rope_type": "yarn", "factor": 2.0}},
        {"rope_parameters": {"rope_theta": 1e4, "rope_type": "default", "partial_rotary_factor": 0.5}},
        {"rope_scaling": {"type": "dynamic", "factor": 2.0}},
        {"hidden_act": "relu"},
        {"quantization_config": {"bits": 4}},
        {"model_type": "gemma"},
        {"architectures": ["LlamaForSequenceClassification"]},
        {"layer_types": ["sliding_attention"] * 3},
        {"rms_norm_eps": None},
        {"num_hidden_layers": "three"},
        {"num_key_value_heads": 3},
        {"num_key_value_heads": 0},
        {"head_dim": 7},
        {"rope_parameters": {"rope_theta": 10**400, "rope_type": "default"}},
        {"is_causal": False},
        {"use_bidirectional_attention": True},
        {"is_encoder_decoder": True},
        {"model_type": "mistral", "architectures": ["MistralForCausalLM"]},
        {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "use_sliding_window": True},
        {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "head_dim": None},
    ],
)
def test_what_is_not_plain_goes_the_other_way(changes: dict[str, object], tmp_path: Path) -> None:
    saved(tmp_path, LlamaConfig(**SIZES))
    file = tmp_path / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    assert plain.read_config(tmp_path) is None


def test_a_window_goes_the_other_way(tmp_path: Path) -> None:
    saved(tmp_path, MistralConfig(**SIZES, sliding_window=16))
    assert plain.read_config(tmp_path) is None


def test_shards_are_read_as_the_index_says(tmp_path: Path) -> None:
    expected = own_logits(saved(tmp_path, LlamaConfig(**SIZES), max_shard_size="40KB"), IDS)
    assert len(weight_files(tmp_path)) > 1
    save_file({"model.norm.weight": torch.zeros(64)}, tmp_path / "zz_other.safetensors")
    torch.testing.assert_close(logits_of(open_plainly(tmp_path)), expected, atol=2e-5, rtol=2e-5)


def folder_without(folder: Path, config: PreTrainedConfig, gone: str) -> Path:
    """A whole model folder, but for the tensors whose name holds `gone`."""
    saved(folder, config)
    make_tokenizer().save_pretrained(folder)
    file = folder / "model.safetensors"
    kept = {name: tensor for name, tensor in load_file(file).items() if gone not in name}
    save_file(kept, file, metadata={"format": "pt"})
    return folder


@pytest.mark.parametrize("gone", ["model.layers.2.mlp.up_proj.weight", "lm_head.weight", "model.norm.weight"])
def test_missing_weights_are_refused(gone: str, tmp_path: Path) -> None:
    folder = folder_without(tmp_path, LlamaConfig(**SIZES), gone)
    with pytest.raises(NotPlainError):
        open_plainly(folder)
    with pytest.raises(ModelError, match="lacks some of its weights"):
        load(folder, "cpu", "fp32")


def test_a_bias_that_the_configuration_does_not_know_is_not_used(tmp_path: Path) -> None:
    """As in transformers' classes, which leave such tensors out."""
    expected = own_logits(saved(tmp_path, LlamaConfig(**SIZES)), IDS)
    file = tmp_path / "model.safetensors"
    save_file(load_file(file) | {"model.layers.0.self_attn.q_proj.bias": torch.ones(64)}, file)
    torch.testing.assert_close(logits_of(open_plainly(tmp_path)), expected, atol=2e-5, rtol=2e-5)


def test_a_bias_that_is_missing_is_refused(tmp_path: Path) -> None:
    folder = folder_without(tmp_path, CONFIGS["qwen2"], "k_proj.bias")
    with pytest.raises(ModelError, match="lacks some of its weights"):
        load(folder, "cpu", "fp32")


@torch.inference_mode()
def test_tied_matrices_that_differ_go_the_other_way(tmp_path: Path) -> None:
    """transformers keeps both of them then."""
    saved(tmp_path, CONFIGS["llama, tied"])
    make_tokenizer().save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    tensors = load_file(file)
    head = {"lm_head.weight": tensors["model.embed_tokens.weight"].flip(0).contiguous()}
    save_file(tensors | head, file, metadata={"format": "pt"})
    with pytest.raises(NotPlainError):
        open_plainly(tmp_path)
    opened = load(tmp_path, "cpu", "fp32")
    own = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    torch.testing.assert_close(
        opened.forward(IDS, Lane(opened.layout, 80), 0), own_logits(own, IDS), atol=2e-5, rtol=2e-5
    )


def test_a_file_that_is_written_over_does_not_change_the_loaded_model(tmp_path: Path) -> None:
    saved(tmp_path, LlamaConfig(**SIZES))
    network = open_plainly(tmp_path)
    before = logits_of(network)
    file = tmp_path / "model.safetensors"
    file.write_bytes(bytes(file.stat().st_size))
    assert torch.equal(logits_of(network), before)


@pytest.mark.parametrize("name", ["llama with biases", "qwen3", "gemma-2", "phi-3"])
@pytest.mark.parametrize("bits", ["int8", "int4"])
@torch.inference_mode()
def test_matrices_in_few_bits_only(name: str, bits: Dtype, tmp_path: Path) -> None:
    """What was asked for in few bits is in memory in nothing else, says nearly the same, and is as exact."""
    if native_library.library() is None:
        pytest.skip("the compiled part is not here")
    saved(tmp_path, (CONFIGS | OTHERS)[name])
    make_tokenizer().save_pretrained(tmp_path)
    full, few = load(tmp_path, "cpu", "fp32"), load(tmp_path, "cpu", bits)
    assert few.dtype == bits
    stored = (tmp_path / "model.safetensors").stat().st_size  # in fp32
    assert few.weights_bytes < stored * 0.45
    expected, whole = logits_of(full.network), logits_of(few.network)
    assert float((whole - expected).norm() / expected.norm()) < (0.05 if bits == "int8" else 0.4)
    lane = Lane(few.layout, 80, fill=float("nan"))
    for start in range(0, len(IDS), 23):
        last = few.forward(IDS[start : start + 23], lane, start)
    assert torch.equal(last, whole)
    few.forward(IDS[:-1], lane, 0)
    written = few.forward(IDS[-1:], lane, len(IDS) - 1, is_answer=True)
    assert float((written - whole).norm() / whole.norm()) < 0.05


@pytest.mark.parametrize("name", ["llama, tied", "gemma-2"])
@pytest.mark.parametrize("dtype", ["fp32", "int8"])
def test_what_a_folder_takes_is_known_before(name: str, dtype: Dtype, tmp_path: Path) -> None:
    saved(tmp_path, (CONFIGS | OTHERS)[name])
    make_tokenizer().save_pretrained(tmp_path)
    fit = from_folder.plan(tmp_path, CPU, dtype, 1500).fit
    opened = load(tmp_path, "cpu", dtype)
    assert opened.weights_bytes == pytest.approx(fit.weights, rel=0.25)  # tiny rows are filled up by much
    assert (fit.token, fit.context, fit.longest) == (opened.layout.bytes_per_token, 256, 256)


def test_at_its_peak_a_folder_takes_one_tensor_more(tmp_path: Path) -> None:
    """Whatever the number of tensors in a file, in a process of its own, whose peak the system counts."""
    sizes = {"hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 8, "vocab_size": 2048}
    LlamaForCausalLM(LlamaConfig(**SIZES | sizes)).bfloat16().save_pretrained(tmp_path)
    program = (
        "import resource, sys, torch; from pathlib import Path; from engine.models import from_folder;"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024;"
        "torch.ones(512, 512).bfloat16() @ torch.ones(512, 512).bfloat16(); before = peak();"
        "net = from_folder.open_network(Path(sys.argv[1]), torch.device('cpu'), 'bf16', lambda *_: None);"
        "print(net.weights_bytes, peak() - before)"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True)
    weights, more = map(int, done.stdout.split())
    assert more < 1.15 * weights + 8 * 10**6


def test_the_default_model_is_plain(default_model: Path) -> None:
    """And it equals transformers' own model with the numbers that the gguf package reads."""
    ours = load(default_model, "cpu", "fp32")
    assert isinstance(ours.network, LeanNetwork)
    text = "<|im_start|>user\nHällo  wörld,\n\n 12345 \U0001f600<|im_end|>"
    model = in_full(default_model, SHAPES["135m"])
    assert ours.end_ids >= {2}
    ids = ours.tokenizer(text)["input_ids"]
    lane = Lane(ours.layout, 64)
    with torch.inference_mode():
        expected = model(input_ids=torch.tensor([ids])).logits[0, -1]
    torch.testing.assert_close(ours.forward(ids, lane, 0), expected, atol=2e-3, rtol=2e-3)


def test_the_default_model_loads_without_transformers_model_classes(default_model: Path) -> None:
    """Their import takes seconds of every start."""
    program = (
        "import sys; from pathlib import Path; from engine.models.loaded import load; import engine.worker.loading;"
        "load(Path(sys.argv[1]), 'cpu', 'auto');"
        "print([name for name in ('transformers.modeling_utils', 'torch._dynamo') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program, default_model], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr

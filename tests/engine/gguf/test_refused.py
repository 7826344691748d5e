"""GGUF files that are not a whole model of a known kind: each is refused in one sentence that names what is wrong."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.gguf import rope
from engine.gguf.config import ARCHITECTURES, configuration
from engine.gguf.header import GgufDamagedError, GgufForeignError, read_header
from engine.library.check_gguf import check_gguf
from engine.library.convert import convert_model
from engine.library.resolve import check_model
from engine.types import ModelError
from tests.engine.model_files import LAYERS, WIDTH, write_gguf


def convert(path: Path) -> None:
    made = path.with_suffix("")
    made.mkdir()
    convert_model(path, made, "fp32", lambda stage, part: None)


def numbers(*shape: int) -> Any:
    return np.ones(shape, np.float32)


HALF = WIDTH // 2 // 2
"""Frequencies of a head."""

TENSORS: list[tuple[Mapping[str, Any], str]] = [
    ({"blk.0.ffn_up.weight": None}, r"lacks blk\.0\.ffn_up\.weight: download it again"),
    ({f"blk.{n}.attn_q.weight": None for n in range(LAYERS)}, r"lacks blk\.0\.attn_q\.weight and 1 more"),
    ({"blk.0.attn_q.weight": numbers(2 * WIDTH, WIDTH)}, r"blk\.0\.attn_q\.weight in the shape 64 x 32, .* 32 x 32"),
    ({"blk.0.attn_norm.weight": numbers(WIDTH + 1)}, r"blk\.0\.attn_norm\.weight in the shape 33, .* needs 32"),
    ({"blk.1.attn_gate.weight": numbers(WIDTH, WIDTH)}, r"has blk\.1\.attn_gate\.weight, which llama models have no"),
    ({f"blk.{LAYERS}.attn_q.weight": numbers(WIDTH, WIDTH), "x": numbers(1)}, r"has blk\.2\.attn_q\.weight and 1 more"),
    ({"token_embd.weight": None}, r"lacks token_embd\.weight"),
    ({"blk.0.ffn_up.weight": np.ones((WIDTH, WIDTH), np.int8)}, "of the type I8, which is not read here: .* as Q8_0"),
    ({"rope_freqs.weight": numbers(HALF + 1)}, "not a readable GGUF file"),
    ({"rope_freqs.weight": -numbers(HALF)}, "not a readable GGUF file"),
    ({"rope_factors_long.weight": numbers(HALF)}, r"lacks rope_factors_short\.weight"),
]


@pytest.mark.parametrize(("tensors", "words"), TENSORS)
def test_tensors_that_are_not_the_models_are_named(tensors: Mapping[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=words):
        convert(write_gguf(tmp_path / "odd.gguf", tensors=tensors))


SAID: list[tuple[Mapping[str, Any], str]] = [
    ({"general.type": "mmproj"}, r"odd\.gguf reads images or sounds .*mmproj.*: open the model's own GGUF file"),
    ({"general.type": "imatrix"}, r"odd\.gguf holds statistics .*imatrix.*: open the model's own GGUF file"),
    ({"general.type": "adapter"}, r"odd\.gguf is an adapter \(LoRA\) without its model: merge it"),
    ({"llama.rope.scaling.type": "wonderful"}, r"scales positions in a way .*wonderful.*: get the model's safetensors"),
    ({"llama.rope.scaling.attn_factor": 2.0}, r"scales positions in a way .*attn_factor"),
    ({"llama.rope.dimension_count": 8}, "scales positions in a way .*8 of 16 numbers of a head"),
    ({"llama.attention.head_count": 0}, "not a readable GGUF file"),
    ({"llama.attention.head_count": "two"}, "not a readable GGUF file"),
    ({"llama.attention.layer_norm_rms_epsilon": float("nan")}, "not a readable GGUF file"),
    ({"llama.attention.head_count": [2, 1]}, r"layers of different sizes \(llama\.attention\.head_count\)"),
    ({"llama.attention.value_length": 8}, "keys and values of different sizes"),
    ({"llama.nextn_predict_layers": 1}, "guess several tokens at once"),
    ({"llama.attention.causal": False}, r"says False for llama\.attention\.causal, which cannot be followed"),
    ({"llama.logit_scale": 0.5}, r"says 0\.5 for llama\.logit_scale"),
    ({"llama.expert_count": 4}, r"does not say its llama\.expert_used_count"),
]


@pytest.mark.parametrize(("metadata", "words"), SAID)
def test_what_cannot_be_opened_is_named(metadata: Mapping[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=words):
        check_model(str(write_gguf(tmp_path / "odd.gguf", metadata=metadata)))


KEYS = (
    *("embedding_length", "feed_forward_length", "context_length", "vocab_size", "expert_count"),
    *("expert_used_count", "expert_feed_forward_length", "attention.head_count", "attention.head_count_kv"),
    *("attention.key_length", "attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon", "attention.scale"),
    *("attention.sliding_window", "attention.sliding_window_pattern", "logit_scale", "rope.dimension_count"),
    *("rope.freq_base", "rope.freq_base_swa", "rope.scaling.type", "rope.scaling.factor"),
    *("rope.scaling.original_context_length", "rope.scaling.attn_factor", "rope.scaling.yarn_beta_fast"),
)
VALUES = (0, 1, -1, 3, 2**31, 0.0, 1e-30, 1e30, math.inf, math.nan, True, "", "yarn", "longrope", (), (1, 2), ("x",))


SCALED = {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0}
DIVIDED = ((), (rope.DIVISORS,), (rope.LONG, rope.SHORT))


@pytest.mark.parametrize(
    ("architecture", "said", "divisors"),
    [(name, {}, ()) for name in ARCHITECTURES] + [("llama", SCALED, ())] + [("llama", {}, names) for names in DIVIDED],
)
def test_any_value_is_taken_or_refused(
    architecture: str, said: Mapping[str, Any], divisors: tuple[str, ...], tmp_path: Path
) -> None:
    """Whatever a file says, what comes out is a configuration or a refusal."""
    tensors = {name: numbers(HALF) for name in divisors}
    header = read_header(write_gguf(tmp_path / "tiny.gguf", tensors=tensors))
    of_llama = {key.partition(".")[2]: value for key, value in header.metadata.items() if key.startswith("llama.")}
    sound = of_llama | {"attention.layer_norm_epsilon": 1e-5} | dict(said)
    for key, value in itertools.product(KEYS, VALUES):
        metadata = {f"{architecture}.{name}": each for name, each in (sound | {key: value}).items()}
        with contextlib.suppress(GgufForeignError, GgufDamagedError):
            configuration(replace(header, metadata={"general.architecture": architecture, **metadata}))


@pytest.mark.parametrize(
    ("architecture", "words"),
    [
        ("wonderful", 'of the architecture "wonderful", .* get the model.s safetensors'),
        ("clip", "reads images"),
    ],
)
def test_other_architectures_are_named(architecture: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=words):
        check_model(str(write_gguf(tmp_path / "odd.gguf", architecture=architecture)))


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """A model in several files, in a folder of their own."""
    return sorted(write_gguf(tmp_path / "split" / "tiny.gguf", tensors_in_a_part=9).parent.iterdir())


def test_a_split_file_is_one_model(parts: list[Path], tmp_path: Path) -> None:
    whole = write_gguf(tmp_path / "tiny.gguf")
    for path in (whole, parts[0]):
        convert(path)
    assert len(parts) == 3
    one, other = ((path.with_suffix("") / "model.safetensors").read_bytes() for path in (whole, parts[0]))
    assert one == other


def test_parts_that_are_not_all_there_are_named(parts: list[Path]) -> None:
    first, second, third = parts
    with pytest.raises(ModelError, match=rf"{second.name} is not the first of its 3 parts: open {first.name}"):
        check_model(str(second))
    third.rename(third.with_suffix(".bak"))
    with pytest.raises(ModelError, match=rf"{first.name} needs all its parts in one folder: {third.name} missing"):
        check_model(str(first))
    second.unlink()
    with pytest.raises(ModelError, match=rf"{second.name} and 1 more missing"):
        check_model(str(first.parent))
    first.unlink()
    second.write_bytes(third.with_suffix(".bak").read_bytes())
    with pytest.raises(ModelError, match=rf"{second.name} needs all its parts in one folder: {first.name} and 1 more"):
        check_model(str(first.parent))


def test_parts_of_different_models_are_refused(parts: list[Path], tmp_path: Path) -> None:
    parts[1].write_bytes(parts[2].read_bytes())
    with pytest.raises(ModelError, match="do not belong together"):
        check_model(str(parts[0]))


def test_a_part_that_was_renamed_is_refused(parts: list[Path]) -> None:
    renamed = parts[0].rename(parts[0].with_name("mine.gguf"))
    with pytest.raises(ModelError, match=r"mine\.gguf is one of 3 parts .*NAME-00001-of-00003\.gguf"):
        check_model(str(renamed))


def test_a_part_that_is_cut_is_refused(parts: list[Path]) -> None:
    parts[2].write_bytes(parts[2].read_bytes()[:-1])
    with pytest.raises(ModelError, match=rf"{parts[2].name} is cut short"):
        check_model(str(parts[0]))


def test_what_lies_beside_a_model_is_passed_over(parts: list[Path]) -> None:
    for sort in ("mmproj", "imatrix", "adapter"):
        write_gguf(parts[0].with_name(f"a-{sort}.gguf"), metadata={"general.type": sort})
    check_model(str(parts[0].parent))
    write_gguf(parts[0].with_name("b.gguf"))
    with pytest.raises(ModelError, match="holds 2 GGUF models: choose one"):
        check_model(str(parts[0].parent))


def test_ends_of_answers_are_all_that_the_file_names(tmp_path: Path) -> None:
    metadata = {"tokenizer.ggml.eot_token_id": 7, "tokenizer.ggml.eom_token_id": 9, "tokenizer.ggml.seperator": 3}
    path = write_gguf(tmp_path / "tiny.gguf", metadata=metadata)
    check_gguf(path)
    convert(path)
    assert '"eos_token_id": [2, 7, 9]' in (path.with_suffix("") / "generation_config.json").read_text()

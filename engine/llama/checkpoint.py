"""Opens a checkpoint of one of our families without transformers' model classes, whose import alone takes seconds.

Whether one is plain is decided from its config.json: full attention, plain rotary positions, and every number written
out. The configurations of all others are read through transformers, which knows what a class takes for granted
(`engine.models.decoders`); those that no family of ours fits are opened by it (`engine.models.from_transformers`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.cache.store import KVLayout, Lane
from engine.library.check import MOST_COUNTED, read_json, weight_files
from engine.library.child_process import Progress
from engine.library.places import model_name
from engine.llama.family import FAMILIES, Decoder, LayerKind, Rope, decoder, shapes
from engine.llama.forward import LlamaForward
from engine.llama.weights import Tensors, Weights, plain_frequencies
from engine.types import ModelError, ReuseClass
from engine.weights.from_safetensors import Stored, read_packed, stored
from engine.weights.mapped_file import MappedFiles, changed_while_read
from engine.weights.packed import CodedMatrix
from engine.weights.quantise import Bits

EMBEDDING, HEAD = "model.embed_tokens.weight", "lm_head.weight"
STAGE = "Reading the weights"

PLAIN = ("llama", "mistral", "qwen2", "qwen3")
"""Classes whose config.json says all that there is to say about most of their models."""

NUMBERS = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


class NotPlainError(Exception):
    """The weights are not what a plain configuration promises: transformers may know what to make of them."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The model that a folder holds, and the number type `dtype` that its weights are stored in."""

    decoder: Decoder
    dtype: torch.dtype


def read_config(folder: Path) -> Checkpoint | None:
    """The configuration of a plain model, or None for every other model.

    None also stands for a file that leaves something open or makes no sense: transformers then says what is wrong.
    """
    try:
        config = read_json(folder / "config.json")
        found = plain_decoder(config, ends_of(folder)) if _is_plain(config) else None
        dtype = NUMBERS[config.get("dtype") or config["torch_dtype"]]
        return None if found is None else Checkpoint(found, dtype)
    except (ModelError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError):
        return None


def plain_decoder(config: Mapping[str, Any], ends: frozenset[int]) -> Decoder | None:
    """The decoder that a configuration describes whose classes need no more than what it says, and whose positions are
    turned by plain frequencies; None for all others. Raises as `decoder` does."""
    rope = config.get("rope_parameters") or {"rope_theta": config.get("rope_theta"), "rope_type": "default"}
    kind = config["model_type"]
    if kind not in PLAIN or set(rope) != {"rope_theta", "rope_type"} or rope["rope_type"] != "default":
        return None
    dim = int(config.get("head_dim") or int(config["hidden_size"]) // int(config["num_attention_heads"]))
    if not 0 < dim <= MOST_COUNTED["head_dim"]:
        raise ValueError(f"heads of {dim} numbers")
    frequencies = plain_frequencies(dim, float(rope["rope_theta"]))
    made = decoder(_without_unused_window(config), {"": Rope(tuple(frequencies.tolist()))}, ends)
    return made if made is not None and set(made.layers) == {LayerKind()} else None


def _without_unused_window(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The configuration; one of Mistral's that does not say whether it has a window has one: KeyError. The Qwens' has
    one on request only, in layers that transformers' class would list."""
    if config["model_type"] == "mistral":
        return {**config, "sliding_window": config["sliding_window"]}
    if config.get("use_sliding_window") and config.get("sliding_window", "the default one") is not None:
        raise ValueError("layers with a window are not listed")
    return config


def _is_plain(config: Mapping[str, Any]) -> bool:
    return (
        config["architectures"] == [FAMILIES[config["model_type"]].architecture]
        and not any(config.get(key) for key in ("is_encoder_decoder", "use_bidirectional_attention"))
        and not any(config.get(key) for key in ("rope_scaling", "quantization_config", "adapter_path", "auto_map"))
        and not config.get("transformers_weights")
        and config.get("partial_rotary_factor", 1) == 1
    )


def ends_of(folder: Path) -> frozenset[int]:
    """The tokens that end an answer, as the configurations of a folder give them. Raises ModelError."""
    files = [file for name in ("config.json", "generation_config.json") if (file := folder / name).is_file()]
    return frozenset().union(*(end_ids(read_json(file).get("eos_token_id")) for file in files))


def end_ids(value: object) -> frozenset[int]:
    """The tokens that end an answer, as a configuration gives them: none, one or several. What is no number is none."""
    return frozenset(each for each in (value if isinstance(value, list) else [value]) if type(each) is int)


class LeanNetwork:
    """A model as a `Network`: our own forward pass over its weights."""

    def __init__(
        self,
        decoder: Decoder,
        tensors: Tensors,
        bits: Bits | None,
        *,
        keeps_full: bool = False,
        reuse: ReuseClass | None = None,
        files: MappedFiles | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """`files` are mapped, and hold some of the weights; `check` raises ModelError where one of these is no
        number."""
        self._files = files or MappedFiles()
        self._check = check
        self.architecture = decoder.family.architecture
        self.context_length = decoder.context_length
        self.vocabulary = decoder.vocabulary
        self.end_ids = decoder.end_ids
        self.reuse = reuse or ReuseClass()
        self._forward = LlamaForward(Weights(decoder, tensors, bits, keeps_full=keeps_full))

    @property
    def layout(self) -> KVLayout:
        """That of the lanes it writes to."""
        return self._forward.layout

    def check_weights(self) -> None:
        """Raise ModelError where a weight that stays in its file is no number. All are looked at once."""
        self._check()
        self._check = lambda: None

    def round_cache(self) -> None:
        """Round keys and values to 8 bits from now on."""
        self._forward.layout = replace(self.layout, is_rounded=True)

    @property
    def bits(self) -> str:
        return self._forward.weights.bits

    @property
    def weights_bytes(self) -> int:
        return self._forward.weights.nbytes

    @property
    def fixed_step(self) -> Callable[[Tensor, Tensor, Lane, int], Tensor] | None:
        return self._forward.at

    def forward(self, ids: Sequence[int] | Tensor, lane: Lane, start: int, *, is_answer: bool = False) -> Tensor:
        logits = self._forward(ids, lane, start, is_answer=is_answer)
        self._files.check()
        return logits

    @property
    def at_once(self) -> int:
        return self._forward.at_once

    def steps(self, ids: Sequence[int], lane: Lane, start: int) -> Tensor:
        logits = self._forward.steps(ids, lane, start)
        self._files.check()
        return logits


def open_folder(
    checkpoint: Checkpoint,
    folder: Path,
    dtype: torch.dtype,
    device: torch.device,
    bits: Bits | None,
    reuse: ReuseClass | None = None,
    *,
    packs: bool = False,
    progress: Progress = lambda stage, fraction: None,
) -> LeanNetwork:
    """The model in a folder, read tensor by tensor. With `packs` its matrices are kept in `bits` only, else in full,
    beside copies in `bits` where there are any.

    Raises NotPlainError where the weights do not fit the configuration, ModelError where the files change meanwhile.
    """
    files = weight_files(folder)
    before, decoder = identities(files), checkpoint.decoder
    expected, found = dict(shapes(decoder)), stored(files)
    _check(found, decoder, expected)
    whole, done = sum(found[name].numbers for name in expected), 0
    tensors: dict[str, Tensor | CodedMatrix] = {}
    for name in expected:
        progress(STAGE, done / whole)
        is_packed = packs and len(found[name].shape) == 2
        tensors[name] = _packed(found[name], name, bits) if is_packed else _full(found[name], dtype, device)
        done += found[name].numbers
    if identities(files) != before:
        raise changed_while_read(model_name(folder), folder)
    return LeanNetwork(decoder, tensors, None if packs else bits, reuse=reuse)


def identities(files: Sequence[Path]) -> list[tuple[int, int]]:
    """What becomes another when one of some files is changed or replaced."""
    return [(status.st_size, status.st_mtime_ns) for status in (path.stat() for path in files)]


def _full(tensor: Stored, dtype: torch.dtype, device: torch.device) -> Tensor:
    return tensor.read().to(device, dtype)


def _packed(tensor: Stored, name: str, bits: Bits | None) -> CodedMatrix:
    """A matrix in few bits; those of the vocabulary in 8, since each of their rows is used by itself."""
    is_outer = name in (EMBEDDING, HEAD)
    return read_packed(tensor, "int8" if is_outer or bits is None else bits)


def _check(found: Mapping[str, Stored], decoder: Decoder, expected: Mapping[str, tuple[int, ...]]) -> None:
    """Raise NotPlainError where a tensor that the configuration asks for is missing, of another shape or no plain
    numbers, or where tied matrices are stored as two. Others are not used: a bias that it does not know, say."""
    if missing := sorted(set(expected) - set(found)):
        raise NotPlainError("missing: " + ", ".join(missing))
    if wrong := [name for name, shape in expected.items() if found[name].shape != shape or found[name].dtype is None]:
        raise NotPlainError("of another shape or type: " + ", ".join(wrong))
    own_head = found.get(HEAD)
    if decoder.is_tied and own_head is not None:
        embedding = found[EMBEDDING]
        if own_head.shape != embedding.shape or not torch.equal(own_head.read(), embedding.read()):
            raise NotPlainError("tied, with two matrices")

"""The tensors of a GGUF file, under the names and in the shapes that the model's transformers class has for them.

llama.cpp's converter renames tensors, reorders the rows of queries and keys for some architectures, adds one to the
norms of others, and stacks experts; here each of these is undone.
https://github.com/ggml-org/llama.cpp/tree/master/conversion
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.gguf import rope
from engine.gguf.dequantise import Numbers, StoredTensor
from engine.gguf.header import GgufForeignError, GgufHeader, GgufTensor

Shape = tuple[int, ...]
Config = Mapping[str, Any]
Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Way:
    """How tensors of the file become one of the model.

    `shape` gives the shape of the result from those of the sources and the configuration, or None where these do not
    fit together. `pieces` gives its numbers in their order, some at a time. `rows` says which rows of the one source
    the result is, where it is nothing but that."""

    shape: Callable[[Sequence[Shape], Config], Shape | None]
    pieces: Callable[[Sequence[StoredTensor], Config], Iterator[Numbers]]
    rows: Callable[[Sequence[Shape], Config], Rows] | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows `first` to `last` of a tensor, in another `order` where there is one: row i of the result is row
    `first + order[i]`."""

    first: int
    last: int
    order: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """The tensors that one is made of, by their names in the file, and how. "#" stands for the number of a layer."""

    names: tuple[str, ...]
    way: Way


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one tensor of the model is made of a file's."""

    _tensors: tuple[GgufTensor, ...]
    _way: Way
    _config: Config

    def pieces(self) -> Iterator[Numbers]:
        """The tensor's numbers in their order, some at a time."""
        return self._way.pieces([StoredTensor(each) for each in self._tensors], self._config)

    def rows(self) -> tuple[StoredTensor, Rows] | None:
        """The matrix of the file whose rows these are; None where it is made in another way."""
        if self._way.rows is None or len(self._tensors[0].shape) != 2:
            return None
        return StoredTensor(self._tensors[0]), self._way.rows([each.shape for each in self._tensors], self._config)


def recipes(header: GgufHeader, config: Config, expected: Mapping[str, Shape]) -> dict[str, Recipe]:
    """How each tensor that a model `expects`, with its shape, is made of the file's tensors.

    Raises GgufForeignError where one is missing or of another shape, and where the file has others that would be left
    out: then the numbers would be wrong.
    """
    sources = _SOURCES[config["model_type"]]
    made = {name: _source(name, sources, header) for name in expected}
    lacking = [each for source in made.values() for each in source.names if each not in header.tensors]
    if lacking:
        raise GgufForeignError(f"lacks {_listed(lacking)}: download it again, or get the model's safetensors folder.")
    for name, source in made.items():
        _check_shape(source, header, config, expected[name])
    used = {each for source in made.values() for each in source.names} | rope.TENSORS
    if unused := [name for name in header.tensors if name not in used]:
        raise GgufForeignError(
            f"has {_listed(unused)}, which {config['model_type']} models have no place for: get the model's "
            "safetensors folder instead."
        )
    return {
        name: Recipe(tuple(header.tensors[each] for each in source.names), source.way, config)
        for name, source in made.items()
    }


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _check_shape(source: Source, header: GgufHeader, config: Config, expected: Shape) -> None:
    shapes = [header.tensors[name].shape for name in source.names]
    found = source.way.shape(shapes, config)
    if found is None or _without_ones(found) != _without_ones(expected):
        sizes = " and ".join(" x ".join(map(str, shape)) for shape in shapes)
        raise GgufForeignError(
            f"has {' and '.join(source.names)} in the shape {sizes}, and the model needs "
            f"{' x '.join(map(str, expected))}: download it again, or get the model's safetensors folder."
        )


def _without_ones(shape: Shape) -> Shape:
    return tuple(size for size in shape if size != 1)


def _source(name: str, sources: Mapping[str, tuple[Source, ...]], header: GgufHeader) -> Source:
    """The first source of a tensor whose parts are all in the file, else the first of all."""
    number = re.search(r"\.(\d+)\.", name)
    general = re.sub(r"\.\d+\.", ".#.", name, count=1)
    module, _, suffix = general.rpartition(".")
    if general in sources:
        found, ending = sources[general], ""
    elif module in sources:
        found, ending = sources[module], f".{suffix}"
    else:
        raise GgufForeignError(
            f"cannot be opened: nothing in it is known to become {name}. Get the model's safetensors folder instead."
        )
    layer = number[1] if number else ""
    named = [Source(tuple(each.replace("#", layer) + ending for each in one.names), one.way) for one in found]
    return next((one for one in named if header.tensors.keys() >= set(one.names)), named[0])


# Ways


def _same_shape(shapes: Sequence[Shape], config: Config) -> Shape:
    return shapes[0]


def _rest_shape(shapes: Sequence[Shape], config: Config) -> Shape | None:
    """The shape of several tensors behind each other; all but their first dimension must be equal."""
    rests = {shape[1:] for shape in shapes}
    return (sum(shape[0] for shape in shapes), *rests.pop()) if len(rests) == 1 and all(shapes) else None


PLAIN = Way(_same_shape, lambda tensors, config: tensors[0].pieces(), lambda shapes, config: Rows(0, shapes[0][0]))
TRANSPOSED = Way(
    lambda shapes, config: tuple(reversed(shapes[0])), lambda tensors, config: iter([tensors[0].whole().T])
)
LESS_ONE = Way(_same_shape, lambda tensors, config: iter([tensors[0].whole() - 1]))
"""Norms that multiply with one plus their weight; the file has the sum."""

JOINED = Way(_rest_shape, lambda tensors, config: (piece for tensor in tensors for piece in tensor.pieces()))
"""Several matrices below each other."""


def _unpermuted(heads: str) -> Way:
    """Rows of queries or keys in the order of transformers."""

    def shape(shapes: Sequence[Shape], config: Config) -> Shape | None:
        return shapes[0] if shapes[0] and shapes[0][0] % (2 * config[heads]) == 0 else None

    def rows(shapes: Sequence[Shape], config: Config) -> Rows:
        return Rows(0, shapes[0][0], _in_halves(np.arange(shapes[0][0]), config[heads]))

    return Way(shape, lambda tensors, config: iter([_in_halves(tensors[0].whole(), config[heads])]), rows)


def _in_halves(rows: NDArray[Number], heads: int) -> NDArray[Number]:
    """Rows as transformers turns them, the first half of a head against the second. In the file the two numbers of a
    pair stand next to each other."""
    return rows.reshape(heads, -1, 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


_FUSED = ("num_attention_heads", "num_key_value_heads", "num_key_value_heads")
"""What one matrix for queries, keys and values has below each other: so many heads of each."""


def _part_of_fused(part: int, is_permuted: bool = False) -> Way:
    """The queries (0), keys (1) or values (2) of a fused matrix, reordered where `is_permuted` says so."""

    def shape(shapes: Sequence[Shape], config: Config) -> Shape | None:
        rows = sum(config[heads] for heads in _FUSED) * config["head_dim"]
        return (config[_FUSED[part]] * config["head_dim"], *shapes[0][1:]) if shapes[0][:1] == (rows,) else None

    def rows(shapes: Sequence[Shape], config: Config) -> Rows:
        before = sum(config[heads] for heads in _FUSED[:part]) * config["head_dim"]
        count = config[_FUSED[part]] * config["head_dim"]
        order = _in_halves(np.arange(count), config[_FUSED[part]]) if is_permuted else None
        return Rows(before, before + count, order)

    def pieces(tensors: Sequence[StoredTensor], config: Config) -> Iterator[Numbers]:
        wanted = rows([tensor.shape for tensor in tensors], config)
        found = tensors[0].whole()[wanted.first : wanted.last]
        yield found if wanted.order is None else found[wanted.order]

    return Way(shape, pieces, rows)


def _experts_shape(shapes: Sequence[Shape], config: Config) -> Shape | None:
    gate, up = shapes
    return (gate[0], 2 * gate[1], gate[2]) if gate == up and len(gate) == 3 else None


def _gate_up_pieces(tensors: Sequence[StoredTensor], config: Config) -> Iterator[Numbers]:
    for expert in range(tensors[0].shape[0]):
        for tensor in tensors:
            yield tensor.part(expert)


GATE_UP = Way(_experts_shape, _gate_up_pieces)
"""The two matrices of each expert below each other."""


def _flipped_shape(shapes: Sequence[Shape], config: Config) -> Shape | None:
    return (shapes[0][0], *reversed(shapes[0][1:])) if shapes[0] else None


def _flipped_pieces(tensors: Sequence[StoredTensor], config: Config) -> Iterator[Numbers]:
    return (tensors[0].part(expert).T for expert in range(tensors[0].shape[0]))


FLIPPED = Way(_flipped_shape, _flipped_pieces)
"""The matrix of each expert transposed."""


def _interleaved_shape(shapes: Sequence[Shape], config: Config) -> Shape | None:
    gate, up = shapes
    return (gate[0], *reversed(gate[2:]), 2 * gate[1]) if gate == up and len(gate) > 1 else None


def _interleaved_pieces(tensors: Sequence[StoredTensor], config: Config) -> Iterator[Numbers]:
    gate, up = tensors
    for expert in range(gate.shape[0]):
        rows = np.stack([gate.part(expert), up.part(expert)], axis=1)  # [inner, 2, ...]
        yield rows.reshape(-1, *rows.shape[2:]).T


INTERLEAVED = Way(_interleaved_shape, _interleaved_pieces)
"""GPT-OSS: the rows of both matrices of an expert by turns, and that transposed."""


# Names


def _plain(names: Mapping[str, str]) -> dict[str, tuple[Source, ...]]:
    return {name: (Source((source,), PLAIN),) for name, source in names.items()}


def _in_layers(names: Mapping[str, str]) -> dict[str, tuple[Source, ...]]:
    return _plain({f"model.layers.#.{name}": f"blk.#.{source}" for name, source in names.items()})


def _one(name: str, way: Way, *sources: str) -> dict[str, tuple[Source, ...]]:
    """One tensor of a layer that is made in another way."""
    return {f"model.layers.#.{name}": (Source(tuple(f"blk.#.{source}" for source in sources), way),)}


_OUTER = _plain({"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"})
_ATTENTION = {
    **_in_layers(
        {"self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm"}
    ),
    "model.layers.#.self_attn.q_proj": (
        Source(("blk.#.attn_q",), PLAIN),
        Source(("blk.#.attn_qkv",), _part_of_fused(0)),
    ),
    "model.layers.#.self_attn.k_proj": (
        Source(("blk.#.attn_k",), PLAIN),
        Source(("blk.#.attn_qkv",), _part_of_fused(1)),
    ),
    "model.layers.#.self_attn.v_proj": (
        Source(("blk.#.attn_v",), PLAIN),
        Source(("blk.#.attn_qkv",), _part_of_fused(2)),
    ),
}
_PERMUTED = {
    "model.layers.#.self_attn.q_proj": (
        Source(("blk.#.attn_q",), _unpermuted("num_attention_heads")),
        Source(("blk.#.attn_qkv",), _part_of_fused(0, is_permuted=True)),
    ),
    "model.layers.#.self_attn.k_proj": (
        Source(("blk.#.attn_k",), _unpermuted("num_key_value_heads")),
        Source(("blk.#.attn_qkv",), _part_of_fused(1, is_permuted=True)),
    ),
}
_MLP = _in_layers({"mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"})
_NORMS = _in_layers({"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"})
_DECODER = _OUTER | _ATTENTION | _MLP | _NORMS
_LLAMA = _DECODER | _PERMUTED
_EXPERTS = {
    **_in_layers({"mlp.gate": "ffn_gate_inp", "mlp.experts.down_proj": "ffn_down_exps.weight"}),
    "model.layers.#.mlp.experts.gate_up_proj": (
        Source(("blk.#.ffn_gate_exps.weight", "blk.#.ffn_up_exps.weight"), GATE_UP),
        Source(("blk.#.ffn_gate_up_exps.weight",), PLAIN),
    ),
}
_SHARED_EXPERT = _in_layers(
    {
        "mlp.shared_expert.gate_proj": "ffn_gate_shexp",
        "mlp.shared_expert.up_proj": "ffn_up_shexp",
        "mlp.shared_expert.down_proj": "ffn_down_shexp",
        "mlp.shared_expert_gate": "ffn_gate_inp_shexp",
    }
)
_GEMMA_NORMS = {
    "model.norm": (Source(("output_norm",), LESS_ONE),),
    **_one("input_layernorm", LESS_ONE, "attn_norm"),
    **_one("self_attn.q_norm", LESS_ONE, "attn_q_norm"),
    **_one("self_attn.k_norm", LESS_ONE, "attn_k_norm"),
}
_GEMMA = _DECODER | _GEMMA_NORMS | _one("post_attention_layernorm", LESS_ONE, "ffn_norm")
_GEMMA2 = (
    _GEMMA
    | _one("post_attention_layernorm", LESS_ONE, "post_attention_norm")
    | _one("pre_feedforward_layernorm", LESS_ONE, "ffn_norm")
    | _one("post_feedforward_layernorm", LESS_ONE, "post_ffw_norm")
)
_OLMO2 = _DECODER | _in_layers(
    {"post_attention_layernorm": "post_attention_norm", "post_feedforward_layernorm": "post_ffw_norm"}
)
_PHI = _DECODER | _in_layers({"self_attn.dense": "attn_output", "mlp.fc1": "ffn_up", "mlp.fc2": "ffn_down"})
_PHI3 = _DECODER | {
    "model.layers.#.self_attn.qkv_proj": (
        Source(("blk.#.attn_qkv",), PLAIN),
        Source(("blk.#.attn_q", "blk.#.attn_k", "blk.#.attn_v"), JOINED),
    ),
    **_in_layers({"mlp.gate_up_proj": "ffn_up"}),
}
_GLM4 = _DECODER | _in_layers(
    {
        "mlp.gate_up_proj": "ffn_up",
        "post_self_attn_layernorm": "post_attention_norm",
        "post_mlp_layernorm": "post_ffw_norm",
    }
)
_GPT2 = {
    **_plain({"transformer.wte": "token_embd", "transformer.wpe": "position_embd", "lm_head": "output"}),
    **_plain({"transformer.ln_f": "output_norm"}),
    **_plain(
        {f"transformer.h.#.{name}": f"blk.#.{source}" for name, source in (("ln_1", "attn_norm"), ("ln_2", "ffn_norm"))}
    ),
}
_GPT2_LINEAR = {"attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"}
for _name, _stored in _GPT2_LINEAR.items():
    _GPT2[f"transformer.h.#.{_name}.weight"] = (Source((f"blk.#.{_stored}.weight",), TRANSPOSED),)
    _GPT2[f"transformer.h.#.{_name}.bias"] = (Source((f"blk.#.{_stored}.bias",), PLAIN),)
_GPT_OSS = (
    _DECODER
    | _in_layers({"mlp.router": "ffn_gate_inp", "self_attn.sinks": "attn_sinks.weight"})
    | _in_layers({"post_attention_layernorm": "post_attention_norm"})
    | _in_layers({"mlp.experts.down_proj_bias": "ffn_down_exps.bias"})
    | _one("mlp.experts.down_proj", FLIPPED, "ffn_down_exps.weight")
    | _one("mlp.experts.gate_up_proj", INTERLEAVED, "ffn_gate_exps.weight", "ffn_up_exps.weight")
    | _one("mlp.experts.gate_up_proj_bias", INTERLEAVED, "ffn_gate_exps.bias", "ffn_up_exps.bias")
)

_NEMOTRON = _DECODER | {
    "model.norm.weight": (Source(("output_norm.weight",), LESS_ONE),),
    **_one("input_layernorm.weight", LESS_ONE, "attn_norm.weight"),
    **_one("post_attention_layernorm.weight", LESS_ONE, "ffn_norm.weight"),
}

_SOURCES: Mapping[str, Mapping[str, tuple[Source, ...]]] = {
    **dict.fromkeys(("llama", "mistral", "ministral3", "granite", "smollm3", "arcee"), _LLAMA),
    "mixtral": _LLAMA | _EXPERTS,
    **dict.fromkeys(("qwen2", "qwen3", "cohere", "cohere2", "ernie4_5"), _DECODER),
    **dict.fromkeys(("qwen2_moe", "qwen3_moe", "olmoe"), _DECODER | _EXPERTS | _SHARED_EXPERT),
    "phi": _PHI | _plain({"model.final_layernorm": "output_norm"}),
    "phi3": _PHI3,
    "gemma": _GEMMA,
    **dict.fromkeys(("gemma2", "gemma3_text"), _GEMMA2),
    **dict.fromkeys(("olmo2", "olmo3", "exaone4"), _OLMO2),
    "nemotron": _NEMOTRON,
    "starcoder2": _DECODER | _in_layers({"mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"}),
    "gpt2": _GPT2,
    "glm4": _GLM4,
    "gpt_oss": _GPT_OSS,
    "seed_oss": _DECODER | _in_layers({"post_attention_layernorm": "post_attention_norm"}),
}
"""For each class: what its tensors are called in the file, and how they are made. A name without "weight" or "bias"
stands for both."""

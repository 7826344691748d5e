"""Opens a GGUF file as it is: nothing is converted, and nothing is written to disk.

Models of the Llama family keep their weights packed as the file has them; on the CPU most of them are computed with
where they lie in the file, which is mapped into memory. All others are widened, and computed by transformers' own
forward pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.gguf.blocks import FORMATS
from engine.gguf.config import configuration
from engine.gguf.header import GgufDamagedError, GgufForeignError, GgufHeader
from engine.gguf.tensors import Recipe, recipes
from engine.gguf.tokenizer import read_tokenizer
from engine.library.check_gguf import check_gguf, refuse_gguf
from engine.library.child_process import Progress
from engine.library.places import model_name
from engine.llama.checkpoint import STAGE, LeanNetwork, end_ids, identities, plain_decoder
from engine.llama.family import Decoder, shapes
from engine.models.choice import NAMES, NUMBER_TYPES, Need, choose_dtype, fit_of, full_is_cheap, require_memory
from engine.native import library as native_library
from engine.types import Dtype, ModelError, ModelFit, ReuseClass
from engine.weights.arena import Arena
from engine.weights.blocks import BlockMatrix
from engine.weights.compiled_matrix import can_read
from engine.weights.from_gguf import check_numbers, packed_bytes, read_numbers, read_packed
from engine.weights.mapped_file import MappedFiles, changed_while_read
from engine.weights.packed import CodedMatrix
from engine.weights.quantise import Bits
from engine.weights.row_products import TILE

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a file is going to be opened, and what the model takes, by its header alone.

    `decoder` and `reuse` are for our own forward pass, None where transformers computes the model. `made` says how
    each tensor of `expected` becomes of the file's; with `is_packed` matrices stay as they are, all others are read in
    `number`, and copied in `bits` where there are any.
    """

    header: GgufHeader
    config: Mapping[str, Any]
    decoder: Decoder | None
    reuse: ReuseClass
    expected: Shapes
    made: Mapping[str, Recipe]
    number: torch.dtype
    bits: Bits | None
    is_packed: bool
    fit: ModelFit


def plan(
    path: Path, where: torch.device, dtype: Dtype, context: int | None, wait: Callable[[], object] = lambda: None
) -> Plan:
    """`wait` is called before transformers is imported here. Raises ModelError where the file is not whole, or holds a
    model that cannot be opened."""
    header = check_gguf(path)
    try:
        return _planned(header, where, dtype, context, wait)
    except (GgufForeignError, GgufDamagedError) as error:
        raise refuse_gguf(path, error) from error


def open_network(
    path: Path,
    where: torch.device,
    dtype: Dtype,
    progress: Progress,
    wait: Callable[[], object] = lambda: None,
    context: int | None = None,
) -> Any:
    """The network of a GGUF file, for conversations of up to `context` tokens. Raises ModelError where the file is not
    whole, OutOfMemoryError where there is no memory for it."""
    before = identities([path])
    made = plan(path, where, dtype, context, wait)
    before += identities(made.header.paths)
    require_memory(made.fit)
    try:
        network = _lean(made, where, progress) if made.decoder is not None else _widened(made, where, progress)
    except (GgufForeignError, GgufDamagedError, OSError, ValueError) as error:
        if not _are_as_before([path, *made.header.paths], before):
            raise changed_while_read(path.name, path) from error
        if isinstance(error, GgufForeignError | GgufDamagedError):
            raise refuse_gguf(path, error) from error
        raise
    if not _are_as_before([path, *made.header.paths], before):
        raise changed_while_read(path.name, path)
    return network


def _are_as_before(files: Sequence[Path], before: Sequence[tuple[int, int]]) -> bool:
    """Whether some files still have these identities; one that is gone has none."""
    try:
        return identities(files) == before
    except OSError:
        return False


def _planned(
    header: GgufHeader, where: torch.device, dtype: Dtype, context: int | None, wait: Callable[[], object]
) -> Plan:
    config = configuration(header)
    own = NUMBER_TYPES[header.dtype]
    decoder, reuse = plain_decoder(_as_plain(config), end_ids(config["eos_token_id"])), ReuseClass()
    if decoder is None:
        wait()
        found = _described(config)
        if found is None:
            return _planned_in_full(header, config, where, dtype, context)
        decoder, reuse = found
    expected = dict(shapes(decoder))
    made = recipes(header, config, expected)
    is_packed = _stays_packed(made, where, dtype)
    size = 0 if is_packed else sum(map(prod, expected.values())) * own.itemsize
    number, bits = choose_dtype(dtype, where, decoder.width, own, size)
    need = _need(made, decoder, number, is_packed, bits is not None, where)
    fit = _fit(header, need, number, decoder.context_length, context, where)
    return Plan(header, config, decoder, reuse, expected, made, number, bits, is_packed, fit)


def _fit(
    header: GgufHeader, need: Need, number: torch.dtype, longest: int, context: int | None, where: torch.device
) -> ModelFit:
    return fit_of(need, model_name(header.paths[0]), NAMES[number], longest, context, where)


def _lean(plan: Plan, where: torch.device, progress: Progress) -> LeanNetwork:
    """A model that our own forward pass computes."""
    assert plan.decoder is not None
    files = MappedFiles() if plan.is_packed and where.type == "cpu" else None
    tensors = _Reader(plan.number, where, plan.is_packed, files, progress).read(plan.made, plan.expected)
    in_full = sum(map(prod, plan.expected.values())) * plan.number.itemsize
    stays = [each for each in tensors.values() if isinstance(each, BlockMatrix)]
    if isinstance(embedding := tensors["model.embed_tokens.weight"], BlockMatrix):
        check_numbers(embedding)  # no pass takes all of it
    is_slower = where.type == "cpu" and can_read(plan.number)  # more bytes come from memory
    keeps = plan.is_packed and not is_slower and full_is_cheap(in_full, where)
    check = partial(_check_all, stays)
    if plan.decoder.softcap or plan.decoder.final_softcap:
        check()  # a bound makes numbers of what is infinite
    return LeanNetwork(plan.decoder, tensors, plan.bits, keeps_full=keeps, reuse=plan.reuse, files=files, check=check)


def _check_all(matrices: Sequence[BlockMatrix]) -> None:
    """Raise ModelError where a weight that stays in its file is no number."""
    for matrix in matrices:
        try:
            check_numbers(matrix)
        except GgufDamagedError as error:
            assert matrix.file is not None
            raise refuse_gguf(matrix.file.path, error) from error


def _need(
    made: Mapping[str, Recipe],
    decoder: Decoder,
    number: torch.dtype,
    is_packed: bool,
    copies: bool,
    where: torch.device,
) -> Need:
    """What the model will take, by the header. `copies`: what is not packed gets a copy of 8 bits for decoding."""
    weights = 0
    for name, shape in shapes(decoder):
        count = prod(shape)
        packed = packed_bytes(made[name], where) if is_packed else None
        full = count * number.itemsize + (count if copies and len(shape) > 1 else 0)
        weights += full if packed is None else packed
    sizes = decoder.sizes
    token = 2 * sizes.num_layers * sizes.kv_heads * sizes.dim * number.itemsize
    return Need(weights, TILE * number.itemsize if is_packed else 0, token)


def _stays_packed(made: Mapping[str, Recipe], where: torch.device, dtype: Dtype) -> bool:
    """Whether matrices are kept as the file has them. Not where other few-bit weights were asked for; and where the
    compiled part is not, only if there is no room to have them in full, for torch's own kernels are faster then."""
    if dtype in ("int4", "int8"):
        return False
    packed = [found[0] for each in made.values() if (found := each.rows()) is not None and found[0].kind in FORMATS]
    full = 2 * sum(prod(tensor.shape) for tensor in packed)
    is_compiled = where.type == "cpu" and native_library.library() is not None
    return bool(packed) and (is_compiled or not full_is_cheap(full, where))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads all tensors, one after the other, so that there is one at most beside those that are done."""

    number: torch.dtype
    where: torch.device
    is_packed: bool
    files: MappedFiles | None
    progress: Progress
    arena: Arena = field(default_factory=Arena)

    def read(self, made: Mapping[str, Recipe], shapes: Shapes) -> dict[str, Tensor | CodedMatrix]:
        whole, done = sum(map(prod, shapes.values())), 0
        tensors = {}
        for name, shape in shapes.items():
            self.progress(STAGE, done / whole)
            tensors[name] = self._one(made[name], shape)
            done += prod(shape)
        return tensors

    def _one(self, recipe: Recipe, shape: tuple[int, ...]) -> Tensor | CodedMatrix:
        arena = self.arena if self.where.type == "cpu" else Arena(0)
        packed = read_packed(recipe, self.files, arena) if self.is_packed else None
        return (read_numbers(recipe, shape, self.number) if packed is None else packed).to(self.where)


def _as_plain(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """A file's configuration with what classes whose config.json says everything take for granted."""
    return {"hidden_act": "silu", "sliding_window": None, **config}


def _described(config: Mapping[str, Any]) -> tuple[Decoder, ReuseClass] | None:
    """The decoder of a model that is not plain, by its class's configuration in transformers."""
    from engine.models.decoders import described

    return described(_transformers_config(config), end_ids(config["eos_token_id"]))


def _transformers_config(config: Mapping[str, Any]) -> Any:
    from transformers import CONFIG_MAPPING

    return CONFIG_MAPPING[config["model_type"]](**{key: value for key, value in config.items() if key != "model_type"})


def _planned_in_full(
    header: GgufHeader, config: Mapping[str, Any], where: torch.device, dtype: Dtype, context: int | None
) -> Plan:
    """For a model that our own forward pass does not compute: by its class in transformers, with weights in full."""
    from engine.models import from_transformers  # only here: importing transformers' model classes takes seconds

    if dtype in ("int4", "int8"):
        raise ModelError(
            f"{model_name(header.paths[0])} can be run in bf16 or fp32 only. Choose one of these number types."
        )
    own, made = NUMBER_TYPES[header.dtype], _transformers_config(config)
    _, expected = from_transformers.describe(made)
    numbers = sum(map(prod, expected.values()))
    number, _ = choose_dtype(dtype, where, made.get_text_config().hidden_size, own, numbers * own.itemsize)
    need = Need(numbers * number.itemsize, 0, from_transformers.numbers_in_token(made) * number.itemsize)
    longest = from_transformers.longest(made)
    fit = _fit(header, need, number, longest, context, where)
    return Plan(
        header, config, None, ReuseClass(), expected, recipes(header, config, expected), number, None, False, fit
    )


def _widened(plan: Plan, where: torch.device, progress: Progress) -> Any:
    """A model by its class in transformers."""
    from engine.models import from_transformers

    made = _transformers_config(plan.config)
    kind, _ = from_transformers.describe(made)
    tensors = _Reader(plan.number, torch.device("cpu"), False, None, progress).read(plan.made, plan.expected)
    full = {name: tensor for name, tensor in tensors.items() if isinstance(tensor, Tensor)}
    del tensors
    return from_transformers.network_of(kind, made, full, plan.number, where)


def open_tokenizer(path: Path) -> Any:
    """The tokenizer of a GGUF file, made of its fields. Raises ModelError where it follows a rule that is not known."""
    from transformers import PreTrainedTokenizerFast

    tokenizer, config = read_tokenizer(path)
    entries = {key: value for key, value in config.items() if key != "tokenizer_class"}
    return PreTrainedTokenizerFast(tokenizer_object=_Own(tokenizer), **_with_tokens(entries))


@dataclass(frozen=True, slots=True)
class _Own:
    """A tokenizer that nobody else has: transformers copies what it is given, and takes a quarter of the time to open a
    small model for it."""

    tokenizer: Any

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.tokenizer


def _with_tokens(entries: Mapping[str, Any]) -> dict[str, Any]:
    """The entries with tokens that are described at length as transformers' own objects."""
    from tokenizers import AddedToken

    def token(value: Any) -> Any:
        is_described = isinstance(value, dict) and value.get("__type") == "AddedToken"
        return AddedToken(**{key: said for key, said in value.items() if key != "__type"}) if is_described else value

    return {key: token(value) for key, value in entries.items()}

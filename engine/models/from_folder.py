"""Opens a safetensors folder: by our own forward pass where it computes such a model, else by transformers' own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import torch

from engine.library.child_process import Progress
from engine.library.places import model_name
from engine.llama import checkpoint
from engine.llama.checkpoint import EMBEDDING, HEAD, Checkpoint, NotPlainError
from engine.llama.family import shapes
from engine.models.choice import NAMES, Need, checkpoint_bytes, choose_dtype, fit_of, require_memory
from engine.native import library as native_library
from engine.types import Dtype, ModelError, ModelFit, ReuseClass
from engine.weights.quantise import GROUP, Bits
from engine.weights.row_products import TILE


@dataclass(frozen=True, slots=True)
class Plan:
    """How a folder is going to be opened, and what the model takes, by its configuration alone.

    `checkpoint` is for our own forward pass, `config` for transformers; one of them is None. Weights are read in
    `number`, and copied in `bits` where there are any; with `packs` they are kept in these only.
    """

    checkpoint: Checkpoint | None
    config: Any
    reuse: ReuseClass
    number: torch.dtype
    bits: Bits | None
    packs: bool
    fit: ModelFit


def plan(
    path: Path, where: torch.device, dtype: Dtype, context: int | None, wait: Callable[[], object] = lambda: None
) -> Plan:
    """`wait` is called before transformers is imported here. Raises ModelError where the model cannot be opened."""
    found = checkpoint.read_config(path)
    if found is not None:
        return _planned(found, ReuseClass(), path, where, dtype, context)
    wait()
    from engine.models import from_transformers  # only here: importing transformers' model classes takes seconds
    from engine.models.decoders import described

    config = from_transformers.read_config(path)
    lean = described(config, checkpoint.ends_of(path))
    if lean is None:
        return _planned_in_full(config, path, where, dtype, context)
    decoder, reuse = lean
    return _planned(Checkpoint(decoder, _own_type(config)), reuse, path, where, dtype, context)


def open_network(
    path: Path,
    where: torch.device,
    dtype: Dtype,
    progress: Progress,
    wait: Callable[[], object] = lambda: None,
    context: int | None = None,
) -> Any:
    """The network of a folder, for conversations of up to `context` tokens. `wait` as for `plan`.

    Raises ModelError where it cannot be opened, OutOfMemoryError where there is no memory for it.
    """
    made = plan(path, where, dtype, context, wait)
    require_memory(made.fit)
    if made.checkpoint is not None:
        try:
            return checkpoint.open_folder(
                made.checkpoint, path, made.number, where, made.bits, made.reuse, packs=made.packs, progress=progress
            )
        except NotPlainError:  # transformers may know what to make of it, or says what is wrong
            wait()
            from engine.models import from_transformers

            made = _planned_in_full(from_transformers.read_config(path), path, where, dtype, context)
    from engine.models import from_transformers

    return from_transformers.open_network(made.config, path, made.number, where, made.bits)


def _planned(
    found: Checkpoint, reuse: ReuseClass, path: Path, where: torch.device, dtype: Dtype, context: int | None
) -> Plan:
    decoder = found.decoder
    numbers = sum(prod(shape) for _, shape in shapes(decoder))
    number, bits = choose_dtype(dtype, where, decoder.width, found.dtype, numbers * found.dtype.itemsize)
    # What was asked for in few bits is there in nothing else, where the compiled part reads it.
    packs = dtype in ("int4", "int8") and native_library.library() is not None
    sizes = decoder.sizes
    token = 2 * sizes.num_layers * sizes.kv_heads * sizes.dim * number.itemsize
    need = Need(_weights(found, number, bits, packs), TILE * number.itemsize if packs else 0, token)
    fit = fit_of(need, model_name(path), NAMES[number], decoder.context_length, context, where)
    return Plan(found, None, reuse, number, bits, packs, fit)


def _weights(found: Checkpoint, number: torch.dtype, bits: Bits | None, packs: bool) -> int:
    """Bytes of all weights. Of copies whose bits are chosen matrix by matrix, as many as they are at most."""
    whole = 0
    for name, shape in shapes(found.decoder):
        count, is_matrix = prod(shape), len(shape) == 2
        is_outer = name in (EMBEDDING, HEAD)
        few = count // 2 + 4 * count // GROUP if bits == "int4" and not (packs and is_outer) else count + 4 * shape[0]
        has_copy = bits is not None and is_matrix and (name != EMBEDDING or found.decoder.is_tied)
        if packs and is_matrix:
            whole += few
        else:
            whole += count * number.itemsize + (few if has_copy else 0)
    return whole


def _planned_in_full(config: Any, path: Path, where: torch.device, dtype: Dtype, context: int | None) -> Plan:
    from engine.models import from_transformers

    own = _own_type(config)
    stored = checkpoint_bytes(path)
    number, _ = choose_dtype(dtype, where, config.get_text_config().hidden_size, own, stored)
    if dtype in ("int4", "int8"):
        raise ModelError(f"{model_name(path)} can be run in bf16 or fp32 only. Choose one of these number types.")
    token = from_transformers.numbers_in_token(config) * number.itemsize
    need = Need(stored // own.itemsize * number.itemsize, 0, token)
    fit = fit_of(need, model_name(path), NAMES[number], from_transformers.longest(config), context, where)
    return Plan(None, config, ReuseClass(), number, None, False, fit)


def _own_type(config: Any) -> torch.dtype:
    own = getattr(config.get_text_config(), "dtype", None)
    return own if isinstance(own, torch.dtype) else torch.float32

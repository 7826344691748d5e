"""From a ModelSpec to a Responder: find the files, load the weights, size the cache, measure the reading speed."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path

from engine.cache.copies import copies_for
from engine.cache.disk_tier import DiskTier
from engine.cache.memory_tier import MemoryTier
from engine.cache.prefix_cache import PrefixCache
from engine.cache.store import KVStore, is_out_of_memory
from engine.library import resolve as library
from engine.library.advice import sampling_advice
from engine.library.child_process import Progress
from engine.library.fingerprint import content_digest
from engine.library.places import blocks_dir, model_name
from engine.llama.attention import way
from engine.machine import arithmetic
from engine.models.choice import bytes_behind, cache_sizes, require_memory
from engine.models.graphs import Steps, recorder_for
from engine.models.loaded import LoadedModel, load
from engine.native.library import give_memory_back
from engine.turn.draft import Draft
from engine.turn.responder import Responder
from engine.types import (
    BLOCK_TOKENS,
    HeadstartError,
    ModelError,
    ModelGoneError,
    ModelInfo,
    ModelSpec,
    OutOfMemoryError,
)
from engine.weights.row_products import known_counts
from engine.worker.known_products import recall_products, remember_products
from engine.worker.needed import fit_with_draft
from engine.worker.passed_check import has_passed

MOST_DRAFT_COST = 0.6
"""A small model that takes more of the large one's memory than this takes longer than it saves."""
ONE_AT_A_TIME = "{} checks one token at a time on this computer, so no small model can help it. Open it without one."
OTHER_TOKENS = (
    "{} and {} are made of other tokens, so the one cannot write ahead for the other. Choose a smaller model of the "
    "same family, or none."
)
NOT_SMALL = "{} is too large to write ahead for {}: it would take longer than it saves. Choose a smaller one, or none."


def open_model(
    spec: ModelSpec,
    clock: Callable[[], float],
    progress: Progress,
    make_room: Callable[[], None] = lambda: None,
) -> tuple[Responder, ModelInfo]:
    """Load a model with an empty cache. `make_room` is called before the weights are read, when the files are there and
    in order. Raises HeadstartError with a sentence for whatever is wrong with it."""
    path = library.resolve(spec.path, progress)
    progress("Loading the model", None)
    make_room()
    if spec.draft:
        require_memory(fit_with_draft(spec, path, library.resolve(spec.draft, progress)))
    try:
        model = load(path, spec.device, spec.dtype, progress, spec.context_tokens, spec.kv_bits)
        draft = _open_draft(spec, model, progress) if spec.draft else None
        responder = Responder(model, _make_cache(model, spec, clock, progress), clock, draft=draft)
        progress("Measuring the reading speed", None)
        recall_products()
        known = len(known_counts)
        responder.warm_up()
        if has_passed(model.device.type):
            responder.wait_less(Steps(model, recorder_for(model.device)))
        if len(known_counts) > known:
            remember_products()
        give_memory_back()
    except (MemoryError, RuntimeError) as error:
        if is_out_of_memory(error):
            raise OutOfMemoryError(
                f"There is not enough memory to load {model_name(path)}. Close other programs or choose a smaller "
                "model.",
                str(error),
            ) from error
        raise
    return responder, _describe(responder, spec)


def _open_draft(spec: ModelSpec, model: LoadedModel, progress: Progress) -> Draft:
    """The small model that writes ahead for this one. Raises ModelError where it cannot."""
    if model.at_once == 1:
        raise ModelError(ONE_AT_A_TIME.format(model.name))
    small = load(library.resolve(spec.draft, progress), spec.device, "auto", progress, spec.context_tokens)
    if small.tokenizer.get_vocab() != model.tokenizer.get_vocab():
        raise ModelError(OTHER_TOKENS.format(small.name, model.name))
    small.network.check_weights()  # its first words come when the answer is on its way
    cost = small.weights_bytes / model.weights_bytes
    if cost > MOST_DRAFT_COST:
        raise ModelError(NOT_SMALL.format(small.name, model.name))
    return Draft(small, cost)


def switch_model(
    spec: ModelSpec,
    clock: Callable[[], float],
    progress: Progress,
    empty_cache: Callable[[], None],
    let_go: Callable[[], None] | None,
) -> tuple[Responder, ModelInfo]:
    """Load a model beside the present one, whose cache is emptied for that. Where there is no memory for both, `let_go`
    of the present one and load again; None where there is none.

    Raises ModelGoneError where that was in vain, else what `open_model` raises.
    """
    try:
        return open_model(spec, clock, progress, empty_cache)
    except OutOfMemoryError:
        if let_go is None:
            raise
    let_go()  # not inside `except`: the error holds what was loaded half
    try:
        progress("Memory is short: the model before was closed, loading again", None)
        return open_model(spec, clock, progress)
    except Exception as error:
        sentence = str(error) if isinstance(error, HeadstartError) else "The model could not be loaded."
        detail = error.detail if isinstance(error, HeadstartError) else "".join(traceback.format_exception(error))
        raise ModelGoneError(f"{sentence} The one before was closed to make room: open it again.", detail) from error


def _make_cache(model: LoadedModel, spec: ModelSpec, clock: Callable[[], float], progress: Progress) -> PrefixCache:
    token = model.layout.bytes_per_token
    sizes = cache_sizes(model.device, token, model.context_length, spec.cache_bytes, spec.context_tokens)
    budget, context_length = sizes
    namespace = namespace_of(model, content_digest(Path(model.path), progress))
    return PrefixCache(
        KVStore(model.layout, budget),
        namespace,
        context_length,
        clock,
        decode=model.decode,
        regime=model.reuse.regime,
        memory=MemoryTier(copies_for(model.device), bytes_behind(model.device), model.layout.bytes_per_block),
        disk=DiskTier(blocks_dir(), namespace, model.layout, spec.disk_bytes),
    )


def namespace_of(model: LoadedModel, content: str) -> str:
    """A name for all that a cached block depends on besides its tokens: blocks of another namespace are never reused,
    in memory or on disk.

    Its parts are: the digest of the weights and config.json (`content`), the number type, the device, the layout of
    keys and values with their number type, how attention is computed on the CPU, and what may change a computed number
    in its last bit: libraries, our own source, processor and threads (`arithmetic`).
    """
    layout = f"{model.layout.groups}/{model.layout.dtype}"  # few-bit weights have keys in either of two number types
    if model.layout.is_rounded:
        layout += "/8 bits"
    if model.device.type == "cpu":  # a measurement: it may come out otherwise
        layout += f"/{way(model.layout.dtype)}"
    return f"{content}/{model.dtype}/{model.device}/{layout}/{arithmetic(model.device.type)}"


def _describe(responder: Responder, spec: ModelSpec) -> ModelInfo:
    model, cache = responder.model, responder.cache
    return ModelInfo(
        name=model.name,
        path=spec.path,
        architecture=model.architecture,
        device=str(model.device),
        dtype=model.dtype,
        near=responder.near,
        context_length=cache.context_length,
        weights_bytes=model.weights_bytes,
        kv_bytes_per_token=model.layout.bytes_per_token,
        cached_bytes_per_token=model.layout.bytes_per_block // BLOCK_TOKENS,
        kv_bits=spec.kv_bits,
        cache_budget_bytes=cache.budget_bytes,
        prefill_tokens_per_s=responder.rate.tokens_per_s,
        thinking=responder.builder.thinking,
        advice=sampling_advice(Path(model.path)),
        has_tools=responder.builder.has_tools,
        draft="" if responder.draft is None else responder.draft.model.name,
        draft_bytes=0 if responder.draft is None else responder.draft.model.weights_bytes,
    )

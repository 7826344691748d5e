"""Checks a GGUF file before it is converted: whole, a text model, and of a kind that is known here. No torch.

Only the header is read. Every problem raises ModelError with a sentence that says what to do.
"""

from __future__ import annotations

from pathlib import Path

from engine.gguf.header import MAGIC, GgufDamagedError, GgufForeignError, GgufHeader, read_header
from engine.gguf.parts import joined, paths_of_parts
from engine.library.check import MOST_COUNTED, check_count, first_bytes, refuse_pointer, refuse_short, unreadable
from engine.types import ModelError

_MOST_IN_GGUF = {
    "block_count": MOST_COUNTED["num_hidden_layers"],
    "embedding_length": MOST_COUNTED["hidden_size"],
    "vocab_size": MOST_COUNTED["vocab_size"],
    "context_length": MOST_COUNTED["max_position_embeddings"],
}

_OTHER_SORTS = {
    "mmproj": "reads images or sounds for a model (mmproj) and is none itself: open the model's own GGUF file",
    "imatrix": "holds statistics for quantising a model (imatrix) and is none itself: open the model's own GGUF file",
    "adapter": "is an adapter (LoRA) without its model: merge it into the model, then open that",
}
"""What a GGUF file may hold that is no model, by its `general.type`."""


def is_gguf(path: Path) -> bool:
    """Whether `path` is a file that calls itself GGUF, by name or by content."""
    return path.is_file() and (path.suffix.lower() == ".gguf" or first_bytes(path) == MAGIC)


def check_gguf(path: Path) -> GgufHeader:
    """Make sure that `path` is, or begins, a whole GGUF model for text that can be opened; return its header.

    A model in several files is named by its first one; the header is that of all.
    """
    header = read_gguf(path)
    _refuse_other_sort(path, header)
    try:
        header = joined([header, *map(read_gguf, paths_of_parts(path, header)[1:])])
        _check_gguf_counts(path, header)
        _check_gguf_model(header)
    except (GgufForeignError, GgufDamagedError) as error:
        raise refuse_gguf(path, error) from error
    return header


def read_gguf(path: Path) -> GgufHeader:
    """The header of one GGUF file, which is as long as the header says."""
    refuse_pointer(path)
    try:
        header = read_header(path)
    except (GgufForeignError, GgufDamagedError) as error:
        raise refuse_gguf(path, error) from error
    except OSError as error:
        raise unreadable(path, error) from error
    refuse_short(path, header.end)
    return header


def refuse_gguf(path: Path, error: GgufForeignError | GgufDamagedError) -> ModelError:
    """The error in words for a GGUF file that cannot be opened."""
    if isinstance(error, GgufForeignError):
        return ModelError(f"{path.name} {error}", str(path))
    return ModelError(f"{path.name} is not a readable GGUF file: download it again.", str(error))


def holds_model(header: GgufHeader) -> bool:
    """Whether a GGUF file holds a model, or a part of one, and not what belongs to another one."""
    return header.sort not in _OTHER_SORTS and header.architecture != "clip"


def _refuse_other_sort(path: Path, header: GgufHeader) -> None:
    if not holds_model(header):
        what = _OTHER_SORTS.get(header.sort, _OTHER_SORTS["mmproj"])
        raise ModelError(f"{path.name} {what}.", f"general.type {header.sort}")


def _check_gguf_counts(path: Path, header: GgufHeader) -> None:
    """Make sure that there are no more layers than tensors, and that no matrix would be larger than all weights."""
    if not header.architecture or not header.parameters:
        raise ModelError(f"{path.name} holds no model: choose a GGUF file with the weights of a text model.")
    said = {key: header.metadata.get(f"{header.architecture}.{key}") for key in (*_MOST_IN_GGUF, "feed_forward_length")}
    for key, most in _MOST_IN_GGUF.items():
        if said[key] is not None:
            check_count(key, said[key], most, path.name)
    if (said["block_count"] or 0) > len(header.tensors):
        raise GgufDamagedError(f"{len(header.tensors)} tensors cannot make {said['block_count']} layers")
    width = said["embedding_length"]
    for key in ("vocab_size", "feed_forward_length"):
        rows = said[key]
        if isinstance(rows, int) and isinstance(width, int) and rows * width > header.parameters:
            raise ModelError(f"{path.name} says {rows} for {key}, and the weights are too few: download it again.")


def _check_gguf_model(header: GgufHeader) -> None:
    """Make sure that the architecture and the types of numbers are known."""
    from engine.gguf.config import configuration  # only here: numpy and gguf take a while to import
    from engine.gguf.dequantise import unreadable_types

    configuration(header)
    if unknown := unreadable_types(header.tensors.values()):
        raise GgufForeignError(
            f"has weights of the type {unknown[0]}, which is not read here: get this model as Q8_0 or Q4_K_M."
        )

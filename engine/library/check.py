"""Checks model files before anything is loaded: whole, safe to open, complete. Reads headers only; no torch.

Every problem raises ModelError with a sentence that says what to do.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.library.gguf import MAGIC, GgufDamagedError, GgufHeader, read_header
from engine.types import ModelError

_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model")
_LFS = b"version https://git-lfs"
_ACCEPTED = "Headstart opens a folder with config.json, safetensors files and a tokenizer, or a GGUF file"


def is_gguf(path: Path) -> bool:
    """Whether `path` is a file that calls itself GGUF, by name or by content."""
    return path.is_file() and (path.suffix.lower() == ".gguf" or _first_bytes(path) == MAGIC)


def check_gguf(path: Path) -> GgufHeader:
    """Make sure that the GGUF file `path` is whole and holds one complete text model; return its header."""
    _refuse_pointer(path)
    try:
        header = read_header(path)
    except GgufDamagedError as error:
        raise ModelError(f"{path.name} is not a readable GGUF file: download it again.", str(error)) from error
    except OSError as error:
        raise unreadable(path, error) from error
    if header.parts > 1:
        raise ModelError(
            f"{path.name} is one part of a split GGUF file: merge the parts into one file, then open that."
        )
    _refuse_short(path, header.end)
    if not header.architecture or not header.parameters:
        raise ModelError(f"{path.name} holds no model: choose a GGUF file with the weights of a text model.")
    return header


def check_folder(folder: Path) -> None:
    """Make sure that `folder` holds a whole model: config.json, whole safetensors files, a tokenizer."""
    weights = sorted(folder.glob("*.safetensors"))
    _check_config(folder, bool(weights))
    if not weights:
        raise _no_weights(folder)
    for file in weights:
        check_safetensors(file)
    _check_shards(folder)
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        raise ModelError(
            f"{folder.name} has no tokenizer: put the model's tokenizer.json into the folder.", str(folder)
        )


def tokenizer_class(folder: Path) -> str:
    """The class that tokenizer_config.json asks for; "" where it asks for none or cannot be read."""
    try:
        config = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
        return str(config.get("tokenizer_class", ""))
    except (OSError, ValueError, AttributeError, RecursionError):
        return ""


def check_safetensors(path: Path) -> None:
    """Make sure that a safetensors file is as long as its header says."""
    _refuse_pointer(path)
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > path.stat().st_size:
                raise ValueError(f"the header should be {length} bytes long")
            header = json.loads(file.read(length))
            ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise ModelError(f"{path.name} is not a readable safetensors file: download it again.", str(error)) from error
    _refuse_short(path, 8 + length + max(ends, default=0))


def refuse_foreign(path: Path) -> ModelError:
    """The error for a file that is neither GGUF nor a model folder."""
    if path.suffix.lower() in _PICKLES:
        return _pickled(path.name)
    if path.suffix.lower() == ".safetensors":
        return ModelError(
            f"{path.name} holds weights only: open the folder it lies in, with config.json and the tokenizer."
        )
    return ModelError(f"{path.name} is not a model. {_ACCEPTED}.", str(path))


def unreadable(path: Path, error: OSError) -> ModelError:
    """The error for what the system does not let us read."""
    return ModelError(f"{path} cannot be read ({error.strerror}): check its permissions.", str(error))


def _check_config(folder: Path, has_weights: bool) -> None:
    path = folder / "config.json"
    if not path.is_file():
        if (folder / "adapter_config.json").is_file():
            raise ModelError(f"{folder.name} is an adapter without its model: merge it into the model, then open that.")
        if has_weights:
            raise ModelError(
                f"{folder.name} has no config.json: put the model's config.json into the folder.", str(folder)
            )
        if any(file.suffix.lower() in _PICKLES for file in folder.iterdir()):
            raise _pickled(folder.name)
        raise ModelError(f"{folder.name} holds no model. {_ACCEPTED}.", str(folder))
    config = _json(path)
    if "model_type" not in config and "architectures" not in config:
        raise ModelError(
            f"The config.json in {folder.name} names no model type: it does not belong to a language model."
        )


def _check_shards(folder: Path) -> None:
    for index in folder.glob("*.safetensors.index.json"):
        names = _json(index).get("weight_map", {})
        missing = sorted({str(name) for name in names.values() if not (folder / str(name)).is_file()})
        if missing:
            others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise ModelError(
                f"{folder.name} is incomplete: {missing[0]}{others} missing. Download again.", "\n".join(missing)
            )


def _no_weights(folder: Path) -> ModelError:
    if any(file.suffix.lower() in _PICKLES for file in folder.iterdir()):
        return _pickled(folder.name)
    return ModelError(
        f"{folder.name} has no safetensors files: download the model's *.safetensors into it.", str(folder)
    )


def _pickled(name: str) -> ModelError:
    return ModelError(
        f"{name} keeps its weights as pickles only (.bin, .pt), and a pickle can run any program when it is opened: "
        "get the model's safetensors files, or a GGUF file."
    )


def _refuse_short(path: Path, expected: int) -> None:
    size = path.stat().st_size
    if size < expected:
        raise ModelError(
            f"{path.name} is cut short: {size / 1e6:,.1f} of {expected / 1e6:,.1f} MB are there. Download it again."
        )


def _refuse_pointer(path: Path) -> None:
    if _first_bytes(path, len(_LFS)) == _LFS:
        raise ModelError(f"{path.name} is a Git LFS pointer, not the weights: run `git lfs pull` in its folder.")


def _first_bytes(path: Path, count: int = 4) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise unreadable(path, error) from error


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise unreadable(path, error) from error
    except ValueError as error:
        raise ModelError(f"{path.name} in {path.parent.name} is damaged: download it again.", str(error)) from error
    if not isinstance(value, dict):
        raise ModelError(f"{path.name} in {path.parent.name} is damaged: download it again.", "not a JSON object")
    return value

"""Checks the files of a model before any of them is loaded: whole, complete, and safe to open. No torch.

Of weights only the headers are read. Every problem raises ModelError with a sentence that says what to do.

A folder may hold anything, so nothing is opened before it is known to be an ordinary file, and nothing is read before
it is known to be small. A pipe would wait for ever, and a file of some hundred megabytes in place of a configuration
would take many times its size in memory.
"""

from __future__ import annotations

import json
import math
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from engine.library.places import model_name
from engine.library.tokenizer_bounds import MOST_PARTS, check_added_tokens, check_tokenizer_json
from engine.types import ModelError

_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model")
_JSON_OBJECTS = (
    "config.json",
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.json",
    "adapter_config.json",
)
_MEGABYTE = 10**6
_MOST_BYTES = {
    **dict.fromkeys(_JSON_OBJECTS, 4 * _MEGABYTE),
    "chat_template.jinja": _MEGABYTE,
    **dict.fromkeys((*_TOKENIZERS, "merges.txt"), 64 * _MEGABYTE),
}
"""The files that are read when a model is loaded, weights and index apart, and how many bytes they may have.

The largest known: tokenizer_config.json of Gemma-3 (1 MB), its tokenizer.json (34 MB), a chat template (30 kB).
"""

_MOST_OFFSET = 2**63 - 1
"""Where a tensor can end at most, in bytes: no file is longer."""

_MOST_LIST_BYTES = 32 * _MEGABYTE
"""Bytes that a list of all tensors may have: an index, or the header of a safetensors file."""

_LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "depth")
_POSITIONS = ("max_position_embeddings", "n_positions", "n_ctx", "context_length")
MOST_COUNTED = {
    **dict.fromkeys((*_LAYERS, "num_local_experts", "num_experts", "n_routed_experts"), 10_000),
    **dict.fromkeys(("num_attention_heads", "num_key_value_heads", "n_head", "head_dim"), 100_000),
    **dict.fromkeys(("hidden_size", "d_model", "n_embd"), 100_000),
    **dict.fromkeys(("intermediate_size", "vocab_size"), 100_000_000),
    **dict.fromkeys(_POSITIONS, 1_000_000_000),
}
"""What a configuration counts, and a number of it that no model reaches."""

_MAY_BE_NONE = {"num_local_experts", "num_experts", "n_routed_experts", "intermediate_size"}
"""What a model may have none of, and says so with a zero. Of everything else that is counted it has at least one."""

LEAST_POSITIONS = 2
"""A model that reads one token only could not answer a question: the answer needs room, too."""

_PER_BYTE = {"F64": 1 / 8, "F32": 1 / 4, "F16": 1 / 2, "BF16": 1 / 2}
"""Numbers in a byte of a tensor, by its type; of all other types there may be two, which are packed as 4-bit ones."""

_WIDTHS = ("hidden_size", "d_model", "n_embd")
_LFS_POINTER = b"version https://git-lfs"
_ACCEPTED = "Headstart opens a folder with config.json, safetensors files and a tokenizer, or a GGUF file"


def check_folder(folder: Path) -> None:
    """Make sure that `folder` holds a whole model: config.json, whole safetensors files, a tokenizer."""
    has_weights = any(folder.glob("*.safetensors"))
    _check_kinds(folder)
    config = _check_config(folder, has_weights)
    if not has_weights:
        raise _no_weights(folder)
    _refuse_adapter(folder)
    _check_shards(folder)
    sizes = [size for file in every_weight_file(folder) for size in check_safetensors(file)]
    _check_layers(folder, config, len(sizes))
    _check_matrices(folder, config, sum(sizes))
    _check_tokenizer(folder)
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        raise ModelError(
            f"{model_name(folder)} has no tokenizer: put the model's tokenizer.json into the folder.", str(folder)
        )


def tokenizer_class(folder: Path) -> str:
    """The class that tokenizer_config.json asks for; "" where it asks for none or cannot be read."""
    try:
        return str(read_json(folder / "tokenizer_config.json").get("tokenizer_class", ""))
    except ModelError:
        return ""


# The files of a folder


def _check_kinds(folder: Path) -> None:
    """Make sure that there are only folders and ordinary files, and that files which a library may read are small."""
    for path in _entries(folder):
        try:
            if path.name in _MOST_BYTES or path.suffix in (".safetensors", ".jinja") or not path.is_dir():
                require_file(path)
        except FileNotFoundError:  # a link that leads nowhere: only of interest where the file is needed
            continue
        except OSError as error:
            raise unreadable(path, error) from error
    for path in map(folder.joinpath, _JSON_OBJECTS):
        if path.exists():
            read_json(path)


def _entries(folder: Path) -> Iterator[Path]:
    yield from folder.iterdir()
    if (templates := folder / "additional_chat_templates").is_dir():
        yield from templates.iterdir()


def _check_shards(folder: Path) -> None:
    for index in folder.glob("*.safetensors.index.json"):
        names = read_json(index).get("weight_map")
        if not isinstance(names, dict):
            raise _damaged(index, "no weight_map")
        missing = sorted({str(name) for name in names.values() if not (folder / str(name)).is_file()})
        if missing:
            others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise ModelError(
                f"{model_name(folder)} is incomplete: {missing[0]}{others} missing. Download again.", "\n".join(missing)
            )


def weight_files(folder: Path) -> list[Path]:
    """The files that a model is loaded from, chosen as transformers does; none where there is nothing to choose.

    That is the file that config.json names, else model.safetensors, else those that model.safetensors.index.json names.
    """
    own = read_json(folder / "config.json").get("transformers_weights")
    names = [str(own)] if own else ["model.safetensors", "model.safetensors.index.json"]
    file = next((folder / name for name in names if (folder / name).is_file()), None)
    if file is None or not file.name.endswith(".index.json"):
        return [] if file is None else [file]
    shards: set[str] = set(map(str, read_json(file)["weight_map"].values()))
    return [folder / name for name in sorted(shards)]


def every_weight_file(folder: Path) -> list[Path]:
    """All safetensors files that any way of loading may read: those in the folder, and those that an index names.

    These are checked, and tell one model from another. Others, such as weights for other programs in a folder below,
    are never read. An index that is damaged names none.
    """
    files = set(folder.glob("*.safetensors"))
    for index in folder.glob("*.safetensors.index.json"):
        with suppress(ModelError, LookupError, TypeError, AttributeError):
            files |= {folder / str(name) for name in read_json(index)["weight_map"].values()}
    return sorted(file for file in files if file.is_file())


# Weights


def numbers_in_weights(folder: Path) -> float:
    """How many numbers the weights of a checked folder can be at most."""
    return sum(size for file in every_weight_file(folder) for size in check_safetensors(file))


def check_safetensors(path: Path) -> list[float]:
    """Make sure that a safetensors file is as long as its header says; return how many numbers each tensor can hold."""
    refuse_pointer(path)
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > min(path.stat().st_size, _MOST_LIST_BYTES):
                raise ValueError(f"the header should be {length} bytes long")
            header = _parsed(file.read(length))
        entries = [entry for name, entry in header.items() if name != "__metadata__"]
        ends = [_end(entry) for entry in entries]
        sizes = [_numbers(entry) for entry in entries]
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(f"{path.name} is not a readable safetensors file: download it again.", str(error)) from error
    refuse_short(path, 8 + length + max(ends, default=0))
    return sizes


def _numbers(entry: Mapping[str, Any]) -> float:
    """How many numbers a tensor of a safetensors file can hold, by its bytes."""
    start, end = entry["data_offsets"]
    return float((end - start) * _PER_BYTE.get(str(entry.get("dtype")), 2))


def _end(entry: Mapping[str, Any]) -> int:
    """Where a tensor of a safetensors file ends, in bytes. Raises ValueError where that is no place."""
    start, end = entry["data_offsets"]
    if type(start) is not int or type(end) is not int or not 0 <= start <= end <= _MOST_OFFSET:
        raise ValueError(f"a tensor should lie between {start} and {end}")
    return end


def refuse_short(path: Path, expected: int) -> None:
    """Raise ModelError where a file has fewer bytes than `expected`."""
    size = path.stat().st_size
    if size < expected:
        raise ModelError(
            f"{path.name} is cut short: {size / 1e6:,.1f} of {expected / 1e6:,.1f} MB are there. Download it again."
        )


def refuse_pointer(path: Path) -> None:
    """Raise ModelError where a file is none, cannot be read, or stands for weights that Git LFS would fetch."""
    try:
        require_file(path)
    except OSError as error:
        raise unreadable(path, error) from error
    if first_bytes(path, len(_LFS_POINTER)) == _LFS_POINTER:
        raise ModelError(f"{path.name} is a Git LFS pointer, not the weights: run `git lfs pull` in its folder.")


def first_bytes(path: Path, count: int = 4) -> bytes:
    """How a file begins. Raises ModelError where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise unreadable(path, error) from error


# Files that are read whole


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file. Raises ModelError where there is none, or one so large that no model needs it."""
    try:
        require_file(path)
        value = _parsed(path.read_bytes())
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        raise _damaged(path, str(error)) from error
    if not isinstance(value, dict):
        raise _damaged(path, "not a JSON object")
    return value


def _parsed(text: bytes) -> Any:
    """The value that a JSON text stands for, with or without a byte order mark. Raises ValueError, also where it
    would take too much memory."""
    if sum(map(text.count, (b"[", b"{", b","))) > MOST_PARTS:
        raise ValueError("it has more parts than any model needs")
    return json.loads(text.decode("utf-8-sig"))


@contextmanager
def without_marks(folder: Path) -> Iterator[Path]:
    """A folder with all files of a model that transformers can read: this one, or another with copies where a JSON file
    begins with a byte order mark, as editors on Windows write it. Weights are linked there, and it is gone afterwards.

    Raises ModelError where the system allows no links.
    """
    marked = [file for file in folder.glob("*.json") if first_bytes(file, len(BOM_UTF8)) == BOM_UTF8]
    if not marked:
        yield folder
        return
    with TemporaryDirectory(prefix="headstart-", ignore_cleanup_errors=True) as made:
        for file in filter(Path.is_file, folder.iterdir()):
            if file in marked:
                (Path(made) / file.name).write_bytes(file.read_bytes().removeprefix(BOM_UTF8))
            else:
                _link(file, Path(made) / file.name, marked[0].name)
        yield Path(made)


def _link(file: Path, place: Path, marked: str) -> None:
    try:
        place.symlink_to(file.resolve())
    except OSError as error:
        raise ModelError(
            f"{marked} in {model_name(file.parent)} begins with a byte order mark: save it as UTF-8 without one.",
            str(error),
        ) from error


def require_file(path: Path) -> None:
    """Make sure that `path` is an ordinary file, no larger than one of its name can be. Raises ModelError or OSError.

    What else can bear the name is a folder, a pipe, a socket or a device: some of them can be read for ever.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ModelError(f"{path} cannot be read: it is no ordinary file. Put the model's own file in its place.")
    if status.st_size > _largest(path.name):
        raise ModelError(
            f"{path.name} in {model_name(path.parent)} has {status.st_size / 1e6:,.0f} MB, far more than a model "
            "needs: "
            "download it again."
        )


def _largest(name: str) -> float:
    """How many bytes a file of this name may have."""
    if name.endswith(".index.json"):
        return _MOST_LIST_BYTES
    if name.endswith(".jinja"):
        return _MOST_BYTES["chat_template.jinja"]
    return _MOST_BYTES.get(name, _MOST_BYTES["tokenizer.json"] if name.startswith("tokenizer") else math.inf)


# The configuration


def _check_config(folder: Path, has_weights: bool) -> dict[str, Any]:
    """The configuration in config.json."""
    path = folder / "config.json"
    if not path.is_file():
        raise _missing_config(folder, has_weights)
    config = read_json(path)
    if "model_type" not in config and "architectures" not in config:
        raise ModelError(
            f"The config.json in {model_name(folder)} names no model type: it does not belong to a language model."
        )
    for name, value in _counts(config):
        check_count(name, value, MOST_COUNTED[name], f"The config.json in {model_name(folder)}")
    return config


def _missing_config(folder: Path, has_weights: bool) -> ModelError:
    """The error for a folder without config.json: what it seems to be instead."""
    if (folder / "adapter_config.json").is_file():
        return ModelError(
            f"{model_name(folder)} is an adapter without its model: merge it into the model, then open that."
        )
    if has_weights:
        return ModelError(
            f"{model_name(folder)} has no config.json: put the model's config.json into the folder.", str(folder)
        )
    if _has_pickles(folder):
        return _pickled(model_name(folder))
    return ModelError(f"{model_name(folder)} holds no model. {_ACCEPTED}.", str(folder))


def _refuse_adapter(folder: Path) -> None:
    """Raise ModelError where an adapter (LoRA, in PEFT's format) lies beside the weights: without it another model
    would answer than the one that was meant."""
    file = folder / "adapter_config.json"
    if file.is_file():
        base = read_json(file).get("base_model_name_or_path")
        made_for = f" for {base}" if isinstance(base, str) and base else ""
        raise ModelError(
            f"{model_name(folder)} holds an adapter{made_for} beside the model, which cannot be applied: merge it into "
            "the model, or move its two files, adapter_config.json and adapter_model, to another folder.",
            str(file),
        )


def _counts(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names and values of all counts in a configuration and in those inside it; of a list for all layers, each."""
    inside = [config]
    while inside:
        for name, value in inside.pop().items():
            if name in MOST_COUNTED:
                yield from (
                    (name, each) for each in (value if isinstance(value, list) else [value]) if each is not None
                )
            elif isinstance(value, dict):
                inside.append(value)


def check_count(name: str, value: object, most: int, where: str) -> None:
    """Raise ModelError unless `value` is a whole number up to `most`, and not zero where at least one is needed.

    Other values would end in an endless computation, a lack of memory, or a model that cannot read a single token.
    """
    least = 0 if name in _MAY_BE_NONE else LEAST_POSITIONS if name in _POSITIONS else 1
    is_whole = isinstance(value, (int, float)) and not isinstance(value, bool) and value == value // 1
    if not is_whole or not least <= value <= most:  # type: ignore[operator]
        raise ModelError(f"{where} says {str(value)[:20]} for {name}, which no model has: download it again.")


def _check_layers(folder: Path, config: Mapping[str, Any], tensors: int) -> None:
    """Make sure that there are no more layers than tensors: each layer has a tensor of its own."""
    text = config.get("text_config")
    for name, value in _counts(text if isinstance(text, dict) else config):
        if name in _LAYERS and value > tensors:
            raise ModelError(
                f"The config.json in {model_name(folder)} says {value} for {name}, and there are {tensors} tensors: "
                "the two do not belong together. Download the model again."
            )


def _check_matrices(folder: Path, config: Mapping[str, Any], numbers: float) -> None:
    """Make sure that no matrix is larger than all weights together: it would be made, and take gigabytes.

    What the configuration leaves open is only known to the model's class, which is asked before it is filled.
    """
    inside = config.get("text_config")
    text = inside if isinstance(inside, dict) else config
    width = next((text[name] for name in _WIDTHS if isinstance(text.get(name), (int, float))), 0)
    layers = next((text[name] for name in _LAYERS if isinstance(text.get(name), (int, float))), 1)
    for name, rows in (
        ("vocab_size", _total(text.get("vocab_size"), 1)),
        ("intermediate_size", _total(text.get("intermediate_size"), layers)),
        ("num_attention_heads", _total(text.get("num_attention_heads"), layers) * _least(text.get("head_dim"))),
    ):
        if rows * width > numbers:
            raise ModelError(
                f"The config.json in {model_name(folder)} says {text[name]} for {name}, and the weights are too few "
                "for that: the two do not belong together. Download the model again."
            )


def _total(value: Any, layers: float) -> float:
    """The sum of a count over all layers. It may be given for each of them, or once for all."""
    return sum(each or 0 for each in value) if isinstance(value, list) else (value or 0) * layers


def _least(value: Any) -> float:
    """The smallest of a count that is given for each layer, or once for all; 1 where it is not given."""
    return min(filter(None, value), default=1) if isinstance(value, list) else value or 1


# The tokenizer


def _check_tokenizer(folder: Path) -> None:
    """Make sure that the tokenizer's files do not ask for what would take minutes or gigabytes."""
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"):
        path = folder / name
        if path.is_file():
            try:
                if name == "tokenizer.json":
                    check_tokenizer_json(path.read_bytes().removeprefix(BOM_UTF8))
                else:
                    check_added_tokens(name, read_json(path))
            except OSError as error:
                raise unreadable(path, error) from error
            except (ValueError, RecursionError, TypeError, AttributeError) as error:
                raise ModelError(
                    f"{name} in {model_name(folder)} is damaged, or asks for more than any model needs: download it "
                    "again.",
                    str(error),
                ) from error


# Refusals in words


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


def _no_weights(folder: Path) -> ModelError:
    if _has_pickles(folder):
        return _pickled(model_name(folder))
    return ModelError(
        f"{model_name(folder)} has no safetensors files: download the model's *.safetensors into it.", str(folder)
    )


def _has_pickles(folder: Path) -> bool:
    return any(file.suffix.lower() in _PICKLES for file in folder.iterdir())


def _pickled(name: str) -> ModelError:
    return ModelError(
        f"{name} keeps its weights as pickles only (.bin, .pt), and a pickle can run any program when it is opened: "
        "get the model's safetensors files, or a GGUF file."
    )


def _damaged(path: Path, detail: str) -> ModelError:
    return ModelError(f"{path.name} in {model_name(path.parent)} is damaged: download it again.", detail)

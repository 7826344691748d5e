"""Turns a GGUF file into a folder that loads fast: safetensors weights, config.json, tokenizer.json.

`run_converter` starts `main` as a program of its own. So the window stays smooth, cancelling means ending the program,
and all memory is given back. Each line that the program prints is a JSON object with its progress or its error.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import threading
import traceback
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.gguf.header import GgufDamagedError, GgufForeignError
from engine.library.check_gguf import check_gguf, refuse_gguf
from engine.library.child_process import Progress, run_python
from engine.library.places import disk_full
from engine.types import ModelError

if TYPE_CHECKING:
    from engine.gguf.tensors import Recipe

_TORCH_NAMES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
_STORED_NAMES = {"bf16": "BF16", "fp16": "F16", "fp32": "F32"}


def run_converter(gguf: Path, made: Path, dtype: str, log: Path, progress: Progress) -> None:
    """Convert the file `gguf` into the empty folder `made`. What the program prints goes to the file `log`.

    Raises ModelError where the model cannot be converted, DiskFullError.
    """
    quiet = {"HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    paths = [str(Path(__file__).parent.parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {**os.environ, **quiet, "PYTHONPATH": os.pathsep.join(paths)}

    def tick() -> None:
        line = _last_line(log)
        progress(line.get("stage", "Converting the model"), line.get("fraction"))

    status = run_python([__file__, str(gguf), str(made), dtype], env, log, tick)
    if status == 0:
        return
    detail = _last_line(log).get("detail") or log.read_text(encoding="utf-8", errors="replace")
    if "No space left" in detail or "os error 28" in detail:
        raise disk_full(made)
    if status == -9 or "MemoryError" in detail or "not enough memory" in detail:
        raise ModelError(f"{gguf.name} does not fit into memory while it is converted: close other programs.", detail)
    if refusal := _last_line(log).get("refusal"):
        raise ModelError(refusal, detail)
    reason = _last_line(log).get("error", f"exit status {status}")
    raise ModelError(f"{gguf.name} cannot be converted ({reason}): get the model's safetensors folder instead.", detail)


def _last_line(log: Path) -> dict[str, Any]:
    """What the converter said in its newest whole line."""
    for line in reversed(log.read_text(encoding="utf-8", errors="replace").splitlines()):
        if line.startswith("{"):
            try:
                said = json.loads(line)
            except ValueError:
                continue
            return said if isinstance(said, dict) else {}
    return {}


def convert(source: Path, target: Path, dtype: str, report: Progress) -> None:
    """Write the model in `source` to the folder `target`, weights as `dtype` (bf16, fp16 or fp32).

    Raises ModelError where the file's tokenizer is not known here, or where it lacks tensors that the model needs, or
    has others.
    """
    from engine.gguf.tokenizer import write_tokenizer

    report("Converting the tokenizer", None)
    write_tokenizer(source, target)
    convert_model(source, target, dtype, report)


def convert_model(source: Path, target: Path, dtype: str, report: Progress) -> None:
    """What `convert` does, but for the tokenizer: config.json, generation_config.json and model.safetensors.

    Tensor by tensor, so that a model of any size fits into memory.
    """
    from engine.gguf.config import configuration, special_tokens
    from engine.gguf.tensors import recipes

    report("Converting the weights", None)
    header = check_gguf(source)
    try:
        config = configuration(header)
        expected = _write_config(config, dtype, target)
        made = recipes(header, config, expected)
        _write_weights(target / "model.safetensors", dtype, expected, made, report)
    except (GgufForeignError, GgufDamagedError) as error:
        raise refuse_gguf(source, error) from error
    ends = {name: id for name, id in special_tokens(header).items() if id is not None}
    (target / "generation_config.json").write_text(json.dumps(ends), encoding="utf-8")


def _write_config(config: Mapping[str, Any], dtype: str, target: Path) -> dict[str, tuple[int, ...]]:
    """Write config.json; return the shapes of all tensors that the class has, tied ones once."""
    import torch
    from transformers import CONFIG_MAPPING, AutoModelForCausalLM

    made = CONFIG_MAPPING[config["model_type"]](**{key: value for key, value in config.items() if key != "model_type"})
    made.dtype = getattr(torch, _TORCH_NAMES[dtype])
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(made)
    made.architectures = [type(model).__name__]
    made.save_pretrained(target)
    tied = model.all_tied_weights_keys
    return {name: tuple(tensor.shape) for name, tensor in model.state_dict().items() if name not in tied}


def _write_weights(
    path: Path, dtype: str, shapes: Mapping[str, tuple[int, ...]], made: Mapping[str, Recipe], report: Progress
) -> None:
    """Write a safetensors file piece by piece. The format: https://huggingface.co/docs/safetensors/index"""
    import torch

    kind = getattr(torch, _TORCH_NAMES[dtype])
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, shape in shapes.items():
        start, end = end, end + prod(shape) * kind.itemsize
        header[name] = {"dtype": _STORED_NAMES[dtype], "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in shapes:
            report("Converting the weights", header[name]["data_offsets"][0] / end)
            for piece in made[name].pieces():
                file.write(torch.tensor(piece).contiguous().to(kind).view(torch.uint8).numpy().data)
            if file.tell() != 8 + len(text) + header[name]["data_offsets"][1]:
                raise AssertionError(f"{name} was made with another size than its recipe says")


def _die_with_parent() -> None:
    os.read(0, 1)  # returns when the parent ends; not sys.stdin, whose lock would abort this program at its own end
    os._exit(1)


def main(arguments: list[str]) -> int:
    """The program: SOURCE TARGET DTYPE. 0 done; 1 failed, the last line says why."""
    threading.Thread(target=_die_with_parent, daemon=True).start()

    def say(**line: Any) -> None:
        print("\n" + json.dumps(line), flush=True)  # a library may have left half a line behind

    try:
        convert(
            Path(arguments[0]), Path(arguments[1]), arguments[2], lambda stage, part: say(stage=stage, fraction=part)
        )
    except ModelError as error:
        say(refusal=str(error), detail=error.detail)
        return 1
    except Exception as error:
        say(error=f"{type(error).__name__}: {error}".splitlines()[0], detail=traceback.format_exc())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Turns a GGUF file into a folder that loads fast: safetensors weights, config.json, tokenizer.json.

`run_converter` starts `main` as a program of its own. So the window stays smooth, cancelling means ending the program,
and all memory is given back. Each line that the program prints is a JSON object with its progress or its error.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.library.child_process import Progress, run_python
from engine.library.places import disk_full
from engine.types import ModelError


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
    """Write the model in `source` to the folder `target`, weights as `dtype` (bf16, fp16 or fp32)."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where: dict[str, Any] = {"pretrained_model_name_or_path": str(source.parent), "gguf_file": source.name}
    report("Converting the tokenizer", None)
    AutoTokenizer.from_pretrained(**where).save_pretrained(target)
    _show_weights(report)
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[dtype]
    loaded = AutoModelForCausalLM.from_pretrained(**where, dtype=kind, trust_remote_code=False)
    config = loaded.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    config.dtype = kind
    # save_pretrained refuses a model that came from GGUF, so its weights go into a fresh, empty one.
    with torch.device("meta"):
        fresh = AutoModelForCausalLM.from_config(config)
    fresh.load_state_dict({name: tensor.to(kind) for name, tensor in loaded.state_dict().items()}, assign=True)
    fresh.tie_weights()
    report("Writing the converted model", None)
    fresh.save_pretrained(target)


def _show_weights(report: Progress) -> None:
    """Hear how far transformers' loop over the tensors is, by taking the place of its progress bar: it has no hook."""
    from transformers import modeling_gguf_pytorch_utils as loader

    def watched(tensors: list[Any], **_: Any) -> Iterator[Any]:
        for done, tensor in enumerate(tensors):
            report("Converting the weights", done / len(tensors))
            yield tensor

    report("Converting the weights", None)
    if hasattr(loader, "tqdm"):
        loader.tqdm = watched


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
    except Exception as error:
        say(error=f"{type(error).__name__}: {error}", detail=traceback.format_exc())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

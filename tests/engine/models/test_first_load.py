"""The first load of a process, as every user has it: nothing of transformers is imported yet.

All other tests share a process that imported everything long ago.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from engine.models import loaded as model
from engine.models.loaded import load
from engine.types import ModelError
from tests.engine.model_zoo import CASES
from tests.engine.tiny_models import make_folder, make_tokenizer

PATIENCE_S = 300
OPEN = """
import json, sys, threading

class Watch:
    threads = []
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "transformers":
            self.threads.append(threading.get_ident())
        return None

sys.meta_path.insert(0, Watch())
from pathlib import Path
from engine.models.loaded import load
found = load(Path(sys.argv[1]), "cpu", "fp32")
print(json.dumps([found.architecture, Watch.threads]))
"""

DYNAMIC = """
import ctypes, sys, threading
from pathlib import Path
from engine import Engine
from engine.events import Failed, Loaded
from engine.types import ModelSpec
engine = Engine()
engine.load(ModelSpec(sys.argv[1], "cpu", "fp32"))
while not any(isinstance(event, Loaded | Failed) for event in engine.poll()):
    threading.Event().wait(0.01)
engine.close()
lines = Path("/proc/self/maps").read_text().splitlines()
openmp = next(line.split()[-1] for line in lines if "libgomp" in line or "libiomp" in line)
print(ctypes.CDLL(openmp).omp_get_dynamic())
"""
"""Whether OpenMP may choose the number of threads by itself, once a model was loaded."""


def case_folder(name: str, folder: Path) -> Path:
    case = next(case for case in CASES if case.name == name)
    torch.manual_seed(0)
    AutoModelForCausalLM.from_config(case.config()).save_pretrained(folder)
    make_tokenizer().save_pretrained(folder)
    return folder


def tied_with_two_matrices(folder: Path) -> Path:
    """A folder whose config looks plain and whose weights are not: transformers is asked after all."""
    make_folder(folder)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": True}), "utf-8")
    return folder


@pytest.mark.parametrize(
    ("make", "architecture"),
    [
        (lambda folder: case_folder("Gemma", folder), "GemmaForCausalLM"),
        (lambda folder: case_folder("Phi-3", folder), "Phi3ForCausalLM"),
        (tied_with_two_matrices, "LlamaForCausalLM"),
        (make_folder, "LlamaForCausalLM"),
    ],
    ids=["Gemma", "Phi-3", "not plain after all", "plain"],
)
def test_first_load_of_a_process(make: Callable[[Path], Path], architecture: str, tmp_path: Path) -> None:
    """No two threads ever import parts of transformers in turn: it replaces itself at the end of its import, so that
    one that comes in between gets a module without its names (13 of 20 first loads failed)."""
    folder = make(tmp_path / "tiny")
    ran = subprocess.run(
        [sys.executable, "-c", OPEN, str(folder)], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert ran.returncode == 0, ran.stderr
    found, threads = json.loads(ran.stdout.splitlines()[-1])
    assert found == architecture
    assert len([thread for thread, _ in groupby(threads)]) == len(set(threads))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="where libraries lie is read from /proc")
def test_a_busy_computer_does_not_change_the_number_of_threads(tiny_folder: Path) -> None:
    """Issue 21, bad cases: OpenMP, told so by the environment, takes fewer threads while other programs run. torch does
    not know of it, and bf16 products come out in other bits."""
    ran = subprocess.run(
        [sys.executable, "-c", DYNAMIC, str(tiny_folder)],
        cwd=Path(__file__).parents[3],
        env=os.environ | {"OMP_DYNAMIC": "true"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == "0"


def test_a_fault_of_ours_is_not_blamed_on_the_model(tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ImportError("cannot import name 'AutoTokenizer' from 'transformers'", name="transformers")

    monkeypatch.setattr(model, "_open_tokenizer", fails)
    with pytest.raises(ImportError, match="AutoTokenizer"):
        load(tiny_folder, "cpu", "fp32")


def test_what_cannot_be_opened_says_where_it_failed(tiny_folder: Path, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "tiny")
    (folder / "tokenizer.json").write_text("{}", "utf-8")
    with pytest.raises(ModelError, match="cannot be opened as a chat model") as caught:
        load(folder, "cpu", "fp32")
    assert "Traceback" in caught.value.detail
    assert "_open_tokenizer" in caught.value.detail

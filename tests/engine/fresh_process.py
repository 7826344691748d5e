"""Two starts of Headstart with a model of any class, each a process of its own, as users have them.

Elsewhere in the tests a process that imported everything long ago opens the models. Here each start imports, opens,
answers and closes while something is asked, and the second finds on disk what the first left.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM
from transformers.utils.logging import disable_progress_bar

from engine import Engine
from engine.events import Failed, Finished, Loaded
from engine.types import Message, ModelSpec
from tests.engine.model_zoo import CASES, ModelCase
from tests.engine.tiny_models import make_tokenizer
from tests.engine.worker_driver import GREEDY, SYSTEM, Driver, request

ROOT = Path(__file__).parent.parent.parent
PATIENCE_S = 600
ENOUGH_IDS = 340
"""As many as the tests' tokenizer has."""


def play(seed: int) -> None:
    """A class and number type drawn by `seed`, opened twice. Raises AssertionError with what the child said."""
    chance = random.Random(seed)
    case, dtype = chance.choice(CASES), chance.choice(["fp32", "bf16"])
    print(f"    {case.name}, {dtype}", flush=True)
    disable_progress_bar()
    with tempfile.TemporaryDirectory() as folder:
        _write(case, Path(folder, "model"), seed)
        first, second = (_start(Path(folder), dtype) for _ in range(2))
    assert first["answers"] == second["answers"], (case.name, first, second)
    assert second["from_disk"] > 0 or first["near"], (case.name, second)


def _write(case: ModelCase, folder: Path, seed: int) -> None:
    config = case.config()
    text = config.get_text_config()
    text.vocab_size = ENOUGH_IDS
    if hasattr(text, "vocab_size_per_layer_input"):
        text.vocab_size_per_layer_input = ENOUGH_IDS
    torch.manual_seed(seed)
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    make_tokenizer().save_pretrained(folder)


def _start(folder: Path, dtype: str) -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-m", __name__, str(folder / "model"), dtype],
        cwd=ROOT,
        env=os.environ | {"HEADSTART_DATA_DIR": str(folder / "data")},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def _turns(driver: Driver) -> Iterator[tuple[Finished, Finished]]:
    """Two turns of one conversation, each with the cache and without."""
    messages: tuple[Message, ...] = (SYSTEM,)
    for question in ("Where is my parcel?", "And when will it be here? 🙂"):
        messages += (Message("user", question),)
        asked = request(messages=messages)
        warm = driver.finished(driver.engine.submit(asked))
        cold = driver.finished(driver.engine.submit(replace(asked, use_cache=False)))
        messages += (Message("assistant", warm.text or "None.", token_ids=warm.token_ids),)
        yield warm, cold


def main(model: str, dtype: str) -> None:
    """One start: load, two turns, and a third that is open when the engine is closed."""
    driver = Driver(Engine())
    loaded = driver.end(driver.engine.load(ModelSpec(model, "cpu", dtype, 10**8, 10**8)))  # type: ignore[arg-type]
    assert isinstance(loaded, Loaded), loaded
    turns = list(_turns(driver))
    for warm, cold in turns:
        assert warm.token_ids == cold.token_ids or loaded.model.near, (warm, cold)
    last = driver.engine.submit(request(sampling=replace(GREEDY, max_tokens=200)))
    assert driver.engine.close(PATIENCE_S)
    driver.events += driver.engine.poll(10**6)
    assert len([event for event in driver.of(last) if isinstance(event, Finished | Failed)]) == 1, driver.events
    answers = [warm.token_ids for warm, _ in turns]
    from_disk = turns[0][0].stats.disk_tokens
    print(json.dumps({"near": loaded.model.near, "answers": answers, "from_disk": from_disk}))


if __name__ == "__main__":
    main(*sys.argv[1:])

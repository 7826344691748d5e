"""What generation_config.json says of sampling reaches whoever begins a chat."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from engine import Engine
from engine.events import Loaded
from engine.library.advice import sampling_advice
from engine.types import ModelSpec, Sampling
from tests.engine.worker_driver import Driver

PLAIN = Sampling(temperature=1.0, top_p=1.0, repetition_penalty=1.0)


@pytest.mark.parametrize(
    ("config", "advice"),
    [
        (
            {"do_sample": True, "temperature": 0.6, "top_k": 20, "top_p": 0.95, "eos_token_id": [1, 2]},
            Sampling(temperature=0.6, top_k=20, top_p=0.95, repetition_penalty=1.0),
        ),
        ({"min_p": 0.15, "temperature": 1, "repetition_penalty": 1.05}, Sampling(1, 1.0, 0, 0.15, 1.05)),
        ({"do_sample": True}, PLAIN),
        ({"do_sample": False, "temperature": 0.6}, Sampling(0.0, 1.0, 0, 0.0, 1.0)),
        ({"do_sample": True, "temperature": None, "top_k": 64}, Sampling(1.0, 1.0, 64, 0.0, 1.0)),
        ({"eos_token_id": 2}, None),
        ({"temperature": "warm"}, None),
        ({"temperature": -1}, None),
        ([], None),
    ],
)
def test_what_the_makers_advise(tmp_path: Path, config: object, advice: Sampling | None) -> None:
    (tmp_path / "generation_config.json").write_text(json.dumps(config))
    assert sampling_advice(tmp_path) == advice


def test_without_the_file_there_is_no_advice(tmp_path: Path) -> None:
    assert sampling_advice(tmp_path) is None


def test_the_advice_comes_with_the_model(engine: Engine, tiny_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_folder, tmp_path / "advised")
    (folder / "generation_config.json").write_text('{"do_sample": true, "temperature": 0.7, "top_k": 50}')
    driver = Driver(engine)
    loaded = driver.end(engine.load(ModelSpec(str(folder), "cpu", "fp32", cache_bytes=10**8)))
    assert isinstance(loaded, Loaded)
    assert loaded.model.advice == Sampling(0.7, 1.0, 50, 0.0, 1.0)

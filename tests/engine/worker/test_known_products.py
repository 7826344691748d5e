"""What was seen of products is known at the next start, on the same machine only."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.library.places import blocks_dir
from engine.types import ModelSpec
from engine.weights import row_products
from engine.weights.row_products import COUNTS, MEASURE
from engine.worker.loading import open_model


@pytest.fixture
def start(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], dict[str, tuple[int, ...]]]:
    """Opens a model as a new process does; what is known of products then."""
    monkeypatch.setenv("HEADSTART_DATA_DIR", str(tmp_path / "data"))

    def start() -> dict[str, tuple[int, ...]]:
        monkeypatch.setattr(row_products, "known_counts", known := {})
        monkeypatch.setattr("engine.worker.loading.known_counts", known)
        monkeypatch.setattr("engine.worker.known_products.known_counts", known)
        open_model(ModelSpec(str(tiny_folder), "cpu", "fp32", 10**6), time.perf_counter, lambda *_: None)
        return known

    return start


def file() -> Path:
    return blocks_dir().with_name("products.json")


def test_the_next_start_knows(start: Callable[[], dict[str, tuple[int, ...]]]) -> None:
    assert start()
    found = json.loads(file().read_text("utf-8"))
    shape = next(iter(found["counts"]))
    found["counts"][shape] = [MEASURE]
    file().write_text(json.dumps(found), "utf-8")
    assert start()[shape] == (MEASURE,)


def test_on_another_machine_it_is_measured_anew(
    start: Callable[[], dict[str, tuple[int, ...]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = start()
    file().write_text(file().read_text("utf-8").replace(str(COUNTS[1]), str(COUNTS[-1])), "utf-8")
    monkeypatch.setitem(os.environ, "MKL_CBWR", "COMPATIBLE")  # as good as another processor
    assert start() == measured


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"arithmetic": 1}',
        '{"arithmetic": "ARITHMETIC", "counts": {"a": [7], "b": "16", "c": [16], "d": [64, "64"]}}',
    ],
)
def test_an_odd_file_is_none(start: Callable[[], dict[str, tuple[int, ...]]], text: str) -> None:
    measured = start()
    arithmetic = json.loads(file().read_text("utf-8"))["arithmetic"]
    file().write_text(text.replace("ARITHMETIC", arithmetic), "utf-8")
    assert start() == measured

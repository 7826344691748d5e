"""Fixtures of the engine's tests. Tiny tensors on one thread: a second one only spins at barriers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
import torch

from engine import Engine
from engine.cache.disk_tier import DiskTier
from engine.events import Loaded
from engine.models.loaded import LoadedModel
from engine.types import ModelSpec
from tests.engine.disk_driver import BLOCK_BYTES, Open
from tests.engine.fake_kv import LAYOUT
from tests.engine.tiny_models import make_folder, make_model
from tests.engine.worker_driver import PATIENCE_S, Driver

hypothesis.settings.register_profile(  # for mutations.py: that a test fails is enough there
    "no_shrink", deadline=None, derandomize=True, max_examples=400, database=None, phases=[hypothesis.Phase.generate]
)


@pytest.fixture
def threads() -> Iterator[None]:
    """A test that changes their number: behind it there are as many as before."""
    count = torch.get_num_threads()
    yield
    torch.set_num_threads(count)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def tiny() -> LoadedModel:
    """The tiny Llama in fp32. It has no state of its own between forward passes."""
    return make_model()


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model as a folder of files."""
    return make_folder(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    assert engine.close(PATIENCE_S)


@pytest.fixture
def driver(engine: Engine, tiny_folder: Path) -> Driver:
    """An engine with the tiny model loaded."""
    driver = Driver(engine)
    loaded = driver.end(engine.load(ModelSpec(str(tiny_folder), "cpu", "fp32", cache_bytes=10**8)))
    assert isinstance(loaded, Loaded), loaded
    return driver


@pytest.fixture
def reopen(tmp_path: Path) -> Iterator[Open]:
    """Closes the tier there is, as the end of the program does, and opens another over the same folder."""
    tiers: list[DiskTier] = []
    times = itertools.count(1000)

    def open_tier(blocks: int = 100, namespace: str = "model", root: Path = tmp_path / "blocks") -> DiskTier:
        for tier in tiers:
            tier.close()
        tiers.append(DiskTier(root, namespace, LAYOUT, blocks * BLOCK_BYTES, lambda: next(times)))
        tiers[-1].open()
        return tiers[-1]

    yield open_tier
    for tier in tiers:
        tier.close()

"""Fixtures of the engine's tests. Tiny tensors on one thread: a second one only spins at barriers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from engine.model import LoadedModel
from tests.engine.tiny_models import make_folder, make_model


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

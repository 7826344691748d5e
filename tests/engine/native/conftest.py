"""The compiled part in its other form."""

from __future__ import annotations

import pytest
import torch

from engine.native import library as native_library
from engine.weights import compiled_matrix


@pytest.fixture
def portable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The form for processors without AVX2, and for ARM."""
    with monkeypatch.context() as patch:
        patch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "DEFAULT")
        path = native_library._path()
        loaded = None if path is None else native_library.load(path)
    assert loaded is not None
    assert loaded.headstart_widest(True) == 0
    for module in (native_library, compiled_matrix):
        monkeypatch.setattr(module, "library", lambda: loaded)

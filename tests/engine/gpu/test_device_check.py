"""The check of a device, played on one that is not there; and that it sees wrong numbers, and what torch raises."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from engine.models.device_check import check_device
from tests.engine.gpu.fake_gpu import FakeGpu, Kind


@pytest.mark.parametrize("kind", ["cuda", "mps"])
def test_a_device_that_computes_as_the_cpu_is_right(kind: Kind) -> None:
    with FakeGpu(kind):
        found = list(check_device())
    assert all(check.is_right for check in found), found
    assert len(found) == 5


def test_wrong_numbers_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a device whose attention forgets the scale."""

    right = functional.scaled_dot_product_attention

    def wrong(query: Tensor, *others: Tensor, scale: float, **more: Any) -> Tensor:
        return right(query, *others, scale=scale if query.device.type == "cpu" else 1.0, **more)

    monkeypatch.setattr(functional, "scaled_dot_product_attention", wrong)
    with FakeGpu("mps"):
        found = [check for check in check_device() if not check.is_right]
    assert found[0].what.startswith("a prompt at once")
    assert "off by" in found[0].figure


def test_what_torch_raises_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(*_: object, **__: object) -> Tensor:
        raise NotImplementedError("not currently implemented")

    monkeypatch.setattr(torch, "mm", lacking)
    with FakeGpu("cuda"):
        found = list(check_device())
    assert any("not currently implemented" in check.figure for check in found)
    assert len(found) == 5

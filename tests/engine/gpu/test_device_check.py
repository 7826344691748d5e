"""The check of a device, played on one that is not there; and that it sees wrong numbers, and what torch raises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from engine import blocks_dir, check_device, graphics
from engine.llama.checkpoint import LeanNetwork
from engine.models import device_check
from engine.turn import pipelined_check
from engine.types import ModelSpec
from engine.worker.loading import open_model
from engine.worker.passed_check import has_passed, note_check
from tests.depth import cases
from tests.engine.gpu.fake_gpu import FakeGpu, Kind
from tests.engine.inside import lanes
from tests.engine.turns import Chat, Ticks


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """No other test meets a card that was checked."""
    yield
    note_check("cuda", False)


@pytest.mark.parametrize("kind", cases(["cuda", "mps"], ["cuda"]))
def test_a_device_that_computes_as_the_cpu_is_right(kind: Kind) -> None:
    with FakeGpu(kind) as gpu:
        found = list(check_device())
        assert has_passed(gpu.device.type) == (kind == "cuda")
    assert all(check.is_right for check in found), found
    assert len(found) == 8


def test_wrong_numbers_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a device whose attention forgets the scale."""

    right = functional.scaled_dot_product_attention

    def wrong(query: Tensor, *others: Tensor, scale: float, **more: Any) -> Tensor:
        return right(query, *others, scale=scale if query.device.type == "cpu" else 1.0, **more)

    monkeypatch.setattr(functional, "scaled_dot_product_attention", wrong)
    monkeypatch.setattr(pipelined_check, "check_pipelined", lambda device: iter(()))
    with FakeGpu("cuda") as gpu:
        note_check(gpu.device.type, True)
        found = [check for check in check_device() if not check.is_right]
        assert found[0].what.startswith("a prompt at once")
        assert not has_passed(gpu.device.type), "one that was right before is not trusted any more"
    assert "off by" in found[0].figure


def test_what_torch_raises_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(*_: object, **__: object) -> Tensor:
        raise NotImplementedError("not currently implemented")

    monkeypatch.setattr(torch, "mm", lacking)
    with FakeGpu("cuda"):
        found = list(device_check.check_device())
    assert any("not currently implemented" in check.figure for check in found)
    assert len(found) == 5


def test_a_check_holds_for_one_driver_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """And for one card, one torch, one version of the engine."""
    with FakeGpu("cuda") as gpu:
        note_check(gpu.device.type, True)
        assert has_passed(gpu.device.type)
        monkeypatch.setattr(graphics, "probe", lambda: graphics.Probe("linux", "a card, 999.1, 9.0"))
        assert not has_passed(gpu.device.type)
    assert not has_passed("cpu")


def test_a_file_that_says_anything_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeGpu("cuda") as gpu:
        for said in ("", "[]", "{", '{"passed": true}'):
            (blocks_dir().parent / "checked-device.json").write_text(said, "utf-8")
            assert not has_passed(gpu.device.type)


def test_a_model_is_opened_as_it_was_checked(tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the check tokens are chosen by the processor; with it on the device, and recorded at idle."""
    monkeypatch.setattr(LeanNetwork, "weights_bytes", 0)  # they have no addresses here
    with FakeGpu("cuda") as gpu:
        for has_checked in (False, True):
            note_check(gpu.device.type, has_checked)
            responder, _ = open_model(ModelSpec(str(tiny_folder), disk_bytes=0), Ticks(), lambda *_: None)
            Chat(responder, "Be brief.").ask("Where is it?")
            list(responder.work_idly())
            assert bool(lanes(responder.cache)[0].recorded) == has_checked

"""That the checks can fail: a fault of each kind that only a GPU shows is planted, and the test that is there for it
finds it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.cache.copies import Beside, Copy
from engine.cache.store import KVStore
from engine.llama import forward
from engine.llama.weights import Rotary
from engine.types import HeadstartError
from tests.engine.gpu import test_classes, test_memory_tier
from tests.engine.gpu.fake_gpu import WrongDeviceError
from tests.engine.model_zoo import CASES

Plant = Callable[[pytest.MonkeyPatch], None]


def copy_to_the_cpu(patch: pytest.MonkeyPatch) -> None:
    """Attention that goes over the CPU, in every layer of every token."""
    right = forward.attend_by_torch

    def wrong(*args: Any, **more: Any) -> Tensor:
        out = right(*args, **more)
        return out.cpu().to(out.device)

    patch.setattr(forward, "attend_by_torch", wrong)


def mask_on_the_cpu(patch: pytest.MonkeyPatch) -> None:
    """The mask of a window, made where the device is not named."""
    right = forward.in_window
    patch.setattr(forward, "in_window", lambda window, q, n, device: right(window, q, n, torch.device("cpu")))


def table_in_fp32(patch: pytest.MonkeyPatch) -> None:
    """Angles of positions that are wider than what they are multiplied with."""
    right = Rotary.__call__

    def wrong(self: Rotary, like: Tensor, positions: Tensor, **more: bool) -> tuple[Tensor, Tensor]:
        return right(self, like.float(), positions, **more)

    patch.setattr(Rotary, "__call__", wrong)


def no_wait_of_the_device(patch: pytest.MonkeyPatch) -> None:
    """A lane is filled from a copy that is not made yet."""
    patch.setattr(Beside, "join", lambda self: True)


def no_wait_of_the_processor(patch: pytest.MonkeyPatch) -> None:
    """The processor sends back, or writes to disk, what is not there yet."""
    patch.setattr(Beside, "wait", lambda self: True)


def given_back_while_copied(patch: pytest.MonkeyPatch) -> None:
    """The room of a block is another's before its copy is made."""

    def wrong(self: KVStore, block: int, copy: Copy) -> None:
        self.free([block])

    patch.setattr(KVStore, "free_behind", wrong)


def classes(name: str) -> Callable[[Path, Path], None]:
    """A class of models on the device."""
    (case,) = [case for case in CASES if case.name == name]
    test = test_classes.test_class_runs_on_the_device_and_waits_once_a_token
    return lambda *_: test(case, "cuda", torch.bfloat16)


def a_chat_comes_back(tiny_folder: Path, tmp_path: Path) -> None:
    """A chat whose blocks left the device."""
    test_memory_tier.test_a_chat_comes_back_from_behind_the_device("cuda", tiny_folder, tmp_path)


def the_processor_reads(*_: Path) -> None:
    """A block that has just left the device."""
    test_memory_tier.test_the_processor_reads_what_is_there()


def it_is_waited_for(*_: Path) -> None:
    """The bytes of a block that is being copied."""
    test_memory_tier.test_what_is_still_on_its_way_is_waited_for()


FAULTS: tuple[tuple[Plant, Callable[[Path, Path], None]], ...] = (
    (copy_to_the_cpu, classes("Llama")),
    (mask_on_the_cpu, classes("Gemma-3")),
    (table_in_fp32, classes("Llama")),
    (no_wait_of_the_device, a_chat_comes_back),
    (no_wait_of_the_processor, the_processor_reads),
    (given_back_while_copied, it_is_waited_for),
)


@pytest.mark.parametrize(("plant", "guard"), FAULTS, ids=[plant.__name__ for plant, _ in FAULTS])
def test_a_planted_fault_is_found(
    plant: Plant,
    guard: Callable[[Path, Path], None],
    monkeypatch: pytest.MonkeyPatch,
    tiny_folder: Path,
    tmp_path: Path,
) -> None:
    plant(monkeypatch)
    with pytest.raises((AssertionError, WrongDeviceError, HeadstartError)):
        guard(tiny_folder, tmp_path)

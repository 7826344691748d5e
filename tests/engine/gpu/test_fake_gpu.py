"""The GPU that is not there refuses what a GPU refuses, and sees whoever waits for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from tests.engine.gpu.fake_gpu import FakeGpu, Kind, WrongDeviceError

KINDS = ("cuda", "mps")
REFUSED: dict[str, Callable[[Tensor], object]] = {
    "two devices": lambda there: there + torch.ones(4, 4),
    "a mask on the CPU": lambda there: there.masked_fill(torch.ones(4, 4, dtype=torch.bool), 0.0),
    "a product of two types": lambda there: there @ there.to(torch.bfloat16),
    "attention over two types": lambda there: functional.scaled_dot_product_attention(
        there[None, None], there[None, None].half(), there[None, None].half()
    ),
    "a product of whole numbers": lambda there: there.long() @ there.long(),
    "its memory as an array": lambda there: there.numpy(),
}
WAITING: dict[str, Callable[[Tensor], object]] = {
    "item": lambda there: there[0, 0].item(),
    "tolist": lambda there: there.tolist(),
    "bool": lambda there: bool((there > 0).all()),
    "float": lambda there: float(there.max()),
    "cpu": lambda there: there.cpu(),
    "a copy to it": lambda there: torch.ones(4, 4).to(there.device),
    "a list to it": lambda there: torch.tensor([1, 2], device=there.device),
    "where": lambda there: torch.nonzero(there),
    "a mask as an index": lambda there: there[there > 0],
    "an index from the CPU": lambda there: there[torch.tensor([1, 2])],
    "equal": lambda there: torch.equal(there, there),
}
PROMPT: dict[str, Callable[[Tensor], object]] = {
    "a number to it": lambda there: torch.full((1,), 3, device=there.device),
    "a copy that nobody waits for": lambda there: torch.ones(4, 4).to(there.device, non_blocking=True),
    "attention": lambda there: functional.scaled_dot_product_attention(
        there[None, None], there[None, None], there[None, None], is_causal=True
    ),
    "one value by a mask": lambda there: there.clone().__setitem__(there > 0, 0.0),
    "a row": lambda there: there[2],
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_computes_what_the_cpu_computes(kind: Kind) -> None:
    """Views share memory, changes in place are seen through them, and a parameter can be moved."""
    layer = torch.nn.Linear(4, 3).requires_grad_(False)
    numbers = torch.randn(2, 4)
    expected = layer(numbers)
    with FakeGpu(kind) as gpu, torch.inference_mode():
        moved, there = layer.to("cuda" if kind == "cuda" else "mps"), numbers.to(gpu.device)
        found = moved(there)
        assert found.device == moved.weight.device == gpu.device
        assert torch.equal(found.cpu(), expected)
        there[1:].fill_(7.0)
        assert there.tolist()[1] == [7.0] * 4


@pytest.mark.parametrize("what", REFUSED)
def test_it_refuses(what: str) -> None:
    with FakeGpu() as gpu, torch.inference_mode(), pytest.raises((WrongDeviceError, TypeError, RuntimeError)):
        REFUSED[what](torch.ones(4, 4, device=gpu.device))


def test_mps_has_no_wide_numbers() -> None:
    with FakeGpu("mps") as gpu, torch.inference_mode(), pytest.raises(WrongDeviceError, match="64 bits"):
        torch.ones(4, device=gpu.device).double()


def test_mixed_types_are_seen_where_asked_for() -> None:
    """A GPU computes them, at twice the cost: only our own forward pass promises not to."""
    with FakeGpu() as gpu, torch.inference_mode():
        half, full = torch.ones(4, device=gpu.device, dtype=torch.bfloat16), torch.ones(4, device=gpu.device)
        assert (half * full).dtype is torch.float32
        gpu.is_strict = True
        with pytest.raises(WrongDeviceError, match="mixes"):
            half * full


@pytest.mark.parametrize("what", WAITING)
def test_it_sees_who_waits(what: str) -> None:
    with FakeGpu() as gpu, torch.inference_mode():
        there = torch.ones(4, 4, device=gpu.device)
        WAITING[what](there)
        assert len(gpu.waits) == 1


@pytest.mark.parametrize("what", PROMPT)
def test_it_sees_who_does_not_wait(what: str) -> None:
    with FakeGpu() as gpu, torch.inference_mode():
        PROMPT[what](torch.ones(4, 4, device=gpu.device))
        assert not gpu.waits


@pytest.mark.parametrize("kind", KINDS)
def test_its_memory_ends(kind: Kind) -> None:
    """What nobody holds any more is free again; a view takes nothing. The error is the one that torch raises."""
    with FakeGpu(kind, memory=40 << 20, computes=False) as gpu:
        held = torch.empty(16 << 20, device=gpu.device, dtype=torch.uint8)
        view = held[3:]
        assert gpu.segments.used == gpu.segments.reserved == 16 << 20
        kinds = torch.OutOfMemoryError if kind == "cuda" else RuntimeError
        with pytest.raises(kinds, match="out of memory"):
            torch.empty(25 << 20, device=gpu.device, dtype=torch.uint8)
        del held
        assert gpu.segments.used == 16 << 20
        del view
        assert gpu.segments.used == 0
        torch.empty(25 << 20, device=gpu.device, dtype=torch.uint8)


def test_its_memory_is_taken_in_segments() -> None:
    """Small blocks share one, and what is free in it is not the card's until all of it is."""
    with FakeGpu(memory=100 << 20, computes=False) as gpu:
        small = [torch.empty(700_000, device=gpu.device, dtype=torch.uint8) for _ in range(5)]
        assert gpu.segments.reserved == 6 << 20
        del small[1:]
        assert gpu.segments.reserved == 6 << 20
        torch.cuda.empty_cache()
        assert gpu.segments.reserved == 2 << 20
        middle = [torch.empty(3 << 20, device=gpu.device, dtype=torch.uint8) for _ in range(6)]
        assert gpu.segments.reserved == 22 << 20
        assert len(middle + small) == 7

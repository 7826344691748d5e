"""How a block goes from a device's memory to the computer's and back, beside what is computed meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor


class Copy(Protocol):
    """A copy that was begun. What is copied is held until it is done, and `tensor` is not to be read before."""

    tensor: Tensor

    def is_done(self) -> bool:
        """Whether all numbers are there. Never waits."""

    def wait(self) -> bool:
        """Wait until they are, before the processor reads them; False where the copy failed."""

    def join(self) -> bool:
        """Have the device wait for them before what it is told from now on; False where the copy failed."""


class Copies(Protocol):
    """Begins copies. Both raise what torch raises where there is no memory."""

    def leave(self, block: Tensor) -> Copy:
        """From the device into the computer's memory."""

    def arrive(self, block: Tensor) -> Copy:
        """Back to the device. What is in the computer's memory is all there."""


@dataclass(slots=True)
class Done:
    """A copy that was made at once."""

    tensor: Tensor

    def is_done(self) -> bool:
        return True

    def wait(self) -> bool:
        return True

    def join(self) -> bool:
        return True


class AtOnce:
    """Copies that are waited for, for a device without streams of its own."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def leave(self, block: Tensor) -> Copy:
        return Done(block.to("cpu", copy=True))

    def arrive(self, block: Tensor) -> Copy:
        return Done(block.to(self._device, copy=True))


@dataclass(slots=True)
class Beside:
    """A copy on a stream of CUDA's. `source` is held until it is seen to be made, because its memory must not be given
    to anybody else before; and no longer, because a block that left the device is to take nothing of it."""

    source: Tensor | None
    tensor: Tensor
    event: Any

    def is_done(self) -> bool:
        if self.event.query():
            self.source = None
        return self.source is None

    def wait(self) -> bool:
        self.event.synchronize()
        self.source = None
        return True

    def join(self) -> bool:
        torch.cuda.current_stream(self.tensor.device).wait_event(self.event)
        return True


class SideStream:
    """Copies on a stream beside the one that computes, from and to memory that CUDA can reach by itself (pinned).

    The side stream waits for what was told to the computing one before: a block is written when it is copied away, and
    the memory that one comes back into is free.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]

    def leave(self, block: Tensor) -> Copy:
        held = torch.empty(block.shape, dtype=block.dtype, pin_memory=True)
        return self._copy(block, held)

    def arrive(self, block: Tensor) -> Copy:
        target = torch.empty(block.shape, dtype=block.dtype, device=self._device)
        target.record_stream(self._stream)  # nobody else gets its memory before the copy, if nobody waits for that
        return self._copy(block, target)

    def _copy(self, source: Tensor, target: Tensor) -> Copy:
        self._stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(self._stream):
            target.copy_(source, non_blocking=True)
        return Beside(source, target, self._stream.record_event())


def copies_for(device: torch.device) -> Copies:
    """The way for a device."""
    return SideStream(device) if device.type == "cuda" else AtOnce(device)

"""One token after the other without waiting: what a device was told once for a token is recorded, and repeated.

To tell a GPU one by one what a token needs takes longer than most models take to compute it. CUDA records such commands
(a graph: https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs) and repeats all of them by one. A recording
holds for one lane, whose memory it writes to, and for one of some sizes, over which its attention goes. It is made
while nobody waits, and given up with the lane, or where memory is short: then commands are told one by one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import torch
from torch import Tensor

from engine.cache.contract import without_salt
from engine.cache.copies import copies_for
from engine.cache.store import Lane
from engine.models.loaded import LoadedModel

log = logging.getLogger("headstart")

SIZE = 512
"""Recordings are for multiples of so many tokens: attention goes over what is not yet written, too, and leaves it out.
Half of it, in the mean, is computed in vain, which is little beside the weights."""

SIZES_AHEAD = 2
"""A lane gets recordings for the size that its newest token is in, and for the next one."""


class Recorder(Protocol):
    """How a device records."""

    def record(self, step: Callable[[], Tensor]) -> Callable[[], Tensor]:
        """Record what `step` tells the device; it may be called for that. What is returned repeats it, and gives the
        same tensor each time, with new numbers. Raises what torch raises where there is no memory."""


class PlainCalls:
    """For a device that records nothing: to repeat a step is to call it again."""

    def record(self, step: Callable[[], Tensor]) -> Callable[[], Tensor]:
        step()
        return step


class CudaGraphs:
    """CUDA's graphs. All of one model share what memory they compute in, since one is repeated at a time."""

    def __init__(self) -> None:
        self._pool: Any = None

    def record(self, step: Callable[[], Tensor]) -> Callable[[], Tensor]:
        beside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        computing = torch.cuda.current_stream()
        beside.wait_stream(computing)
        with torch.cuda.stream(beside):
            step()  # libraries set themselves up at the first call, which cannot be recorded
        computing.wait_stream(beside)
        self._pool = self._pool or torch.cuda.graph_pool_handle()
        graph = torch.cuda.CUDAGraph()
        # Another thread may use the device meanwhile: what it does is its own.
        with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
            found = step()

        def repeat() -> Tensor:
            graph.replay()
            return found

        return repeat


def recorder_for(device: torch.device) -> Recorder | None:
    """The way for a device; None for one whose commands are told one by one."""
    return CudaGraphs() if device.type == "cuda" else None


class Steps:
    """Computes single tokens behind a lane, by a recording where there is one. `launch` never waits."""

    def __init__(self, model: LoadedModel, recorder: Recorder | None = None) -> None:
        self.model = model
        self.copies = copies_for(model.device)
        self._recorder = recorder if model.network.fixed_step is not None else None
        self._clean: tuple[Lane, int, int] | None = None
        """A lane, the next position in it, and up to where all behind that is numbers."""

    def begin(self) -> None:
        """Another answer begins: what lies behind the tokens of a lane may have been written by any other."""
        self._clean = None

    @torch.inference_mode()
    def launch(self, token: Tensor, lane: Lane, position: int) -> Tensor:
        """The logits `[vocabulary]` behind a token `[1]` that the device computes behind the lane's first `position`.
        They stand until the next call."""
        size = size_at(position, lane.capacity)
        repeat = lane.recorded.get((size, without_salt(lane.regime))) if self._recorder is not None else None
        if repeat is None:
            return self.model.launch(token, lane, position)
        if self._clean != (lane, position, size):
            lane.clean(position, size)
        self._clean = lane, position + 1, size
        return repeat(token, position)

    def record(self, lanes: Iterable[Lane]) -> Iterator[None]:
        """Record what the next answers in idle lanes will need, one size at a time. Where memory does not do for it,
        nothing is recorded any more."""
        for lane in lanes if self._recorder is not None else ():
            for size in [size_at(len(lane.ids) + ahead * SIZE, lane.capacity) for ahead in range(SIZES_AHEAD)]:
                if len(lane.ids) < size and (size, without_salt(lane.regime)) not in lane.recorded:
                    self._record(lane, size)
                    yield

    @torch.inference_mode()
    def _record(self, lane: Lane, size: int) -> None:
        step, recorder = self.model.network.fixed_step, self._recorder
        if step is None or recorder is None:
            return
        try:
            token = torch.zeros(1, dtype=torch.long, device=self.model.device)
            at = torch.full_like(token, len(lane.ids))  # behind all tokens, where recording may write
            again = recorder.record(lambda: step(token, at, lane, size))
        except (MemoryError, RuntimeError) as error:
            # What torch raises after a lack of memory while it records does not tell of it.
            log.info("Tokens are told to the device command by command: %s", error)
            self.give_up([lane])
            return

        def repeat(next_token: Tensor, position: int) -> Tensor:
            token.copy_(next_token)
            at.fill_(position)
            return again()

        lane.recorded[size, without_salt(lane.regime)] = repeat

    def give_up(self, lanes: Iterable[Lane]) -> None:
        """Repeat nothing any more."""
        self._recorder = None
        for lane in lanes:
            lane.recorded.clear()


def size_at(position: int, capacity: int) -> int:
    """The size of the recording for a token at a position."""
    return min(-(-(position + 1) // SIZE) * SIZE, capacity)

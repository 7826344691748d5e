"""A GPU that is not there: tensors that say they are on cuda:0 or mps:0, computed on the CPU, and watched.

`FakeGpu` is a context. Within it torch finds a GPU. A tensor made there is a `DeviceTensor` around one in main memory;
each operation on it is checked as a GPU would check it, and computed with real numbers. What a GPU would wait for is
noted in `waits`: a number or a tensor that the processor asks for, and a copy that the queue is emptied for.

What it cannot tell: whether a kernel computes the right numbers, and how long anything takes.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal, NoReturn
from unittest.mock import patch

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from engine.llama.gpu_kernels import Heads, card_of
from tests.engine.gpu.segments import Segment, Segments

Kind = Literal["cuda", "mps"]

SOURCE = Path(__file__).with_name("fake_gpu.cpp")
GIB = 1 << 30
aten = torch.ops.aten

WHOLE = {
    aten.scaled_dot_product_attention.default, aten.rms_norm.default, aten.linear.default, aten.matmul.default,
    aten.layer_norm.default,
}  # fmt: skip
"""Operations that are watched as a whole; other composed ones are watched part by part."""

COPIES = {aten._to_copy.default, aten.copy_.default}

ANSWERS = {
    aten._local_scalar_dense.default, aten.equal.default, aten.nonzero.default, aten.masked_select.default,
    aten.unique_consecutive.default, aten._unique2.default, aten.repeat_interleave.Tensor,
    aten.allclose.default, aten.is_nonzero.default,
}  # fmt: skip
"""What the processor must know the result, or its shape, of."""

PRODUCTS = {
    aten.mm.default, aten.addmm.default, aten.bmm.default, aten.baddbmm.default, aten.linear.default,
    aten.matmul.default, aten.scaled_dot_product_attention.default, aten.addmm.out, aten.mm.out,
    aten._grouped_mm.default,
}  # fmt: skip
"""What no GPU computes of two number types."""

MAY_MIX = COPIES | {aten.masked_fill.Scalar, aten.masked_fill_.Scalar, aten.embedding.default}
INDEXED = {aten.index.Tensor, aten.index_put_.default, aten.index_put.default, aten._index_put_impl_.default}


_present: list[FakeGpu] = []
"""The one that is there now, if any."""


class WrongDeviceError(AssertionError):
    """An operation that a GPU would refuse."""


@functools.cache
def guards() -> Path:
    """The compiled guards, made once for each build of torch. Skips the test where there is no compiler."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("the fake GPU needs a C++ compiler on Linux")
    torch_folder = Path(torch.__file__).parent
    digest = hashlib.sha256(SOURCE.read_bytes() + f"{torch.__version__} {torch_folder}".encode()).hexdigest()[:12]
    built = SOURCE.with_name(f"fake_gpu-{digest}.so")
    if not built.exists():
        own = built.with_name(f"fake_gpu-{os.getpid()}.so")
        flags = ["-O1", "-shared", "-fPIC", "-std=c++20", f"-I{torch_folder}/include", f"-L{torch_folder}/lib"]
        subprocess.run([compiler, *flags, str(SOURCE), "-o", str(own), "-lc10"], check=True, capture_output=True)
        own.replace(built)
    return built


@functools.cache
def load_guards() -> None:
    """Load the guards into this process, once."""
    ctypes.CDLL(os.fspath(guards()))


class DeviceTensor(Tensor):
    """A tensor that says it is on a GPU. `inner` holds its numbers."""

    inner: Tensor
    room: _Room
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def __new__(cls, inner: Tensor, device: torch.device) -> DeviceTensor:
        made = Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls,
            inner.shape,
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=device,
        )
        made.inner = inner
        return made  # type: ignore[no-any-return]

    @property
    def data(self) -> Tensor:  # type: ignore[override]
        """The same numbers, out of any graph."""
        return self.detach()

    @data.setter
    def data(self, other: DeviceTensor) -> None:
        self.inner, self.room = other.inner, other.room

    def tolist(self) -> Any:
        """As of any tensor; torch itself refuses it to classes of others."""
        return self.cpu().tolist()

    def record_stream(self, stream: FakeStream) -> None:  # type: ignore[override]
        """Its memory is not given to anybody else before what the stream was told by then."""
        stream.may_lose.add(self.inner.untyped_storage()._cdata)

    def __repr__(self) -> str:  # type: ignore[override]
        return f"<{self.dtype} {list(self.shape)} on {self.device}>"

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        (gpu,) = _present  # a tensor of a GPU that is gone is of no use
        return gpu.operate(func, args, kwargs or {})


class _Room:
    """That a tensor lies in a piece of a GPU's memory, for as long as the tensor is there."""

    def __init__(self, gpu: FakeGpu, key: int) -> None:
        self._gpu, self._key = gpu, key

    def __del__(self) -> None:
        self._gpu.give_back(self._key)


class _Watch(TorchDispatchMode):
    """Hands the operations that concern a GPU to it."""

    def __init__(self, gpu: FakeGpu) -> None:
        super().__init__()
        self._gpu = gpu

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = dict(kwargs or {})
        if self._gpu.concerns(args, given):
            return self._gpu.operate(func, args, given)
        given.pop("pin_memory", None)  # the CPU build knows no memory that a GPU can read by itself
        return func(*args, **given)


class FakeStream:
    """What is told to a stream beside the one that computes. A copy is made when somebody waits for it, never before;
    until then what it writes to is NaN, or a number that is nothing's."""

    def __init__(self, *_: Any) -> None:
        self.waiting: list[Callable[[], object]] = []
        self.needs: list[set[int]] = []
        """Of each copy that waits the pieces of memory that it is between."""
        self.may_lose: set[int] = set()
        """Pieces that the allocator keeps for this stream when nobody else holds them any more."""
        self.begun = 0

    def wait_stream(self, other: FakeStream) -> None:
        """What computes is always done at once."""

    def record_event(self) -> FakeEvent:
        """A mark behind all that was told so far."""
        return FakeEvent(self, self.begun)

    def copy(self, target: Tensor, source: Tensor) -> None:
        """Tell it a copy."""
        target.fill_(float("nan") if target.is_floating_point() else -99)
        self.waiting.append(lambda: target.copy_(source))
        self.needs.append({each.untyped_storage()._cdata for each in (target, source)})
        self.begun += 1

    def play(self, until: int) -> None:
        """Make what was told first, up to so many in all."""
        while self.begun - len(self.waiting) < until:
            self.waiting.pop(0)()
            self.needs.pop(0)

    def wait_event(self, event: FakeEvent) -> None:
        """What computes goes on behind the event."""
        event.stream.play(event.at)


class FakeEvent:
    """A mark in a stream."""

    def __init__(self, stream: FakeStream, at: int) -> None:
        self.stream, self.at = stream, at

    def query(self) -> bool:
        """Whether all before it is done."""
        return self.stream.begun - len(self.stream.waiting) >= self.at

    def synchronize(self) -> None:
        """Wait for it."""
        if not self.query():
            (gpu,) = _present
            gpu.note("an event")
        self.stream.play(self.at)


class FakeGraph:
    """Commands that were recorded. To repeat them computes each anew, in the memory that it had when it was recorded:
    a number that the processor knew then stays what it was."""

    def __init__(self) -> None:
        self.commands: list[tuple[Any, Sequence[Any], Mapping[str, Any], Any]] = []

    def replay(self) -> None:
        """Compute it all."""
        (gpu,) = _present
        gpu.replays += 1
        for func, args, kwargs, made in self.commands:
            gpu.repeat(func, args, kwargs, made)


class FakeGpu:
    """Within it torch has one GPU.

    `waits` names the places in the engine that made the processor wait, in order. With `is_strict` an operation of two
    kinds of floating numbers fails, which a GPU would compute, at twice the cost. `memory` bytes are there;
    `fail_after` allocations still succeed, negative: all that fit. Without `computes` the tensors have shapes and no
    numbers, so that large models fit; what comes to the CPU is zero then.
    """

    def __init__(
        self,
        kind: Kind = "cuda",
        *,
        memory: int = 24 * GIB,
        is_strict: bool = False,
        computes: bool = True,
        has_bf16: bool = True,
        capability: tuple[int, int] = (8, 6),
    ) -> None:
        self.device = torch.device(kind, 0)
        self.memory = memory
        self.capability = capability
        self.has_bf16 = has_bf16 and (kind == "mps" or capability >= (8, 0))
        self.is_strict = is_strict
        self.waits: list[str] = []
        self.operations = 0
        self.attention: list[tuple[Heads, bool]] = []
        """Of each call of attention what it was over, and whether it had a mask in memory."""
        self.allocations, self.fail_after = 0, -1
        self.segments = Segments(memory)
        """What tensors take, as the allocator takes it."""
        self._inner_device = torch.device("cpu" if computes else "meta")
        self._storages: dict[int, tuple[tuple[Segment, int] | None, list[None]]] = {}
        """Of each piece of memory where it lies, and a mark for each tensor in it."""
        self._computing = FakeStream()
        self._stream = self._computing
        self._streams: list[FakeStream] = []
        self._graph: FakeGraph | None = None
        self.replays = 0
        self.given_back_early = 0
        """Pieces of memory that somebody else could have got while they were still copied."""
        self._watch = _Watch(self)
        self._stack = ExitStack()

    def __enter__(self) -> FakeGpu:
        load_guards()
        assert not _present
        _present.append(self)
        card_of.cache_clear()
        for target, value in self._replaced().items():
            self._stack.enter_context(patch(target, value, create=True))
        torch._C._set_only_lift_cpu_tensors(True)  # torch.tensor(..., device=...) goes through the CPU, as on a GPU
        torch.__future__.set_swap_module_params_on_conversion(
            True
        )  # a parameter becomes one of ours, and tied ones stay tied
        self._stack.enter_context(self._watch)
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()
        torch.__future__.set_swap_module_params_on_conversion(False)
        torch._C._set_only_lift_cpu_tensors(False)
        _present.clear()
        card_of.cache_clear()
        if not any(error):
            assert not self.given_back_early, "memory was given back while it was copied"

    def concerns(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        """Whether an operation has something to do with this GPU."""
        wanted = [each for each in (*args, *kwargs.values()) if isinstance(each, torch.device)]
        if any(device.type == self.device.type for device in wanted):
            return True
        return any(isinstance(each, DeviceTensor) for each in leaves((args, kwargs)))

    def operate(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """One operation: check it, compute it, note what waits for it."""
        if func not in WHOLE and func not in ANSWERS and _is_composed(func):
            with self._watch:  # its parts come back here
                return func.decompose(*args, **kwargs)
        self.operations += 1
        made = self._operate(func, args, kwargs)
        if self._graph is not None:
            self._graph.commands.append((func, args, kwargs, made))
        return made

    def repeat(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], made: Any) -> None:
        """One operation that was recorded, into what it made then."""
        for old, new in zip(leaves(made), leaves(self._operate(func, args, kwargs)), strict=True):
            if isinstance(old, DeviceTensor) and old is not new:
                old.inner.copy_(new.inner)

    def _operate(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if func in COPIES:
            return self._copy(func, args, kwargs)
        self._check(func, args, kwargs)
        if func in ANSWERS or "grouped_mm" in func.name() or (func in INDEXED and _asks(args)):
            self.note(str(func))
        if func is aten.histc.default and not args[0].is_floating_point():  # a GPU counts whole numbers, a CPU does not
            return self._compute(func, (args[0].float(), *args[1:]), kwargs).to(args[0].dtype)
        return self._compute(func, args, kwargs)

    def note(self, what: str) -> None:
        """The processor waits here."""
        if self._graph is not None:
            raise WrongDeviceError(f"{what} while commands are recorded")
        frames = [frame for frame in traceback.extract_stack() if "/engine/" in frame.filename]
        own = [frame for frame in frames if "/tests/" not in frame.filename]
        place = f"{Path(own[-1].filename).name}:{own[-1].name}" if own else "the test"
        self.waits.append(f"{place} ({what})")

    def _replaced(self) -> dict[str, Any]:
        """What torch says of its devices."""
        is_cuda = self.device.type == "cuda"
        return {
            "torch.cuda._lazy_init": lambda: None,
            "torch.cuda.is_available": lambda: is_cuda,
            "torch.cuda.is_bf16_supported": lambda including_emulation=True: self.has_bf16,
            "torch.cuda.get_device_name": lambda *_: "a GPU that is not there",
            "torch.cuda.get_device_capability": lambda *_: self.capability,
            "torch.cuda.device_count": lambda: int(is_cuda),
            "torch.cuda.mem_get_info": lambda *_: (self.memory - self.segments.reserved, self.memory),
            "torch.cuda.synchronize": lambda *_: self.note("synchronize"),
            "torch.cuda.Stream": self._new_stream,
            "torch.cuda.current_stream": lambda *_: self._computing,
            "torch.cuda.stream": self._beside,
            "torch.cuda.CUDAGraph": FakeGraph,
            "torch.cuda.graph": self._recording,
            "torch.cuda.graph_pool_handle": lambda: "a pool",
            "torch.cuda.memory_allocated": lambda *_: self.segments.used,
            "torch.cuda.empty_cache": self.segments.release,
            "torch.nn.attention.bias.causal_lower_right": self._lower_right,
            "torch.backends.mps.is_macos_or_newer": lambda *_: self.has_bf16,
            "torch.backends.mps.is_available": lambda: not is_cuda,
            "torch.mps.synchronize": lambda: self.note("synchronize"),
            "torch.mps.empty_cache": self.segments.release,
            "torch.mps.recommended_max_memory": lambda: self.memory,
            "torch.mps.driver_allocated_memory": lambda: self.segments.reserved,
        }

    @contextmanager
    def _recording(self, graph: FakeGraph, **_: Any) -> Iterator[None]:
        self._graph = graph
        try:
            yield
        finally:
            self._graph = None

    def _new_stream(self, *_: Any) -> FakeStream:
        self._streams.append(FakeStream())
        return self._streams[-1]

    @contextmanager
    def _beside(self, stream: FakeStream) -> Iterator[None]:
        self._stream = stream
        try:
            yield
        finally:
            self._stream = self._computing

    def _lower_right(self, q: int, n: int) -> Tensor:
        """A causal mask for the last q of n tokens, written out: torch's own is a class of tensors that may not be made
        while operations are watched."""
        return torch.ones(q, n, dtype=torch.bool, device=self.device).tril(n - q)

    def _check(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Refuse what a GPU refuses: tensors of two devices, products of two number types."""
        tensors = [each for each in leaves((args, kwargs)) if isinstance(each, Tensor)]
        wide = [each for each in tensors if each.dim() and not (func in INDEXED and each.device.type == "cpu")]
        if len({each.device for each in wide}) > 1 or any(each.device.type == "cpu" for each in wide):
            raise WrongDeviceError(f"{func} of tensors on {', '.join(str(each.device) for each in wide)}")
        numbers = [each.dtype for each in wide if each.is_floating_point()]
        if func in PRODUCTS and len(set(numbers)) != 1:
            raise WrongDeviceError(f"{func} of {', '.join(str(each.dtype) for each in wide)}")
        if func is aten.scaled_dot_product_attention.default:
            self.attention.append(_call(*args, **kwargs))
        if self.is_strict and func not in MAY_MIX and len(set(numbers)) > 1:
            raise WrongDeviceError(f"{func} mixes {', '.join(map(str, numbers))}")

    def _copy(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        is_in_place = func is aten.copy_.default
        source = args[1] if is_in_place else args[0]
        target = args[0].device if is_in_place else (kwargs.get("device") or source.device)
        is_prompt = kwargs.get("non_blocking", args[2] if is_in_place and len(args) > 2 else False)
        if source.device.type != target.type and not is_prompt:
            self.note(f"a copy from {source.device.type} to {target.type}")
        if self._stream is not self._computing and source.device != target:
            assert is_in_place, "only copies go beside"
            self._stream.copy(*(each.inner if isinstance(each, DeviceTensor) else each for each in args[:2]))
            return args[0]
        if target.type == "cpu":
            numbers = (
                source.inner if source.inner.device.type == "cpu" else torch.zeros_like(source.inner, device="cpu")
            )
            rest = {key: value for key, value in kwargs.items() if key != "pin_memory"}
            return func(args[0], numbers, *args[2:]) if is_in_place else func(numbers, **rest)
        return self._compute(func, args, kwargs)

    def _compute(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        known: dict[int, DeviceTensor] = {}

        def inner(value: Any) -> Any:
            if isinstance(value, DeviceTensor):
                known[id(value.inner)] = value
                return value.inner
            if isinstance(value, Tensor):
                return value.to(self._inner_device)
            return self._inner_device if isinstance(value, torch.device) else value

        def outer(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            return known[id(value)] if id(value) in known else self._made(value)

        given = {key: value for key, value in kwargs.items() if key != "pin_memory"}
        return mapped(outer, func(*mapped(inner, tuple(args)), **mapped(inner, given)))

    def _made(self, inner: Tensor) -> DeviceTensor:
        """A new tensor on the device, in memory of its own or in that of another."""
        if self.device.type == "mps" and inner.dtype in (torch.float64, torch.complex128):
            raise WrongDeviceError("MPS knows no numbers of 64 bits with a point")
        with torch.inference_mode(False):  # so that a view of a parameter may be had where nothing is learned
            made = DeviceTensor(inner, self.device)
        key = inner.untyped_storage()._cdata
        if key not in self._storages:
            self._storages[key] = self._taken(inner.untyped_storage().nbytes()), []
        self._storages[key][1].append(None)
        made.room = _Room(self, key)
        return made

    def give_back(self, key: int) -> None:
        """A tensor that lay in this piece of memory is gone."""
        place, marks = self._storages[key]
        marks.pop()
        if not marks:
            del self._storages[key]
            for stream in self._streams:
                self.given_back_early += any(key in needed for needed in stream.needs) and key not in stream.may_lose
                stream.may_lose.discard(key)
            if place is not None:
                self.segments.give(*place)

    def _taken(self, nbytes: int) -> tuple[Segment, int] | None:
        """Memory for so many bytes. Raises torch's own error where there is none."""
        if not nbytes:
            return None
        self.allocations += 1
        if self.fail_after == 0:
            self.fail_after = -1
            self._lack(nbytes)
        self.fail_after -= self.fail_after > 0
        place = self.segments.take(nbytes)
        if place is None:
            self._lack(nbytes)
        return place

    def _lack(self, nbytes: int) -> NoReturn:
        if self.device.type == "cuda":
            raise torch.OutOfMemoryError(f"CUDA out of memory. Tried to allocate {nbytes} bytes.")
        raise RuntimeError(
            f"MPS backend out of memory (MPS allocated: {self.segments.used}, tried to allocate {nbytes})."
        )


def leaves(value: Any) -> Iterator[Any]:
    """What stands in nested tuples, lists and dicts. (torch's own function for that knows many more, and takes most of
    a test's time.)"""
    if isinstance(value, tuple | list):
        for each in value:
            yield from leaves(each)
    elif isinstance(value, Mapping):
        yield from leaves(tuple(value.values()))
    else:
        yield value


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The same nested tuples, lists and dicts, with what `function` makes of what stands in them."""
    if isinstance(value, dict):
        return {key: mapped(function, each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return type(value)([mapped(function, each) for each in value])
    return function(value)


@functools.cache
def _is_composed(func: Any) -> bool:
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"))


def _call(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, *_: Any, **__: Any) -> Any:
    """What a call of attention is over, as the table of kernels has it."""
    heads = Heads(query.shape[1], key.shape[1], key.shape[3], value.shape[3], query.dtype)
    return heads, attn_mask is not None and attn_mask.dtype is not torch.bool


def _asks(args: Sequence[Any]) -> bool:
    """Whether an index must be known to the processor, or come from it. Where one value is written by a mask, torch
    fills by the mask (canDispatchToMaskedFill in ATen/native/TensorAdvancedIndexing.cpp)."""
    given = [index for index in args[1] if index is not None]
    if len(args) > 2 and len(given) == 1 and args[2].numel() == 1 and args[2].device.type == "cpu":
        return given[0].device.type == "cpu"
    return any(index.dtype in (torch.bool, torch.uint8) or index.device.type == "cpu" for index in given)

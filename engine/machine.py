"""What this machine computes on: for `headstart doctor`. torch is imported when it is asked, not before."""

from __future__ import annotations

import hashlib
import os
import platform
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

import psutil

from engine import graphics

TELL_LIBRARIES = ("MKL_", "ONEDNN_", "DNNL_", "OPENBLAS_", "OMP_")
"""How names of environment variables begin by which libraries of matrix products choose other kernels, or get fewer
threads than torch knows of (OMP_THREAD_LIMIT)."""


@dataclass(frozen=True, slots=True)
class DeviceReport:
    """One device. Memory in bytes; `dtypes` are those it computes in hardware; `name` is what its maker calls it."""

    kind: str
    name: str
    memory_total: int
    memory_free: int
    dtypes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeviceCheck:
    """One thing in which a device was compared with the CPU: what, whether it is right, and a figure in words."""

    what: str
    is_right: bool
    figure: str


@dataclass(frozen=True, slots=True)
class EngineReport:
    """The libraries the engine stands on, and the devices, the one `--device auto` takes first.

    `decoding` says, in words for a user, what writes tokens on the CPU; `graphics`, where it computes on the CPU only,
    which build of torch could use the graphics card, or why none could.
    """

    versions: dict[str, str]
    threads: int
    devices: tuple[DeviceReport, ...]
    decoding: str = ""
    graphics: str = ""


def describe_devices() -> EngineReport:
    """Find out what is here. Imports torch, which takes a second; raises ImportError where it is missing."""
    import torch

    from engine.native import library as native_library

    devices = [*_cuda(), *_mps(), _cpu()]
    said = _graphics() if len(devices) == 1 else ""
    names = ("torch", "transformers", "safetensors", "gguf", "numpy")
    versions = {name: metadata.version(name) for name in names}
    return EngineReport(versions, torch.get_num_threads(), tuple(devices), native_library.state(), said)


def arithmetic(kind: str) -> str:
    """Names everything that may change a computed number in its last bit: libraries and what they are told by the
    environment, the engine's source, what was compiled of it where that is used, processor, threads."""
    import torch

    from engine.native import library as native_library

    versions = [_version(name) for name in ("headstart", "torch", "transformers")]
    chip = (
        torch.cuda.get_device_name() if kind == "cuda" else f"{torch.backends.cpu.get_cpu_capability()} {_cpu_name()}"
    )
    told = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(TELL_LIBRARIES)]
    compiled = native_library.fingerprint() if kind == "cpu" else ""
    return "/".join(
        [*versions, _source_digest(), compiled, platform.machine(), chip, str(torch.get_num_threads()), *told]
    )


@cache
def _source_digest() -> str:
    """A digest of the engine's source as this process has it."""
    source = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py")))
    return hashlib.sha256(source).hexdigest()[:16]


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _graphics() -> str:
    choice = graphics.choose(graphics.probe())
    return choice.why if choice.build == "cpu" else f"torch's build {choice.build} could use it: {choice.why}"


def _cuda() -> list[DeviceReport]:
    import torch

    if not torch.cuda.is_available():
        return []
    found = []
    for index in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(index)
        with torch.cuda.device(index):
            dtypes = (
                ("fp32", "bf16", "fp16")
                if torch.cuda.is_bf16_supported(including_emulation=False)
                else ("fp32", "fp16")
            )
        found.append(DeviceReport("cuda", torch.cuda.get_device_name(index), total, free, dtypes))
    return found


def _mps() -> list[DeviceReport]:
    import torch

    if not torch.backends.mps.is_available():
        return []
    total = int(torch.mps.recommended_max_memory())
    free = max(total - int(torch.mps.driver_allocated_memory()), 0)
    return [DeviceReport("mps", platform.processor() or "Apple GPU", total, free, ("fp32", "bf16", "fp16"))]


def _cpu() -> DeviceReport:
    memory = psutil.virtual_memory()
    return DeviceReport("cpu", _cpu_name(), int(memory.total), int(memory.available), _cpu_dtypes())


def _cpu_dtypes() -> tuple[str, ...]:
    """fp32 always; bf16 where the processor multiplies it itself. Elsewhere bf16 works, and can be slower than fp32."""
    flags = _cpuinfo("flags") + _cpuinfo("Features")
    return ("fp32", "bf16") if {"amx_bf16", "avx512_bf16", "bf16"} & set(flags.split()) else ("fp32",)


def _cpu_name() -> str:
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def _cpuinfo(key: str) -> str:
    """The first value of `key` in /proc/cpuinfo; "" where there is none, as on every system but Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.split(":")[0].strip() == key), "")

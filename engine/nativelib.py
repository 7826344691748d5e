"""The compiled part of the engine (`engine/native`): finding and loading it, and the structures it works on.

Set-up builds it where there is a C compiler for x86-64 Linux. It is used where the processor has what it was built for;
everywhere else torch's own kernels do the work.
"""

from __future__ import annotations

import ctypes
import hashlib
import platform
import struct
from ctypes import POINTER, Structure, c_float, c_int32, c_int64, c_void_p
from functools import lru_cache
from importlib.util import find_spec
from os import SEEK_END
from typing import Any

import torch

VERSION = 1
"""Of the structures below, as the C file has them: an older build is not used."""
CAPABLE = {"AVX2", "AVX512"}


class Matrix(Structure):
    """Few-bit weights; the layout of codes and scales is in the C file. Pointers do not keep tensors alive."""

    _fields_ = [
        ("codes", c_void_p),
        ("scales", c_void_p),
        ("bias", c_void_p),
        ("rows", c_int32),
        ("columns", c_int32),
        ("bits", c_int32),
        ("padding", c_int32),
    ]


class Layer(Structure):
    """One decoder layer."""

    _fields_ = [
        ("qkv", Matrix),
        ("output", Matrix),
        ("gate_up", Matrix),
        ("down", Matrix),
        ("input_norm", c_void_p),
        ("post_norm", c_void_p),
        ("query_norm", c_void_p),
        ("key_norm", c_void_p),
    ]


class Model(Structure):
    """All weights but the embedding."""

    _fields_ = [
        ("layers", POINTER(Layer)),
        ("head", Matrix),
        ("norm", c_void_p),
        ("num_layers", c_int32),
        ("width", c_int32),
        ("heads", c_int32),
        ("kv_heads", c_int32),
        ("dim", c_int32),
        ("inner", c_int32),
        ("is_bf16", c_int32),
        ("epsilon", c_float),
    ]


class Heads(Structure):
    """Where the keys and values of one layer go, and the norms of its heads."""

    _fields_ = [
        ("keys", c_void_p),
        ("values", c_void_p),
        ("query_norm", c_void_p),
        ("key_norm", c_void_p),
        ("heads", c_int32),
        ("kv_heads", c_int32),
        ("dim", c_int32),
        ("capacity", c_int32),
        ("is_bf16", c_int32),
        ("epsilon", c_float),
    ]


class Token(Structure):
    """One token and the lane it is written to."""

    _fields_ = [
        ("keys", c_void_p),
        ("values", c_void_p),
        ("cos", c_void_p),
        ("sin", c_void_p),
        ("hidden", c_void_p),
        ("scratch", c_void_p),
        ("logits", c_void_p),
        ("position", c_int32),
        ("capacity", c_int32),
    ]


SIGNATURES: dict[str, tuple[Any, ...]] = {
    "headstart_version": (c_int32,),
    "headstart_scratch": (c_int64, POINTER(Model), c_int32),
    "headstart_step": (None, POINTER(Model), POINTER(Token)),
    "headstart_multiply": (None, POINTER(Matrix), c_void_p, c_int32, c_void_p, c_void_p),
    "headstart_normalise": (None, c_void_p, c_void_p, c_void_p, c_void_p, c_int32, c_int32, c_float, c_int32),
    "headstart_place": (None, POINTER(Heads), c_void_p, c_void_p, c_void_p, c_int32, c_int32),
    "headstart_gate": (None, c_void_p, c_void_p, c_int32, c_int32, c_int32),
}
"""What each function returns and takes, as in the C files."""


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL | None:
    """The compiled part, or None where it was not built or cannot run here. Calls into it let other threads run."""
    found = find_spec("engine._native")
    if found is None or found.origin is None or torch.backends.cpu.get_cpu_capability() not in CAPABLE:
        return None
    return load(found.origin)


def load(path: str) -> ctypes.CDLL | None:
    """The compiled part from a file, or None where that is another one's, of another version, or cut off."""
    try:
        if not _is_whole(path):
            return None
        loaded = ctypes.CDLL(path)  # finds OpenMP in what torch has loaded
    except OSError:
        return None
    for name, (result, *arguments) in SIGNATURES.items():
        function = getattr(loaded, name, None)
        if function is None:
            return None
        function.restype, function.argtypes = result, arguments
    return loaded if loaded.headstart_version() == VERSION else None


def _is_whole(path: str) -> bool:
    """Whether an ELF file of 64 bits reaches up to its last part, the table of its sections: the system's loader takes
    half a file, and dies where it ends."""
    with open(path, "rb") as file:
        head = file.read(64)
        length = file.seek(0, SEEK_END)
    if len(head) < 64 or not head.startswith(b"\x7fELF"):
        return False
    (table,), (size, count) = struct.unpack_from("<Q", head, 0x28), struct.unpack_from("<HH", head, 0x3A)
    return length >= int(table) + int(size) * int(count)


def state() -> str:
    """In words for a user: whether the compiled part is in use, and if not, why."""
    if library() is not None:
        return "compiled for this processor"
    if platform.machine() not in ("x86_64", "AMD64") or torch.backends.cpu.get_cpu_capability() not in CAPABLE:
        return "torch's kernels: the compiled ones are for x86-64 with AVX2"
    return "torch's kernels, up to three times slower: install gcc and set Headstart up again to have its own"


def fingerprint() -> str:
    """Names what was compiled; "torch" where it is not in use."""
    loaded = library()
    if loaded is None:
        return "torch"
    with open(loaded._name, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]

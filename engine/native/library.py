"""Finds and loads the compiled part of the engine (the C files in this folder), and has its structures.

Installing Headstart builds it on Linux where there is gcc, for x86-64 and ARM. It holds its functions in two forms: for
AVX2, which takes 512 bits where the processor has them, and in portable C, which gcc makes NEON of on ARM. Everywhere
else torch's own kernels do the work.
"""

from __future__ import annotations

import ctypes
import hashlib
import platform
import struct
import sys
from contextlib import suppress
from ctypes import POINTER, Structure, c_float, c_int32, c_int64, c_void_p
from functools import lru_cache
from importlib.util import find_spec
from os import SEEK_END
from typing import Any

import torch
from torch import Tensor

VERSION = 12
"""The version of the structures and functions below, as in `model.h`. A build of another version is not used."""
AVX2 = {"AVX2", "AVX512"}
"""What torch calls processors that the wider form is for; it knows of an order to use less."""
MACHINES = {"x86_64", "aarch64"}
WIDEST_HEAD = 512
MOST_GROUPS = 4096
"""Groups of columns, each with a scale, that a row of a packed matrix may have."""


class Matrix(Structure):
    """Weights in few bits or in full, whose layout `model.h` describes. The pointers do not keep tensors alive."""


Matrix._fields_ = [
    *((name, c_void_p) for name in ("codes", "scales", "mins", "supers", "super_mins", "bias", "order")),
    ("below", POINTER(Matrix)),
    *((name, c_int32) for name in ("rows", "columns", "bits", "group", "groups", "offset", "kind")),
]


class Layer(Structure):
    """One decoder layer."""

    _fields_ = [
        ("qkv", Matrix),
        ("output", Matrix),
        ("gate_up", Matrix),
        ("down", Matrix),
        ("input_norm", c_void_p),
        ("mixed_norm", c_void_p),
        ("post_norm", c_void_p),
        ("added_norm", c_void_p),
        ("query_norm", c_void_p),
        ("key_norm", c_void_p),
        ("rope", c_int32),
        ("turned", c_int32),
        ("window", c_int32),
    ]


class Model(Structure):
    """All weights of a model but the embedding, and what its family does with them."""

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
        ("activation", c_int32),
        ("norms_together", c_int32),
        ("epsilon", c_float),
        ("residual_scale", c_float),
        ("softcap", c_float),
    ]


class Heads(Structure):
    """Where in a lane the keys and values of one layer go, and the norms of its heads."""

    _fields_ = [
        ("keys", c_void_p),
        ("values", c_void_p),
        ("query_norm", c_void_p),
        ("key_norm", c_void_p),
        ("heads", c_int32),
        ("kv_heads", c_int32),
        ("dim", c_int32),
        ("turned", c_int32),
        ("capacity", c_int32),
        ("is_bf16", c_int32),
        ("epsilon", c_float),
    ]


ACTIVATIONS = ("silu", "gelu", "gelu_pytorch_tanh")
"""Those that the compiled step knows, in the order of `model.h`."""

MOST_TOKENS = 8
"""Tokens that the compiled step computes at once, at most."""


class Tokens(Structure):
    """Tokens behind each other, and the lane that their keys and values are written to."""

    _fields_ = [
        ("keys", c_void_p),
        ("values", c_void_p),
        ("cos", c_void_p),
        ("sin", c_void_p),
        ("scales", c_void_p),
        ("hidden", c_void_p),
        ("scratch", c_void_p),
        ("logits", c_void_p),
        ("position", c_int32),
        ("capacity", c_int32),
        ("count", c_int32),
    ]


class Prompt(Structure):
    """Tokens of a prompt behind each other, and the lane that their keys and values are written to."""

    _fields_ = [
        *((name, c_void_p) for name in ("keys", "values", "cos", "sin", "hidden", "scratch", "out")),
        *((name, c_int32) for name in ("position", "capacity", "count", "kind")),
        ("scale", c_float),
    ]


class Attention(Structure):
    """Attention of many tokens over what a lane holds."""

    _fields_ = [
        *((name, c_void_p) for name in ("queries", "keys", "values", "seen", "sinks", "out", "scratch")),
        *((f"{name}_{step}", c_int64) for name in ("query", "key", "value") for step in ("row", "head")),
        ("seen_row", c_int64),
        *((name, c_int32) for name in ("heads", "kv_heads", "key_dim", "value_dim", "rows", "end", "is_bf16", "kind")),
        ("scale", c_float),
        ("softcap", c_float),
    ]


SIGNATURES: dict[str, tuple[Any, ...]] = {
    "headstart_scratch": (c_int64, POINTER(Model), c_int32, c_int32),
    "headstart_step": (None, POINTER(Model), POINTER(Tokens)),
    "headstart_widen_rows": (c_int32, c_int32),
    "headstart_row_scratch": (c_int64, c_int32),
    "headstart_widen": (None, POINTER(Matrix), c_int32, c_int32, c_int32, c_void_p, c_int32),
    "headstart_widen_some": (None, POINTER(Matrix), c_void_p, c_int32, c_int32, c_void_p, c_int32),
    "headstart_repack": (None, c_int32, c_void_p, c_int64, c_int32, POINTER(Matrix)),
    "headstart_read_now": (None, c_void_p, c_int64),
    "headstart_are_numbers": (c_int32, c_int32, c_void_p, c_int64),
    "headstart_watch": (c_int32, c_void_p, c_int64),
    "headstart_is_lost": (c_int32, c_int32),
    "headstart_unwatch": (None, c_int32),
    "headstart_strings": (c_int64, c_void_p, c_int64, c_int64, c_int64, c_void_p, c_int64),
    "headstart_merges": (c_int32, c_void_p, *(3 * (c_int64,)), c_void_p, c_int64, c_int64, c_void_p),
    "headstart_cuts": (c_int64, c_void_p, c_int64, c_int64, c_void_p, c_int64, c_void_p, c_int64),
    "headstart_multiply": (None, POINTER(Matrix), c_void_p, c_int32, c_void_p, c_void_p),
    "headstart_normalise": (None, c_void_p, c_void_p, c_void_p, c_void_p, c_int32, c_int32, c_float, c_int32),
    "headstart_place": (None, POINTER(Heads), c_void_p, c_void_p, c_void_p, c_int32, c_int32),
    "headstart_widest": (c_int32, c_int32),
    "headstart_attention_scratch": (c_int64, POINTER(Attention)),
    "headstart_attend": (None, POINTER(Attention)),
    "headstart_gate": (None, c_void_p, c_void_p, c_int32, c_int32, c_int32),
    "headstart_read_scratch": (c_int64, c_int32, c_int32),
    "headstart_read_rows": (None, POINTER(Matrix), c_void_p, c_int32, c_int32, c_void_p, c_void_p),
    "headstart_read_layers_scratch": (c_int64, POINTER(Model), POINTER(Prompt)),
    "headstart_read_layers": (None, POINTER(Model), POINTER(Prompt), c_int32, c_int32),
}
"""What each function returns and takes, as in the C files. There the names of all but SHARED end with their form."""

SHARED = {
    "headstart_repack",
    "headstart_are_numbers",
    "headstart_read_now",
    "headstart_watch",
    "headstart_is_lost",
    "headstart_unwatch",
    "headstart_strings",
    "headstart_merges",
    "headstart_cuts",
}
"""Functions without arithmetic, and so with one form."""

LAYOUT = [
    VERSION,
    *(ctypes.sizeof(structure) for structure in (Matrix, Layer, Model, Tokens, Heads, Attention, Prompt)),
]


class Addresses:
    """Keeps fp32 copies of vectors, and gives their addresses to structures, which keep nothing alive themselves."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[Tensor, Tensor]] = {}

    def of(self, vector: Tensor | None) -> int | None:
        """The address of a vector's copy in fp32, made once for each vector; None for None."""
        if vector is None:
            return None
        key = vector.data_ptr()
        if key not in self._kept:
            self._kept[key] = vector, vector.to(torch.float32).contiguous()
        return self._kept[key][1].data_ptr()


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL | None:
    """The compiled part, or None where it was not built or cannot run here. Other threads run while it computes."""
    path = _path()
    if path is None or not _is_for_this_machine():
        return None
    loaded = load(path)
    if loaded is not None:
        loaded.headstart_widen_rows(torch.backends.cpu.get_cpu_capability() == "AVX512")
    return loaded


def load(path: str) -> ctypes.CDLL | None:
    """The compiled part from a file, or None where that is something else, of another version, or cut off."""
    try:
        if not _is_whole(path):
            return None
        loaded = ctypes.CDLL(path)  # finds OpenMP in what torch has loaded
        layout = (c_int32 * len(LAYOUT)).in_dll(loaded, "headstart_layout")
        form = _form(loaded)
        for name, (result, *arguments) in SIGNATURES.items():
            function = getattr(loaded, name if name in SHARED else f"{name}_{form}")
            function.restype, function.argtypes = result, arguments
            setattr(loaded, name, function)
    except (OSError, ValueError, AttributeError):  # ValueError, AttributeError: it has no such name
        return None
    return loaded if list(layout) == LAYOUT else None


def give_memory_back() -> None:
    """Return what was freed to the system, where its C library (glibc) would keep it for later: after a model is loaded
    that is up to a hundred megabytes."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _path() -> str | None:
    found = find_spec("engine._native")
    return None if found is None else found.origin


def _is_for_this_machine() -> bool:
    return sys.platform == "linux" and platform.machine() in MACHINES


def _form(loaded: ctypes.CDLL) -> str:
    """How the names of the functions end that are for this processor. Only gcc builds the wider form."""
    is_avx2 = platform.machine() == "x86_64" and torch.backends.cpu.get_cpu_capability() in AVX2
    return "avx2" if is_avx2 and hasattr(loaded, "headstart_step_avx2") else "plain"


def _in_words(loaded: ctypes.CDLL) -> str:
    """The form in use, for a user."""
    if _form(loaded) == "avx2":
        return {"AVX512": "AVX-512", "AVX2": "AVX2"}[torch.backends.cpu.get_cpu_capability()]
    return "NEON" if platform.machine() == "aarch64" else "plain C: there is no AVX2, or no gcc built it"


def _is_whole(path: str) -> bool:
    """Whether a 64-bit ELF file is complete up to its last part, the table of its sections.

    The system's loader would load half a file, and the process would crash where that ends.
    """
    with open(path, "rb") as file:
        head = file.read(64)
        length = file.seek(0, SEEK_END)
    if len(head) < 64 or not head.startswith(b"\x7fELF"):
        return False
    (table,), (size, count) = struct.unpack_from("<Q", head, 0x28), struct.unpack_from("<HH", head, 0x3A)
    return length >= int(table) + int(size) * int(count)


def state() -> str:
    """Whether the compiled part is in use, and if not, why, in words for a user."""
    loaded = library()
    if loaded is not None:
        return f"compiled for this processor ({_in_words(loaded)})"
    if not _is_for_this_machine():
        return "torch's kernels: the compiled ones are for Linux on x86-64 and ARM"
    why = "they were not built" if _path() is None else "they are damaged or of another version"
    return f"torch's kernels, up to three times slower than the compiled ones: {why}. Install gcc, then Headstart anew."


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """A name for exactly this build, the start of its SHA-256; "torch" where it is not in use."""
    path = _path()
    if library() is None or path is None:
        return "torch"
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]

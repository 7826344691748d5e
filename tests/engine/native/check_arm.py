"""The compiled part built for ARM64 and run under emulation, compared with numpy: `make check-arm`.

Needs the Debian packages gcc-aarch64-linux-gnu and qemu-user. No part of the tests: they do for this machine
what this does for NEON, and far more.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

from engine.gguf.blocks import FORMATS
from engine.weights.blocks import COMPUTED
from tests.engine.weights.test_packed import random_blocks

ROOT = Path(__file__).parents[3]
COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
FLAGS = ("-O3", "-static", "-fopenmp", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi")
Array = np.ndarray[Any, Any]
random = np.random.default_rng(0)


class Arm:
    """The program that was built for ARM: one case in, its numbers out."""

    def __init__(self, folder: Path) -> None:
        self._program = folder / "check_arm"
        source = ROOT / "tests/engine/native/check_arm.c"
        subprocess.run([COMPILER, *FLAGS, f"-I{ROOT}", str(source), "-lm", "-o", str(self._program)], check=True)

    def __call__(self, letter: str, sizes: tuple[int, ...], *arrays: Array, dtype: str = "f4") -> Array:
        told = struct.pack(f"<{1 + len(sizes)}i", ord(letter), *sizes) + b"".join(map(np.ndarray.tobytes, arrays))
        ran = subprocess.run([EMULATOR, str(self._program)], input=told, stdout=subprocess.PIPE, check=True)
        return np.frombuffer(ran.stdout, dtype)


def numbers(*shape: int) -> Array:
    return random.standard_normal(shape, dtype=np.float32)


def check_blocks(arm: Arm, kind: int, *, lie: bool = False) -> float:
    """Rows of a GGUF type, repacked or as they lie in a file: the widened numbers equal, and the largest error of a
    product in parts of its size."""
    form, rows = FORMATS[kind], 37
    columns = 512 if lie else 3 * int(GGML_QUANT_SIZES[GGMLQuantizationType(kind)][0])
    blocks, x = random_blocks(kind, rows, columns, kind), numbers(columns)
    bits = 4 if form.bits == 4 else 8
    sizes = (kind, blocks.shape[1], rows, columns, bits, form.group, form.offset, form.is_nested, form.has_minimums)
    found = arm("B" if lie else "P", sizes, blocks, x)
    expected = dequantize(blocks, GGMLQuantizationType(kind))
    assert (found[: rows * columns].reshape(rows, columns) == expected).all(), "the numbers of the file"
    size = np.abs(expected).max() * np.abs(x).sum()
    return float(np.abs(found[rows * columns :] - expected.astype(float) @ x).max() / size)


def attention(queries: Array, keys: Array, values: Array, window: int = 0, cap: float = 0) -> Array:
    """Causal attention of the last rows, in double precision: `[rows, heads, dim]`. A row sees so many keys, or all up
    to itself, and scores are bounded, if they are."""
    rows, heads, _ = queries.shape
    kv_heads, end, dim = values.shape
    out = np.zeros((rows, heads, dim))
    for row in range(rows):
        for head in range(heads):
            own, seen = head * kv_heads // heads, end - rows + row + 1
            some = slice(max(0, seen - window) if window else 0, seen)
            scores = keys[own, some].astype(float) @ queries[row, head] * 0.25
            scores = np.tanh(scores / cap) * cap if cap else scores
            weights = np.exp(scores - scores.max())
            out[row, head] = weights @ values[own, some] / weights.sum()
    return out


def as_bf16(array: Array) -> Array:
    """The upper halves of fp32 numbers."""
    return (array.view(np.uint32) >> 16).astype(np.uint16)


def from_bf16(array: Array) -> Array:
    return (array.astype(np.uint32) << 16).view(np.float32)


def check_attention(arm: Arm, end: int, rows: int, dim: int, is_bf16: bool) -> float:
    """The largest error, in parts of the largest value."""
    queries, keys, values = numbers(rows, 6, dim), numbers(2, end, dim), numbers(2, end, dim)
    if is_bf16:
        halves = [as_bf16(array) for array in (queries, keys, values)]
        found = from_bf16(arm("A", (6, 2, dim, dim, rows, end, 1), *halves, dtype="u2"))
        queries, keys, values = map(from_bf16, halves)
    else:
        found = arm("A", (6, 2, dim, dim, rows, end, 0), queries, keys, values)
    expected = attention(queries, keys, values)
    return float(np.abs(found.reshape(expected.shape) - expected).max() / np.abs(expected).max())


def check_step(arm: Arm, tokens: int, is_other: bool) -> float:
    """One layer in numpy, all tokens at once, against the compiled step, token by token: a Llama's, or one with most of
    what other families do."""
    width, inner, heads, kv_heads, dim, vocabulary = 48, 104, 4, 2, 16, 61
    qkv, output = numbers((heads + 2 * kv_heads) * dim, width) / 7, numbers(width, heads * dim) / 8
    gate_up, down, head = numbers(2 * inner, width) / 7, numbers(width, inner) / 10, numbers(vocabulary, width)
    norms = [numbers(width) for _ in range(3)]
    others = [numbers(width), numbers(width), numbers(heads * dim), numbers(kv_heads * dim)] if is_other else []
    turned, window, cap, scale = (dim // 2, 20, 2.0, 0.5) if is_other else (dim, 0, 0.0, 1.0)
    angles = np.arange(tokens)[:, None] / 10000 ** (np.arange(dim) % (turned // 2) * 2 / turned)
    cos, sin, hidden = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32), numbers(tokens, width)
    fed = [part for token in zip(cos, sin, hidden, strict=True) for part in token]
    sizes = (width, inner, heads, kv_heads, dim, vocabulary, tokens)
    weights = (qkv, output, gate_up, down, norms[0], norms[1], head, norms[2], *others)
    found = arm("F" if is_other else "S", sizes, *weights, *fed)

    def normed(rows: Array, weight: Array) -> Array:
        return rows / np.sqrt((rows**2).mean(-1, keepdims=True) + 1e-5) * weight

    def rotated(parts: Array) -> Array:
        turning, kept = parts[..., :turned], parts[..., turned:]
        halves = np.concatenate([-turning[..., turned // 2 :], turning[..., : turned // 2]], -1)
        return np.concatenate([turning * cos[:, None, :turned] + halves * sin[:, None, :turned], kept], -1)

    def together(parts: Array, index: int) -> Array:
        return normed(parts.reshape(tokens, -1), others[index]).reshape(parts.shape) if is_other else parts

    def added(part: Array, index: int) -> Array:
        return scale * normed(part, others[index]) if is_other else part

    def activated(gate: Array) -> Array:
        inside = np.tanh(np.sqrt(2 / np.pi) * (gate + 0.044715 * gate**3))
        return gate / 2 * (1 + inside) if is_other else gate / (1 + np.exp(-gate))

    rows = hidden.astype(float)
    fused = (normed(rows, norms[0]) @ qkv.T).reshape(tokens, -1, dim)
    queries, keys, values = np.split(fused, [heads, heads + kv_heads], 1)
    queries, keys, values = (
        rotated(together(queries, 2)),
        rotated(together(keys, 3)).swapaxes(0, 1),
        values.swapaxes(0, 1),
    )
    # `attention` scales by 1/4, which is what heads of 16 want.
    rows = rows + added(attention(queries, keys, values, window, cap).reshape(tokens, -1) @ output.T, 0)
    gate, up = np.split(normed(rows, norms[1]) @ gate_up.T, 2, -1)
    rows = rows + added((activated(gate) * up) @ down.T, 1)
    expected = normed(rows, norms[2]) @ head.T
    return float(np.abs(found.reshape(expected.shape) - expected).max() / np.abs(expected).max())


def main() -> int:
    missing = [name for name in (COMPILER, EMULATOR) if shutil.which(name) is None]
    if missing:
        print(f"{' and '.join(missing)} missing: apt install gcc-aarch64-linux-gnu qemu-user")
        return 1
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        arm = Arm(Path(folder))
        for kind in sorted(FORMATS):
            error = check_blocks(arm, kind)
            worst = max(worst, error)
            print(f"{GGMLQuantizationType(kind).name:7} numbers equal, products {error:.1e}")
        for kind in COMPUTED:
            error = check_blocks(arm, kind, lie=True)
            worst = max(worst, error)
            print(f"{kind.name:7} in its file: numbers equal, products {error:.1e}")
        for end, rows, dim, is_bf16 in ((300, 57, 64, False), (129, 5, 40, False), (300, 57, 64, True)):
            error = check_attention(arm, end, rows, dim, is_bf16)
            worst = max(worst, error / 2000 if is_bf16 else error)  # what comes out is rounded to 8 bits
            print(f"attention of {rows} behind {end - rows}, {'bf16' if is_bf16 else 'fp32'}: {error:.1e}")
        for is_other in (False, True):
            error = check_step(arm, 270, is_other)
            worst = max(worst, error)
            print(f"a layer of {'another family' if is_other else 'Llama'}, 270 tokens: {error:.1e}")
    print("ARM64 agrees with numpy." if worst < 1e-5 else f"ARM64 differs from numpy by {worst:.1e}.")
    return int(worst >= 1e-5)


if __name__ == "__main__":
    sys.exit(main())

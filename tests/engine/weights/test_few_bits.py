"""Few-bit copies of weights: which matrices torch's kernels may have, that those are there, and the memory they take.

The kernels have private names: nobody promises that they stay as they are, or checks what they are given.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from engine.llama.weights import Projection
from engine.native.library import library
from engine.weights import few_bits as packing
from engine.weights import quantise as quant
from engine.weights.quantise import Bits

needs_native = pytest.mark.skipif(library() is None, reason="the compiled part is not built here")


class Largest(TorchDispatchMode):
    """Notes the bytes of the largest tensor that is made."""

    nbytes = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        for each in out if isinstance(out, tuple | list) else (out,):
            if isinstance(each, Tensor):
                self.nbytes = max(self.nbytes, each.nbytes)
        return out


def packed(weight: Tensor, bits: Bits) -> packing.Packed:
    """A copy for the compiled part."""
    found = packing.pack(weight, bits, is_native=True)
    assert found is not None
    return found


def off(projection: Projection, x: Tensor) -> float:
    """How far a product is off, relative to its size."""
    assert projection.weight is not None
    expected = x @ projection.weight.T
    return float((projection(x) - expected).norm() / expected.norm())


@pytest.mark.parametrize("bits", ["int4", "int8"])
@pytest.mark.parametrize("columns", [1, 7, 8, 24, 31, 40, 47, 48, 56, 72, 96, 100, 112, 144])
def test_a_matrix_of_any_width_is_multiplied_right(columns: int, bits: Bits) -> None:
    """torch's kernels read past the end of rows that are no whole vectors: garbage, or the end of the process."""
    torch.manual_seed(columns)
    for rows in (1, 15, 16, 33, 80):
        weight = torch.randn(rows, columns)
        projection = Projection(weight, None, packing.pack(weight, bits, is_native=False))
        assert all(off(projection, torch.randn(count, columns).abs()) < 0.3 for count in (1, 3, 4))
        assert (projection.packed is None) == (columns % 16 != 0)


@pytest.mark.parametrize(
    "name",
    [
        "_weight_int8pack_mm",
        "_convert_weight_to_int4pack_for_cpu",
        "_weight_int4pack_mm_for_cpu",
        "_scaled_dot_product_flash_attention_for_cpu",
    ],
)
def test_torch_still_has_the_kernel(name: str) -> None:
    """A canary: what these compute is tested here and in test_forward.py, a new torch without one fails by its name."""
    assert hasattr(torch.ops.aten, name)


@pytest.mark.parametrize(("columns", "rows"), [(32, 16), (96, 48), (4096, 80)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_kernels_give_the_product_with_the_codes(columns: int, rows: int, dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    weight, x = torch.randn(rows, columns).to(dtype), torch.randn(3, 2 * columns).to(dtype)[:, :columns]
    codes, scale, zero = quant.quantise_int4(weight)
    four = (codes.reshape(rows, -1, 32) - 8) * scale[..., None] + zero[..., None]
    eight, largest = quant.quantise_int8(weight)
    for packed, meant in (
        (packing.Int4(weight), four.reshape(rows, columns)),
        (packing.Int8(weight), eight * largest[:, None]),
    ):
        expected = x.float() @ meant.T
        assert (packed(x).float() - expected).norm() < 0.02 * expected.norm()


@pytest.mark.parametrize("rows", [2048, 2064, 4096 + 48])
def test_int4_in_parts_is_the_same_as_at_once(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(2)
    weight, x = torch.randn(rows, 96), torch.randn(2, 96)
    in_parts = packing.Int4(weight)(x)
    monkeypatch.setattr(packing, "ROWS_AT_ONCE", 10**6)
    assert torch.equal(packing.Int4(weight)(x), in_parts)


@needs_native
@pytest.mark.parametrize("rows", [2048, 2049, 5000])
def test_compiled_int4_in_parts_is_the_same_as_at_once(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(3)
    weight, x = torch.randn(rows, 96), torch.randn(2, 96)
    in_parts = packed(weight, "int4")(x)
    monkeypatch.setattr(packing, "ROWS_AT_ONCE", 10**6)
    assert torch.equal(packed(weight, "int4")(x), in_parts)


@pytest.mark.parametrize("bits", ["int4", "int8"])
@pytest.mark.parametrize("is_native", [pytest.param(True, marks=needs_native), False])
def test_packing_takes_no_more_memory_than_the_matrix(bits: Bits, is_native: bool) -> None:
    """An output matrix of 262,144 rows took 5 GB for a moment: its codes in 32 bits each."""
    weight = torch.randn(16_384, 64).bfloat16()
    with Largest() as largest:
        packing.pack(weight, bits, is_native)
    assert 0 < largest.nbytes <= weight.nbytes

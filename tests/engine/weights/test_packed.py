"""Weights that stay in few bits are those of the file, bit for bit, whichever way they are taken apart and put
together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.gguf.blocks import FORMATS
from engine.gguf.dequantise import StoredTensor
from engine.gguf.header import GgufDamagedError, GgufTensor
from engine.gguf.tensors import PLAIN, Recipe, Rows
from engine.native import library as native_library
from engine.weights import from_gguf
from engine.weights.blocks import COMPUTED, BlockMatrix
from engine.weights.compiled_matrix import CompiledStack
from engine.weights.from_gguf import check_numbers, read_packed
from engine.weights.mapped_file import MappedFiles
from engine.weights.packed import CodedMatrix, PackedMatrix

KINDS = sorted(FORMATS)
LOST = 2e-5
"""Of a product: activations are rounded to 16 bits of the largest in their group, half a step each."""
HALVES = {
    **dict.fromkeys(("Q4_0", "Q5_0", "Q8_0", "IQ4_NL", "IQ4_XS"), (0,)),
    **dict.fromkeys(("Q4_1", "Q5_1", "Q4_K", "Q5_K"), (0, 2)),
    "Q2_K": (80, 82),
    "Q3_K": (108,),
    "Q6_K": (208,),
}
"""Where in a block fp16 numbers stand: random bits there may be no numbers."""


def random_blocks(kind: int, rows: int, columns: int, seed: int) -> NDArray[np.uint8]:
    """Random rows of a type, as bytes."""
    weights, size = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
    random = np.random.default_rng(seed)
    blocks = random.integers(0, 256, (rows * columns // weights, size), dtype=np.uint8)
    for at in HALVES[GGMLQuantizationType(kind).name]:
        halves = random.normal(0, 10.0 ** random.integers(-6, 3), len(blocks)).astype(np.float16)
        blocks[:, at : at + 2] = halves.view(np.uint8).reshape(-1, 2)
    return blocks.reshape(rows, -1)


def stored(path: Path, kind: int, blocks: NDArray[np.uint8], columns: int) -> Recipe:
    """How a matrix is made of a file that holds nothing but these blocks."""
    path.write_bytes(blocks.tobytes())
    return Recipe((GgufTensor(path, (len(blocks), columns), kind, 0, blocks.size),), PLAIN, {})


def columns_of(kind: int, blocks: int) -> int:
    return int(GGML_QUANT_SIZES[GGMLQuantizationType(kind)][0]) * blocks


@pytest.fixture(params=["compiled", "torch"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "torch":
        monkeypatch.setattr(from_gguf, "library", lambda: None)
    elif native_library.library() is None:
        pytest.skip("the compiled part is not here")
    return str(request.param)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("packed") / "blocks"


@pytest.fixture(params=[0, 1, 2], ids=["eight", "sixteen", "sixteen, rounded step by step"])
def wide(request: pytest.FixtureRequest) -> Iterator[int]:
    """How many numbers are taken at a time."""
    library = native_library.library()
    if library is None or library.headstart_widen_rows(request.param) != bool(request.param):
        pytest.skip("this processor cannot")
    yield request.param
    library.headstart_widen_rows(torch.backends.cpu.get_cpu_capability() == "AVX512")


def read(path: Path, kind: int, rows: int, columns: int, seed: int) -> tuple[PackedMatrix, NDArray[np.float32]]:
    """A packed matrix, and its numbers by the gguf package."""
    blocks = random_blocks(kind, rows, columns, seed)
    found = read_packed(stored(path, kind, blocks, columns))
    assert isinstance(found, PackedMatrix)
    return found, dequantize(blocks, GGMLQuantizationType(kind))


def mapped(
    path: Path, kind: int, rows: int, columns: int, seed: int, order: NDArray[np.int64] | None = None
) -> tuple[BlockMatrix, NDArray[np.float32]]:
    """A matrix that stays in its file, whose rows change places in some `order`, and its numbers."""
    blocks = random_blocks(kind, rows, columns, seed)
    numbers = dequantize(blocks, GGMLQuantizationType(kind))
    recipe = stored(path, kind, blocks, columns)
    if order is not None:
        recipe = replace(recipe, _way=replace(PLAIN, rows=lambda shapes, config: Rows(0, rows, order)))
    found = read_packed(recipe, MappedFiles())
    assert isinstance(found, BlockMatrix)
    return found, numbers if order is None else numbers[order]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: GGMLQuantizationType(kind).name)
def test_numbers_are_those_of_the_file(kind: int, way: str, file: Path) -> None:
    @given(st.integers(1, 5), st.integers(1, 3), st.integers(0, 2**32))
    def check(rows: int, blocks: int, seed: int) -> None:
        matrix, expected = read(file, kind, rows, columns_of(kind, blocks), seed)
        assert (matrix.widened(torch.float32).numpy() == expected).all()

    check()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: GGMLQuantizationType(kind).name)
@pytest.mark.skipif(native_library.library() is None, reason="the compiled part is not here")
def test_compiled_and_torch_are_equal(kind: int, file: Path) -> None:
    @given(st.integers(1, 40), st.integers(1, 5), st.integers(0, 2**32))
    def check(rows: int, blocks: int, seed: int) -> None:
        matrix, _ = read(file, kind, rows, columns_of(kind, blocks), seed)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(from_gguf, "library", lambda: None)
            by_numpy, _ = read(file, kind, rows, columns_of(kind, blocks), seed)
        assert all(map(torch.equal, matrix.parts, by_numpy.parts))
        for dtype in (torch.float32, torch.bfloat16):
            first = seed % rows
            out = torch.empty(rows - first, matrix.columns, dtype=dtype)
            CompiledStack([matrix]).widen(first, out)
            assert torch.equal(out, matrix.widened(dtype)[first:])

    check()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: GGMLQuantizationType(kind).name)
def test_products_of_one_row(kind: int, wide: int, file: Path) -> None:
    @given(st.integers(1, 70), st.integers(1, 6), st.integers(0, 2**32))
    def check(rows: int, blocks: int, seed: int) -> None:
        matrix, numbers = read(file, kind, rows, columns_of(kind, blocks), seed)
        row = torch.randn(1, matrix.columns, generator=torch.Generator().manual_seed(seed % 2**31))
        expected = row.double() @ torch.from_numpy(numbers).double().t()
        size = row.double().abs() @ torch.from_numpy(numbers).double().abs().t()
        # Sums of codes, and of what code 0 stands for, may each be far larger than what is left of both.
        largest = torch.from_numpy(numbers).abs().max().double() * row.double().abs().sum()
        error = (CompiledStack([matrix]).multiply(row) - expected).abs()
        assert (error <= LOST * torch.maximum(size, largest)).all()

    check()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: GGMLQuantizationType(kind).name)
@pytest.mark.parametrize("wide", [1], indirect=True)
def test_a_product_has_the_same_bits_in_every_width_and_wherever_its_row_lies(kind: int, wide: int, file: Path) -> None:
    library = native_library.library()
    assert library is not None

    @given(st.integers(1, 11), st.integers(1, 6), st.integers(0, 2**32))
    def check(rows: int, blocks: int, seed: int) -> None:
        matrix, _ = read(file, kind, rows, columns_of(kind, blocks), seed)
        row = torch.randn(1, matrix.columns, generator=torch.Generator().manual_seed(seed % 2**31))
        together = CompiledStack([matrix]).multiply(row)
        alone = [CompiledStack([matrix.between(at, at + 1)]).multiply(row)[:, 0] for at in range(rows)]
        library.headstart_widen_rows(False)
        narrow = CompiledStack([matrix]).multiply(row)
        library.headstart_widen_rows(True)
        assert torch.equal(together[0], torch.cat(alone))
        assert torch.equal(together, narrow)

    check()


@pytest.mark.parametrize("wide", [1], indirect=True)
def test_matrices_below_each_other(wide: int, file: Path) -> None:
    """Of several types, packed and in full, with biases: as one."""
    kinds = [GGMLQuantizationType.Q4_K, GGMLQuantizationType.Q6_K, GGMLQuantizationType.Q8_0]
    matrices = [read(file, kind, 5 + kind, 512, kind)[0] for kind in kinds]
    full = [torch.randn(9, 512).to(torch.bfloat16), torch.randn(3, 512)]
    biases = [torch.randn(len(part) if isinstance(part, torch.Tensor) else part.rows) for part in (*matrices, *full)]
    stack = CompiledStack([*matrices, *full], torch.cat(biases))
    whole = torch.cat([*(matrix.widened(torch.float32) for matrix in matrices), *(part.float() for part in full)])
    rows = torch.randn(3, 512)
    error = (stack.multiply(rows) - (rows @ whole.t() + torch.cat(biases))).abs()
    assert (error <= 1e-5 * (1 + rows.abs().sum(1, keepdim=True) * whole.abs().amax(1))).all()
    out = torch.empty(20, 512)
    stack.widen(10, out)
    assert torch.equal(out, whole[10:30])


def test_rows_change_places(file: Path) -> None:
    matrix, numbers = read(file, GGMLQuantizationType.Q5_K, 6, 256, 1)
    order = torch.tensor([5, 0, 0, 3])
    assert (matrix.select(order).widened(torch.float32).numpy() == numbers[order]).all()
    assert (matrix.between(2, 5).widened(torch.float32).numpy() == numbers[2:5]).all()


def test_a_weight_that_is_no_number(file: Path) -> None:
    blocks = random_blocks(GGMLQuantizationType.Q4_K, 4, 256, 0)
    blocks[2, :2] = np.array([np.nan], np.float16).view(np.uint8)
    with pytest.raises(GgufDamagedError, match="weights that are no numbers"):
        read_packed(stored(file, GGMLQuantizationType.Q4_K, blocks, 256))


def test_a_file_that_becomes_shorter(file: Path) -> None:
    blocks = random_blocks(GGMLQuantizationType.Q8_0, 4, 64, 0)
    recipe = stored(file, GGMLQuantizationType.Q8_0, blocks, 64)
    file.write_bytes(blocks.tobytes()[:-1])
    with pytest.raises(GgufDamagedError, match="became shorter"):
        read_packed(recipe)


def test_pieces_of_a_large_matrix(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(from_gguf, "PIECE_BYTES", 100)
    matrix, numbers = read(file, GGMLQuantizationType.Q4_0, 11, 64, 3)
    assert (matrix.widened(torch.float32).numpy() == numbers).all()
    assert StoredTensor(GgufTensor(file, (11, 64), GGMLQuantizationType.Q4_0, 0, 11 * 36)).rows == 11


needs_compiled = pytest.mark.skipif(native_library.library() is None, reason="the compiled part is not here")
by_form = pytest.mark.parametrize("form", COMPUTED, ids=lambda form: GGMLQuantizationType(form).name)


@by_form
@needs_compiled
def test_what_stays_in_its_file_has_the_same_numbers(form: int, wide: int, file: Path) -> None:
    @given(st.integers(1, 40), st.integers(1, 3), st.integers(0, 2**32), st.booleans())
    def check(rows: int, stretches: int, seed: int, is_turned: bool) -> None:
        order = np.random.default_rng(seed).permutation(rows) if is_turned else None
        matrix, expected = mapped(file, form, rows, 256 * stretches, seed, order)
        assert (matrix.widened(torch.float32).numpy() == expected).all()
        first = seed % rows
        for dtype in (torch.float32, torch.bfloat16):
            out = torch.empty(rows - first, matrix.columns, dtype=dtype)
            CompiledStack([matrix]).widen(first, out)
            assert torch.equal(out, torch.from_numpy(expected)[first:].to(dtype))

    check()


@by_form
@needs_compiled
def test_products_with_what_stays_in_its_file(form: int, wide: int, file: Path) -> None:
    """Near those of the numbers, and for each row the same bits in every width, and wherever it lies."""
    library = native_library.library()
    assert library is not None

    @given(st.integers(1, 70), st.integers(1, 3), st.integers(0, 2**32))
    def check(rows: int, stretches: int, seed: int) -> None:
        order = np.random.default_rng(seed).permutation(rows)
        matrix, numbers = mapped(file, form, rows, 256 * stretches, seed, order)
        row = torch.randn(1, matrix.columns, generator=torch.Generator().manual_seed(seed % 2**31))
        found = CompiledStack([matrix]).multiply(row)
        weights = torch.from_numpy(numbers).double()
        largest = weights.abs().max() * row.double().abs().sum()
        size = torch.maximum(row.double().abs() @ weights.abs().t(), largest)
        assert ((found - row.double() @ weights.t()).abs() <= LOST * size).all()
        straight, _ = mapped(file, form, rows, 256 * stretches, seed)
        assert torch.equal(found[0], CompiledStack([straight]).multiply(row)[0, torch.from_numpy(order)])
        one = int(seed % rows)
        assert torch.equal(found[0, one : one + 1], CompiledStack([matrix.between(one, one + 1)]).multiply(row)[0])
        library.headstart_widen_rows(not wide)
        assert torch.equal(found, CompiledStack([matrix]).multiply(row))
        library.headstart_widen_rows(wide)

    check()


@needs_compiled
def test_rows_of_what_stays_in_its_file(file: Path) -> None:
    turned = np.array([3, 1, 0, 2])
    matrix, numbers = mapped(file, GGMLQuantizationType.Q4_K, 4, 256, 1, turned)
    chosen: CodedMatrix = matrix.select(torch.tensor([2, 2, 0]))
    assert (chosen.widened(torch.float32).numpy() == numbers[[2, 2, 0]]).all()
    assert (matrix.between(1, 3).widened(torch.float32).numpy() == numbers[1:3]).all()
    assert matrix.nbytes == 4 * 144 + 4 * 4
    assert matrix.to(torch.device("cpu")) is matrix


@needs_compiled
@pytest.mark.parametrize(
    ("kind", "columns"),
    [(GGMLQuantizationType.Q5_K, 256), (GGMLQuantizationType.Q8_0, 96)],
    ids=["another type", "no whole stretch"],
)
def test_what_is_not_computed_as_it_lies_is_packed(kind: int, columns: int, file: Path) -> None:
    recipe = stored(file, kind, random_blocks(kind, 2, columns, 0), columns)
    assert isinstance(read_packed(recipe, MappedFiles()), PackedMatrix)


@by_form
@needs_compiled
def test_a_weight_in_the_file_that_is_no_number(form: int, file: Path) -> None:
    blocks = random_blocks(form, 4, 512, 0)
    blocks[3, -GGML_QUANT_SIZES[GGMLQuantizationType(form)][1] :][:2] = np.array([np.inf], np.float16).view(np.uint8)
    matrix = read_packed(stored(file, form, blocks, 512), MappedFiles())
    assert isinstance(matrix, BlockMatrix)
    with pytest.raises(GgufDamagedError, match="weights that are no numbers"):
        check_numbers(matrix)


@needs_compiled
def test_a_mapped_file_that_ends_early(file: Path) -> None:
    blocks = random_blocks(GGMLQuantizationType.Q8_0, 4, 256, 0)
    recipe = stored(file, GGMLQuantizationType.Q8_0, blocks, 256)
    file.write_bytes(blocks.tobytes()[:-1])
    with pytest.raises(GgufDamagedError, match="became shorter"):
        read_packed(recipe, MappedFiles())


@needs_compiled
def test_rows_are_taken_in_any_order(wide: int, file: Path) -> None:
    """Embeddings of some tokens, of every form that weights have."""
    ids = torch.tensor([5, 0, 5, 3, 1])
    forms: list[CodedMatrix | torch.Tensor] = [torch.randn(6, 72), torch.randn(6, 72).to(torch.bfloat16)]
    for kind in KINDS:
        matrix, _ = read(file, kind, 6, columns_of(kind, 3), kind)
        forms.append(matrix)
    forms.append(mapped(file, GGMLQuantizationType.Q8_0, 6, 512, 1, np.random.default_rng(1).permutation(6))[0])
    for form in forms:
        for dtype in (torch.float32, torch.bfloat16):
            whole = form.to(dtype) if isinstance(form, torch.Tensor) else form.widened(dtype)
            assert torch.equal(CompiledStack([form]).rows_at(ids, dtype), whole[ids])
            assert torch.equal(CompiledStack([form]).rows_at(ids.to(torch.int32), dtype), whole[ids])
    for none in (6, -1):
        with pytest.raises(IndexError, match="no row of 6"):
            CompiledStack([forms[0]]).rows_at(torch.tensor([0, none]), torch.float32)

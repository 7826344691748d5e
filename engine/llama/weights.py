"""The weights of a decoder: matrices that have one input are fused. They are there in full, in few bits, or
both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional

from engine.llama.family import Decoder, LayerKind, Rope, gate_up_names, norm_names, qkv_names
from engine.native import library as native_library
from engine.weights.compiled_matrix import CompiledStack, can_compile, can_read
from engine.weights.few_bits import Packed, pack
from engine.weights.packed import CodedMatrix
from engine.weights.quantise import Bits
from engine.weights.row_products import in_vectors, multiply, tiles
from engine.weights.stack import Part, Stack


class Scratch:
    """Room for one tile of a matrix in full, in the number type of the weights; made when it is first needed."""

    def __init__(self, dtype: torch.dtype) -> None:
        self.dtype = dtype
        self._room = torch.empty(0, dtype=dtype)

    @property
    def nbytes(self) -> int:
        return self._room.nbytes

    def room(self, size: int) -> Tensor:
        """Room for so many numbers. What was there before is lost."""
        if len(self._room) < size:
            self._room = torch.empty(size, dtype=self.dtype)
        return self._room


@dataclass(frozen=True, slots=True)
class Projection:
    """One matrix product with weights `[out, in]`, or several of one input fused into one.

    `weight` are the full weights, None where there is no room for them; `packed` are the same in few bits, whose
    numbers are as good where it is `exact`. Which of the two computes is the caller's choice, never that of the number
    of rows. `reader` are the full ones, or without them the others, for the compiled part, where that is faster."""

    weight: Tensor | None
    bias: Tensor | None
    packed: Packed | None
    scratch: Scratch = field(default_factory=lambda: Scratch(torch.float32))
    reader: CompiledStack | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Outputs and inputs."""
        if self.weight is not None:
            return self.weight.shape[0], self.weight.shape[1]
        assert isinstance(self.packed, Stack)
        return self.packed.rows, self.packed.columns

    @property
    def parts(self) -> Sequence[Part]:
        """The matrices that the compiled step reads, one below the other."""
        if isinstance(self.packed, Stack):
            return self.packed.parts
        assert self.weight is not None
        return [self.weight]

    def __call__(self, rows: Tensor) -> Tensor:
        """`[n, in]` -> `[n, out]` with the model's own numbers. The last bits of a row hang on n."""
        if self.weight is None or (self.packed is not None and self.packed.exact):
            return self.in_few_bits(rows)
        return functional.linear(rows.to(self.weight.dtype), self.weight, self.bias)

    def of_each(self, rows: Tensor) -> Tensor:
        """The same, but on the CPU each row is the same bits whatever n is: see `engine.weights.row_products`. Whether
        the full weights are there or made of the packed ones, tile by tile, changes no bit there."""
        if self.reader is not None:
            return self.reader.read(rows)
        if self.weight is not None and self.weight.device.type != "cpu":
            return functional.linear(rows, self.weight, self.bias)  # there rows hang on n anyway, and tiles cost time
        ends = tiles(*self.shape)
        if len(ends) == 1:
            return multiply(rows, self._tile(*ends[0], rows.dtype).t(), self.bias)
        out = rows.new_empty(len(rows), self.shape[0])
        for first, last in ends:
            bias = None if self.bias is None else self.bias[first:last]
            out[:, first:last] = multiply(rows, self._tile(first, last, rows.dtype).t(), bias)
        return out

    def _tile(self, first: int, last: int, dtype: torch.dtype) -> Tensor:
        if self.weight is not None:
            return self.weight[first:last]
        assert isinstance(self.packed, Stack)
        room = self.scratch.room((last - first) * self.packed.columns) if self.packed.is_compiled else None
        return self.packed.widened(first, last, dtype, room)

    def in_few_bits(self, rows: Tensor) -> Tensor:
        """`[n, in]` -> `[n, out]` with the few-bit weights, in their number type; without them, with the full."""
        if self.packed is None:
            return self(rows)
        out = self.packed(rows)
        return out if self.bias is None else out + self.bias


@dataclass(frozen=True, slots=True)
class Layer:
    """One decoder layer. The norms' weights are `[width]`, and None where the family has no norm there: before and
    after attention, before and after the feed-forward part. `query_norm` and `key_norm` are `[dim]`, for each head, or
    as long as all heads together."""

    kind: LayerKind
    qkv: Projection
    output: Projection
    gate_up: Projection
    down: Projection
    input_norm: Tensor | None
    mixed_norm: Tensor | None
    post_norm: Tensor | None
    added_norm: Tensor | None
    query_norm: Tensor | None
    key_norm: Tensor | None


def plain_frequencies(dim: int, theta: float) -> Tensor:
    """`theta ** (-2 i / dim)` for each pair of numbers of a head."""
    return 1.0 / theta ** (torch.arange(0, dim, 2, dtype=torch.int64).float() / dim)


KNOWN_ANGLES, MOST_KNOWN = 256, 64
"""Positions whose angles are computed together, and how many such stretches are kept."""


class Rotary:
    """Rotary position codes (https://arxiv.org/abs/2104.09864). The halves of the turned numbers of a head are paired,
    as in Llama."""

    def __init__(self, rope: Rope, device: torch.device) -> None:
        self._short = torch.tensor(rope.frequencies, device=device)
        self._long = None if rope.long is None else torch.tensor(rope.long, device=device)
        self._scaled = rope.scaled
        self._known: dict[tuple[int, bool], tuple[Tensor, Tensor]] = {}

    def __call__(self, like: Tensor, positions: Tensor, *, is_long: bool = False) -> tuple[Tensor, Tensor]:
        """Cosines and sines `[1, n, turned numbers]` of positions `[1, n]`, in the number type of `like`. `is_long`:
        the sequence grows past the length at which the frequencies change."""
        frequencies = self._long if is_long and self._long is not None else self._short
        angles = positions[..., None].float() * frequencies
        both = torch.cat([angles, angles], dim=-1)
        cos, sin = (in_vectors(function, both) * self._scaled for function in (torch.cos, torch.sin))
        return cos.to(like.dtype), sin.to(like.dtype)

    def between(self, start: int, end: int, *, is_long: bool = False) -> tuple[Tensor, Tensor]:
        """Cosines and sines of the positions from `start` up to `end`, `[n, turned numbers]` each, in fp32.

        They are computed for KNOWN_ANGLES positions at a time and kept: a token alone takes as long as so many, and
        the next one is mostly beside it.
        """
        found = [
            self._stretch(index, is_long)
            for index in range(start // KNOWN_ANGLES, max(end - 1, start) // KNOWN_ANGLES + 1)
        ]
        first = start // KNOWN_ANGLES * KNOWN_ANGLES
        cos, sin = (part[0] if len(part) == 1 else torch.cat(part) for part in zip(*found, strict=True))
        return cos[start - first : end - first], sin[start - first : end - first]

    def _stretch(self, index: int, is_long: bool) -> tuple[Tensor, Tensor]:
        known = self._known.get((index, is_long))
        if known is None:
            first = index * KNOWN_ANGLES
            positions = torch.arange(first, first + KNOWN_ANGLES, device=self._short.device)[None]
            cos, sin = self(self._short, positions, is_long=is_long)
            known = cos[0], sin[0]
            if len(self._known) == MOST_KNOWN:
                self._known.clear()
            self._known[index, is_long] = known
        return known


Tensors = Mapping[str, Tensor | CodedMatrix]
"""Weights by their names: in full, or a matrix in few bits."""


class Weights:
    """A whole model: the embedding of each token, the layers, the last norm and the output matrix.

    `tensors` are named as in the checkpoints of the Llama family; one that is missing raises KeyError. Full ones that
    are fused become views of the fused one, so that there is no second copy. Matrices that come packed stay so; with
    `keeps_full` those of the layers are there in full as well, for reading. `bits` adds few-bit copies of the full ones
    for decoding. With packed matrices the compiled part is in use where it can run the model (`is_native`)."""

    def __init__(self, decoder: Decoder, tensors: Tensors, bits: Bits | None, *, keeps_full: bool = False) -> None:
        self.decoder, self.sizes = decoder, decoder.sizes
        norm = _full(tensors, "model.norm.weight")
        self.dtype, self.device = norm.dtype, norm.device
        self.rotaries = {name: Rotary(rope, self.device) for name, rope in decoder.ropes.items()}
        self._scratch = Scratch(self.dtype)
        is_packed = any(isinstance(tensor, CodedMatrix) for tensor in tensors.values())
        self.is_native = (bits is not None or is_packed) and _runs_compiled(decoder, tensors)
        is_compiled = native_library.library() is not None and can_compile(_matrices(tensors))
        make = _Maker(decoder, tensors, bits, is_compiled, keeps_full, self._scratch)
        self.norm = make.norm("model.norm")
        self.embedding = tensors["model.embed_tokens.weight"]
        self._embedding = Stack([self.embedding])
        self._embedding_scale = torch.tensor(decoder.embedding_scale, dtype=self.dtype, device=self.device)
        self.layers = [make.layer(f"model.layers.{index}", kind) for index, kind in enumerate(decoder.layers)]
        self.head = make.head("lm_head.weight" if "lm_head.weight" in tensors else "model.embed_tokens.weight")
        self.width = self._embedding.columns

    @property
    def rotary(self) -> Rotary:
        """The position code of a model that has one for all layers."""
        (only,) = self.rotaries.values()
        return only

    def embed(self, ids: Sequence[int] | Tensor) -> Tensor:
        """What the tokens are to the first layer, `[n, width]`."""
        rows = self._embedding.rows_at(placed(ids, self.device), self.dtype)
        return rows if self.decoder.embedding_scale == 1 else rows * self._embedding_scale

    @property
    def packed(self) -> Iterator[Packed]:
        """All few-bit weights."""
        return (each.packed for each in self._projections() if each.packed is not None)

    @property
    def bits(self) -> str:
        """What most of the few-bit weights are: "int4", "int8", or "" without them. Codes that are the model's own
        lose nothing: computed with in fp32, they are as good as full weights and not told."""
        is_whole = self.dtype is torch.float32
        kinds = [each.kind for each in self.packed if each.kind and not (is_whole and each.exact)]
        return max(set(kinds), key=kinds.count, default="")

    @property
    def nbytes(self) -> int:
        """Bytes of all weights, few-bit ones, and the scratch; tied ones count once."""
        full: list[Tensor | None] = [self.norm]
        coded: list[Tensor] = []
        for layer in self.layers:
            full += [layer.input_norm, layer.mixed_norm, layer.post_norm, layer.added_norm]
            full += [layer.query_norm, layer.key_norm]
        others = 0
        for projection in self._projections():
            full += [projection.weight, projection.bias]
            if projection.packed is not None and not isinstance(projection.packed, Stack):
                others += projection.packed.nbytes
        stacks = [each.packed for each in self._projections() if isinstance(each.packed, Stack)]
        for part in (self.embedding, *(part for stack in stacks for part in stack.parts)):
            if isinstance(part, CodedMatrix):
                coded += part.parts  # they lie beside each other in one memory
            else:
                full.append(part)
        storages = [part.untyped_storage() for part in full if part is not None]
        held = {each.data_ptr(): each.nbytes() for each in storages}
        held |= {part.data_ptr(): part.nbytes for part in coded}
        return sum(held.values()) + others + self._scratch.nbytes

    def _projections(self) -> Iterator[Projection]:
        for layer in self.layers:
            yield from (layer.qkv, layer.output, layer.gate_up, layer.down)
        yield self.head


def placed(ids: Sequence[int] | Tensor, device: torch.device) -> Tensor:
    """Token ids `[n]` on a device; those of a tensor are there already. A single one, as decoding has them, is written
    there by a command: a copy out of the processor's memory would wait until the device has done all that it was told
    before."""
    if isinstance(ids, Tensor):
        return ids
    if len(ids) == 1:
        return torch.full((1,), ids[0], dtype=torch.long, device=device)
    return torch.tensor(ids, device=device)


def _runs_compiled(decoder: Decoder, tensors: Tensors) -> bool:
    """Whether the compiled part is here and can run a model.

    It needs full weights of one type, fp32 or bf16, on the CPU, and reads eight numbers at a time, so every width is a
    multiple of eight.
    """
    kinds = {(tensor.device.type, tensor.dtype) for tensor in tensors.values() if isinstance(tensor, Tensor)}
    if native_library.library() is None or kinds not in ({("cpu", torch.float32)}, {("cpu", torch.bfloat16)}):
        return False
    sizes, matrices = decoder.sizes, _matrices(tensors)
    widths = (sizes.dim, *(width for matrix in matrices for width in _shape(matrix)[1:]))
    fits = not any(width % 8 for width in widths) and sizes.dim <= native_library.WIDEST_HEAD
    return decoder.residual_scale != 0 and fits and can_compile(matrices)


def _matrices(tensors: Tensors) -> list[Part]:
    return [tensor for tensor in tensors.values() if isinstance(tensor, CodedMatrix) or tensor.dim() == 2]


def _shape(matrix: Part) -> tuple[int, ...]:
    return (matrix.rows, matrix.columns) if isinstance(matrix, CodedMatrix) else tuple(matrix.shape)


def _full(tensors: Tensors, name: str) -> Tensor:
    tensor = tensors[name]
    assert isinstance(tensor, Tensor)
    return tensor.data


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the parts of a model from its tensors."""

    decoder: Decoder
    tensors: Tensors
    bits: Bits | None
    is_compiled: bool
    keeps_full: bool
    scratch: Scratch

    def layer(self, name: str, kind: LayerKind) -> Layer:
        family = self.decoder.family

        def projection(*parts: str) -> Projection:
            return self.projection([f"{name}.{part}" for part in parts])

        before, mixed, after, added = (self.norm(f"{name}.{norm}") if norm else None for norm in norm_names(family))
        has_head_norms = family.head_norms != "none"
        return Layer(
            kind=kind,
            qkv=projection(*qkv_names(family)),
            output=projection("self_attn.o_proj"),
            gate_up=projection(*gate_up_names(family)),
            down=projection("mlp.down_proj"),
            input_norm=before,
            mixed_norm=mixed,
            post_norm=after,
            added_norm=added,
            query_norm=self.norm(f"{name}.self_attn.q_norm") if has_head_norms else None,
            key_norm=self.norm(f"{name}.self_attn.k_norm") if has_head_norms else None,
        )

    def norm(self, name: str) -> Tensor:
        """A norm's weight: where the family adds one to it, in fp32, in which that loses nothing."""
        weight = _full(self.tensors, f"{name}.weight")
        return weight.float() + 1 if self.decoder.family.norms_add_one else weight

    def projection(self, names: list[str]) -> Projection:
        """Several linear layers that have one input, as one. Full tensors become views of the fused one."""
        parts = [self.tensors[f"{name}.weight"] for name in names]
        biases = [_full(self.tensors, each) for name in names if (each := f"{name}.bias") in self.tensors]
        bias = torch.cat(biases) if biases else None
        if any(isinstance(part, CodedMatrix) for part in parts):
            return self._packed(Stack(parts), bias)
        weight = _fused([part for part in parts if isinstance(part, Tensor)])
        return Projection(weight, bias, self._copy(weight), self.scratch, self._reader([weight], bias))

    def head(self, name: str) -> Projection:
        """The output matrix. It is multiplied with single rows only, so that it is never needed in full."""
        matrix = self.tensors[name]
        if isinstance(matrix, CodedMatrix):
            return Projection(None, None, Stack([matrix]), self.scratch)
        return Projection(matrix.data, None, self._copy(matrix.data), self.scratch)

    def _packed(self, stack: Stack, bias: Tensor | None) -> Projection:
        weight = None
        if self.keeps_full:
            device = stack.parts[0].device
            weight = torch.empty(stack.rows, stack.columns, dtype=self.scratch.dtype, device=device)
            for first, last in tiles(stack.rows, stack.columns):
                weight[first:last] = stack.widened(first, last, weight.dtype)
        reader = self._reader(stack.parts if weight is None else [weight], bias)
        return Projection(weight, bias, stack, self.scratch, reader)

    def _reader(self, parts: Sequence[Part], bias: Tensor | None) -> CompiledStack | None:
        return CompiledStack(parts, bias) if can_read(self.scratch.dtype) and can_compile(parts) else None

    def _copy(self, weight: Tensor) -> Packed | None:
        return pack(weight, self.bits, self.is_compiled) if self.bits else None


def _fused(parts: list[Tensor]) -> Tensor:
    """Matrices below each other. They become views of it."""
    weight = torch.cat([part.data for part in parts]) if len(parts) > 1 else parts[0].data
    at = 0
    for part in parts:
        part.data = weight[at : at + len(part)]
        at += len(part)
    return weight

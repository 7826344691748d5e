"""transformers' own forward pass, computed so that a token's numbers do not hang on what is read with it.

`RowByRow` is around the forward pass of a prompt. Of the calls of torch made meanwhile, it takes the products and the
functions of single numbers, and hands them to `engine.weights.row_products`; products of complex numbers (positions in
Llama-4) it takes apart. Attention is ours in any case (`engine.models.attention_hook`), and norms and softmaxes treat
each row for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from engine.weights.row_products import in_vectors, multiply

_is_reading: ContextVar[bool] = ContextVar("is_reading", default=False)

OF_NUMBERS = {
    functional.silu, functional.gelu, functional.sigmoid, functional.tanh, functional.softplus,
    torch.sigmoid, torch.tanh, torch.exp, torch.log, torch.cos, torch.sin, torch.erf,
    Tensor.sigmoid, Tensor.tanh, Tensor.exp, Tensor.log, Tensor.cos, Tensor.sin, Tensor.erf,
}  # fmt: skip
"""Functions that torch's loops compute many at a time, and at the end of a loop one at a time in another way."""


def is_reading() -> bool:
    """Whether a prompt is being read: then attention must be exact, too."""
    return _is_reading.get()


class RowByRow(TorchFunctionMode):
    """Around the forward pass of a prompt. `head` is the output matrix: only one row is ever multiplied with it."""

    def __init__(self, head: Tensor | None) -> None:
        super().__init__()
        self._head = head

    def __enter__(self) -> RowByRow:
        self._token = _is_reading.set(True)
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        _is_reading.reset(self._token)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = kwargs or {}
        if func in OF_NUMBERS:
            return in_vectors(lambda some: func(some, *args[1:], **given), args[0])
        if func in _TIMES and all(isinstance(each, Tensor) and each.is_complex() for each in args):
            return _of_complex(*args)
        product = _PRODUCTS.get(func)
        if product is None or (func is functional.linear and args[1] is self._head):
            return func(*args, **given)
        return product(*args, **given)


def _linear(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    found = multiply(rows.reshape(-1, rows.shape[-1]), weight.t(), bias)
    return found.view(*rows.shape[:-1], len(weight))  # of no rows, too: an expert may get none


def _matmul(one: Tensor, other: Tensor) -> Tensor:
    if other.dim() != 2 or one.dim() < 2:
        return torch.matmul(one, other)
    return multiply(one.reshape(-1, one.shape[-1]), other).view(*one.shape[:-1], other.shape[1])


def _added(bias: Tensor, rows: Tensor, matrix: Tensor) -> Tensor:
    return multiply(rows, matrix, bias)


def _batched(rows: Tensor, matrices: Tensor) -> Tensor:
    """Of each expert: `[experts, n, in]` times `[experts, in, out]`."""
    return torch.stack([multiply(own.contiguous(), matrix) for own, matrix in zip(rows, matrices, strict=True)])


def _grouped(rows: Tensor, matrices: Tensor, offs: Tensor, bias: Tensor | None = None, *_: Any, **__: Any) -> Tensor:
    """Of each expert its own rows: those up to `offs` of it, behind those of the expert before."""
    assert bias is None
    out, start = rows.new_zeros(len(rows), matrices.shape[2]), 0
    for matrix, end in zip(matrices, offs.tolist(), strict=True):
        if end > start:
            out[start:end] = multiply(rows[start:end].clone(), matrix)
        start = end
    return out


def _of_complex(one: Tensor, other: Tensor) -> Tensor:
    """Each number times one other, by real numbers: torch's loops over complex ones round many at a time otherwise than
    what is left over at their end."""
    real = one.real * other.real - one.imag * other.imag
    return torch.complex(real, one.real * other.imag + one.imag * other.real)


_TIMES = {torch.mul, Tensor.mul, Tensor.__mul__}

_PRODUCTS: dict[Callable[..., Any], Callable[..., Tensor]] = {
    functional.linear: _linear,
    torch.matmul: _matmul,
    Tensor.matmul: _matmul,
    Tensor.__matmul__: _matmul,
    torch.addmm: _added,  # of GPT-2, whose matrices lie the other way round
    torch.bmm: _batched,
    torch._grouped_mm: _grouped,  # what functional.grouped_mm calls
}

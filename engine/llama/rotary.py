"""Rotary position codes in their plain form (https://arxiv.org/abs/2104.09864), halves of a head paired as in Llama."""

from __future__ import annotations

import torch
from torch import Tensor


class PlainRotary:
    """Frequencies `theta ** (-2 i / dim)`, the same at every length."""

    def __init__(self, dim: int, theta: float, device: torch.device) -> None:
        self._frequencies = (1.0 / theta ** (torch.arange(0, dim, 2, dtype=torch.int64).float() / dim)).to(device)

    def __call__(self, like: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Cosines and sines `[1, n, dim]` of positions `[1, n]`, in the number type of `like`."""
        angles = positions[..., None].float() * self._frequencies
        both = torch.cat([angles, angles], dim=-1)
        return both.cos().to(like.dtype), both.sin().to(like.dtype)

"""Whether a device computes what the CPU computes: the first minute of `make gpu-check`, and `headstart doctor --gpu`.

A made-up model is read and written with on both. It has what real ones have: shared heads, a prompt in two pieces, keys
and values that are copied out of a lane, to the computer's memory and back. No file is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import torch
from torch import Tensor

from engine.cache.copies import copies_for
from engine.cache.store import KVStore, Lane
from engine.llama.checkpoint import LeanNetwork, plain_decoder
from engine.llama.family import shapes
from engine.machine import DeviceCheck
from engine.models.choice import choose_device, choose_dtype
from engine.runtimes.trial import fault
from engine.types import BLOCK_TOKENS, Device

CONFIG = {
    "model_type": "llama", "hidden_act": "silu", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 3,
    "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 64, "rms_norm_eps": 1e-5, "vocab_size": 1000,
    "max_position_embeddings": 1024, "rope_theta": 1e4, "tie_word_embeddings": True,
}  # fmt: skip
VOCABULARY = 1000
TOKENS, CUT, WRITTEN = 300, 133, 16
"""Of a made-up prompt, after how many of them it is cut, and how many tokens are written behind it."""

NEAR = {torch.float32: 2e-3, torch.bfloat16: 0.1, torch.float16: 0.02}
"""How far logits may be from those of the CPU in fp32, relative to their spread."""


def check_device(wish: Device = "auto") -> Iterator[DeviceCheck]:
    """Compare a device with the CPU, one thing after the other."""
    device = choose_device(wish)
    number, _ = choose_dtype("auto", device, 256, torch.bfloat16) if device.type != "cpu" else (None, None)
    types = dict.fromkeys((torch.float32, number or torch.bfloat16))
    steps: list[tuple[str, Callable[[], tuple[bool, str]]]] = [("products in fp32", partial(_products, device))]
    for dtype in types:
        name = str(dtype).removeprefix("torch.")
        steps.append((f"a prompt at once and in two pieces, {name}", partial(_forward, device, dtype)))
    steps.append(("tokens that are written, float32", partial(_tokens, device)))
    steps.append(("blocks out of a lane, to the computer's memory, and back", partial(_blocks, device)))
    yield from compared(steps)


def compared(steps: Iterable[tuple[str, Callable[[], tuple[bool, str]]]]) -> Iterator[DeviceCheck]:
    """What each step finds: whether it is right, and a figure. What torch raises is a finding, too."""
    for what, step in steps:
        try:
            yield DeviceCheck(what, *step())
        except Exception as error:  # whatever a driver does belongs into the report
            yield DeviceCheck(what, False, f"{type(error).__name__}: {error}"[:300])


def _products(device: torch.device) -> tuple[bool, str]:
    found = fault(device.type)
    return not found, found or "as in fp64"


def made_up_network(device: torch.device, dtype: torch.dtype) -> LeanNetwork:
    """The model of these checks, the same numbers on every device."""
    decoder = plain_decoder(CONFIG, frozenset())
    assert decoder is not None
    chance = torch.Generator().manual_seed(7)
    tensors = {
        name: (torch.ones(shape) if len(shape) == 1 else torch.randn(shape, generator=chance) * shape[-1] ** -0.5)
        for name, shape in shapes(decoder)
    }
    return LeanNetwork(decoder, {name: tensor.to(device, dtype) for name, tensor in tensors.items()}, None)


def made_up_prompt() -> list[int]:
    """What it reads."""
    return [(31 * index + 7) % VOCABULARY for index in range(TOKENS)]


@torch.inference_mode()
def _read(network: LeanNetwork, pieces: list[list[int]]) -> tuple[Tensor, Lane]:
    """The logits after a prompt, on the CPU, and the lane."""
    lane, start = Lane(network.layout, TOKENS + BLOCK_TOKENS + WRITTEN, fill=float("nan")), 0
    logits = torch.empty(0)
    for piece in pieces:
        logits = network.forward(piece, lane, start).cpu().float()
        start += len(piece)
    return logits, lane


def _forward(device: torch.device, dtype: torch.dtype) -> tuple[bool, str]:
    ids = made_up_prompt()
    truth, _ = _read(made_up_network(torch.device("cpu"), torch.float32), [ids])
    network = made_up_network(device, dtype)
    off = max(distance(_read(network, pieces)[0], truth) for pieces in ([ids], [ids[:CUT], ids[CUT:]]))
    return off <= NEAR[dtype], f"off by {off:.1e} of the spread of the logits, {NEAR[dtype]:.0e} are allowed"


def distance(one: Tensor, other: Tensor) -> float:
    """How far logits `[vocabulary]` are from others, relative to the spread of these."""
    return float((one - other).norm() / (other - other.mean()).norm())


@torch.inference_mode()
def _tokens(device: torch.device) -> tuple[bool, str]:
    written = []
    for where in (torch.device("cpu"), device):
        network = made_up_network(where, torch.float32)
        logits, lane = _read(network, [made_up_prompt()])
        own = [int(logits.argmax())]
        while len(own) < WRITTEN:
            logits = network.forward(own[-1:], lane, TOKENS + len(own) - 1, is_answer=True).cpu()
            own.append(int(logits.argmax()))
        written.append(own)
    equal = sum(one == other for one, other in zip(*written, strict=True))
    return equal == WRITTEN, f"{equal} of {WRITTEN} are those of the CPU"


@torch.inference_mode()
def _blocks(device: torch.device) -> tuple[bool, str]:
    network = made_up_network(device, torch.float32)
    _, lane = _read(network, [made_up_prompt()])
    lane.ids[:] = made_up_prompt()
    store, count = KVStore(network.layout, 1 << 30), TOKENS // BLOCK_TOKENS
    copies = copies_for(device)
    leaving = [copies.leave(block) for block in store.tensors(store.publish(lane, 0, count))]
    back = Lane(network.layout, lane.capacity, fill=float("nan"))
    for number, copy in enumerate(leaving):
        copy.wait()
        arriving = copies.arrive(copy.tensor)
        arriving.join()
        store.copy_in(back, number * BLOCK_TOKENS, arriving.tensor)
    end = count * BLOCK_TOKENS
    pairs = zip(lane.keys + lane.values, back.keys + back.values, strict=True)
    is_equal = all(torch.equal(one[:, :, :end], other[:, :, :end]) for one, other in pairs)
    return is_equal, f"{count} blocks, " + ("equal bit for bit" if is_equal else "not equal")

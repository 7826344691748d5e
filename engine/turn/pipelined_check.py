"""Whether a device chooses tokens as the processor does, and repeats what was recorded: the rest of the check of a
device (`engine.models.device_check`), with the same made-up model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

from engine.cache.store import Lane
from engine.machine import DeviceCheck
from engine.models.choice import choose_device, choose_dtype
from engine.models.device_check import NEAR, TOKENS, compared, distance, made_up_network, made_up_prompt
from engine.models.graphs import PlainCalls, Steps, recorder_for
from engine.models.loaded import LoadedModel
from engine.turn.choosing import Choice
from engine.turn.pipelined import PipelinedChoice
from engine.turn.sampling import KnownTokens
from engine.types import BLOCK_TOKENS, Device, Message, Request, Sampling

WRITTEN = 5
"""Tokens of an answer."""

SAMPLINGS = (
    Sampling(temperature=0.0, repetition_penalty=1.3, max_tokens=WRITTEN),
    Sampling(temperature=0.8, top_p=0.9, min_p=0.02, presence_penalty=0.5, seed=3, max_tokens=WRITTEN),
    Sampling(temperature=1.0, top_p=1.0, top_k=40, seed=4, max_tokens=WRITTEN),
)


def check_pipelined(wish: Device = "auto") -> Iterator[DeviceCheck]:
    """Compare tokens that a device chooses with those that the processor does, told and repeated."""
    device = choose_device(wish)
    number, _ = choose_dtype("auto", device, 256, torch.bfloat16) if device.type != "cpu" else (torch.bfloat16, None)
    steps: list[tuple[str, Callable[[], tuple[bool, str]]]] = [
        ("tokens that are chosen on the device, float32", partial(_tokens, device, False)),
        ("the same, repeated by what was recorded, float32", partial(_tokens, device, True)),
        (f"what is repeated, {str(number).removeprefix('torch.')}", partial(_repeated, device, number)),
    ]
    yield from compared(steps)


def _model(device: torch.device, dtype: torch.dtype) -> LoadedModel:
    network: Any = made_up_network(device, dtype)
    return LoadedModel(network, None, "made-up")


def _read(model: LoadedModel) -> tuple[Lane, torch.Tensor]:
    """A lane that holds the prompt, and the logits after it."""
    lane, ids = Lane(model.layout, TOKENS + BLOCK_TOKENS + WRITTEN, fill=float("nan")), made_up_prompt()
    logits = model.forward(ids, lane, 0)
    lane.ids[:] = ids
    return lane, logits


def _tokens(device: torch.device, is_recorded: bool) -> tuple[bool, str]:
    model, equal = _model(device, torch.float32), 0
    known = KnownTokens(model.vocabulary, ())
    for sampling in SAMPLINGS:
        request = Request((Message("user", "?"),), sampling)
        steps = _steps(model) if is_recorded else Steps(model)
        expected = _written(Choice(model, request, known, (), (), None), *_read(model))
        lane, logits = _read(model)
        list(steps.record([lane]))
        if bool(lane.recorded) != is_recorded:
            return False, "nothing could be recorded"
        found = _written(PipelinedChoice(steps, request, known, ()), lane, logits)
        equal += sum(one == other for one, other in zip(found, expected, strict=True))
    whole = WRITTEN * len(SAMPLINGS)
    return equal == whole, f"{equal} of {whole} are those of the processor"


def _written(choice: Choice | PipelinedChoice, lane: Lane, logits: torch.Tensor) -> list[int]:
    """The tokens of an answer."""
    tokens: list[int] = []
    while True:
        tokens.append(choice.next(logits))
        choice.see(tokens[-1])
        if len(tokens) == WRITTEN:
            return tokens
        logits = choice.step(tokens[-1], lane, TOKENS + len(tokens) - 1)


def _steps(model: LoadedModel) -> Steps:
    """Those of the device, or plain calls where it records nothing."""
    return Steps(model, recorder_for(model.device) or PlainCalls())


def _repeated(device: torch.device, dtype: torch.dtype) -> tuple[bool, str]:
    """Logits of tokens that are given, repeated and told."""
    model, off = _model(device, dtype), 0.0
    steps, (lane, _), (other, _) = _steps(model), _read(model), _read(model)
    list(steps.record([lane]))
    for number in range(WRITTEN):
        token = torch.full((1,), 7 * number + 3, device=device)
        found, expected = (by.launch(token, into, TOKENS + number) for by, into in ((steps, lane), (model, other)))
        off = max(off, distance(found.cpu().float(), expected.cpu().float()))
    return off <= NEAR[dtype], f"off by {off:.1e} of the spread of the logits, {NEAR[dtype]:.0e} are allowed"

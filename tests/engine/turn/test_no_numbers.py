"""Logits that are no numbers: no answer comes out of them, nothing of them is reused, and a sentence says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine import Engine
from engine.events import Failed
from engine.models.loaded import LoadedModel
from engine.types import ModelError, ModelSpec, Sampling
from tests.engine.inside import is_idle
from tests.engine.tiny_models import make_folder, make_model
from tests.engine.turns import GREEDY, NAN, Chat, check_sound, cold_answer, finish, make_responder, short_chunks
from tests.engine.worker_driver import Driver

INF = float("inf")
QUESTION = "Where is my parcel, and when will it be here? I have been waiting for it since Monday."
RULES: list[dict[str, float]] = [{"temperature": 0}, {}, {"top_k": 1}, {"top_k": 5}, {"top_p": 0.5}, {"min_p": 0.1}]


class BrokenNetwork:
    """A network whose logits are all `value` in the forward passes named in `broken`, counted from 1."""

    def __init__(self, model: LoadedModel, value: float) -> None:
        self._network, self.value, self.calls, self.broken = model.network, value, 0, set[int]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._network, name)

    def forward(self, *arguments: Any, **options: Any) -> Tensor:
        """As in Network."""
        self.calls += 1
        logits = self._network.forward(*arguments, **options)
        return torch.full_like(logits, self.value) if self.calls in self.broken else logits


def broken_model(value: float) -> tuple[LoadedModel, BrokenNetwork]:
    model = make_model()
    network = BrokenNetwork(model, value)
    model.network = network
    return model, network


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_no_answer_comes_out_of_no_numbers(value: float, rules: dict[str, float]) -> None:
    model, network = broken_model(value)
    network.broken = set(range(1, 100))
    sampling = Sampling(**{"temperature": 1.0, "top_p": 1.0, "max_tokens": 4, **rules})  # type: ignore[arg-type]
    chat = Chat(make_responder(model), sampling=sampling)
    with pytest.raises(ModelError, match="bf16 or fp32"):
        chat.ask(QUESTION)


def test_one_nan_among_numbers_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the others would have made a distribution."""
    model, network = broken_model(0.0)
    forward = network.forward

    def one_nan(*arguments: Any, **options: Any) -> Tensor:
        logits = forward(*arguments, **options)
        logits[7] = NAN
        return logits

    monkeypatch.setattr(network, "forward", one_nan)
    with pytest.raises(ModelError):
        Chat(make_responder(model)).ask(QUESTION)


@pytest.mark.parametrize("call", [1, 2, 3, 4, 6])
def test_what_was_written_then_is_not_reused(call: int) -> None:
    """In prefill and in decode: kind C21, what is no number is never published."""
    model, network = broken_model(NAN)
    chat = Chat(short_chunks(model), "You answer questions.", sampling=GREEDY)
    chat.ask(QUESTION)
    del chat.messages[-1:]
    chat.messages[-1] = type(chat.messages[-1])("user", f"It is number 7. {QUESTION} {QUESTION}")
    expected = cold_answer(chat)
    network.calls, network.broken = 0, {call}
    with pytest.raises(ModelError):
        finish(chat.responder, chat.request())
    assert network.calls == call
    check_sound(chat, expected)
    assert is_idle(chat.responder.cache)


@pytest.mark.parametrize("is_plain", [True, False])
def test_a_model_that_computes_no_numbers_is_not_opened(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_plain: bool
) -> None:
    """A damaged file, or weights that the number type cannot hold: said at once, not after the first question; by
    transformers' classes, too, where a NaN is no difference between two readings."""
    folder = make_folder(tmp_path / "damaged")
    if not is_plain:
        monkeypatch.setattr("engine.llama.family.FAMILIES", {})
    weights = load_file(folder / "model.safetensors")
    weights["model.norm.weight"][3] = NAN
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    driver = Driver(engine)
    end = driver.end(engine.load(ModelSpec(str(folder), "cpu", "fp32", cache_bytes=10**8)))
    assert isinstance(end, Failed)
    assert "download it again" in end.sentence

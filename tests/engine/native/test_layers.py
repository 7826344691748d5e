"""A prompt is read some layers at a call with the numbers, to the last bit, that it has step by step."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
import torch
from torch import Tensor

from engine.cache.store import Lane
from engine.llama import compiled_pass
from engine.llama import forward as forward_pass
from engine.llama.checkpoint import LeanNetwork
from engine.llama.compiled_pass import LEAST_ROWS, NativePass, can_pass
from engine.llama.forward import LlamaForward
from engine.models import from_gguf
from engine.models.from_transformers import weights_of
from engine.stopping import StoppedError, listening
from engine.weights.compiled_matrix import can_read
from tests.depth import cases
from tests.engine.gguf_packed import Shape, write_packed
from tests.engine.llama.test_forward import CONFIGS, SIZES, build
from tests.engine.tiny_models import EVERY_FORM

pytestmark = pytest.mark.skipif(
    not can_read(torch.bfloat16), reason="this processor reads prompts with torch's products"
)
BEFORE, CAPACITY = 530, 700
IDS = [7 * at % 89 for at in range(CAPACITY)]
PLAIN = ("llama with biases", "llama, tied", "qwen2", "qwen3")
Model = LlamaForward | LeanNetwork


@lru_cache(maxsize=16)
def model(name: str, in_steps: bool = False) -> Model:
    """A plain model, its weights in full, or each matrix of a file packed in another way; `in_steps`, with a call for
    each step of a layer."""
    with (
        patch.object(forward_pass, "can_pass", (lambda _: False) if in_steps else can_pass),
        patch.object(forward_pass, "NativePass", wraps=NativePass) as made,
        TemporaryDirectory() as folder,
    ):
        found: Model
        if name == "file":
            path = write_packed(Path(folder) / "tiny.gguf", "Q4_1", Shape(256, 256, 2, 8, 2, 64, 300), EVERY_FORM)
            network = from_gguf.open_network(path, torch.device("cpu"), "bf16", lambda *_: None)
            assert isinstance(network, LeanNetwork)
            found = network
        else:
            found = LlamaForward(weights_of(build(CONFIGS[name]).bfloat16(), "int8"))
    assert made.called != in_steps
    return found


def lane_of(forward: Model, before: int = BEFORE, capacity: int = CAPACITY) -> Lane:
    """Some made-up tokens, and what is no number behind them."""
    lane, random = Lane(forward.layout, capacity, fill=float("nan")), torch.Generator().manual_seed(1)
    for buffer in lane.keys + lane.values:
        buffer[:, :, :before] = torch.randn(buffer[:, :, :before].shape, generator=random)
    return lane


def read(forward: Model, ids: list[int], lane: Lane, start: int) -> Tensor:
    return (forward.forward if isinstance(forward, LeanNetwork) else forward)(ids, lane, start)


def numbers(forward: Model, before: int, pieces: list[int]) -> list[Tensor]:
    """The logits after the last of some pieces of a prompt, and what they left in the lane."""
    lane, start = lane_of(forward, before), before
    for count in pieces:
        logits = read(forward, IDS[start : start + count], lane, start)
        start += count
    assert logits.isfinite().all()
    assert lane.keys[0][:, :, start:].isnan().all()
    return [logits, *(buffer[:, :, :start] for buffer in lane.keys + lane.values)]


def are_equal(some: list[Tensor], others: list[Tensor]) -> bool:
    return all(torch.equal(one, other) for one, other in zip(some, others, strict=True))


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("name", cases((*PLAIN, "file"), always=["llama with biases", "file"]))
@pytest.mark.parametrize("before", [0, BEFORE])
@torch.inference_mode()
def test_it_has_the_numbers_of_single_steps(name: str, before: int) -> None:
    for count in (1, 9, 58, 150):
        torch.set_num_threads(1 + count % 2)
        assert are_equal(numbers(model(name), before, [count]), numbers(model(name, True), before, [count])), count


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("name", cases((*PLAIN, "file"), always=["qwen3", "file"]))
@torch.inference_mode()
def test_a_prompt_may_be_cut_anywhere(name: str) -> None:
    torch.set_num_threads(2)
    whole = numbers(model(name), BEFORE, [130])
    for pieces in ([129, 1], [1, 129], [64, 66], [17, 40, 9, 64]):
        assert are_equal(numbers(model(name), BEFORE, pieces), whole), pieces


@torch.inference_mode()
def test_between_long_layers_it_listens_and_goes_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_pass, "AT_ONCE", 1)
    forward = model("qwen3")
    layers, lane, looks = SIZES["num_hidden_layers"], lane_of(forward), []

    def listen() -> None:
        looks.append(lane.keys[0][:, 0, BEFORE, 0].isfinite().tolist())
        if len(looks) == layers:
            raise StoppedError

    with listening(listen), pytest.raises(StoppedError):
        read(forward, IDS[:20], lane, BEFORE)
    assert looks == [[layer < done for layer in range(layers)] for done in range(layers)]


@torch.inference_mode()
def test_how_many_layers_a_call_takes_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of these few in one, two and one, or each in one of its own; it listens before every call."""
    forward, looks, found = model("qwen3"), [0, 0, 0], []
    of_layer = LEAST_ROWS * (30720 + 2 * 64 * (BEFORE + 9))
    for kind, most in enumerate((3 * of_layer, 2 * of_layer, of_layer)):
        monkeypatch.setattr(compiled_pass, "AT_ONCE", most)

        def listen(kind: int = kind) -> None:
            looks[kind] += 1

        with listening(listen):
            found.append(numbers(forward, BEFORE, [9]))
    assert looks == [1, 2, 3]
    assert all(are_equal(each, found[0]) for each in found)


@torch.inference_mode()
def test_a_lane_in_8_bits_is_read_in_steps() -> None:
    """Between two steps keys and values are rounded, so that each layer sees them as they will be read again."""
    forward, other = model("qwen3"), model("qwen3", True)
    found = []
    for each in (forward, other):
        with patch.object(each, "layout", replace(each.layout, is_rounded=True)):
            found.append(numbers(each, BEFORE, [70]))
    assert are_equal(*found)
    assert not torch.equal(found[0][0], numbers(forward, BEFORE, [70])[0])


@torch.inference_mode()
def test_where_numbers_end_nothing_is_written_behind() -> None:
    forward = model("llama, tied")
    lane = lane_of(forward, capacity=BEFORE + 40)
    assert read(forward, IDS[:40], lane, BEFORE).isfinite().all()
    assert all(buffer.isfinite().all() for buffer in lane.keys + lane.values)

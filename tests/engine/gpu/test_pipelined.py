"""Tokens that are chosen on a device that is not there: it is waited for once a token, and only once the next one is
being computed; and what it was told is recorded, and repeated for other positions."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from unittest.mock import patch

import pytest
import torch
from torch import Tensor

from engine.cache.store import Lane
from engine.models import from_gguf
from engine.models.from_transformers import TransformersNetwork
from engine.models.graphs import Steps, recorder_for
from engine.models.loaded import LoadedModel, load
from engine.types import Dtype
from tests.depth import cases
from tests.engine.gguf_packed import Shape, write_packed
from tests.engine.gpu.fake_gpu import FakeGpu, FakeGraph, Kind
from tests.engine.gpu.test_turns import DRAWN, FULL, GREEDY, SYSTEM
from tests.engine.inside import lanes
from tests.engine.model_zoo import CASES, ModelCase
from tests.engine.models.test_classes import make_subject, prompt
from tests.engine.tiny_models import EVERY_FORM, make_tokenizer
from tests.engine.turns import Chat, make_responder

WAIT = "copies.py:wait (an event)"


class Told(Steps):
    """Steps that note in the list of waits when they are told."""

    waits: list[str]

    def launch(self, token: Tensor, lane: Lane, position: int) -> Tensor:
        """As in Steps."""
        self.waits.append("launch")
        return super().launch(token, lane, position)


def make_chat(gpu: FakeGpu, folder: Path, dtype: Dtype) -> Chat:
    """A chat whose tokens are chosen on the device."""
    model = load(folder, "auto", dtype)
    chat = Chat(make_responder(model, near="on a GPU"), SYSTEM)
    steps = Told(model, recorder_for(model.device))
    steps.waits = gpu.waits
    chat.responder.wait_less(steps)
    return chat


@pytest.fixture(params=["bf16", "fp16"])
def dtype(request: pytest.FixtureRequest) -> Dtype:
    """In 16 bits, with no operation of two types."""
    return request.param  # type: ignore[no-any-return]


@pytest.mark.parametrize("sampling", [GREEDY, DRAWN, FULL], ids=["greedy", "drawn", "nucleus"])
def test_one_wait_a_token_behind_the_next_step(sampling: object, dtype: Dtype, tiny_folder: Path) -> None:
    """Whatever chooses the token, and whether commands are told or repeated."""
    with FakeGpu("cuda", is_strict=True) as gpu:
        chat = make_chat(gpu, tiny_folder, dtype)
        chat.sampling = sampling  # type: ignore[assignment]
        for number, question in enumerate(("Where is my parcel?", "And my tent?")):
            before = len(gpu.waits)
            written = len(chat.ask(question).token_ids)
            told = gpu.waits[before:]
            first = told.index(WAIT)
            assert told[:first].count("launch") == 0
            assert told[first:] == [WAIT, *sequence(written)]
            assert (gpu.replays > 0) == (number > 0)
            list(chat.responder.work_idly())
            assert lanes(chat.responder.cache)[0].recorded


def sequence(written: int) -> list[str]:
    """What happens behind the first token of an answer that its length ends: the second is told when the first is
    known, and every other one before the one in front of it is waited for."""
    steps = ["launch"] * (written > 1)
    for number in range(2, written + 1):
        steps += ["launch"] * (number < written) + [WAIT]
    return steps


def test_what_is_repeated_is_what_was_told(tiny_folder: Path) -> None:
    """In fp32: the answers of recordings are those of commands that are told one by one, over a lane that was full of
    what is no number."""
    answers: list[list[tuple[int, ...]]] = []
    for is_on in (False, True):
        with FakeGpu("cuda") as gpu:
            chat = make_chat(gpu, tiny_folder, "fp32")
            if not is_on:
                chat.responder.wait_less(Steps(chat.responder.model))
            answers.append([])
            for sampling in (GREEDY, DRAWN, FULL, GREEDY):
                chat.sampling = sampling
                answers[-1].append(chat.ask("Where is my parcel, and when?").token_ids)
                list(chat.responder.work_idly())
            assert (gpu.replays > 0) == is_on
    assert answers[0] == answers[1]


@pytest.mark.parametrize("kind", ["cuda", "mps"])
def test_no_memory_to_record(kind: Kind, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then, and on a device that records nothing, commands are told one by one."""

    def lacking(self: FakeGraph) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(FakeGraph, "__init__", lacking)
    with FakeGpu(kind) as gpu:
        chat = make_chat(gpu, tiny_folder, "fp32")
        chat.sampling = GREEDY
        first = chat.ask("Where is my parcel?")
        list(chat.responder.work_idly())
        assert not lanes(chat.responder.cache)[0].recorded
        assert (gpu.replays, len(chat.ask("And my tent?").token_ids)) == (0, len(first.token_ids))


ODD = ("Gemma-2", "Ministral-3", "Phi-3", "OLMo-2")
FAST = [case for case in CASES if case.is_fast]


@pytest.mark.parametrize("case", cases(FAST, [case for case in FAST if case.name in ODD]), ids=lambda case: case.name)
def test_every_family_can_be_recorded(case: ModelCase) -> None:
    """Nothing in it waits, or hangs on what the processor knew when it was recorded."""
    subject = make_subject(case)
    with FakeGpu("cuda") as gpu, torch.inference_mode():
        network = TransformersNetwork(deepcopy(subject.ours).to(gpu.device))
        check_recording(LoadedModel(network, subject.model.tokenizer, "/nowhere"), gpu)


def test_packed_weights_can_be_recorded(tmp_path: Path) -> None:
    """In every form there is, widened tile by tile."""
    path = write_packed(tmp_path / "tiny.gguf", "Q4_1", Shape(256, 256, 2, 4, 2, 64, len(make_tokenizer())), EVERY_FORM)
    with FakeGpu("cuda") as gpu, patch.object(from_gguf, "full_is_cheap", lambda *_: False), torch.inference_mode():
        network = from_gguf.open_network(path, gpu.device, "fp32", lambda *_: None)
        check_recording(LoadedModel(network, make_tokenizer(), "/nowhere/packed"), gpu)


def check_recording(model: LoadedModel, gpu: FakeGpu) -> None:
    """Tokens at other positions than where it was recorded, over a lane of what is no number."""
    steps = Steps(model, recorder_for(model.device))
    both = [Lane(model.layout, 64, fill=float("nan")) for _ in range(2)]
    for lane in both:
        lane.regime = model.reuse.regime(60)
        lane.ids[:] = prompt(45)
        model.forward(lane.ids, lane, 0)
    list(steps.record(both[:1]))
    for number in range(3):
        token = torch.full((1,), 5 + number, device=gpu.device)
        found, expected = steps.launch(token, both[0], 45 + number), model.launch(token, both[1], 45 + number)
        torch.testing.assert_close(found.cpu(), expected.cpu(), rtol=0, atol=1e-4 * float(expected.cpu().abs().max()))
    assert gpu.replays == 3

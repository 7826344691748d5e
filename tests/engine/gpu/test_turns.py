"""Whole turns on a GPU that is not there: sampling, penalties, previews, blocks on disk, packed weights."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from engine.models import from_gguf
from engine.models.loaded import LoadedModel, load
from engine.types import Dtype, Message, Sampling
from tests.depth import cases
from tests.engine.gguf_packed import Shape, write_packed
from tests.engine.gpu.fake_gpu import FakeGpu, Kind
from tests.engine.inside import is_idle
from tests.engine.tiny_models import EVERY_FORM, make_tokenizer
from tests.engine.turns import Chat, finish, make_responder

KINDS: list[tuple[Kind, Dtype]] = [("cuda", "bf16"), ("cuda", "fp16"), ("mps", "bf16"), ("mps", "fp16")]
SYSTEM = "You answer questions about parcels and tents. Be brief, be kind, and never guess a price."
QUESTION = "Where is my parcel, and when will it be here? I have been waiting for it since Monday."
DRAWN = Sampling(temperature=0.8, top_p=0.9, top_k=40, min_p=0.02, repetition_penalty=1.2, seed=3, max_tokens=6)
FULL = Sampling(temperature=0.7, top_p=0.95, repetition_penalty=1.1, seed=4, max_tokens=6)
GREEDY = Sampling(temperature=0.0, repetition_penalty=1.3, max_tokens=6)


@pytest.mark.parametrize(("kind", "dtype"), KINDS)
def test_a_chat_over_a_restart(kind: Kind, dtype: Dtype, tiny_folder: Path, tmp_path: Path) -> None:
    """As it is loaded from files. Each token is waited for once, whatever chooses it; a preview asks nothing of the
    device; and what lies on disk comes back."""
    with FakeGpu(kind, is_strict=True) as gpu:
        model = load(tiny_folder, "auto", dtype)
        assert (model.device.type, model.dtype) == (kind, dtype)
        chat = Chat(make_responder(model, folder=tmp_path), SYSTEM, sampling=GREEDY)
        chat.responder.warm_up()
        assert chat.responder.near
        for sampling in (GREEDY, DRAWN, FULL):
            chat.sampling = sampling
            ask(chat, gpu)
        assert chat.reused > 0
        list(chat.responder.work_idly())
        chat.responder.cache.disk.close()
        later = make_responder(model, folder=tmp_path)
        matched, _ = finish(later, chat.request())
        assert matched.disk_tokens == matched.reused_tokens > 0
        assert is_idle(later.cache)
        later.cache.disk.close()


PACKED = [(kind, dtype, is_full) for kind, dtype in KINDS for is_full in (False, True)]


@pytest.mark.parametrize(
    ("kind", "dtype", "is_full"),
    cases(PACKED, [("cuda", "bf16", False), ("mps", "fp16", False), ("cuda", "fp16", True)]),
)
def test_packed_weights(kind: Kind, dtype: Dtype, is_full: bool, tmp_path: Path) -> None:
    """Those of a GGUF file, in every form there is, widened on the device tile by tile or once."""
    path = write_packed(tmp_path / "tiny.gguf", "Q4_1", Shape(256, 256, 2, 4, 2, 64, len(make_tokenizer())), EVERY_FORM)
    with (
        FakeGpu(kind, is_strict=True) as gpu,
        patch.object(from_gguf, "full_is_cheap", lambda size, _: size and is_full),
    ):
        network = from_gguf.open_network(path, gpu.device, dtype, lambda *_: None)
        model = LoadedModel(network, make_tokenizer(), "/nowhere/packed")
        chat = Chat(make_responder(model), SYSTEM, sampling=GREEDY)
        ask(chat, gpu)
        ask(chat, gpu)
        assert chat.reused > 0


def ask(chat: Chat, gpu: FakeGpu) -> None:
    """A turn in one piece. The device is waited for where the prompt is sent there and read, and once for each token
    that is computed then. Its preview says what is reused and asks nothing of the device."""
    chat.messages.append(Message("user", f"{QUESTION} It is number {len(chat.messages)}."))
    operations, before = gpu.operations, len(gpu.waits)
    preview = chat.responder.preview(1, chat.request())
    assert (gpu.operations, len(gpu.waits)) == (operations, before)
    answer = chat.answer()
    assert preview.reused_tokens == chat.reused
    kind, written = gpu.device.type, len(answer.token_ids)
    fetched = f"loaded.py:forward (a copy from {kind} to cpu)"
    reading = [f"weights.py:placed (a copy from cpu to {kind})", fetched, "loaded.py:synchronize (synchronize)"]
    computed = written - (answer.reason == "length")
    assert gpu.waits[before:] == reading + [fetched] * computed

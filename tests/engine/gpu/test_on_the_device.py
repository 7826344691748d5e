"""What only a real device can say, as tests: `make gpu-check` plays them on the one that is there, every other run on
the CPU."""

from __future__ import annotations

import os
from typing import cast

import pytest
import torch

from engine.cache.copies import copies_for
from engine.cache.memory_tier import MemoryTier
from engine.cache.prefix_cache import PrefixCache
from engine.cache.store import KVStore
from engine.models.choice import choose_device
from engine.models.from_transformers import TransformersNetwork
from engine.models.graphs import PlainCalls, Steps, recorder_for
from engine.models.loaded import LoadedModel
from engine.turn.responder import Responder
from engine.types import Device, Sampling
from tests.engine.tiny_models import make_llama, make_tokenizer
from tests.engine.turns import Chat, Ticks, cold_answer, make_responder

pytestmark = pytest.mark.device
SYSTEM = "You answer questions about parcels and tents. Be brief, be kind, and never guess a price."
DRAWN = Sampling(temperature=0.9, top_p=0.9, repetition_penalty=1.2, seed=3, max_tokens=24)
GREEDY = Sampling(temperature=0.0, max_tokens=24)
QUESTIONS = ("Where is my parcel?", "And my tent?", "When will it be here?")


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    """A tiny model in fp32 on the device."""
    wish = cast(Device, os.environ.get("HEADSTART_TEST_DEVICE", "cpu"))
    network = TransformersNetwork(make_llama().to(choose_device(wish)))
    return LoadedModel(network, make_tokenizer(), "/nowhere/tiny")


def test_a_chat_with_the_cache_is_the_one_without(model: LoadedModel) -> None:
    """In fp32 no two tokens are so near that the last bits decide."""
    chat = Chat(make_responder(model, near="on a device"), SYSTEM, sampling=GREEDY)
    for question in QUESTIONS:
        found = chat.ask(question)
        chat.messages.pop()
        assert cold_answer(chat).token_ids == found.token_ids
        chat.answer()
    assert chat.reused > 0


@pytest.mark.parametrize("sampling", [GREEDY, DRAWN], ids=["greedy", "drawn"])
@pytest.mark.parametrize("is_recorded", [False, True], ids=["told", "repeated"])
def test_tokens_that_are_chosen_on_the_device(model: LoadedModel, sampling: Sampling, is_recorded: bool) -> None:
    """Are those of the processor, also over recordings that are made between two answers."""
    one, other = (Chat(make_responder(model, near="on a device"), SYSTEM, sampling=sampling) for _ in range(2))
    recorder = recorder_for(model.device) or PlainCalls()
    one.responder.wait_less(Steps(model, recorder if is_recorded else None))
    for question in QUESTIONS:
        assert one.ask(question).token_ids == other.ask(question).token_ids
        list(one.responder.work_idly())


def test_blocks_that_left_the_device_come_back(model: LoadedModel) -> None:
    """With the numbers they had."""
    layout = model.layout
    memory = MemoryTier(copies_for(layout.device), 10**8, layout.bytes_per_block)
    store = KVStore(layout, 600 * layout.bytes_per_token, fill=float("nan"))
    responder = Responder(model, PrefixCache(store, "tiny", 512, Ticks(), lane_step=64, memory=memory), Ticks())
    responder.near = "on a device"
    chat = Chat(responder, SYSTEM, sampling=GREEDY)
    chat.ask("Where is my parcel?")
    responder.cache.free_device(is_kept_too=True)
    found = chat.ask("And my tent?")
    assert chat.matched is not None
    assert chat.matched.memory_tokens > 0
    chat.messages.pop()
    assert cold_answer(chat).token_ids == found.token_ids


def test_a_device_gives_back_what_left_it(model: LoadedModel) -> None:
    """Its memory is what it was before, once copies are made."""
    if model.device.type != "cuda":
        pytest.skip("only CUDA says what is taken")
    before = torch.cuda.memory_allocated()
    copies, leaving = copies_for(model.device), []
    for _ in range(8):
        leaving.append(copies.leave(torch.ones(1 << 20, device=model.device)))
    assert all(copy.wait() for copy in leaving)
    assert torch.cuda.memory_allocated() == before
    assert all(bool((copy.tensor == 1).all()) for copy in leaving)

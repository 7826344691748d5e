"""Blocks that leave a GPU and come back: on one that is not there, whose copies are made no sooner than they are waited
for; and by itself, with memories of the test's own. (The state machine of the cache plays it, too.)"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.cache.copies import AtOnce, copies_for
from engine.cache.disk_tier import DiskTier
from engine.cache.memory_tier import MemoryTier
from engine.cache.prefix_cache import PrefixCache
from engine.cache.store import KVStore
from engine.models.loaded import load
from engine.turn.responder import Responder
from engine.types import BLOCK_TOKENS, Message
from tests.engine.fake_kv import LAYOUT, LateCopies, check_contents, make_cache, run_prompt, unlike
from tests.engine.fake_kv import ORACLE as MODEL
from tests.engine.gpu.fake_gpu import FakeGpu, Kind
from tests.engine.inside import check_runs
from tests.engine.turns import Chat, Ticks, finish

SYSTEM = "You answer questions about parcels and tents. Be brief, be kind, and never guess a price."


def make_responder(model: object, tokens: int, disk: DiskTier | None = None) -> Responder:
    """A responder on a device with room for so many tokens, and the computer's memory behind it."""
    layout = model.layout  # type: ignore[attr-defined]
    memory = MemoryTier(copies_for(layout.device), 10**8, layout.bytes_per_block)
    store = KVStore(layout, tokens * layout.bytes_per_token, fill=float("nan"))
    cache = PrefixCache(store, "tiny", 512, Ticks(), lane_step=64, memory=memory, disk=disk)
    responder = Responder(model, cache, Ticks())  # type: ignore[arg-type]
    responder.near = "on a GPU"
    return responder


@pytest.mark.parametrize("kind", ["cuda", "mps"])
def test_a_chat_comes_back_from_behind_the_device(kind: Kind, tiny_folder: Path, tmp_path: Path) -> None:
    """With the numbers it had: its answer is the one it gets without the tier. What is in the tier only is written to
    disk, and a preview says from where the prompt will come."""
    with FakeGpu(kind) as gpu:
        model = load(tiny_folder, "auto", "fp32")
        disk = DiskTier(tmp_path, "tiny", model.layout, 10**8)
        responder = make_responder(model, 540, disk)
        disk.open()
        chat = Chat(responder, SYSTEM, "first")
        chat.ask("Where is my parcel, and when will it be here?")
        for number in range(3):
            other = Chat(responder, f"{number}. {SYSTEM}", f"other {number}")
            other.ask("What does a tent cost? " * 8)
        assert responder.cache.memory.used_bytes > 0
        chat.messages.append(Message("user", "And my tent?"))
        preview = responder.preview(1, chat.request())
        matched, answer = finish(responder, chat.request())
        assert preview.memory_tokens == matched.memory_tokens > 0
        assert matched.disk_tokens == 0
        alone = finish(make_responder(model, 4000), chat.request())[1]
        assert answer.token_ids == alone.token_ids
        list(responder.write_back())
        assert {"first", "other 0"} <= set(responder.cache.disk.names.values())
        assert (kind == "cuda") == (not [place for place in gpu.waits if "(a copy" in place and "copies" in place])
        responder.cache.check_integrity()
        disk.close()


def test_what_left_the_device_takes_none_of_its_memory(tiny_folder: Path) -> None:
    """Once the copies are made, though the tier behind has all of it; and it comes back."""
    with FakeGpu("cuda") as gpu:
        responder = make_responder(load(tiny_folder, "auto", "fp32"), 540)
        empty = gpu.segments.used
        chat = Chat(responder, SYSTEM)
        chat.ask("Where is my parcel, and when will it be here?")
        responder.cache.free_device(is_kept_too=True)
        assert responder.cache.memory.used_bytes > 0
        assert gpu.segments.used == empty
        chat.ask("And my tent?")
        assert chat.matched is not None
        assert chat.matched.memory_tokens > 0


def test_memory_is_not_given_away_while_it_is_copied() -> None:
    """In either direction; neither where nobody waits for a copy that was begun, nor where its block is given up."""
    with FakeGpu("cuda") as gpu:
        copies = copies_for(gpu.device)
        leaving = copies.leave(torch.ones(64, device=gpu.device))
        del leaving
        assert gpu.given_back_early == 1, "the simulation sees who does not hold what is copied"
        gpu.given_back_early = 0
        leaving = copies.leave(torch.ones(64, device=gpu.device))
        assert not leaving.is_done()
        assert leaving.wait()
        arriving = copies.arrive(leaving.tensor)
        del arriving
        assert gpu.given_back_early == 0


def test_the_processor_reads_what_is_there() -> None:
    """As the disk does, right after a block left the device."""
    with FakeGpu("cuda") as gpu:
        memory = MemoryTier(copies_for(gpu.device), 10**6, 64)
        memory.take("b", "", (1,) * BLOCK_TOKENS, torch.ones(16, device=gpu.device), {"chat"})
        found = memory.tensor("b")
        assert found is not None
        assert found.tolist() == [1.0] * 16


def test_what_a_lane_holds_is_what_was_there() -> None:
    """Late copies, one tier behind the other, in the order of their use."""
    memory = MemoryTier(LateCopies(3), 40 * LAYOUT.bytes_per_block, LAYOUT.bytes_per_block)
    cache = make_cache(tokens=512, context=256, memory=memory)
    prompts = [unlike(number, 160) for number in range(4)]
    logits = [run_prompt(cache, MODEL, prompt)[1] for prompt in prompts]
    for prompt, expected in zip(prompts, logits, strict=True):
        reused, found = run_prompt(cache, MODEL, prompt)
        assert reused == 144
        assert found == expected
        check_contents(cache, MODEL)
        check_runs(cache)
    view = cache.view(with_nodes=True)
    assert {node.tier for node in view.nodes} == {"memory"}, "a fake device is the CPU"
    assert view.memory_bytes == memory.used_bytes > 0


def test_it_keeps_its_budget_and_the_newest() -> None:
    memory = MemoryTier(AtOnce(torch.device("cpu")), 3 * 64, 64)
    block = torch.zeros(16, dtype=torch.float32)
    for number in range(5):
        memory.take(f"b{number}", f"b{number - 1}" if number % 2 else "", (number,) * BLOCK_TOKENS, block, {"chat"})
        memory.check()
    assert set(memory.held()) == {"b2", "b3", "b4"}
    memory.forget("chat")
    assert memory.used_bytes == 0


def test_a_chat_that_is_deleted_leaves_nothing_behind() -> None:
    memory = MemoryTier(LateCopies(3), 40 * LAYOUT.bytes_per_block, LAYOUT.bytes_per_block)
    cache = make_cache(tokens=512, context=256, memory=memory)
    for number in range(4):
        run_prompt(cache, MODEL, unlike(number, 160), owner=f"chat {number}")
    assert memory.used_bytes
    for number in range(4):
        cache.forget(f"chat {number}")
    assert memory.used_bytes == 0
    memory.check()


def test_what_is_still_on_its_way_is_waited_for() -> None:
    """By the processor, before it reads a block for the disk; and its memory counts until the copy is made."""
    memory = MemoryTier(LateCopies(3), 10**6, 64)
    block = torch.ones(16, dtype=torch.float32)
    for number in range(8):
        memory.take(f"b{number}", "", (number,) * BLOCK_TOKENS, block, {"chat"})
        found = memory.tensor(f"b{number}")
        assert found is not None
        assert torch.equal(found, block)
    store = KVStore(LAYOUT, 10**6)
    lane = store.new_lane(BLOCK_TOKENS)
    (published,) = store.publish(lane, 0, 1)
    copy = LateCopies(3).leave(store.tensors([published])[0])
    copy.late, before = 9, store.used_bytes
    store.free_behind(published, copy)
    assert store.used_bytes == before
    store.let_go(store.budget_bytes)
    assert store.used_bytes == before - LAYOUT.bytes_per_block


def test_to_clear_copies_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is given up on both sides need not go from one to the other; what makes room for a request does."""
    memory = MemoryTier(LateCopies(3), 40 * LAYOUT.bytes_per_block, LAYOUT.bytes_per_block)
    cache = make_cache(tokens=512, context=256, memory=memory)
    for number in range(4):
        run_prompt(cache, MODEL, unlike(number, 160))
    before = memory.used_bytes
    cache.free_device(is_kept_too=True)
    assert memory.used_bytes > before > 0
    run_prompt(cache, MODEL, unlike(4, 160))
    monkeypatch.setattr(memory, "take", lambda *block: pytest.fail("a block is copied to be given up"))
    cache.clear()
    assert (cache.used_bytes, memory.used_bytes) == (0, 0)
    cache.check_integrity()

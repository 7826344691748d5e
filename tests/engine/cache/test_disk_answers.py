"""Answers after a restart, with the tiny real model: what the disk gives is what a cold run computes."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from engine.cache.blocks import block_keys, chain
from engine.cache.disk_index import owner_digest
from engine.events import CacheView
from engine.models.loaded import LoadedModel
from engine.turn.responder import Responder
from engine.types import Message
from tests.engine.inside import build_prompt, check_runs, forget_lanes
from tests.engine.turns import Chat, SpyModel, cold_answer, cold_logits, finish, short_chunks, spy

SYSTEM = "You answer questions about parcels and tents. Be brief, be kind, and never guess a price."
QUESTION = "Where is my parcel, and when will it be here? I have been waiting for it since Monday."
Start = Callable[[], Responder]


@pytest.fixture(params=["exact", "near"])
def start(tiny: LoadedModel, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Start]:
    """Starts the program anew over the same folder, with answers that are reused as they were written, or not."""
    made: list[Responder] = []

    def start_again() -> Responder:
        for responder in made:
            responder.cache.disk.close()
        near = "made up" if request.param == "near" else ""
        made.append(short_chunks(SpyModel(tiny), near=near, folder=tmp_path / "blocks"))
        return made[-1]

    yield start_again
    for responder in made:
        responder.cache.check_integrity()
        responder.cache.disk.close()


def play(responder: Responder, name: str = "chat", question: str = QUESTION) -> Chat:
    """A chat with one question answered and everything written to disk."""
    chat = Chat(responder, SYSTEM, name)
    chat.ask(question)
    list(responder.work_idly())
    return chat


def go_on(chat: Chat, responder: Responder) -> Chat:
    """The same chat after a restart, with its next question asked."""
    messages = [*chat.messages, Message("user", f"{QUESTION} It is number 7.")]
    return Chat(responder, "", chat.name, messages=messages)


def test_a_conversation_goes_on_after_a_restart(start: Start, tiny: LoadedModel) -> None:
    """Where that is exact, with the logits of a cold run, bit for bit."""
    chat = go_on(play(start()), start())
    model = spy(chat)
    model.logits.clear()
    preview = chat.responder.preview(1, chat.request())
    matched, finished = finish(chat.responder, chat.request())
    assert matched.reused_tokens >= matched.spans[2].end - 16, "the first answer included"
    assert matched.disk_tokens == matched.reused_tokens == finished.stats.disk_tokens
    assert (preview.reused_tokens, preview.disk_tokens) == (matched.reused_tokens, matched.disk_tokens)
    assert matched.reused_tokens + matched.computed_tokens == matched.prompt_tokens
    ids = build_prompt(chat.responder, chat.messages).ids
    first, cold = model.logits[len(model.logits) - len(finished.token_ids)], cold_logits(tiny, ids)
    if not chat.responder.near:
        assert torch.equal(first, cold)
    else:
        torch.testing.assert_close(first, cold, rtol=1e-3, atol=1e-3)
    assert cold_answer(chat).token_ids == finished.token_ids


def test_the_system_prompt_is_there_for_a_new_chat(start: Start) -> None:
    play(start(), "old")
    responder = start()
    chat = Chat(responder, SYSTEM, "new")
    finished = chat.ask("Is a tent in it?")
    system = build_prompt(responder, chat.messages[:2]).system_tokens
    assert chat.matched is not None
    assert chat.matched.disk_tokens == chat.reused >= system - 16
    assert finished.stats.parts.restore > 0


def test_what_memory_lost_comes_from_disk_and_stays_in_memory(start: Start) -> None:
    """Read once, the blocks are in memory again: the next turn takes nothing from disk."""
    chat = play(start())
    responder = chat.responder
    responder.cache.clear()
    chat.ask("And where is the tent?")
    assert chat.matched is not None
    assert 0 < chat.matched.disk_tokens == chat.reused
    forget_lanes(responder.cache)
    chat.ask("And the stove?")
    assert chat.reused > chat.matched.disk_tokens == 0


def test_memory_goes_first_and_disk_adds_to_it(start: Start) -> None:
    """A part of the prompt is in memory: only the rest is read."""
    chat = play(start())
    responder = start()
    other = Chat(responder, SYSTEM, "other")
    other.ask("Is a tent in it?")
    chat = go_on(chat, responder)
    matched, _ = finish(responder, chat.request())
    assert 0 < matched.disk_tokens < matched.reused_tokens


def test_a_file_cut_in_the_middle_shortens_the_hit(start: Start, tmp_path: Path) -> None:
    """What was promised is not there: less is reused, and the answer is that of a cold run."""
    chat = play(start())
    responder = start()
    chat = go_on(chat, responder)
    fourth = chain("tiny", block_keys(build_prompt(responder, chat.messages).ids))[4]
    (path,) = (tmp_path / "blocks").glob(f"*/{fourth}*.kv")
    path.write_bytes(b"x" * path.stat().st_size)
    promised = responder.preview(1, chat.request()).disk_tokens
    matched, finished = finish(responder, chat.request())
    assert matched.reused_tokens == matched.disk_tokens == 48 < promised
    assert not path.exists()
    assert cold_answer(chat).token_ids == finished.token_ids


def test_a_deleted_chat_leaves_the_disk(start: Start, tmp_path: Path) -> None:
    """What another chat uses too stays: here the system prompt. A cold run leaves nothing."""
    play(start(), "one")
    responder = start()
    play(responder, "two", "Is a tent in it?")
    both = responder.cache.disk.used_bytes
    responder.forget("two")
    one = responder.cache.disk.used_bytes
    assert (one < both, responder.cache.disk.index.owners()) == (True, {owner_digest("one")})
    responder.forget("one")
    list(responder.work_idly())
    finish(responder, Chat(responder, SYSTEM, messages=[Message("user", "Why?")]).request(use_cache=False))
    list(responder.work_idly())
    assert list((tmp_path / "blocks").glob("*/*")) == []


def test_a_chat_deleted_while_it_is_answered_is_not_written(start: Start, tmp_path: Path) -> None:
    responder = start()
    chat = Chat(responder, SYSTEM, messages=[Message("system", SYSTEM), Message("user", QUESTION)])
    for number, _ in enumerate(responder.answer(1, chat.request(), 0.0, lambda: False)):
        if number == 3:
            responder.forget(chat.name)
    list(responder.work_idly())
    assert list((tmp_path / "blocks").glob("*/*")) == []
    assert responder.cache.tree.kept() == {}


def test_a_chat_deleted_while_it_is_settled_is_not_written(tiny: LoadedModel, tmp_path: Path) -> None:
    responder = short_chunks(tiny, folder=tmp_path / "blocks")
    chat = Chat(responder, SYSTEM)
    chat.ask(QUESTION)
    work = responder.work_idly()
    next(work)
    responder.forget(chat.name)
    list(work)
    assert list((tmp_path / "blocks").glob("*/*")) == []
    responder.cache.disk.close()


def test_every_step_of_writing_is_one_file(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks meanwhile waits for one at most. At the end the window hears how much is on disk."""
    responder = start()
    chat = Chat(responder, SYSTEM)
    chat.ask(QUESTION)
    list(responder.settle())
    written, renamed = [0], os.replace

    def replace(*names: Path) -> None:
        written[0] += 1
        renamed(*names)

    monkeypatch.setattr("engine.cache.disk_files.os.replace", replace)
    seen = []
    for event in responder.work_idly():
        assert written[0] <= 1
        written[0] = 0
        seen.append(event)
    assert isinstance(seen[-1], CacheView)
    assert seen[-1].disk_bytes == responder.cache.disk.used_bytes > 0
    assert set(seen[:-1]) == {None}
    assert list(responder.work_idly()) == []


def test_a_full_disk_is_said_and_answers_go_on(
    start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    responder = start()
    monkeypatch.setattr("engine.cache.disk_files.os.replace", full)
    with caplog.at_level(logging.WARNING, "headstart"):
        chat = play(responder)
        chat.ask("And where is the tent?")
        list(responder.work_idly())
    assert len(caplog.records) == 1
    assert "disk is full" in responder.cache.view().disk_note
    assert chat.reused > 0


def test_clearing_takes_the_disk_along_a_lack_of_memory_does_not(start: Start) -> None:
    responder = start()
    play(responder)
    responder.cache.clear()
    assert responder.cache.view().disk_bytes > 0
    responder.clear()
    assert responder.cache.view().disk_bytes == 0


def test_dropping_a_run_takes_it_from_disk(start: Start) -> None:
    responder = start()
    play(responder)
    (node, *_) = responder.cache.view(with_nodes=True).nodes
    responder.cache.drop_block(node.block)
    assert responder.cache.view().disk_bytes == 0


def test_the_view_shows_what_the_next_turn_reads_from_disk(start: Start) -> None:
    """To the block, before and after it was read."""
    played = play(start())
    play(played.responder, "other", "Is a tent in it?")
    chat = go_on(played, start())
    cache = chat.responder.cache
    cache.disk.names.update({owner_digest(name): name for name in ("chat", "other")})
    check_runs(cache)
    before = cache.view(with_nodes=True).nodes
    assert {node.tier for node in before} == {"disk"}
    assert SYSTEM[:20] in before[0].text
    mine = [node for node in before if "chat" in node.conversations]
    preview = chat.responder.preview(1, chat.request())
    assert preview.reused_tokens == preview.disk_tokens == sum(node.tokens for node in mine)
    matched, _ = finish(chat.responder, chat.request())
    assert (matched.reused_tokens, matched.disk_tokens) == (preview.reused_tokens, preview.disk_tokens)
    check_runs(cache)
    after = cache.view(with_nodes=True).nodes
    assert {node.tier for node in after if "chat" in node.conversations} == {"memory"}
    (left,) = [node for node in after if node.tier == "disk"]
    assert left.conversations == ("other",)
    assert after[left.parent].tier == "memory"
    cache.drop_block(left.block)
    other = Chat(chat.responder, SYSTEM, "other", messages=[*played.messages[:1], Message("user", "Is a tent in it?")])
    assert chat.responder.preview(1, other.request()).disk_tokens == 0

"""A model file that is changed while the model computes with it: the turn fails with a sentence, and nothing that was
computed with other weights is reused, from memory or from disk."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from engine import Engine
from engine.events import Failed, Loaded
from engine.models import choice, from_gguf
from engine.models.loaded import load
from engine.native import library as native_library
from engine.types import ModelError, ModelSpec
from tests.engine.gguf_packed import write_packed
from tests.engine.inside import is_idle
from tests.engine.turns import Chat, SpyModel, cold_answer, short_chunks, spy
from tests.engine.worker_driver import Driver, request

pytestmark = pytest.mark.skipif(native_library.library() is None, reason="the compiled part is not here")
TOLD = r"tiny\.gguf was changed while its model was open.*open it again"
RULES, QUESTION = "Say where the parcel is, and when it comes. " * 8, "And when will it be here?"


def write_over(path: Path) -> None:
    """Other weights in the same place, as of a download that begins anew."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\x11" * (size - size // 2))
    os.utime(path, ns=(1, 1))  # on a coarse clock it may seem as old as before


def cut_off(path: Path) -> None:
    os.truncate(path, 4096)


CHANGES = pytest.mark.parametrize("change", [write_over, cut_off])


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model file, all of whose matrices are computed with where they lie."""
    for module in (choice, from_gguf):
        monkeypatch.setattr(module, "full_is_cheap", lambda nbytes, device: False)
    return write_packed(tmp_path / "tiny.gguf", "Q4_K", others={"token_embd": "Q8_0"})


def open_chat(path: Path) -> Chat:
    model = SpyModel(load(path, "cpu", "fp32"))
    return Chat(short_chunks(model, folder=path.parent / "blocks"), RULES)


def change_at(chat: Chat, call: int, path: Path, change: Callable[[Path], None]) -> None:
    """Change the file before the model is called so often from now on."""
    spy(chat).before_forward = lambda number: change(path) if number == call else None


def check_nothing_wrong_is_kept(chat: Chat, path: Path, content: bytes) -> None:
    """Neither in memory nor on disk, where another start finds it for the same weights. What the chat asks last is
    answered as from scratch, and not from scratch."""
    chat.responder.cache.check_integrity()
    assert is_idle(chat.responder.cache)
    list(chat.responder.write_back())
    chat.responder.cache.disk.close()
    path.write_bytes(content)
    later = open_chat(path)
    later.messages = list(chat.messages)
    expected = cold_answer(later, record_margins=True)
    answer = later.answer(record_margins=True)
    assert later.reused > 0
    assert (answer.token_ids, answer.margins) == (expected.token_ids, expected.margins)


@CHANGES
@pytest.mark.parametrize("call", [3, 16], ids=["while a prompt is read", "while an answer is written"])
def test_within_a_turn(path: Path, change: Callable[[Path], None], call: int) -> None:
    content, chat = path.read_bytes(), open_chat(path)
    change_at(chat, call, path, change)
    with pytest.raises(ModelError, match=TOLD):
        chat.ask(QUESTION)
    with pytest.raises(ModelError, match=TOLD):
        chat.answer()
    check_nothing_wrong_is_kept(chat, path, content)


@CHANGES
def test_while_an_answer_is_read_again(path: Path, change: Callable[[Path], None]) -> None:
    content, chat = path.read_bytes(), open_chat(path)
    chat.ask(QUESTION)
    change_at(chat, 1, path, change)
    with pytest.raises(ModelError, match=TOLD):
        list(chat.responder.settle())
    chat.messages.append(chat.messages[1])
    check_nothing_wrong_is_kept(chat, path, content)


def test_the_engine_says_so_and_opens_it_again(path: Path) -> None:
    """Whatever it did when that was seen: it read ahead, without a word in the window, or read an answer again."""
    content, driver = path.read_bytes(), Driver(Engine())
    try:
        load_id = driver.engine.load(ModelSpec(str(path), dtype="fp32", disk_bytes=0))
        assert isinstance(driver.end(load_id), Loaded)
        expected = driver.finished(driver.engine.submit(request()))
        driver.quiet()
        write_over(path)
        for ask in (driver.engine.read_ahead, driver.engine.submit):
            end = driver.end(ask(request("And when will it come, if you please?")))
            assert isinstance(end, Failed)
            assert re.search(TOLD, end.sentence)
            assert not end.is_refused
        path.write_bytes(content)
        load_id = driver.engine.load(ModelSpec(str(path), dtype="fp32", disk_bytes=0))
        assert isinstance(driver.end(load_id), Loaded)
        assert driver.finished(driver.engine.submit(request())).token_ids == expected.token_ids
    finally:
        driver.engine.close()

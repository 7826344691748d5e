"""What the editor foresees is what the engine then does: a clock in a system prompt, on a real engine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.chat.bridge import Bridge
from app.chat.session import Session
from app.history.history import History
from app.history.records import StoredMessage
from app.placeholders import values_at
from app.settings import Settings
from app.system_prompt.editing import PromptEditing
from app.system_prompt.editor import SystemPromptEditor
from engine import BLOCK_TOKENS, Engine, ModelSpec, Sampling
from tests.engine.tiny_models import make_folder

PROMPT = "You are a bot. It is {{time}}. " + "The parcel left the warehouse on Monday. " * 8
GREEDY = Sampling(temperature=0.0, max_tokens=8)


class Chat:
    """A session on the real engine; each question is asked two seconds after the one before."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.qtbot = qtbot
        self.now = datetime(2026, 11, 29, 14, 3, 20)
        self.engine = Engine()
        self.bridge = Bridge(self.engine)
        self.history = History(folder / "history.sqlite3")
        self.session = Session(self.bridge, self.history, Settings(), values=lambda: values_at(self.now, "id"))
        with qtbot.waitSignal(self.session.answers.model_changed):
            spec = ModelSpec(str(make_folder(folder / "tiny")), "cpu", "fp32", cache_bytes=10**8)
            self.session.answers.load(spec)
        self.session.set_system_prompt(PROMPT)
        self.session.set_sampling(GREEDY)

    def ask(self, question: str) -> StoredMessage:
        self.now += timedelta(seconds=2)
        self.qtbot.waitUntil(lambda: self.engine.worker.idle_work is None)  # what was written is read once more
        with self.qtbot.waitSignal(self.session.message_finished) as finished:
            assert self.session.send(question)
        answer = finished.args[0]
        assert isinstance(answer, StoredMessage)
        return answer

    def price(self) -> int:
        """What the editor says that the clock costs, in tokens."""
        editor = SystemPromptEditor(PROMPT)
        self.qtbot.addWidget(editor)
        editing = PromptEditing(editor, self.session, self.bridge)
        editing.pricer.ask()
        self.qtbot.waitUntil(lambda: not self.bridge.busy)
        (said,) = editor.findings.texts
        editor.reject()
        found = re.search(r"([\d,]+) tokens after it are read again", said)
        assert found is not None
        return int(found[1].replace(",", ""))

    def close(self) -> None:
        self.session.shutdown()
        self.bridge.close()
        self.history.close()


@pytest.fixture
def chat(qtbot: QtBot, tmp_path: Path) -> Iterator[Chat]:
    made = Chat(qtbot, tmp_path)
    yield made
    made.close()


def test_the_price_is_what_the_next_turn_reads_again(chat: Chat) -> None:
    chat.ask("Where is it?")
    price = chat.price()
    divergence = chat.ask("And now?").divergence
    assert divergence is not None
    assert (divergence.message_index, divergence.cause) == (0, "date")
    # The price counts from the placeholder on; the last digits of the clock are what differs.
    assert price - BLOCK_TOKENS <= divergence.recomputed_tokens <= price


@pytest.mark.parametrize("kind", ["frozen", "moved"])
def test_cured_everything_but_the_new_question_is_reused(chat: Chat, kind: str) -> None:
    chat.session.set_system_prompt(PROMPT, (chat.session.new_cure("time", kind),))  # type: ignore[arg-type]
    for question in ("Where is it?", "And now?", "Still there?"):
        before = chat.session.messages[-1].stats if chat.session.messages else None
        answer = chat.ask(question)
        if before is not None:
            assert answer.divergence is None
        assert answer.stats is not None
        if before is not None:
            assert answer.stats.reused_tokens >= before.prompt_tokens + before.written_tokens - 1

"""A model that reasons, on the real engine in the real window: what its weights write is told apart, folded and reused.

Its chat template opens the thought, leaves earlier ones out, and lets one switch thinking off.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEventLoop
from pytestqt.qtbot import QtBot

from app.application import Application, build
from app.settings import Settings
from app.transcript.message import Answer
from engine import BLOCK_TOKENS, Engine, Matched, ModelSpec, Sampling, TemplateSettings
from tests.engine import kinds_of_templates as kinds
from tests.engine.tiny_models import make_writer_folder

THOUGHT = "They want to know where their parcel went; I look: gone since Monday"
ANSWER = "Your tent has left our warehouse, and will be there tomorrow."
TEMPLATE = kinds.THOUGHT_IN_LAST_TURN.replace(
    "{{ '<|im_start|>assistant\n' }}",
    "{{ '<|im_start|>assistant\n' }}"
    "{{ '<think></think>' if enable_thinking is defined and not enable_thinking else '<think>' }}",
)


class Chat:
    """The whole program with the reasoning model."""

    def __init__(self, qtbot: QtBot, folder: Path, theme: str = "light") -> None:
        self.qtbot = qtbot
        self.engine = Engine()
        settings = Settings(theme=theme, sampling=Sampling(temperature=0.0, max_tokens=60), system_prompt="Be brief.")
        self.application: Application = build(self.engine, settings, folder / "history.sqlite3")
        self.matched: list[Matched] = []
        self.application.session.answers.matched.connect(self.matched.append)
        model = make_writer_folder(folder / "reasoner", TEMPLATE, "<think>", f"{THOUGHT}</think>{ANSWER}")
        self.application.open(ModelSpec(str(model), device="cpu", dtype="fp32"))
        self.rest()

    def rest(self) -> None:
        """Let the engine say everything, and read once more what it wrote."""
        while self.application.bridge.busy:
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
        self.qtbot.waitUntil(lambda: self.engine.worker.idle_work is None)

    def ask(self, question: str) -> Answer:
        self.application.window.composer.set_text(question)
        self.application.presenter.send(question)
        self.rest()
        answer = self.application.window.transcript.messages[-1]
        assert isinstance(answer, Answer)
        return answer

    @property
    def is_all_reused(self) -> bool:
        """Whether the last prompt reused all that the one before and its answer have in whole blocks."""
        before = self.application.history.messages(self.application.session.conversation.id)[-3].stats
        assert before is not None
        known = before.prompt_tokens + before.written_tokens
        return self.matched[-1].reused_tokens >= known - BLOCK_TOKENS

    def close(self) -> None:
        self.application.window.close()
        self.application.close()


@pytest.fixture
def chat(qtbot: QtBot, tmp_path: Path) -> Iterator[Chat]:
    made = Chat(qtbot, tmp_path)
    yield made
    made.close()


def test_a_reasoning_model_in_the_window(chat: Chat) -> None:
    answer = chat.ask("Where is the parcel?")
    assert (answer.thought.text, answer.text) == (THOUGHT, ANSWER)
    assert answer.thought.line.words.startswith("Thought for ")
    assert not answer.thought.is_open
    stored = chat.application.history.messages(chat.application.session.conversation.id)[-1]
    assert stored.stats is not None
    assert answer.thought.line.words.endswith(f", {stored.stats.thought_tokens} tokens")
    assert 0 < stored.stats.thought_tokens < stored.stats.written_tokens == len(stored.token_ids)

    answer = chat.ask("And the stove?")  # the template leaves the thought out
    parted = chat.matched[-1].divergence
    assert parted is not None
    assert (parted.cause, parted.cure, parted.cure_tokens > 0) == ("reasoning removed", "keep thoughts", True)
    answer.box.buttons["keep thoughts"].click()

    chat.ask("And the pack?")  # the second answer was reread without the first one's thought
    chat.ask("And the lamp?")
    assert chat.matched[-1].divergence is None
    assert chat.is_all_reused

    chat.application.session.set_template(TemplateSettings("off", keep_thoughts=True))
    answer = chat.ask("And the bill?")
    assert (answer.text, answer.thought.isHidden()) == (ANSWER, True)
    assert chat.matched[-1].divergence is None
    assert chat.is_all_reused

    chat.application.session.set_template(TemplateSettings("on", keep_thoughts=True))
    answer = chat.ask("And my hat?")
    assert (answer.thought.text, answer.text) == (THOUGHT, ANSWER)
    assert chat.matched[-1].divergence is None
    assert chat.is_all_reused

"""Plays the demo's script in the window: with the cache on as a conversation, then the same prompts with it off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from PySide6.QtCore import QEventLoop, QTimer, SignalInstance

from app.branch import Branch
from app.bridge import Bridge
from app.history import History, StoredMessage
from app.report import Report, compare, make_row
from app.script import Script
from app.session import Session
from engine import Failed, Finished, HeadstartError, ModelInfo, Sampling

GREEDY = Sampling(temperature=0.0, repetition_penalty=1.1, max_tokens=48)
"""Always the best token. The penalty keeps a small model from giving its first answer to every question."""

REST_MS = 400
"""Before a cold turn: what the window asks of the engine after a change (a preview) is then answered, not timed."""

STOPPED = "The demo was closed before its end. Run it again to get the report."


class Player:
    """One demo. Each method returns when its part has been played; the window stays alive meanwhile.

    `say` gets a line about each turn. All methods raise HeadstartError when the engine fails or the window is closed.
    """

    def __init__(self, session: Session, bridge: Bridge, history: History, say: Callable[[str], None]) -> None:
        self._session = session
        self._bridge = bridge
        self._history = history
        self._say = say
        self._loop: QEventLoop | None = None
        self._stopped = False

    def stop(self) -> None:
        """The window was closed: what is being played raises."""
        self._stopped = True
        if self._loop is not None:
            self._loop.quit()

    def wait_for_model(self) -> ModelInfo:
        """The model that the application is loading."""
        if self._session.model is None:
            self._outcome(lambda: True, self._session.model_changed)
        assert self._session.model is not None
        return self._session.model

    def play_warm(self, script: Script, turns: int, report: Report) -> None:
        """Ask the questions one after the other in a conversation of the window, with the cache on."""
        conversation = self._history.create(script.system_prompt, GREEDY, date.today(), script.title)
        self._session.conversations_changed.emit()
        self._session.open(conversation.id)
        self._session.use_cache = True
        for turn, question in enumerate(script.questions[:turns], 1):
            answer = self._ask(question)
            assert answer.stats is not None
            report.turns.append(make_row(turn, "on", answer.stats))
            self._say(_line(report, turn, turns))

    def play_cold(self, report: Report) -> None:
        """Give the engine the prompt of every turn again with the cache off; the history is the first pass's.

        What was measured takes the place of the estimates in the conversation, so that the window shows it. A turn
        that reused nothing was cold itself and keeps its own time.
        """
        messages = self._session.messages
        answers = [index for index, message in enumerate(messages) if message.role == "assistant"]
        for turn, index in enumerate(answers, 1):
            self.rest()
            cold = self._answer_cold(messages[:index])
            report.turns.append(make_row(turn, "off", cold.stats))
            parted = compare(turn, messages[index].token_ids, cold.token_ids, cold.margins)
            if parted is not None:
                report.parted.append(parted)
            if report.rows("on")[turn - 1].reused_tokens:
                self._keep_measured(messages[index], cold)
            self._say(_line(report, turn, len(answers)))

    def rest(self) -> None:
        """Let the window come to rest."""
        timer = QTimer()
        timer.setSingleShot(True)
        self._outcome(lambda: timer.start(REST_MS) is None, timer.timeout)

    def _ask(self, question: str) -> StoredMessage:
        answer = self._outcome(lambda: self._session.send(question), self._session.message_finished)
        assert isinstance(answer, StoredMessage)
        return answer

    def _answer_cold(self, prompt: Sequence[StoredMessage]) -> Finished:
        request = replace(Branch(self._session.conversation, prompt).request(use_cache=False), record_margins=True)
        ids: list[int] = []

        def submit() -> bool:
            ids.append(self._bridge.submit(request))
            return True

        ended = self._outcome(submit, self._bridge.finished, self._bridge.failed, ours=lambda e: e.request_id in ids)
        if isinstance(ended, Failed):
            raise HeadstartError(ended.sentence, ended.detail)
        assert isinstance(ended, Finished)
        return ended

    def _keep_measured(self, answer: StoredMessage, cold: Finished) -> None:
        assert answer.stats is not None
        assert cold.stats.ttft_s is not None
        stats = replace(answer.stats, cold_ttft_s=cold.stats.ttft_s, cold_measured=True)
        m = answer
        self._history.finish(m.id, m.content, m.token_ids, stats, m.divergence, m.finish_reason)
        self._session.choose_sibling(answer.id)

    def _outcome(
        self, start: Callable[[], bool], *ends: SignalInstance, ours: Callable[[Any], bool] = lambda event: True
    ) -> object:
        """Start something and wait for a signal that ends it. Raises HeadstartError on an error or a closed window."""
        self._loop = loop = QEventLoop()
        ended: list[object] = []

        def end(event: object = None) -> None:
            if ours(event):
                ended.append(event)
                loop.quit()

        def fail(sentence: str, detail: str) -> None:
            ended.append(HeadstartError(sentence, detail))
            loop.quit()

        links = [(self._session.error, fail), *((signal, end) for signal in ends)]
        for signal, slot in links:
            signal.connect(slot)
        if not self._stopped and start() and not ended:
            loop.exec()
        for signal, slot in links:
            signal.disconnect(slot)
        if self._stopped or not ended:
            raise HeadstartError(STOPPED)
        if isinstance(ended[0], HeadstartError):
            raise ended[0]
        return ended[0]


def _line(report: Report, turn: int, turns: int) -> str:
    row = report.turns[-1]
    return (
        f"cache {row.cache}, turn {turn} of {turns}: {row.reused_tokens:,} of {row.prompt_tokens:,} tokens reused,"
        f" first token {row.ttft_s:.2f} s"
    )

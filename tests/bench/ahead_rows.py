"""Rows A1 to A4: what reading ahead gives to whoever types or pastes a question, and what it costs.

Keys come at eight a second. Each key changes what `app.chat.ahead` would ask for, and what it asks for is asked; all
times are the engine's own, from Send on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer

from app.application import Application
from app.chat.session import Session
from engine import CacheView, Message, Request, Sampling, TurnStats
from tests.bench.chat import SCRIPT, Player
from tests.bench.rows import Row, alternate, ratio_row

KEYS_PER_S = 8
PASTED_TOKENS = 1_500
QUESTIONS_WITH_CORRECTIONS = 40
CORRECTED_EVERY = 12
"""Keys between two slips: a wrong word is typed, deleted and typed right."""
LETTERS_PER_TOKEN = 5


class Typist:
    """Types into the composer of a window, in real time, as somebody at a keyboard does."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._session: Session = application.session
        self.gaps: list[float] = []

    def type(self, text: str, *, has_slips: bool = False) -> None:
        """Key by key; with slips some of them are wrong first."""
        edit = self._application.window.composer.edit
        for number, letter in enumerate(text):
            if has_slips and number % CORRECTED_EVERY == CORRECTED_EVERY - 1:
                for wrong in "xy":
                    self._key(lambda wrong=wrong: edit.insertPlainText(wrong))
                for _ in "xy":
                    self._key(edit.textCursor().deletePreviousChar)
            self._key(lambda letter=letter: edit.insertPlainText(letter))

    def paste(self, text: str) -> None:
        """All at once, and wait until it is read."""
        self._application.window.composer.edit.insertPlainText(text)
        self.rest()

    def rest(self, seconds: float = 0.6) -> None:
        """Look at what was written until the engine has nothing more to read."""
        self.wait(seconds)
        while self._application.bridge.busy or self._application.bridge.is_reading_ahead:
            self.wait(0.05)

    def send(self) -> TurnStats:
        """Press Enter; the figures of the answer."""
        loop = QEventLoop()
        self._session.message_finished.connect(loop.quit)
        QTimer.singleShot(0, lambda: self._application.presenter.send(self._application.window.composer.text))
        loop.exec()
        self._session.message_finished.disconnect(loop.quit)
        stats = self._session.messages[-1].stats
        assert stats is not None
        return stats

    def begin(self) -> None:
        """A conversation whose 3,000 tokens of rules are cached."""
        self._session.new_conversation()
        self._session.set_system_prompt(SCRIPT.system_prompt)
        self._application.window.composer.set_text("")
        self.rest()

    def _key(self, press: Callable[[], object]) -> None:
        began = time.perf_counter()
        press()
        QCoreApplication.processEvents()  # the letter is on the screen behind this
        self.gaps.append(time.perf_counter() - began)
        self.wait(1 / KEYS_PER_S - (time.perf_counter() - began))

    def wait(self, seconds: float) -> None:
        """Let the window live for so long, and note for how long it did not."""
        until = time.perf_counter() + seconds
        last = time.perf_counter()
        while (now := time.perf_counter()) < until:
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 1)
            now = time.perf_counter()
            self.gaps.append(now - last)
            last = now
            time.sleep(0.001)


def measure(application: Application, player: Player, count: int) -> Iterator[Row]:
    """All rows of this module, `count` samples a side, in a window that shows."""
    settings, typist = application.settings, Typist(application)
    settings.sampling = replace(settings.sampling, temperature=0, max_tokens=1)

    def typed(reads: str) -> float:
        settings.read_ahead = reads  # type: ignore[assignment]
        typist.begin()
        typist.type(player.new_question())
        return _first_token(typist.send())

    samples = alternate({"ahead": lambda: typed("always"), "without": lambda: typed("never")}, count)
    title = "first token from Send after typing 50 tokens at 8 keys a second / without reading ahead"
    yield ratio_row("A1", title, samples, "ahead", "without", "<= 0.5", "0.3")
    yield _pasted(application, player, typist, count)
    gaps = sorted(typist.gaps)
    p99 = gaps[int(len(gaps) * 0.99)] * 1000
    yield Row("A3", "event-loop gap while typing with reading ahead, p99", p99, "ms", "<= 33", "16", gaps[-50:])
    yield _cost(application, player, typist)


def _pasted(application: Application, player: Player, typist: Typist, count: int) -> Row:
    application.settings.read_ahead = "always"

    def text() -> str:
        question = player.new_question()
        return " ".join([question] * (PASTED_TOKENS * LETTERS_PER_TOKEN // len(question)))

    def pasted() -> float:
        typist.begin()
        typist.paste(text())
        return _first_token(typist.send())

    def one_token() -> float:
        """The same prompt, all of it read by an earlier turn, and a question of one token behind it."""
        history = [Message("user", text()), Message("assistant", "Yes.")]
        rules = Message("system", SCRIPT.system_prompt)
        player.answer(Request((rules, *history, Message("user", "a")), Sampling(temperature=0, max_tokens=1), "bench"))
        return _first_token(player.ask(history, "b").stats)

    samples = alternate({"pasted": pasted, "one token": one_token}, count)
    title = "first token from Send of a paste of 1,500 tokens that is read / of a question of one token"
    return ratio_row("A2", title, samples, "pasted", "one token", "<= 1.5", "1.1")


def _cost(application: Application, player: Player, typist: Typist) -> Row:
    application.settings.read_ahead = "always"
    before = _read(application)
    sent = 0
    for _ in range(QUESTIONS_WITH_CORRECTIONS):
        typist.begin()
        typist.type(player.new_question(), has_slips=True)
        stats = typist.send()
        sent += stats.ahead_tokens + stats.computed_tokens
    typist.rest()
    after = _read(application)
    in_vain = after.unasked_tokens - before.unasked_tokens
    title = "tokens read ahead and never sent, over 40 typed questions with corrections / tokens sent"
    return Row("A4", title, in_vain / sent, "ratio", "<= 0.6", "0.3", [in_vain, sent])


def _read(application: Application) -> CacheView:
    application.bridge.read_cache_view()  # asks for a newer one
    time.sleep(0.2)
    return application.bridge.read_cache_view()


def _first_token(stats: TurnStats) -> float:
    assert stats.ttft_s is not None
    return stats.ttft_s

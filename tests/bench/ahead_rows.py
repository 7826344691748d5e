"""Rows A1 to A4: what reading ahead gives to whoever types or pastes a question, and what it costs.

All go through the composer of a window that shows, with the same keys that a user presses, and all times are the
engine's own, from Send on. What each row does to end soon, and why that flatters nothing:

- A1 types eight keys a second where reading ahead is on, and sends it an eighth of a second behind the last key. Where
  it is off, only previews are made before Send, however long the typing takes. So the same question is put in at once,
  previewed, as what is typed would be, and sent right then, while all is still warm. So is the one token of A2.
- A3 is taken from the keys of A1, all of which are typed in real time.
- A4 types as fast as it can, but before each correction it waits until all is read that was asked for: whatever could
  be read in vain was, which is more than at eight keys a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent

from app.application import Application
from app.chat.session import Session
from engine import CacheView, TurnStats
from tests.bench.chat import SCRIPT, Player
from tests.bench.rows import Row, alternate, ratio_row

KEYS_PER_S = 8
MOST_SAMPLES = 4
"""Of a question that is typed in real time: half a minute each."""
PASTED_TOKENS = 1_500
QUESTIONS_WITH_CORRECTIONS = 40
QUESTION_LETTERS = 100
CORRECTED_EVERY, CHANGED_EVERY = 24, 4
"""Keys between two slips (a wrong word is typed, deleted and typed right), and questions between two of which the first
word is another one in the end."""
LETTERS_PER_TOKEN = 5
LONGEST_REST_S = 60.0


class Typist:
    """Types into the composer of a window as somebody at a keyboard does.

    Attributes: `gaps` are the seconds between two turns of the event loop while keys came in real time, `letters` those
    from a key to the paint event that shows its letter.
    """

    def __init__(self, application: Application) -> None:
        self._application = application
        self._session: Session = application.session
        self._edit = application.window.composer.edit
        self._painted = Painted(self._edit.viewport())
        self.gaps: list[float] = []
        self.letters: list[float] = []

    def type(self, text: str) -> None:
        """Key by key, in real time."""
        for letter in text:
            began = time.perf_counter()
            self._painted.is_it = False
            self._press(letter)
            while not self._painted.is_it:
                self._turn()
            self.letters.append(time.perf_counter() - began)
            self._live(1 / KEYS_PER_S - (time.perf_counter() - began))

    def type_with_slips(self, text: str, *, is_changed: bool) -> None:
        """As fast as keys come, but that all is read before a slip is corrected; `is_changed`: so is the first word,
        when all is written."""
        for number, letter in enumerate(text):
            if number % CORRECTED_EVERY == CORRECTED_EVERY - 1:
                self._press("xy")
                self.rest()
                for _ in "xy":
                    self._press("\b")
            self._press(letter)
        self.rest()
        if is_changed:
            composer = self._application.window.composer
            composer.set_text(composer.text.replace("Case", "File", 1))
            self.rest()

    def put_in(self, text: str) -> None:
        """All at once, as a paste."""
        self._edit.insertPlainText(text)

    def put_in_and_rest(self, text: str) -> None:
        """The same, and rest."""
        self.put_in(text)
        self.rest()

    def rest(self) -> None:
        """Until what is written is previewed, and everything read of it that is to be read."""
        until = time.perf_counter() + LONGEST_REST_S
        while self._is_looked_at():
            self._turn()
            time.sleep(0.001)
            assert time.perf_counter() < until, "reading ahead comes to no end"

    def _is_looked_at(self) -> bool:
        bridge, cost = self._application.bridge, self._session.cost
        return bridge.busy or bridge.is_reading_ahead or cost.reader.rest.isActive() or cost.draft.rest.isActive()

    def send(self) -> TurnStats:
        """Press Enter; the figures of the answer."""
        loop = QEventLoop()
        self._session.message_finished.connect(loop.quit)
        QTimer.singleShot(0, lambda: self._press("\r"))
        loop.exec()
        self._session.message_finished.disconnect(loop.quit)
        stats = self._session.messages[-1].stats
        assert stats is not None
        return stats

    def begin(self) -> None:
        """A conversation whose 3,000 tokens of rules are cached: the first time they are read for it."""
        self._session.new_conversation()
        self._session.set_system_prompt(SCRIPT.system_prompt)
        self._application.window.composer.set_text("")
        self.rest()

    def _press(self, letters: str) -> None:
        for letter in letters:
            key = {"\b": Qt.Key.Key_Backspace, "\r": Qt.Key.Key_Return}.get(letter, Qt.Key.Key_unknown)
            for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
                event = QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier, letter)
                QCoreApplication.sendEvent(self._edit, event)

    def _turn(self) -> None:
        """A turn of the event loop. A loop that runs on its own deletes in each what was to be deleted later; this one
        would do it when the question is sent, after half a minute of typing."""
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 1)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def _live(self, seconds: float) -> None:
        """Let the window live for so long, and note for how long it did not."""
        until = time.perf_counter() + seconds
        last = time.perf_counter()
        while last < until:
            self._turn()
            now = time.perf_counter()
            self.gaps.append(now - last)
            last = now
            time.sleep(0.001)


class Painted(QObject):
    """Notes in `is_it` that a widget was painted."""

    def __init__(self, widget: QObject) -> None:
        super().__init__(widget)
        self.is_it = False
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.is_it = self.is_it or event.type() == QEvent.Type.Paint
        return False


def measure(application: Application, player: Player, count: int) -> Iterator[Row]:
    """All rows of this module, `count` samples a side at most, in a window that shows."""
    typist = Typist(application)
    application.settings.sampling = replace(application.settings.sampling, temperature=0, max_tokens=1)
    yield _typed(application, player, typist, min(count, MOST_SAMPLES))
    yield _pasted(application, player, typist, min(count, MOST_SAMPLES))
    yield _percentile("A3", "event-loop gap while typing with reading ahead, p99", typist.gaps)
    yield _percentile("A3b", "a key to its letter on the screen, p99", typist.letters)
    yield _cost(application, player, typist)


def _percentile(row_id: str, title: str, seconds: list[float]) -> Row:
    slowest = sorted(seconds)
    return Row(row_id, title, slowest[int(len(slowest) * 0.99)] * 1000, "ms", "<= 33", "16", slowest[-50:])


def _typed(application: Application, player: Player, typist: Typist, count: int) -> Row:
    def asked(reads: str, write: Callable[[str], None]) -> float:
        application.settings.read_ahead = reads  # type: ignore[assignment]
        typist.begin()
        write(player.new_question())
        return _first_token(typist.send())

    sides = {"ahead": lambda: asked("always", typist.type), "without": lambda: asked("never", typist.put_in_and_rest)}
    title = "first token from Send after typing 50 tokens at 8 keys a second / without reading ahead"
    return ratio_row("A1", title, alternate(sides, count), "ahead", "without", "<= 0.5", "0.3")


def _pasted(application: Application, player: Player, typist: Typist, count: int) -> Row:
    application.settings.read_ahead = "always"

    def text() -> str:
        question = player.new_question()
        return " ".join([question] * (PASTED_TOKENS * LETTERS_PER_TOKEN // len(question)))

    def pasted() -> float:
        typist.begin()
        typist.put_in_and_rest(text())
        return _first_token(typist.send())

    def one_token() -> float:
        """A question of one token behind such a prompt, which an earlier turn of the same window has read."""
        typist.begin()
        typist.put_in(text())
        typist.send()
        typist.rest()
        typist.put_in_and_rest("b")
        return _first_token(typist.send())

    samples = alternate({"pasted": pasted, "one token": one_token}, count)
    title = "first token from Send of a paste of 1,500 tokens that is read / of a question of one token"
    return ratio_row("A2", title, samples, "pasted", "one token", "<= 1.5", "1.1")


def _cost(application: Application, player: Player, typist: Typist) -> Row:
    application.settings.read_ahead = "always"
    typist.begin()
    before = _read(application)
    sent = 0
    for number in range(QUESTIONS_WITH_CORRECTIONS):
        typist.begin()
        question = player.new_question()[:QUESTION_LETTERS].rpartition(" ")[0]
        typist.type_with_slips(question, is_changed=number % CHANGED_EVERY == 0)
        stats = typist.send()
        sent += stats.ahead_tokens + stats.computed_tokens
    typist.rest()
    in_vain = _read(application).unasked_tokens - before.unasked_tokens
    title = "tokens read ahead and never sent, over 40 typed questions with corrections / tokens sent"
    return Row("A4", title, in_vain / sent, "ratio", "<= 0.6", "0.3", [in_vain, sent])


def _read(application: Application) -> CacheView:
    application.bridge.read_cache_view()  # asks for a newer one
    time.sleep(0.2)
    return application.bridge.read_cache_view()


def _first_token(stats: TurnStats) -> float:
    assert stats.ttft_s is not None
    return stats.ttft_s

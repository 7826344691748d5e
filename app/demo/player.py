"""Plays a script of the demo in the window: each prompt with the cache on as a turn, then the same with it off."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from PySide6.QtCore import QDeadlineTimer, QEventLoop, QObject, QTimer, Signal, SignalInstance

from app.chat.branch import Branch
from app.chat.bridge import Bridge
from app.chat.session import Session
from app.demo.report import Aside, Report, Row, make_row
from app.demo.script import Script, Step, too_long
from app.history.history import History
from app.history.records import StoredMessage
from app.placeholders import Cure, current_values, values_at, with_cure
from app.proof.compare import compare
from engine import CacheView, Failed, Finished, HeadstartError, Message, ModelInfo, Preview, Request, Sampling

MOST_WRITTEN = 48
GREEDY = Sampling(temperature=0.0, repetition_penalty=1.1, max_tokens=MOST_WRITTEN)
"""Always the best token. The penalty keeps a small model from giving its first answer to every question."""

REST_MS = 400
"""Before a cold turn: what the window asks of the engine after a change (a preview) is then answered, not timed."""

LONGEST_REST_MS = 10_000
"""How long an answer may take to be read once more: on a busy computer it is then read with the next question."""

APART = "not read ahead"
"""Under this name the same turns are cached without what was read ahead for them."""

WORD_MS = 200
"""Between two words that are typed."""

SPEEDS = (("Slow", 4000), ("Normal", 1500), ("Fast", 0))
"""Names, and the milliseconds a turn is left on screen before the next one begins."""

STOPPED = "The demo was closed before its end. Run it again to get the report."


class DemoClock:
    """The clock of the demo's placeholders: the real one, some days ahead."""

    def __init__(self) -> None:
        self.days = 0

    def values(self) -> dict[str, str]:
        """What placeholders stand for."""
        return values_at(datetime.now() + timedelta(days=self.days), current_values()["uuid"])


class Pace(QObject):
    """`running` goes on turn after turn; `next_turn` lets one more through. Signals: changed() after each of them."""

    changed = Signal()

    def __init__(self, running: bool, rest_ms: int) -> None:
        super().__init__()
        self.running = running
        self.rest_ms = rest_ms
        self._passes = 0

    def start(self) -> None:
        """Go on turn after turn."""
        self.running = True
        self.changed.emit()

    def pause(self) -> None:
        """Stay after the turn that is being played."""
        self.running = False
        self.changed.emit()

    def next_turn(self) -> None:
        """Play one more turn, then stay."""
        self.running = False
        self._passes += 1
        self.changed.emit()

    def set_rest(self, rest_ms: int) -> None:
        """How long a turn stays on screen while it runs, in milliseconds."""
        self.rest_ms = rest_ms
        self.changed.emit()

    def take(self) -> bool:
        """Whether the next turn may begin now; a single turn that was asked for is used up."""
        if not self.running and self._passes:
            self._passes -= 1
            return True
        return self.running


class Player(QObject):
    """Plays one demo. Each method returns when its part has been played; Qt's event loop runs meanwhile.

    `say` gets a line about each turn, `write` what the composer holds while a question is typed. All methods raise
    HeadstartError when the engine fails or the window is closed.
    Signals: begun(int turn, Step) when a turn begins, measured(Row) for each of its runs, and
    ended(int turn) when the window has come to rest after it.
    """

    begun = Signal(int, object)
    measured = Signal(object)
    ended = Signal(int)

    def __init__(
        self,
        session: Session,
        bridge: Bridge,
        history: History,
        say: Callable[[str], None],
        clock: DemoClock,
        write: Callable[[str], object] = lambda _: None,
    ) -> None:
        super().__init__()
        self._write = write
        self.pace = Pace(running=True, rest_ms=0)
        self._session = session
        self._bridge = bridge
        self._history = history
        self._say = say
        self._clock = clock
        self._chats: dict[int, int] = {}
        self._loop: QEventLoop | None = None
        self._stopped = False
        self._unread_tokens = 0
        bridge.cache_view.connect(self._note_view)

    def stop(self) -> None:
        """End the demo because the window was closed: the method that is being played raises."""
        self._stopped = True
        if self._loop is not None:
            self._loop.quit()

    def wait_for_model(self) -> ModelInfo:
        """Wait until the application has loaded its model, and return what that is."""
        if self._session.model is None:
            self._wait_for(self._session.answers.model_changed)
        assert self._session.model is not None
        return self._session.model

    def check_fits(self, script: Script, turns: int, model: ModelInfo) -> None:
        """Raise HeadstartError, with the cure, where a conversation of the script would outgrow the model's context."""
        asked = script.steps[:turns]
        chats = sorted({step.chat for step in asked})
        if all(self._tokens(script, chat, turns) <= model.context_length for chat in chats):
            return
        fitting = bisect_left(
            range(1, turns + 1),
            True,
            key=lambda count: any(self._tokens(script, chat, count) > model.context_length for chat in chats),
        )
        raise HeadstartError(too_long(script, fitting, turns, self._system_tokens(script), model))

    def _tokens(self, script: Script, chat: int, turns: int) -> int:
        """How many tokens a conversation of the script takes up to this turn, with the longest answers."""
        questions = [step.question for step in script.steps[:turns] if step.chat == chat]
        if not questions:
            return 0
        return self._preview(script.system_prompt, questions).prompt_tokens + MOST_WRITTEN * len(questions)

    def _system_tokens(self, script: Script) -> int:
        """How many tokens the system prompt takes with the shortest question and its answer."""
        return self._preview(script.system_prompt, ["?"]).prompt_tokens + MOST_WRITTEN

    def play(self, script: Script, turns: int, report: Report) -> None:
        """Ask the questions one after the other, and give the engine the prompt of each again with the cache off.

        What was measured takes the place of the estimates in the conversation, so that the window shows it. A turn
        that reused nothing was cold itself and keeps its own time.
        """
        self._session.use_cache = True
        for turn, step in enumerate(script.steps[:turns], 1):
            self._wait_for_turn(is_first=turn == 1)
            self.begun.emit(turn, step)
            self._prepare(script, step)
            title = script.titles[step.chat]
            report.asides[turn] = Aside(title, step.question, step.note)
            self._play_turn(turn, turns, step, report, is_typed=script.is_typed)
            self.rest()
            self.ended.emit(turn)

    def rest(self, ms: int | None = None) -> None:
        """Wait, so that what the window asked of the engine meanwhile is answered before anything is timed, and the
        answer is read once more, as it is while somebody reads it, and what is read ahead is read. On a busy computer
        that takes longer than the rest.
        """
        self._wait_at_most(REST_MS if ms is None else ms)
        patience = QDeadlineTimer(LONGEST_REST_MS)
        while self._bridge.is_reading_ahead and not patience.hasExpired():
            self._wait_at_most(patience.remainingTime(), self._bridge.preview)
        while self._unread_tokens and not patience.hasExpired():
            self._wait_at_most(patience.remainingTime(), self._bridge.cache_view)

    def _wait_at_most(self, ms: int, *ends: SignalInstance) -> None:
        timer = QTimer(singleShot=True, interval=ms)
        self._wait_for(timer.timeout, *ends, start=timer.start)

    def _note_view(self, view: CacheView) -> None:
        self._unread_tokens = view.unread_tokens

    def wait_until_closed(self) -> None:
        """Leave the window to whoever looks at it, until it is closed."""
        while not self._stopped:
            self._loop = QEventLoop()
            self._loop.exec()

    def _wait_for_turn(self, is_first: bool) -> None:
        if self.pace.running and self.pace.rest_ms and not is_first:
            self.rest(self.pace.rest_ms)
        while not self.pace.take():
            self._wait_for(self.pace.changed)
        while self._session.state != "idle":  # somebody asked for another answer in the meantime
            self._wait_for(self._session.state_changed)

    def _prepare(self, script: Script, step: Step) -> None:
        if step.before == "next day":
            self._clock.days += 1
        if step.chat not in self._chats:
            title = script.titles[step.chat]
            self._chats[step.chat] = self._history.create(script.system_prompt, GREEDY, date.today(), title).id
            self._session.conversations_changed.emit()
        self._session.open(self._chats[step.chat])
        if step.before == "cure":
            conversation = self._session.conversation
            cures = with_cure(conversation.cures, Cure("date", "moved"))
            self._session.set_system_prompt(conversation.system_prompt, cures)

    def _play_turn(self, turn: int, turns: int, step: Step, report: Report, *, is_typed: bool) -> None:
        if is_typed:
            self._type(step.question)
        answer = self._ask(step.question)
        assert answer.stats is not None
        self._note(report, make_row(turn, "ahead" if is_typed else "on", answer.stats), turns)
        self.rest()
        if is_typed:
            plain = self._answer_apart(answer, self._session.messages[:-1])
            self._note(report, make_row(turn, "on", plain.stats), turns)
            self.rest()
        cold = self._answer_cold(answer, self._session.messages[:-1])
        report.add_answers(turn, answer.content, cold.text, answer.thought, cold.thought)
        parted = compare(turn, answer.token_ids, cold.token_ids, cold.margins)
        if parted is not None:
            report.parted.append(parted)
        if answer.stats.reused_tokens:
            self._keep_measured(answer, cold)
        self._note(report, make_row(turn, "off", cold.stats), turns)

    def _type(self, question: str) -> None:
        """Word by word, once the conversation is read."""
        self.rest()
        words = question.split(" ")
        for count in range(1, len(words) + 1):
            self._write(" ".join(words[:count]))
            self._wait_at_most(WORD_MS)
        self._write("")

    def _answer_apart(self, answer: StoredMessage, prompt: Sequence[StoredMessage]) -> Finished:
        """The same prompt behind its earlier turns, in a cache of their own in which nothing is read ahead."""
        system = self._history.sent_system_prompt(answer.id)
        request = Branch(self._session.conversation, prompt).request(use_cache=True, system=system)
        request = replace(request, salt=APART, conversation=f"{request.conversation} {APART}", pin_system=False)
        ended = self._end_of(lambda: self._bridge.submit(request), self._bridge.finished)
        assert isinstance(ended, Finished)
        return ended

    def _note(self, report: Report, row: Row, turns: int) -> None:
        report.turns.append(row)
        self._say(
            f"cache {row.cache}, turn {row.turn} of {turns}: {row.reused_tokens:,} of {row.prompt_tokens:,} tokens"
            f" reused, first token {row.ttft_s:.2f} s"
        )
        self.measured.emit(row)

    def _ask(self, question: str) -> StoredMessage:
        answer = self._wait_for(self._session.message_finished, start=lambda: self._session.send(question))
        assert isinstance(answer, StoredMessage)
        return answer

    def _answer_cold(self, answer: StoredMessage, prompt: Sequence[StoredMessage]) -> Finished:
        system = self._history.sent_system_prompt(answer.id)
        request = Branch(self._session.conversation, prompt).request(use_cache=False, system=system)
        request = replace(request, record_margins=True)
        ended = self._end_of(lambda: self._bridge.submit(request), self._bridge.finished)
        assert isinstance(ended, Finished)
        return ended

    def _preview(self, system: str, questions: Sequence[str]) -> Preview:
        pairs = [(Message("user", question), Message("assistant", "…")) for question in questions]
        messages = [message for pair in pairs for message in pair][:-1]
        request = Request((Message("system", system), *messages))
        preview = self._end_of(lambda: self._bridge.request_preview(request), self._bridge.preview)
        assert isinstance(preview, Preview)
        return preview

    def _end_of(self, submit: Callable[[], int], end: SignalInstance) -> object:
        """Ask the engine for something and wait for its end. Raises HeadstartError with the engine's sentence."""
        ids: list[int] = []
        ended = self._wait_for(
            end,
            self._bridge.failed,
            start=lambda: ids.append(submit()),
            is_ours=lambda event: event.request_id in ids,
        )
        if isinstance(ended, Failed):
            raise HeadstartError(ended.sentence, ended.detail)
        return ended

    def _keep_measured(self, answer: StoredMessage, cold: Finished) -> None:
        assert answer.stats is not None
        assert cold.stats.ttft_s is not None
        stats = replace(answer.stats, cold_ttft_s=cold.stats.ttft_s, cold_measured=True)
        self._history.finish(replace(answer, stats=stats))
        self._session.choose_sibling(answer.id)

    def _wait_for(
        self,
        *ends: SignalInstance,
        start: Callable[[], object] = lambda: None,
        is_ours: Callable[[Any], bool] = lambda event: True,
    ) -> object:
        """Start something and wait until one of the signals ends it; return what that signal brought.

        Raises HeadstartError on an error, when `start` returns False, and when the window is closed.
        """
        self._loop = loop = QEventLoop()
        ended: list[object] = []

        def end(event: object = None) -> None:
            if is_ours(event):
                ended.append(event)
                loop.quit()

        def fail(sentence: str, detail: str) -> None:
            ended.append(HeadstartError(sentence, detail))
            loop.quit()

        links = [(self._session.error, fail), *((signal, end) for signal in ends)]
        for signal, slot in links:
            signal.connect(slot)
        if not self._stopped and start() is not False and not ended:
            loop.exec()
        for signal, slot in links:
            signal.disconnect(slot)
        if self._stopped or not ended:
            raise HeadstartError(STOPPED)
        if isinstance(ended[0], HeadstartError):
            raise ended[0]
        return ended[0]

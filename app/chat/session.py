"""The state machine of one chat: send, stop, retry, edit."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date

from PySide6.QtCore import QObject, Signal, SignalInstance

from app.chat.branch import Branch, repair_text
from app.chat.bridge import Bridge
from app.chat.turn import Turn
from app.chat.view import View
from app.history.history import History
from app.history.records import StoredMessage
from app.placeholders import Values, current_values
from app.settings import Settings
from engine import HeadstartError, ModelInfo, ModelSpec


class Session(View):
    """The chat in view and its turns; answers in other conversations go on behind it.

    A question sent while a model is loading waits for it. Every turn ends once: with `message_finished`, or, where
    nothing was written, with `conversation_changed` and the question at the end of `messages`.

    Signals, besides those of View:
        message_added(StoredMessage): a question, or an answer that is going to be written.
        text_added(int, str): more text of the answer with this id.
        message_finished(StoredMessage): an answer in view has ended; this is its final form.
        stats_changed(int, TurnStats): figures of the answer with this id, so far.
        question_taken_back(str, int | None): a question that was stopped before a model had it, to be written again,
            and the id of the one it was sent in place of.
        question_refused(str, int | None): that question was one the engine would never answer as it is.
        prefill_changed(Prefill), matched(Matched): of the answer in view.
        model_changed(ModelInfo), loading_changed(Loading), cache_changed(CacheView).
        loading_stopped(): after `cancel_load`; `model` is as it was before.
    """

    message_added = Signal(object)
    text_added = Signal(int, str)
    message_finished = Signal(object)
    stats_changed = Signal(int, object)
    prefill_changed = Signal(object)
    question_taken_back = Signal(str, object)
    question_refused = Signal(str, object)
    matched = Signal(object)
    model_changed = Signal(object)
    loading_changed = Signal(object)
    loading_stopped = Signal()
    cache_changed = Signal(object)

    def __init__(
        self,
        bridge: Bridge,
        history: History,
        settings: Settings,
        parent: QObject | None = None,
        today: Callable[[], date] = date.today,
        values: Callable[[], Values] = current_values,
    ) -> None:
        super().__init__(bridge, history, settings, parent, today, values)
        bridge.cache_view.connect(self.cache_changed)
        answers = self._answers
        answers.model_changed.connect(self._on_model_changed)
        answers.loading_changed.connect(self.loading_changed)
        answers.loading_stopped.connect(self._on_loading_stopped)
        answers.matched.connect(self.matched)
        answers.prefill_changed.connect(self.prefill_changed)
        answers.text_added.connect(self.text_added)
        answers.stats_changed.connect(self.stats_changed)
        answers.ended.connect(self._on_ended)

    def send(self, text: str) -> bool:
        """Ask. False when nothing was sent: the text is blank, or an `error` says why; keep it in the composer then."""
        return self._ask(text, lambda: self._branch)

    def edit(self, message_id: int, text: str) -> bool:
        """Ask in place of an earlier question, in a new branch. False as in `send`."""
        return self._ask(text, lambda: self._branch.before(message_id))

    def retry(self) -> bool:
        """Answer the last question again, as a sibling of the answer it has. False as in `send`.

        Placeholders stand for what they stood for when the question was sent, so that its prompt is not read again.
        Where one was moved to the newest message since then, the question is asked anew, as in `edit`.
        """
        asked_at, values = time.perf_counter(), self._values()
        try:
            self._refuse_if_not_ready()
            branch = self._branch.to_last_question()
            if not branch.is_sent_alike(values):
                return self.edit(branch.messages[-1].id, branch.messages[-1].content)
            leaf_if_empty = self._branch.messages[-1].id
            answer = branch.append_answer(self._history, values)
        except HeadstartError as error:
            self._report(error)
            return False
        request = branch.request(self.use_cache, values)
        self._submit(Turn(answer, request, leaf_if_empty), asked_at)
        self._draw(branch, answer)
        return True

    def stop(self) -> None:
        """Stop the answer in view; what is written stays. A question that still waits for a model is taken back."""
        if turn := self._turn_in_view():
            is_queued = self._answers.is_queued(turn)
            self._answers.stop(turn)
            if is_queued:
                with self._reporting():
                    self._take_question_back()

    def load_model(self, spec: ModelSpec) -> int:
        """Load a model in place of the present one. Questions wait until it is there. Returns the id of the load."""
        self.foresight.drop()
        return self._answers.load(spec)

    def cancel_load(self) -> None:
        """Stop what is being loaded, at its next step; `loading_stopped` follows, unless it was just ready."""
        self._answers.cancel_load()

    def reload_model(self, spec: ModelSpec) -> None:
        """Load the model that answers again, in another way; `spec` says how, whatever model it names."""
        self.load_model(replace(spec, path=self._answers.model_path))

    def shutdown(self) -> None:
        """Store what is written of every answer and cancel it. Call before the bridge is closed; safe to call twice."""
        self.foresight.drop()
        self._answers.shutdown()

    def _ask(self, text: str, find_branch: Callable[[], Branch]) -> bool:
        text = repair_text(text)
        if not text.strip():
            return False
        asked_at, values = time.perf_counter(), self._values()
        try:
            self._refuse_if_not_ready()
            branch = find_branch()
            conversation, question, answer = branch.ask(text, self._history, self._today(), values)
        except HeadstartError as error:
            self._report(error)
            return False
        branch.conversation = conversation
        request = branch.with_messages(question).request(self.use_cache, values, keep_room=self._keeps_room)
        self._submit(Turn(answer, request, question.id), asked_at)
        self._draw(branch, question, answer)
        return True

    def _submit(self, turn: Turn, asked_at: float) -> None:
        """Give a turn to the engine, which computes while the window draws. Its time runs from `asked_at` on."""
        turn.request = replace(turn.request, asked_at=asked_at)
        self.foresight.draft_sent()
        self._answers.begin(turn)

    def _draw(self, branch: Branch, *messages: StoredMessage) -> None:
        """Show what was just submitted at the end of its branch."""
        if branch is not self._branch or not branch.messages:
            self._show_branch(branch)
        for message in messages:
            self._branch.add(message)
            self.message_added.emit(message)
        self._update_state()
        self.conversations_changed.emit()

    def _refuse_if_not_ready(self) -> None:
        self._refuse_if_busy()
        if not self._answers.model and not self._answers.loading:
            raise HeadstartError("There is no model to answer. Open one first; your text is kept.")

    def _on_model_changed(self, model: ModelInfo | None) -> None:
        self.model_changed.emit(model)
        self.foresight.refresh()

    def _on_loading_stopped(self) -> None:
        self.loading_stopped.emit()
        self.foresight.refresh()

    def _on_ended(self, turn: Turn, message: StoredMessage, kept: bool) -> None:
        if turn.answer.conversation_id != self.conversation.id:
            return
        if kept:
            self._branch.messages[-1] = message
            self.message_finished.emit(message)
        else:
            self._take_back(turn)
            if turn.is_refused:
                self._take_question_back(self.question_refused)
        self.foresight.refresh()

    def _take_question_back(self, *more: SignalInstance) -> None:
        """Forget the question at the end, unless it was answered before; what it stood in place of is in view again."""
        question = self._branch.messages[-1]
        if question.role != "user" or self._history.newest_leaf(question.id) != question.id:
            return
        others = [other.id for other in self._history.siblings(question.id) if other.id != question.id]
        replaced = others[-1] if others else None
        leaf = self._history.newest_leaf(replaced) if replaced else question.parent_id
        if leaf is None:
            self._history.delete(question.conversation_id)
            self._show(Branch(replace(self.conversation, id=0, title="", leaf_id=None)))
        else:
            self._history.discard(question.id, leaf)
            self._show(self._read(question.conversation_id, self._branch.left_out))
        self.conversations_changed.emit()
        for signal in (self.question_taken_back, *more):
            signal.emit(question.content, replaced)

    def _take_back(self, turn: Turn) -> None:
        branch = self._branch.cut(len(self._branch.messages) - 1)
        if branch.leaf_id != turn.leaf_if_empty:
            with self._reporting():
                branch.add(self._answers.newest_form(self._history.message(turn.leaf_if_empty)))
        self._show_branch(branch)

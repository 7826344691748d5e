"""All answers on their way, in whichever conversation, and the model that writes them."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.chat.bridge import Bridge
from app.chat.saving import Saving
from app.chat.turn import Phase, Turn
from app.history.records import StoredMessage, label_of
from engine import Failed, Finished, Loaded, Loading, Matched, ModelInfo, ModelSpec, Prefill, TextDelta, TurnStats


class Answers(QObject):
    """Turns from their submission to their end, which each has exactly once. While a model is loading they queue.

    Attributes: model: the one that answers, None while there is none; model_path: of that one, or of the one that was
    asked for in its place; asked_cache_bytes: the cache budget that the newest load asked for, 0 for automatic;
    in_view: the conversation whose turn the window shows.

    Signals of every turn:
        progressed(): a phase or the model changed.
        ended(Turn, StoredMessage, bool): the final form of an answer, and whether it was kept; False where nothing was
            written in it, so that it is gone.
    Signals of the turn in view:
        matched(Matched), prefill_changed(Prefill).
        text_added(int, str), thought_added(int, str): more text of the answer with this id, or of its thought.
        stats_changed(int, TurnStats): figures of the answer with this id, so far.
    Signals of the model:
        model_changed(ModelInfo | None), loading_changed(Loading).
        loading_stopped(): on the user's wish; `model` is as it was before.
    error(str sentence, str detail): a turn or a load failed, or the engine itself did.
    """

    progressed = Signal()
    ended = Signal(object, object, bool)
    matched = Signal(object)
    prefill_changed = Signal(object)
    text_added = Signal(object, str)
    thought_added = Signal(object, str)
    stats_changed = Signal(object, object)
    model_changed = Signal(object)
    loading_changed = Signal(object)
    loading_stopped = Signal()
    error = Signal(str, str)

    def __init__(self, bridge: Bridge, saving: Saving, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.model: ModelInfo | None = None
        self.model_path = ""
        self.asked_cache_bytes = 0
        self.in_view = 0
        self._bridge = bridge
        self._loading_id = 0
        self._is_load_cancelled = False
        self._running: dict[int, Turn] = {}
        self._queued: list[Turn] = []
        self._ending: dict[int, int] = {}  # requests of deleted conversations that still run, and the conversations
        self._saving = saving
        bridge.loading.connect(self._on_loading)
        bridge.loaded.connect(self._on_loaded)
        bridge.matched.connect(self._on_matched)
        bridge.prefill.connect(self._on_prefill)
        bridge.text.connect(self._on_text)
        bridge.stats.connect(self._on_stats)
        bridge.finished.connect(self._on_finished)
        bridge.failed.connect(self._on_failed)

    @property
    def loading(self) -> bool:
        """True while a model is being loaded."""
        return self._loading_id != 0

    def turns(self) -> list[Turn]:
        """Every answer on its way, those that wait for a model last."""
        return [*self._running.values(), *self._queued]

    def turn_of(self, conversation_id: int) -> Turn | None:
        """The answer that is on its way in this conversation; there is at most one."""
        return next((turn for turn in self.turns() if turn.answer.conversation_id == conversation_id), None)

    @property
    def is_answering(self) -> bool:
        """Whether an answer is on its way, in whichever conversation."""
        return bool(self.turns())

    def is_queued(self, turn: Turn) -> bool:
        """True while the turn waits for a model."""
        return turn in self._queued

    def newest_form(self, message: StoredMessage) -> StoredMessage:
        """A message of the history with what was written since it was stored."""
        for turn in self.turns():
            if turn.answer.id == message.id:
                return turn.message()
        return self._saving.unsaved.get(message.id, message)

    def load(self, spec: ModelSpec) -> int:
        """Load a model in place of the present one, which stays when this fails, unless there was no memory for both;
        one that is being loaded is let go.

        Returns the id of the load.
        """
        if self.loading:
            self._bridge.cancel(self._loading_id)
        self._loading_id = load_id = self._bridge.load(spec)
        self.model_path, self._is_load_cancelled = spec.path, False
        self.asked_cache_bytes = spec.cache_bytes or 0
        self.progressed.emit()
        return load_id

    def reload(self, spec: ModelSpec) -> int:
        """Load the model that answers again, in another way; `spec` says how, whatever model it names."""
        return self.load(replace(spec, path=self.model_path))

    def cancel_load(self) -> None:
        """Stop what is being loaded, at its next step; `loading_stopped` follows, unless it was just ready."""
        if self.loading:
            self._is_load_cancelled = True
            self._bridge.cancel(self._loading_id)

    def begin(self, turn: Turn) -> None:
        """Submit a turn, or queue it until the model is there. The caller draws it, and then emits `progressed`."""
        if self.loading:
            turn.request = replace(turn.request, asked_at=None)  # waiting for a model is no part of the turn's time
        self._queued.append(turn)
        if not self.loading:
            self._submit_queued()
        self._saving.begin(turn)

    def stop(self, turn: Turn) -> None:
        """End a turn with what is written."""
        if turn in self._queued:
            self._queued.remove(turn)
            self._end(turn, turn.ended(turn.message(), "stopped"))
            return
        turn.phase = "stopping"
        self._bridge.cancel(turn.request_id)
        self.progressed.emit()

    def stop_in(self, conversation_id: int) -> None:
        """End the turn in this conversation, if there is one."""
        if turn := self.turn_of(conversation_id):
            self.stop(turn)

    def forget(self, conversation_id: int) -> None:
        """A conversation was deleted: cancel the answer that is being written in it, drop what still comes of that, and
        have the engine delete what it cached for it."""
        turn = self.turn_of(conversation_id)
        if turn in self._queued:
            self._queued.remove(turn)
        elif turn is not None:
            del self._running[turn.request_id]
            self._ending[turn.request_id] = conversation_id
            self._bridge.cancel(turn.request_id)
        self._let_go(conversation_id)
        self._saving.forget(conversation_id)

    def shutdown(self) -> None:
        """Store what is written of every answer and cancel it. Safe to call twice."""
        for turn in self.turns():
            if turn.request_id:
                self._bridge.cancel(turn.request_id)
            self._saving.keep(turn, turn.ended(turn.message(), "stopped"))
        self._running.clear()
        self._queued.clear()
        self._ending.clear()
        self._loading_id = 0

    def _submit_queued(self) -> None:
        for turn in self._queued:
            turn.request_id = self._bridge.submit(turn.request, is_soon=turn.is_soon)
            self._running[turn.request_id] = turn
        self._queued.clear()

    def _end(self, turn: Turn, message: StoredMessage) -> None:
        kept = self._saving.keep(turn, message)
        self.ended.emit(turn, message, kept)
        self.progressed.emit()

    def _on_loading(self, event: Loading) -> None:
        if event.request_id == self._loading_id and not self._is_load_cancelled:
            self.loading_changed.emit(event)

    def _on_loaded(self, event: Loaded) -> None:
        # Also a model that a later load is to replace answers from now on: the engine holds it, should that load fail.
        self.model = event.model
        is_newest = event.request_id == self._loading_id
        if is_newest:
            self._loading_id = 0
        self.model_changed.emit(event.model)  # before what waited is submitted: it may be adapted to the model
        if is_newest:
            self._submit_queued()
        self.progressed.emit()

    def _on_matched(self, event: Matched) -> None:
        if turn := self._running.get(event.request_id):
            turn.divergence = turn.divergence if turn.before else event.divergence
            self._advance(turn, "prefill")
            if self._is_in_view(turn):
                self.matched.emit(event)

    def _on_prefill(self, event: Prefill) -> None:
        if turn := self._running.get(event.request_id):
            self._advance(turn, "prefill")
            if self._is_in_view(turn):
                self.prefill_changed.emit(event)

    def _on_text(self, event: TextDelta) -> None:
        if turn := self._running.get(event.request_id):
            turn.add(event.text, event.is_thought, event.token_ids)
            self._advance(turn, "writing")
            if self._is_in_view(turn):
                (self.thought_added if event.is_thought else self.text_added).emit(turn.answer.id, event.text)

    def _on_stats(self, event: TurnStats) -> None:
        if turn := self._running.get(event.request_id):
            turn.stats = event
            if self._is_in_view(turn):
                self.stats_changed.emit(turn.answer.id, turn.figures)

    def _on_finished(self, event: Finished) -> None:
        if turn := self._running.pop(event.request_id, None):
            turn.stats = event.stats
            written = replace(turn.message(), content=event.text, thought=event.thought, tool_calls=event.tool_calls)
            accepted = (*turn.answer.accepted, *event.accepted)
            self._end(turn, turn.ended(replace(written, token_ids=event.token_ids, accepted=accepted), event.reason))
        else:
            self._forget_ended(event.request_id)

    def _on_failed(self, event: Failed) -> None:
        if event.is_model_gone:
            self.model = None
            self.model_changed.emit(None)
        if event.request_id <= 0:  # no request's own failure, but the engine's
            self.error.emit(event.sentence, event.detail)
        elif event.request_id == self._loading_id:
            self._fail_loading(event)
        elif turn := self._running.pop(event.request_id, None):
            turn.is_refused = event.is_refused
            self._end(turn, turn.ended(turn.message(), "failed"))
            self.error.emit(event.sentence, event.detail)
        else:
            self._forget_ended(event.request_id)

    def _forget_ended(self, request_id: int) -> None:
        """The last turn of a deleted conversation ended: the engine may have cached more of it in the meantime."""
        if conversation_id := self._ending.pop(request_id, 0):
            self._let_go(conversation_id)

    def _let_go(self, conversation_id: int) -> None:
        self._bridge.tell("forget", label_of(conversation_id))

    def _fail_loading(self, event: Failed) -> None:
        self._loading_id = 0
        if self.model:
            self.model_path = self.model.path
            self._submit_queued()
        waiting, self._queued = self._queued, []
        for turn in waiting:
            self._end(turn, turn.ended(turn.message(), "failed"))
        self.progressed.emit()
        if self._is_load_cancelled and not event.is_model_gone:
            self.loading_stopped.emit()
        else:
            self.error.emit(event.sentence, event.detail)

    def _advance(self, turn: Turn, phase: Phase) -> None:
        if turn.phase not in ("stopping", phase):
            turn.phase = phase
            self.progressed.emit()

    def _is_in_view(self, turn: Turn) -> bool:
        return turn.answer.conversation_id == self.in_view

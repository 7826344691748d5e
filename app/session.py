"""The chat in view: send, stop, retry, edit, branch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date

from PySide6.QtCore import QObject, Signal

from app.bridge import Bridge
from app.history import Conversation, History, StoredMessage
from app.keeper import Keeper
from app.previewer import Previewer
from app.settings import Settings
from app.turn import Turn, build_request, make_title, repair_text
from engine import (
    Failed,
    Finished,
    HeadstartError,
    Loaded,
    Loading,
    Matched,
    ModelInfo,
    ModelSpec,
    Prefill,
    Request,
    Sampling,
    TextDelta,
    TurnStats,
)


class Session(QObject):
    """State machine of the chat in view; answers in other conversations go on behind it.

    `state` is "no_model", "loading", "idle", or that of the answer in view: "waiting" (sent, nothing heard yet),
    "prefill", "writing", "stopping". A question sent while a model is loading waits for it.

    Signals:
        conversation_changed(Conversation): another one or another branch is in view; draw `messages` anew.
        conversations_changed(): the list of conversations, their order or a title changed.
        message_added(StoredMessage): a question, or an answer that is going to be written.
        text_added(int, str): more text of the answer with this id.
        message_finished(StoredMessage): an answer in view has ended; this is its final form.
        stats_changed(int, TurnStats): figures of the answer with this id, so far.
        prefill_changed(Prefill), matched(Matched): of the answer in view.
        state_changed(str), preview_changed(Preview), model_changed(ModelInfo | None), loading_changed(Loading),
        cache_changed(CacheView), error(sentence, detail).
    """

    conversation_changed = Signal(object)
    conversations_changed = Signal()
    message_added = Signal(object)
    text_added = Signal(int, str)
    message_finished = Signal(object)
    stats_changed = Signal(int, object)
    prefill_changed = Signal(object)
    matched = Signal(object)
    state_changed = Signal(str)
    preview_changed = Signal(object)
    model_changed = Signal(object)
    loading_changed = Signal(object)
    cache_changed = Signal(object)
    error = Signal(str, str)

    def __init__(
        self,
        bridge: Bridge,
        history: History,
        settings: Settings,
        parent: QObject | None = None,
        today: Callable[[], date] = date.today,
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._history = history
        self._settings = settings
        self._today = today
        self._model: ModelInfo | None = None
        self._loading_id = 0
        self._running: dict[int, Turn] = {}
        self._queued: list[Turn] = []
        self._draft = ""
        self._conversation = self._blank()
        self._messages: list[StoredMessage] = []
        self._keeper = Keeper(history, self._turns, self)
        self._keeper.error.connect(self.error)
        self._previewer = Previewer(bridge, self._preview_request, self)
        self._previewer.preview_changed.connect(self.preview_changed)
        self._state = self.state
        self._connect(bridge)

    def _connect(self, bridge: Bridge) -> None:
        bridge.loading.connect(self._on_loading)
        bridge.loaded.connect(self._on_loaded)
        bridge.matched.connect(self._on_matched)
        bridge.prefill.connect(self._on_prefill)
        bridge.text.connect(self._on_text)
        bridge.stats.connect(self._on_stats)
        bridge.finished.connect(self._on_finished)
        bridge.failed.connect(self._on_failed)
        bridge.cache_view.connect(self.cache_changed)

    # What is in view

    @property
    def conversation(self) -> Conversation:
        """The conversation in view; its id is 0 until something is written in it."""
        return self._conversation

    @property
    def messages(self) -> tuple[StoredMessage, ...]:
        """The branch in view from its first message on, with all that is written of an answer still on its way."""
        return tuple(self._newest_form(message) for message in self._messages)

    @property
    def state(self) -> str:
        """See the class."""
        turn = self._turn_in_view()
        if turn in self._queued or (turn is None and self._loading_id):
            return "loading"
        if turn is not None:
            return turn.phase
        return "idle" if self._model else "no_model"

    @property
    def model(self) -> ModelInfo | None:
        """The model that answers, None while there is none."""
        return self._model

    @property
    def use_cache(self) -> bool:
        """Whether new questions may reuse cached blocks."""
        return self._settings.use_cache

    @use_cache.setter
    def use_cache(self, value: bool) -> None:
        self._settings.use_cache = value
        with self._reporting():
            self._settings.save()
        self._preview_soon()

    def conversations(self, search: str = "") -> list[Conversation]:
        """All stored conversations, newest first, or those that hold `search`."""
        with self._reporting():
            return self._history.conversations(search)
        return []

    def siblings(self, message_id: int) -> tuple[StoredMessage, ...]:
        """The messages this one can be exchanged for, itself among them, oldest first."""
        with self._reporting():
            return tuple(self._newest_form(message) for message in self._history.siblings(message_id))
        return ()

    # Conversations

    def new_conversation(self) -> None:
        """Put an empty conversation in view. It is stored once something is written in it."""
        self._show(self._blank(), [])

    def open(self, conversation_id: int) -> None:
        """Put a stored conversation in view. An answer that is being written elsewhere goes on."""
        if conversation_id == self._conversation.id:
            return
        with self._reporting():
            self._show(self._history.conversation(conversation_id), self._history.messages(conversation_id))

    def delete(self, conversation_id: int) -> None:
        """Forget a conversation; an answer that is being written in it is stopped."""
        with self._reporting():
            self._history.delete(conversation_id)
            self._drop_turn(conversation_id)
            self._keeper.forget(conversation_id)
            if conversation_id == self._conversation.id:
                self.new_conversation()
            self.conversations_changed.emit()

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation another title."""
        with self._reporting():
            self._history.rename(conversation_id, title)
            if conversation_id == self._conversation.id:
                self._conversation = replace(self._conversation, title=title)
            self.conversations_changed.emit()

    def set_system_prompt(self, text: str) -> None:
        """Change the system prompt of the conversation in view, from the next question on."""
        text = repair_text(text)
        if text == self._conversation.system_prompt:
            return
        self._conversation = replace(self._conversation, system_prompt=text)
        self._preview_soon()
        if self._conversation.id:
            with self._reporting():
                self._history.set_system_prompt(self._conversation.id, text)

    def set_sampling(self, sampling: Sampling) -> None:
        """Change the sampling of the conversation in view, from the next question on."""
        self._conversation = replace(self._conversation, sampling=sampling)
        if self._conversation.id:
            with self._reporting():
                self._history.set_sampling(self._conversation.id, sampling)

    # Turns

    def send(self, text: str) -> bool:
        """Ask. False when nothing was sent: the text is blank, or an `error` says why; keep it in the composer then."""
        return self._ask(repair_text(text), lambda: self._messages)

    def edit(self, message_id: int, text: str) -> bool:
        """Ask in place of an earlier question, in a new branch. False as in `send`."""
        return self._ask(repair_text(text), lambda: self._before(message_id))

    def retry(self) -> bool:
        """Answer the last question again, as a sibling of the answer it has. False as in `send`."""
        with self._reporting():
            self._refuse_if_not_ready()
            kept = [*self._messages]
            while kept and kept[-1].role == "assistant":
                kept.pop()
            if not kept:
                raise HeadstartError("There is no question to answer yet. Write one first.")
            leaf_if_empty = self._messages[-1].id
            answer = self._history.append(self._conversation.id, kept[-1].id, "assistant", "")
            self._show_branch(kept)
            self._begin(answer, leaf_if_empty)
            return True
        return False

    def choose_sibling(self, message_id: int) -> None:
        """Show the branch that goes through this message, down to what was written last in it."""
        with self._reporting():
            self._refuse_if_busy()
            number = self._conversation.id
            self._history.set_leaf(number, self._history.newest_leaf(message_id))
            self._show(self._history.conversation(number), self._history.messages(number))

    def stop(self) -> None:
        """Stop the answer in view; what is written stays."""
        turn = self._turn_in_view()
        if turn is None:
            return
        if turn in self._queued:
            self._queued.remove(turn)
            self._end(turn, replace(turn.message(), finish_reason="stopped"))
            return
        turn.phase = "stopping"
        self._bridge.cancel(turn.request_id)
        self._update_state()

    def draft_changed(self, text: str) -> None:
        """The composer holds this text now; its preview follows."""
        if text != self._draft:
            self._draft = text
            self._preview_soon()

    def load_model(self, spec: ModelSpec) -> None:
        """Load a model in place of the present one. Questions wait until it is there."""
        self._loading_id = self._bridge.load(spec)
        self._previewer.drop()
        self._update_state()

    def shutdown(self) -> None:
        """Store what is written of every answer and cancel it. Call before the bridge is closed; safe to call twice."""
        self._previewer.drop()
        for turn in self._turns():
            if turn.request_id:
                self._bridge.cancel(turn.request_id)
            self._keeper.keep(turn, replace(turn.message(), finish_reason="stopped"))
        self._running.clear()
        self._queued.clear()
        self._loading_id = 0
        self._keeper.close()

    # Inside a turn

    def _ask(self, text: str, kept: Callable[[], list[StoredMessage]]) -> bool:
        if not text.strip():
            return False
        with self._reporting():
            self._refuse_if_not_ready()
            branch = kept()
            with self._history.together():
                conversation = self._stored(text)
                parent = branch[-1].id if branch else None
                question = self._history.append(conversation.id, parent, "user", text)
                answer = self._history.append(conversation.id, question.id, "assistant", "")
            if conversation.id != self._conversation.id or len(branch) < len(self._messages):
                self._conversation = conversation
                self._show_branch(branch)
            self._add(question)
            self._begin(answer, question.id)
            return True
        return False

    def _stored(self, first_question: str) -> Conversation:
        now = self._conversation
        if now.id:
            return now
        title = now.title or make_title(first_question)
        return self._history.create(now.system_prompt, now.sampling, self._today(), title)

    def _before(self, message_id: int) -> list[StoredMessage]:
        for index, message in enumerate(self._messages):
            if message.id == message_id and message.role == "user":
                return self._messages[:index]
        raise HeadstartError("This question is not in the conversation in view. Open its conversation first.")

    def _add(self, message: StoredMessage) -> None:
        self._messages.append(message)
        self.message_added.emit(message)

    def _begin(self, answer: StoredMessage, leaf_if_empty: int) -> None:
        request = build_request(self._conversation, self._messages, self.use_cache)
        turn = Turn(answer, request, leaf_if_empty)
        self._draft = ""
        self._previewer.drop()
        self._queued.append(turn)
        self._add(answer)
        if not self._loading_id:
            self._submit_queued()
        self._keeper.start()
        self._update_state()
        self.conversations_changed.emit()

    def _submit_queued(self) -> None:
        for turn in self._queued:
            turn.request_id = self._bridge.submit(turn.request)
            self._running[turn.request_id] = turn
        self._queued.clear()

    def _end(self, turn: Turn, message: StoredMessage) -> None:
        kept = self._keeper.keep(turn, message)
        if turn.answer.conversation_id == self._conversation.id:
            self._show_end(turn, message, kept)
            self._preview_soon()
        self._update_state()

    def _show_end(self, turn: Turn, message: StoredMessage, kept: bool) -> None:
        if kept:
            self._messages[-1] = message
            self.message_finished.emit(message)
            return
        self._messages.pop()
        if turn.leaf_if_empty != self._messages[-1].id:
            self._messages = list(self._history.messages(self._conversation.id))
        self.conversation_changed.emit(self._conversation)

    def _drop_turn(self, conversation_id: int) -> None:
        turn = self._turn_of(conversation_id)
        if turn in self._queued:
            self._queued.remove(turn)
        elif turn is not None:
            del self._running[turn.request_id]
            self._bridge.cancel(turn.request_id)

    # Events

    def _on_loading(self, event: Loading) -> None:
        if event.request_id == self._loading_id:
            self.loading_changed.emit(event)

    def _on_loaded(self, event: Loaded) -> None:
        if event.request_id != self._loading_id:
            return
        self._loading_id = 0
        self._model = event.model
        self.model_changed.emit(event.model)
        self._submit_queued()
        self._update_state()
        self._preview_soon()

    def _on_matched(self, event: Matched) -> None:
        if turn := self._running.get(event.request_id):
            turn.divergence = event.divergence
            self._advance(turn, "prefill")
            if self._in_view(turn):
                self.matched.emit(event)

    def _on_prefill(self, event: Prefill) -> None:
        if turn := self._running.get(event.request_id):
            self._advance(turn, "prefill")
            if self._in_view(turn):
                self.prefill_changed.emit(event)

    def _on_text(self, event: TextDelta) -> None:
        if turn := self._running.get(event.request_id):
            turn.pieces.append(event.text)
            turn.unsaved = True
            self._advance(turn, "writing")
            if self._in_view(turn):
                self.text_added.emit(turn.answer.id, event.text)

    def _on_stats(self, event: TurnStats) -> None:
        if turn := self._running.get(event.request_id):
            turn.stats = event
            if self._in_view(turn):
                self.stats_changed.emit(turn.answer.id, event)

    def _on_finished(self, event: Finished) -> None:
        if turn := self._running.pop(event.request_id, None):
            turn.stats = event.stats
            self._end(
                turn,
                replace(turn.message(), content=event.text, token_ids=event.token_ids, finish_reason=event.reason),
            )

    def _on_failed(self, event: Failed) -> None:
        if event.request_id == self._loading_id:
            self._fail_loading(event)
        elif turn := self._running.pop(event.request_id, None):
            self._end(turn, replace(turn.message(), finish_reason="failed"))
            self.error.emit(event.sentence, event.detail)

    def _fail_loading(self, event: Failed) -> None:
        self._loading_id = 0
        if self._model:
            self._submit_queued()
        waiting, self._queued = self._queued, []
        for turn in waiting:
            self._end(turn, replace(turn.message(), finish_reason="failed"))
        self._update_state()
        self._preview_soon()
        self.error.emit(event.sentence, event.detail)

    def _advance(self, turn: Turn, phase: str) -> None:
        if turn.phase != "stopping" and turn.phase != phase:
            turn.phase = phase
            self._update_state()

    # Small print

    def _blank(self) -> Conversation:
        return Conversation(0, "", self._settings.system_prompt, self._settings.sampling, self._today())

    def _show(self, conversation: Conversation, messages: list[StoredMessage] | tuple[StoredMessage, ...]) -> None:
        self._conversation = conversation
        self._show_branch(list(messages))
        self._update_state()
        self._preview_soon()

    def _show_branch(self, messages: list[StoredMessage]) -> None:
        self._messages = [*messages]
        self.conversation_changed.emit(self._conversation)

    def _turns(self) -> list[Turn]:
        return [*self._running.values(), *self._queued]

    def _turn_of(self, conversation_id: int) -> Turn | None:
        return next((turn for turn in self._turns() if turn.answer.conversation_id == conversation_id), None)

    def _turn_in_view(self) -> Turn | None:
        return self._turn_of(self._conversation.id)

    def _in_view(self, turn: Turn) -> bool:
        return turn.answer.conversation_id == self._conversation.id

    def _newest_form(self, message: StoredMessage) -> StoredMessage:
        for turn in self._turns():
            if turn.answer.id == message.id:
                return turn.message()
        return self._keeper.unsaved.get(message.id, message)

    def _refuse_if_busy(self) -> None:
        if self._turn_in_view():
            raise HeadstartError("An answer is being written here. Wait for its end or stop it first.")

    def _refuse_if_not_ready(self) -> None:
        self._refuse_if_busy()
        if not self._model and not self._loading_id:
            raise HeadstartError("There is no model to answer. Open one first; your text is kept.")

    def _preview_request(self) -> Request | None:
        if not self._model or self._loading_id or self._turn_in_view():
            return None
        messages = [*self._messages]
        if self._draft or not messages or messages[-1].role != "user":
            messages.append(StoredMessage(0, self._conversation.id, None, "user", repair_text(self._draft)))
        return build_request(self._conversation, messages, self.use_cache)

    def _preview_soon(self) -> None:
        if not self._model or self._loading_id or self._turn_in_view():
            self._previewer.drop()
        else:
            self._previewer.schedule()

    def _update_state(self) -> None:
        if self.state != self._state:
            self._state = self.state
            self.state_changed.emit(self._state)

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except HeadstartError as error:
            self.error.emit(str(error), error.detail)

"""The chat in view: send, stop, retry, edit, branch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date

from PySide6.QtCore import QObject, Signal

from app.answers import Answers
from app.branch import Branch, make_title, repair_text
from app.bridge import Bridge
from app.history import Conversation, History, StoredMessage
from app.previewer import Previewer
from app.settings import Settings
from app.turn import Turn
from engine import (
    HeadstartError,
    Matched,
    ModelInfo,
    ModelSpec,
    Prefill,
    Request,
    Sampling,
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
        self._history = history
        self._settings = settings
        self._today = today
        self._draft = ""
        self._branch = self._blank()
        self._answers = Answers(bridge, history, self)
        self._previewer = Previewer(bridge, self._preview_request, self)
        self._state = self.state
        self._previewer.preview_changed.connect(self.preview_changed)
        bridge.cache_view.connect(self.cache_changed)
        self._follow(self._answers)

    def _follow(self, answers: Answers) -> None:
        answers.model_changed.connect(self._on_model_changed)
        answers.loading_changed.connect(self.loading_changed)
        answers.progressed.connect(self._update_state)
        answers.matched.connect(self._on_matched)
        answers.prefill_changed.connect(self._on_prefill)
        answers.text_added.connect(self._on_text)
        answers.stats_changed.connect(self._on_stats)
        answers.ended.connect(self._on_ended)
        answers.error.connect(self.error)

    # What is in view

    @property
    def conversation(self) -> Conversation:
        """The conversation in view; its id is 0 until something is written in it."""
        return self._branch.conversation

    @property
    def messages(self) -> tuple[StoredMessage, ...]:
        """The branch in view from its first message on, with all that is written of an answer still on its way."""
        return tuple(self._answers.newest_form(message) for message in self._branch.messages)

    @property
    def state(self) -> str:
        """See the class."""
        turn = self._turn_in_view()
        if turn and not self._answers.is_queued(turn):
            return turn.phase
        if self._answers.loading:
            return "loading"
        return "idle" if self._answers.model else "no_model"

    @property
    def model(self) -> ModelInfo | None:
        """The model that answers, None while there is none."""
        return self._answers.model

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
        try:
            return self._history.conversations(search)
        except HeadstartError as error:
            self._report(error)
            return []

    def siblings(self, message_id: int) -> tuple[StoredMessage, ...]:
        """The messages this one can be exchanged for, itself among them, oldest first."""
        try:
            return tuple(self._answers.newest_form(message) for message in self._history.siblings(message_id))
        except HeadstartError as error:
            self._report(error)
            return ()

    # Conversations

    def new_conversation(self) -> None:
        """Put an empty conversation in view. It is stored once something is written in it."""
        self._show(self._blank())

    def open(self, conversation_id: int) -> None:
        """Put a stored conversation in view. An answer that is being written elsewhere goes on."""
        if conversation_id == self.conversation.id:
            return
        with self._reporting():
            self._show(self._read(conversation_id))

    def delete(self, conversation_id: int) -> None:
        """Forget a conversation; an answer that is being written in it is stopped."""
        with self._reporting():
            self._history.delete(conversation_id)
            self._answers.forget(conversation_id)
            if conversation_id == self.conversation.id:
                self.new_conversation()
            self.conversations_changed.emit()

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation another title."""
        with self._reporting():
            self._history.rename(conversation_id, title)
            if conversation_id == self.conversation.id:
                self._change(title=title)
            self.conversations_changed.emit()

    def set_system_prompt(self, text: str) -> None:
        """Change the system prompt of the conversation in view, from the next question on."""
        text = repair_text(text)
        if text == self.conversation.system_prompt:
            return
        self._change(system_prompt=text)
        self._preview_soon()
        if self.conversation.id:
            with self._reporting():
                self._history.set_system_prompt(self.conversation.id, text)

    def set_sampling(self, sampling: Sampling) -> None:
        """Change the sampling of the conversation in view, from the next question on."""
        self._change(sampling=sampling)
        if self.conversation.id:
            with self._reporting():
                self._history.set_sampling(self.conversation.id, sampling)

    # Turns

    def send(self, text: str) -> bool:
        """Ask. False when nothing was sent: the text is blank, or an `error` says why; keep it in the composer then."""
        return self._ask(text, lambda: self._branch)

    def edit(self, message_id: int, text: str) -> bool:
        """Ask in place of an earlier question, in a new branch. False as in `send`."""
        return self._ask(text, lambda: self._branch.before(message_id))

    def retry(self) -> bool:
        """Answer the last question again, as a sibling of the answer it has. False as in `send`."""
        try:
            self._refuse_if_not_ready()
            branch = self._branch.to_last_question()
            leaf_if_empty = self._branch.messages[-1].id
            answer = self._history.append(self.conversation.id, branch.leaf_id, "assistant", "")
        except HeadstartError as error:
            self._report(error)
            return False
        self._show_branch(branch)
        self._begin(answer, leaf_if_empty)
        return True

    def choose_sibling(self, message_id: int) -> None:
        """Show the branch that goes through this message, down to what was written last in it."""
        with self._reporting():
            self._refuse_if_busy()
            number = self._history.message(message_id).conversation_id
            self._history.set_leaf(number, self._history.newest_leaf(message_id))
            self._show(self._read(number))

    def stop(self) -> None:
        """Stop the answer in view; what is written stays."""
        if turn := self._turn_in_view():
            self._answers.stop(turn)

    def draft_changed(self, text: str) -> None:
        """The composer holds this text now; its preview follows."""
        if text != self._draft:
            self._draft = text
            self._preview_soon()

    def load_model(self, spec: ModelSpec) -> None:
        """Load a model in place of the present one. Questions wait until it is there."""
        self._previewer.drop()
        self._answers.load(spec)

    def shutdown(self) -> None:
        """Store what is written of every answer and cancel it. Call before the bridge is closed; safe to call twice."""
        self._previewer.drop()
        self._answers.shutdown()

    # Inside a turn

    def _ask(self, text: str, find_branch: Callable[[], Branch]) -> bool:
        text = repair_text(text)
        if not text.strip():
            return False
        try:
            self._refuse_if_not_ready()
            branch = find_branch()
            conversation, question, answer = self._store_question(branch, text)
        except HeadstartError as error:
            self._report(error)
            return False
        branch.conversation = conversation
        if branch is not self._branch or not branch.messages:
            self._show_branch(branch)
        self._add(question)
        self._begin(answer, question.id)
        return True

    def _store_question(self, branch: Branch, text: str) -> tuple[Conversation, StoredMessage, StoredMessage]:
        with self._history.together():
            conversation = self._stored(branch.conversation, text)
            question = self._history.append(conversation.id, branch.leaf_id, "user", text)
            return conversation, question, self._history.append(conversation.id, question.id, "assistant", "")

    def _stored(self, conversation: Conversation, first_question: str) -> Conversation:
        if conversation.id:
            return conversation
        title = make_title(first_question)
        return self._history.create(conversation.system_prompt, conversation.sampling, self._today(), title)

    def _add(self, message: StoredMessage) -> None:
        self._branch.add(message)
        self.message_added.emit(message)

    def _begin(self, answer: StoredMessage, leaf_if_empty: int) -> None:
        request = self._branch.request(self.use_cache)
        self._draft = ""
        self._previewer.drop()
        self._add(answer)
        self._answers.begin(Turn(answer, request, leaf_if_empty))
        self.conversations_changed.emit()

    # Events

    def _on_model_changed(self, model: ModelInfo | None) -> None:
        self.model_changed.emit(model)
        self._preview_soon()

    def _on_matched(self, turn: Turn, event: Matched) -> None:
        if self._in_view(turn):
            self.matched.emit(event)

    def _on_prefill(self, turn: Turn, event: Prefill) -> None:
        if self._in_view(turn):
            self.prefill_changed.emit(event)

    def _on_text(self, turn: Turn, text: str) -> None:
        if self._in_view(turn):
            self.text_added.emit(turn.answer.id, text)

    def _on_stats(self, turn: Turn, event: TurnStats) -> None:
        if self._in_view(turn):
            self.stats_changed.emit(turn.answer.id, event)

    def _on_ended(self, turn: Turn, message: StoredMessage, kept: bool) -> None:
        if not self._in_view(turn):
            return
        if kept:
            self._branch.messages[-1] = message
            self.message_finished.emit(message)
        else:
            self._take_back(turn)
        self._preview_soon()

    def _take_back(self, turn: Turn) -> None:
        branch = self._branch.cut(len(self._branch.messages) - 1)
        if branch.leaf_id != turn.leaf_if_empty:
            with self._reporting():
                branch.add(self._answers.newest_form(self._history.message(turn.leaf_if_empty)))
        self._show_branch(branch)

    # The view

    def _blank(self) -> Branch:
        return Branch(Conversation(0, "", self._settings.system_prompt, self._settings.sampling, self._today()))

    def _read(self, conversation_id: int) -> Branch:
        messages = self._history.messages(conversation_id)
        return Branch(self._history.conversation(conversation_id), map(self._answers.newest_form, messages))

    def _change(self, **values: object) -> None:
        self._branch.conversation = replace(self._branch.conversation, **values)  # type: ignore[arg-type]

    def _show(self, branch: Branch) -> None:
        self._show_branch(branch)
        self._update_state()
        self._preview_soon()

    def _show_branch(self, branch: Branch) -> None:
        self._branch = branch
        self.conversation_changed.emit(branch.conversation)

    def _turn_in_view(self) -> Turn | None:
        return self._answers.turn_of(self.conversation.id)

    def _in_view(self, turn: Turn) -> bool:
        return turn.answer.conversation_id == self.conversation.id

    def _refuse_if_busy(self) -> None:
        if self._turn_in_view():
            raise HeadstartError("An answer is being written here. Wait for its end or stop it first.")

    def _refuse_if_not_ready(self) -> None:
        self._refuse_if_busy()
        if not self._answers.model and not self._answers.loading:
            raise HeadstartError("There is no model to answer. Open one first; your text is kept.")

    def _preview_request(self) -> Request | None:
        if self.state != "idle":
            return None
        return self._branch.with_draft(repair_text(self._draft)).request(self.use_cache)

    def _preview_soon(self) -> None:
        if self.state == "idle":
            self._previewer.schedule()
        else:
            self._previewer.drop()

    def _update_state(self) -> None:
        if self.state != self._state:
            self._state = self.state
            self.state_changed.emit(self._state)

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except HeadstartError as error:
            self._report(error)

    def _report(self, error: HeadstartError) -> None:
        self.error.emit(str(error), error.detail)

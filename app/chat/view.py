"""Which conversation and which of its branches is in view."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from typing import Literal

from PySide6.QtCore import QObject, Signal

from app.chat.answers import Answers
from app.chat.branch import Branch, repair_text
from app.chat.bridge import Bridge
from app.chat.cost import Foresight, Outlook
from app.chat.turn import Turn
from app.history.history import History
from app.history.records import Conversation, ConversationEntry, StoredMessage
from app.placeholders import Cure, Values, current_values, names_in
from app.settings import Settings
from engine import HeadstartError, ModelInfo, Request, Sampling


class View(QObject):
    """The conversation in view, its settings, and the list of all of them. `app.chat.session.Session` adds the turns.

    `state` is "no_model", "loading", "idle", or that of the answer in view: "waiting" (sent, nothing heard yet),
    "prefill", "writing", "stopping". `foresight` says what may be sent from here would cost.

    Signals:
        conversation_changed(Conversation): another one or another branch is in view; draw `messages` anew.
        conversations_changed(): the list of conversations, their order or a title changed.
        state_changed(str), preview_changed(Preview): what the next question would cost, error(sentence, detail).
        stored_again(): answers that could not be stored are stored now.
    """

    conversation_changed = Signal(object)
    conversations_changed = Signal()
    state_changed = Signal(str)
    preview_changed = Signal(object)
    error = Signal(str, str)
    stored_again = Signal()

    def __init__(
        self,
        bridge: Bridge,
        history: History,
        settings: Settings,
        parent: QObject | None = None,
        today: Callable[[], date] = date.today,
        values: Callable[[], Values] = current_values,
    ) -> None:
        super().__init__(parent)
        self._history = history
        self._settings = settings
        self._today = today
        self._values = values
        self._branch = self._blank()
        self._answers = Answers(bridge, history, self)
        self._answers.progressed.connect(self._update_state)
        self._answers.error.connect(self.error)
        self._answers.stored_again.connect(self.stored_again)
        self.foresight = Foresight(bridge, self._look, self)
        self.foresight.preview_changed.connect(self.preview_changed)
        self._state = self.state

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
    def is_storing(self) -> bool:
        """False while answers cannot be stored, because the disk is full."""
        return self._answers.is_storing

    @property
    def is_answering(self) -> bool:
        """Whether an answer is on its way, in whichever conversation."""
        return bool(self._answers.turns())

    @property
    def model(self) -> ModelInfo | None:
        """The model that answers, None while there is none."""
        return self._answers.model

    @property
    def asked_cache_bytes(self) -> int:
        """The cache budget that the newest load asked for; 0 for automatic."""
        return self._answers.asked_cache_bytes

    @property
    def first_seen_id(self) -> int | None:
        """The message of the branch in view that the model sees first; None where it sees everything."""
        return self._branch.first_seen_id

    @property
    def use_cache(self) -> bool:
        """Whether new questions may reuse cached blocks."""
        return self._settings.use_cache

    @use_cache.setter
    def use_cache(self, value: bool) -> None:
        self._settings.use_cache = value
        with self._reporting():
            self._settings.save()
        self.foresight.refresh()

    def conversations(self, search: str = "") -> list[ConversationEntry]:
        """All stored conversations, newest first, or those that hold `search`."""
        try:
            return self._history.conversations(search)
        except HeadstartError as error:
            self._report(error)
            return []

    def search(self, needle: str) -> Iterator[list[ConversationEntry]]:
        """As `conversations`, in pieces: what was found so far, until everything was looked at."""
        with self._reporting():
            yield from self._history.search(needle)

    def had_system_prompt(self, answer_id: int) -> bool:
        """Whether the prompt of an answer in view began with a system prompt, whatever the conversation has today."""
        with self._reporting():
            sent = self._history.sent_system_prompt(answer_id)
            if sent is not None:
                return bool(sent)
        return bool(self.conversation.system_prompt)

    def siblings(self, message_id: int) -> tuple[StoredMessage, ...]:
        """The messages this one can be exchanged for, itself among them, oldest first."""
        try:
            return tuple(self._answers.newest_form(message) for message in self._history.siblings(message_id))
        except HeadstartError as error:
            self._report(error)
            return ()

    def versions(self) -> dict[int, list[int]]:
        """For each message of the conversation in view the ids of its siblings, itself among them, oldest first."""
        try:
            return self._history.versions(self.conversation.id)
        except HeadstartError as error:
            self._report(error)
            return {}

    def answers_with_system_prompt(self) -> dict[int, bool]:
        """`had_system_prompt` for every answer of the conversation in view of which that is noted."""
        try:
            return self._history.answers_with_system_prompt(self.conversation.id)
        except HeadstartError as error:
            self._report(error)
            return {}

    def new_conversation(self) -> None:
        """Put an empty conversation in view. It is stored once something is written in it."""
        self._show(self._blank())

    def open(self, conversation_id: int) -> None:
        """Put a stored conversation in view. An answer that is being written elsewhere goes on."""
        if conversation_id == self.conversation.id:
            return
        with self._reporting():
            self._show(self._read(conversation_id))
            self._say_what_is_unread()

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

    def set_system_prompt(self, text: str, cures: tuple[Cure, ...] | None = None) -> None:
        """Change the system prompt of the conversation in view, and what is cured in it (None: as before), from the
        next question on."""
        text = repair_text(text)
        wanted = self.conversation.cures if cures is None else cures
        cures = tuple(cure for cure in wanted if cure.name in names_in(text))
        if (text, cures) == (self.conversation.system_prompt, self.conversation.cures):
            return
        self._change(system_prompt=text, cures=cures)
        self.foresight.refresh()
        if self.conversation.id:
            with self._reporting():
                self._history.set_system_prompt(self.conversation.id, text, cures)

    def placeholder_values(self) -> Values:
        """What the placeholders of a system prompt stand for now."""
        return self._values()

    def new_cure(self, name: str, kind: Literal["frozen", "moved"]) -> Cure:
        """A cure for a placeholder of the conversation in view. Frozen, it stays as it was sent last, so that nothing
        has to be read again; where it was never sent, as it is now."""
        return Cure(name, kind, self._branch.value_of(name, self._values()) if kind == "frozen" else "")

    def set_sampling(self, sampling: Sampling) -> None:
        """Change the sampling of the conversation in view, from the next question on."""
        self._change(sampling=sampling)
        if self.conversation.id:
            with self._reporting():
                self._history.set_sampling(self.conversation.id, sampling)

    def choose_sibling(self, message_id: int) -> None:
        """Show the branch that goes through this message, down to what was written last in it."""
        with self._reporting():
            self._refuse_if_busy()
            number = self._history.message(message_id).conversation_id
            self._history.set_leaf(number, self._history.newest_leaf(message_id))
            self._show(self._read(number))
            self._say_what_is_unread()

    def draft_changed(self, text: str, edited: int | None = None) -> None:
        """The composer holds this text now, in place of the question `edited` or as a new one; its preview follows."""
        self.foresight.draft_changed(text, edited)

    def would_send(self, text: str, edited: int | None) -> tuple[Branch, Request] | None:
        """The branch with this question at its end, in place of `edited` or as a new one, and what it would ask; None
        where nothing can be asked now."""
        look = self._look()
        if look is None:
            return None
        branch = (look.branch.before(edited) if edited else look.branch).with_draft(repair_text(text), look.values)
        return branch, branch.request(look.use_cache, look.values, keep_room=self._keeps_room)

    def leave_out_before(self, message_id: int) -> None:
        """From the next question on the model does not see what stands before this message; nothing is deleted."""
        with self._reporting():
            self._refuse_if_busy()
            left_out = [message.id for message in self._branch.messages].index(message_id)
            self._history.set_seen_from(self.conversation.id, message_id, left_out)
            self._show(self._read(self.conversation.id))

    def next_turn(self, conversation_id: int) -> Request | None:
        """What a stored conversation would ask next, with an empty question; None where nothing can be asked."""
        try:
            look = self._look_at(self._read(conversation_id))
        except HeadstartError:
            return None
        return look.request(look.branch, "") if look else None

    @property
    def _keeps_room(self) -> bool:
        """Whether a question is refused while turns can be left out to make room for its answer."""
        return self._settings.too_long != "refuse"

    def _blank(self) -> Branch:
        return Branch(Conversation(0, "", self._settings.system_prompt, self._settings.sampling, self._today()))

    def _read(self, conversation_id: int, left_out: int = 0) -> Branch:
        messages = self._history.messages(conversation_id)
        return Branch(self._history.conversation(conversation_id), map(self._answers.newest_form, messages), left_out)

    def _say_what_is_unread(self) -> None:
        """Say so where values of the conversation in view are of no use and were left out."""
        unread = [f"conversation: {', '.join(self.conversation.unread)}"] if self.conversation.unread else []
        unread += [f"message {each.id}: {', '.join(each.unread)}" for each in self._branch.messages if each.unread]
        if unread:
            sentence = (
                "Parts of this conversation cannot be read and were left out. The rest is shown as it was stored."
            )
            self.error.emit(sentence, "\n".join(unread))

    def _change(self, **values: object) -> None:
        self._branch.conversation = replace(self._branch.conversation, **values)  # type: ignore[arg-type]

    def _show(self, branch: Branch) -> None:
        self._show_branch(branch)
        self._update_state()
        self.foresight.refresh()

    def _show_branch(self, branch: Branch) -> None:
        self._branch = branch
        self._answers.in_view = branch.conversation.id
        self.conversation_changed.emit(branch.conversation)

    def _turn_in_view(self) -> Turn | None:
        return self._answers.turn_of(self.conversation.id)

    def _refuse_if_busy(self) -> None:
        if self._turn_in_view():
            raise HeadstartError("An answer is being written here. Wait for its end or stop it first.")

    def _look(self) -> Outlook | None:
        return self._look_at(self._branch) if self.state == "idle" else None

    def _look_at(self, branch: Branch) -> Outlook | None:
        if not self.model:
            return None
        if not branch.conversation.id:
            branch = Branch(replace(branch.conversation, day=self._today()), branch.messages, branch.left_out)
        return Outlook(branch, self._values(), self.use_cache, self.model)

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

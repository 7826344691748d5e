"""The chat in view, and all that can be done with it: ask, stop, edit, switch, rename, change settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import date
from typing import Literal

from PySide6.QtCore import QObject, Signal

from app.chat.ahead import Reader, is_wanted
from app.chat.answers import Answers
from app.chat.attached import Attached
from app.chat.branch import Branch, make_title
from app.chat.bridge import Bridge
from app.chat.cost import Cost, Outlook
from app.chat.forgetting import Forgetting
from app.chat.places import place_of
from app.chat.residents import ResidentPrompt, Residents
from app.chat.saving import Saving
from app.chat.turn import Turn
from app.history.history import History
from app.history.records import Conversation, ConversationEntry, StoredMessage, label_of, repair_text
from app.history.servers import BLANK
from app.placeholders import Cure, Values, current_values, names_in
from app.settings import Settings, disk_bytes
from app.tools.servers import ChosenTool
from engine import DiskFullError, HeadstartError, Matched, ModelInfo, Request, Sampling, TemplateSettings, is_server


class Session(QObject):
    """The conversation in view, one branch of it with its turns, and the list of all conversations.

    A question sent while a model is loading waits for it. Every turn ends once: with `message_finished`, or, where
    nothing was written, with `conversation_changed` and the question at the end of `messages`. Answers in other
    conversations go on behind the one in view.

    Attributes, each with signals of its own: `answers` are all that are on their way, with the model that writes them;
    `saving` stores them; `forgetting` drops the words of what was deleted; `attached` are the files that go with the
    next questions; `cost` says what prompts that are not sent yet would cost; `residents` are the saved system prompts
    that are read before a conversation begins with them.

    Signals:
        conversation_changed(Conversation): another one or another branch is in view; draw `messages` anew.
        conversation_begun(int): a new conversation is stored, with its first question.
        conversations_changed(): the list of conversations, their order or a title changed.
        message_added(StoredMessage): a question, or an answer that is going to be written.
        message_reopened(StoredMessage): the answer at the end, which was cut off, goes on.
        message_finished(StoredMessage): an answer in view has ended; this is its final form.
        question_taken_back(str, int | None): a question that was stopped before a model had it, to be written again,
            and the id of the one it was sent in place of.
        question_refused(str, int | None): that question was one the engine would never answer as it is.
        settings_changed(): the sampling of the conversation in view, or its template settings, are others.
        noticed(str): what the chat template made of the messages in view, said once per conversation.
        state_changed(str): `state` is another one now.
        error(str sentence, str detail): what could not be done, and why.
    """

    conversation_changed = Signal(object)
    conversation_begun = Signal(object)
    conversations_changed = Signal()
    message_added = Signal(object)
    message_reopened = Signal(object)
    message_finished = Signal(object)
    question_taken_back = Signal(str, object)
    question_refused = Signal(str, object)
    settings_changed = Signal()
    noticed = Signal(str)
    state_changed = Signal(str)
    error = Signal(str, str)

    def __init__(
        self,
        bridge: Bridge,
        history: History,
        settings: Settings,
        today: Callable[[], date] = date.today,
        values: Callable[[], Values] = current_values,
    ) -> None:
        super().__init__()
        self._bridge = bridge
        self._history = history
        self._settings = settings
        self._today = today
        self._values = values
        self._begun_alike: set[int] = set()  # begun with the sampling of new ones, before their model came
        self._versions: dict[int, list[int]] = {}
        self._had_prompt: dict[int, bool] = {}
        self.saving = Saving(history, self)
        self.forgetting = Forgetting(history.words, self)
        self.answers = Answers(bridge, self.saving, self)
        self.attached = Attached(lambda: self._branch, self)
        self.cost = Cost(bridge, self._outlook, self.attached, self._may_read_ahead, self)
        self.residents = Residents(bridge, self._resident_alternatives, lambda: is_wanted(settings), self)
        self._newest = Reader(bridge, self._newest_alternatives, parent=self)
        self._branch = self._blank()
        self._state = self.state
        self.saving.error.connect(self.error)
        self.saving.disk_full.connect(self._make_room)
        self.answers.error.connect(self.error)
        self.answers.progressed.connect(self._update_state)
        self.answers.ended.connect(self._on_ended)
        self.answers.matched.connect(self._on_matched)
        self.answers.model_changed.connect(self._on_model)
        self.answers.model_changed.connect(self.cost.refresh)
        self.state_changed.connect(self.cost.refresh)

    # What is in view

    @property
    def conversation(self) -> Conversation:
        """The conversation in view; its id is 0 until something is written in it."""
        return self._branch.conversation

    @property
    def messages(self) -> tuple[StoredMessage, ...]:
        """The branch in view from its first message on, with all that is written of an answer still on its way."""
        return tuple(self.answers.newest_form(message) for message in self._branch.messages)

    @property
    def state(self) -> str:
        """What goes on: "no_model", "loading", "idle", or with the answer in view "waiting" (sent, nothing heard yet),
        "prefill", "writing", "stopping"."""
        turn = self._turn_in_view()
        if turn and not self.answers.is_queued(turn):
            return turn.phase
        if self.answers.loading:
            return "loading"
        return "idle" if self.answers.model else "no_model"

    @property
    def is_busy(self) -> bool:
        """Whether an answer in view is on its way, or waits for a model."""
        return self._turn_in_view() is not None

    @property
    def is_word_soon(self) -> bool:
        """Whether the answer in view was just asked for, and its first word was foreseen at once: the engine is on its
        last few tokens, so that what can wait for that word should."""
        turn = self._turn_in_view()
        return turn is not None and turn.is_soon and turn.phase == "waiting"

    @property
    def model(self) -> ModelInfo | None:
        """The model that answers, None while there is none."""
        return self.answers.model

    @property
    def first_seen_id(self) -> int | None:
        """The message of the branch in view that the model sees first; None where it sees everything."""
        return self._branch.first_seen_id

    def versions(self, message_id: int) -> list[int]:
        """The messages that one in view can be exchanged for, by their ids: itself among them, oldest first."""
        return self._versions.get(message_id, [message_id])

    def had_system_prompt(self, answer_id: int) -> bool:
        """Whether the prompt of an answer in view began with a system prompt, whatever the conversation has today."""
        return self._had_prompt.get(answer_id, bool(self.conversation.system_prompt))

    def place_of_divergence(self, answer: StoredMessage) -> str:
        """In which message the prompt of an answer in view left what was cached: "in your 2nd message", "" in none."""
        had_system_prompt = self.had_system_prompt(answer.id)
        return place_of(answer.divergence, self._branch.messages, had_system_prompt, answer.left_out)

    # Turns

    def send(self, text: str) -> bool:
        """Ask, with the files that are attached. False when nothing was sent: the text is blank, or an `error` says
        why; keep it in the composer then."""
        return self._ask(text, lambda: self._branch)

    def edit(self, message_id: int, text: str) -> bool:
        """Ask in place of an earlier question, in a new branch. False as in `send`."""
        return self._ask(text, lambda: self._branch.before(message_id), message_id)

    def retry(self) -> bool:
        """Answer the last question again, as a sibling of the answer it has. False as in `send`.

        Placeholders stand for what they stood for when the question was sent, so that its prompt is not read again.
        Where one was moved to the newest message since then, the question is asked anew, as in `edit`.
        """
        asked_at, values = time.perf_counter(), self._values()
        try:
            self.refuse_if_not_ready()
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

    def open_calls(self, conversation_id: int) -> Branch | None:
        """The branch in use of a conversation where it ends with an answer that called tools, and they gave nothing
        back yet; None else."""
        try:
            branch = self._branch if conversation_id == self.conversation.id else self._read(conversation_id)
        except HeadstartError:
            return None
        last = branch.messages[-1] if branch.messages else None
        is_open = last is not None and bool(last.tool_calls) and last.finish_reason == "end"
        return branch if is_open and not self.answers.turn_of(conversation_id) else None

    def answer_calls(self, conversation_id: int, answer_id: int, texts: Sequence[str]) -> bool:
        """Store what the tools gave back that this answer called, and have the model go on. False as in `send`, and
        where the answer is no longer the last message."""
        asked_at, values = time.perf_counter(), self._values()
        branch = self.open_calls(conversation_id)
        if branch is None or branch.leaf_id != answer_id:
            return False
        try:
            if not self.answers.model and not self.answers.loading:
                raise HeadstartError("There is no model to answer. Open one first; what the tools gave back is kept.")
            with self._history.together():
                longer = branch.add_results(texts, self._history)
                answer = longer.append_answer(self._history, values)
        except HeadstartError as error:
            self._report(error)
            return False
        results = longer.messages[len(branch.messages) :]
        self._submit(Turn(answer, longer.request(self.use_cache, values), results[-1].id), asked_at)
        if branch is self._branch:
            self._draw(branch, *results, answer)
        return True

    def stop(self) -> None:
        """Stop the answer in view; what is written stays. A question that still waits for a model is taken back."""
        if turn := self._turn_in_view():
            is_queued = self.answers.is_queued(turn)
            self.answers.stop(turn)
            if is_queued:
                with self.reporting():
                    self._take_question_back()

    def would_send(self, text: str, edited: int | None) -> tuple[Branch, Request] | None:
        """The branch with this question at its end, in place of `edited` or as a new one, and what it would ask; None
        where nothing can be asked now."""
        if not (outlook := self._outlook()):
            return None
        before = outlook.branch.before(edited) if edited else outlook.branch
        branch = before.with_draft(repair_text(text), outlook.values, self.attached.files(edited))
        return branch, branch.request(outlook.use_cache, outlook.values, keep_room=self._keeps_room)

    def leave_out_before(self, message_id: int) -> None:
        """From the next question on the model does not see what stands before this message; nothing is deleted."""
        with self.reporting():
            self._refuse_if_busy()
            left_out = [message.id for message in self._branch.messages].index(message_id)
            self._history.set_seen_from(self.conversation.id, message_id, left_out)
            self._show(self._read(self.conversation.id))

    def leave_out_first(self, count: int) -> None:
        """From the next question on the model does not see the first `count` messages in view, which may be all of
        them. It is stored with that question, the first one the model sees."""
        self._branch.leave_out(count)
        self.cost.refresh()

    def shutdown(self) -> None:
        """Store what is written of every answer and cancel it. Call before the bridge is closed; safe to call twice."""
        self._newest.drop()
        self.residents.drop()
        self.cost.drop()
        self.forgetting.stop()
        self.answers.shutdown()
        self.saving.close()

    # Conversations

    def conversations(self, search: str = "") -> list[ConversationEntry]:
        """All stored conversations, newest first, or those that hold `search`."""
        try:
            return self._history.conversations(search)
        except HeadstartError as error:
            self._report(error)
            return []

    def search(self, needle: str) -> Iterator[list[ConversationEntry]]:
        """As `conversations`, in pieces: what was found so far, until everything was looked at."""
        with self.reporting():
            yield from self._history.search(needle)

    def new_conversation(self) -> None:
        """Put an empty conversation in view. It is stored once something is written in it."""
        self._show(self._blank())

    def open(self, conversation_id: int) -> None:
        """Put a stored conversation in view. An answer that is being written elsewhere goes on."""
        if conversation_id == self.conversation.id:
            return
        with self.reporting():
            self._show(self._read(conversation_id))
            self._say_what_is_unread()

    def delete(self, conversation_id: int) -> None:
        """Forget a conversation for good; an answer that is being written in it is stopped."""
        with self.reporting():
            self._history.delete(conversation_id)
            self.forgetting.begin()
            self.answers.forget(conversation_id)
            if conversation_id == self.conversation.id:
                self.new_conversation()
            self.conversations_changed.emit()

    def draft(self, conversation_id: int) -> str:
        """What was written in a conversation and not sent yet; 0 for the one that is not begun."""
        text = ""
        with self.reporting():
            text = self._history.draft(conversation_id)
        return text

    def keep_draft(self, conversation_id: int, text: str) -> None:
        """Keep what is written in a conversation for later."""
        with self.reporting():
            self._history.keep_draft(conversation_id, repair_text(text))

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation another title."""
        with self.reporting():
            self._history.rename(conversation_id, title)
            if conversation_id == self.conversation.id:
                self._change(title=title)
            self.conversations_changed.emit()

    def has_first_title(self, conversation_id: int) -> bool:
        """Whether a conversation still has the title that its first question gave it, in one of its versions."""
        is_first = False
        with self.reporting():
            first = self._history.messages(conversation_id)[:1]
            title = self._history.conversation(conversation_id).title
            versions = self._history.siblings(first[0].id) if first else ()
            is_first = any(make_title(each.content) == title for each in versions)
        return is_first

    def choose_sibling(self, message_id: int) -> None:
        """Show the branch that goes through this message, down to what was written last in it."""
        with self.reporting():
            self._refuse_if_busy()
            number = self._history.message(message_id).conversation_id
            self._history.set_leaf(number, self._history.newest_leaf(message_id))
            self._show(self._read(number))
            self._say_what_is_unread()

    def choose_version(self, message_id: int, step: int) -> None:
        """Show the branch through another version of a message: `step` is -1 for the one before it, 1 for the next."""
        with self.reporting():
            versions = [message.id for message in self._history.siblings(message_id)]
            place = versions.index(message_id) + step
            if 0 <= place < len(versions):
                self.choose_sibling(versions[place])

    def all_messages(self) -> tuple[StoredMessage, ...]:
        """The messages of the conversation in view in all their versions, in the order they were written."""
        messages: tuple[StoredMessage, ...] = ()
        with self.reporting():
            messages = self._history.all_messages(self.conversation.id)
        return tuple(self.answers.newest_form(message) for message in messages)

    def next_turn(self, conversation_id: int) -> Request | None:
        """What a stored conversation would ask next, with an empty question; None where nothing can be asked."""
        try:
            outlook = self._outlook_of(self._read(conversation_id))
        except HeadstartError:
            return None
        return outlook.request(outlook.branch, "") if outlook else None

    # Settings

    @property
    def use_cache(self) -> bool:
        """Whether new questions may reuse cached blocks."""
        return self._settings.use_cache

    @use_cache.setter
    def use_cache(self, value: bool) -> None:
        self._settings.use_cache = value
        with self.reporting():
            self._settings.save()
        self.cost.refresh()

    @property
    def new_sampling(self) -> Sampling:
        """The sampling of new conversations: the user's own, or, as long as that was never changed, what the makers of
        the model advise."""
        own, advice = self._settings.sampling, self.model.advice if self.model else None
        return advice if advice and own == Sampling() else own

    def set_sampling(self, sampling: Sampling) -> None:
        """Change the sampling of the conversation in view, from the next question on."""
        self._begun_alike.discard(self.conversation.id)
        self._change(sampling=sampling)
        if self.conversation.id:
            with self.reporting():
                self._history.set_sampling(self.conversation.id, sampling)
        self.settings_changed.emit()

    def set_stop(self, stop: tuple[str, ...]) -> None:
        """From the next question on answers in the conversation in view end before one of these texts."""
        if stop != self.conversation.stop:
            self._change(stop=stop)
            if self.conversation.id:
                with self.reporting():
                    self._history.set_stop(self.conversation.id, stop)
            self.settings_changed.emit()

    def set_tools(self, tools: tuple[ChosenTool, ...]) -> None:
        """Change which tools the model may call in the conversation in view, from the next question on."""
        if tools == self.conversation.tools:
            return
        self._change(tools=tools)
        self.cost.refresh()
        if self.conversation.id:
            with self.reporting():
                self._history.set_tools(self.conversation.id, tools)
        self.settings_changed.emit()

    def keep_for_new(self, sampling: Sampling) -> None:
        """New conversations begin with this sampling."""
        self._settings.sampling = sampling
        with self.reporting():
            self._settings.save()

    def set_template(self, template: TemplateSettings) -> None:
        """Change how the chat template makes the prompts of the conversation in view, from the next question on."""
        if template == self.conversation.template:
            return
        self._change(template=template)
        self.cost.refresh()
        if self.conversation.id:
            with self.reporting():
                self._history.set_template(self.conversation.id, template)
        self.settings_changed.emit()

    def set_system_prompt(self, text: str, cures: tuple[Cure, ...] | None = None) -> None:
        """Change the system prompt of the conversation in view, and what is cured in it (None: as before), from the
        next question on."""
        text = repair_text(text)
        wanted = self.conversation.cures if cures is None else cures
        cures = tuple(cure for cure in wanted if cure.name in names_in(text))
        if (text, cures) == (self.conversation.system_prompt, self.conversation.cures):
            return
        self._change(system_prompt=text, cures=cures)
        self.cost.refresh()
        if self.conversation.id:
            with self.reporting():
                self._history.set_system_prompt(self.conversation.id, text, cures)

    def placeholder_values(self) -> Values:
        """What the placeholders of a system prompt stand for now."""
        return self._values()

    def new_cure(self, name: str, kind: Literal["frozen", "moved"]) -> Cure:
        """A cure for a placeholder of the conversation in view. Frozen, it stays as it was sent last, so that nothing
        has to be read again; where it was never sent, as it is now."""
        return Cure(name, kind, self._branch.value_of(name, self._values()) if kind == "frozen" else "")

    # How a turn begins and ends

    def _ask(self, text: str, find_branch: Callable[[], Branch], edited: int | None = None) -> bool:
        text = repair_text(text)
        if not text.strip():
            return False
        asked_at, values = time.perf_counter(), self._values()
        is_soon = edited is None and self._foresees_word(text)
        with self._history.in_haste() if is_soon else nullcontext():
            try:
                self.refuse_if_not_ready()
                branch, files, before = find_branch(), self.attached.files(edited), self.conversation.id
                conversation, question, answer = branch.ask(text, self._history, self._today(), values, files)
            except HeadstartError as error:
                self._report(error)
                return False
            if not branch.conversation.id:
                with self.reporting():
                    self._history.servers.begin(conversation.id)
            if self.answers.loading and not branch.conversation.id and 0 in self._begun_alike:
                self._begun_alike.add(conversation.id)
            if not branch.conversation.id:
                self.conversation_begun.emit(conversation.id)
            branch.conversation = conversation
            request = branch.with_messages(question).request(self.use_cache, values, keep_room=self._keeps_room)
            self._submit(Turn(answer, request, question.id, is_soon=is_soon), asked_at)
            if is_soon:
                self._bridge.wait_for_word()
        self._draw(branch, question, answer)
        self.attached.sent(before, edited)
        return True

    def _foresees_word(self, text: str) -> bool:
        """Whether the first word that answers this question is to be expected at once."""
        is_free = self._is_read_here(self.conversation.id) and not (self.answers.loading or self.answers.is_answering)
        return is_free and self.cost.is_word_soon(text)

    def resume(self, turn: Turn, asked_at: float) -> None:
        """Give the engine a turn that goes on with the answer at the end of the branch in view."""
        self._branch.messages[-1] = turn.answer
        self._submit(turn, asked_at)
        self.message_reopened.emit(turn.answer)
        self._update_state()
        self.conversations_changed.emit()

    def reload(self) -> None:
        """Show the conversation in view as the file has it now."""
        if number := self.conversation.id:
            self._show(self._read(number))

    def _submit(self, turn: Turn, asked_at: float) -> None:
        """Give a turn to the engine, which computes from now on. Its time runs from `asked_at` on."""
        turn.request = replace(turn.request, asked_at=asked_at, write_ahead=self._settings.write_ahead)
        self._newest.drop()
        self.cost.draft_sent()
        self.answers.begin(turn)

    def _draw(self, branch: Branch, *messages: StoredMessage) -> None:
        """Show what was just submitted at the end of its branch."""
        if branch is not self._branch or not branch.messages:
            self._show_branch(branch)
        else:
            self._note_versions()
        for message in messages:
            self._branch.add(message)
            self.message_added.emit(message)
        self._update_state()
        self.conversations_changed.emit()

    def refuse_if_not_ready(self) -> None:
        """Raise HeadstartError where nothing can be asked in the conversation in view."""
        self._refuse_if_busy()
        if not self.answers.model and not self.answers.loading:
            raise HeadstartError("There is no model to answer. Open one first; your text is kept.")

    def refuse_if_written(self, conversation_id: int) -> None:
        """Raise HeadstartError while an answer is on its way in this conversation."""
        if self.answers.turn_of(conversation_id):
            raise HeadstartError("An answer is being written here. Wait for its end or stop it first.")

    def _refuse_if_busy(self) -> None:
        self.refuse_if_written(self.conversation.id)

    def _turn_in_view(self) -> Turn | None:
        return self.answers.turn_of(self.conversation.id)

    def _on_ended(self, turn: Turn, message: StoredMessage, kept: bool) -> None:
        if turn.stats is not None and self._is_read_here(turn.answer.conversation_id):
            self.cost.note_answer(turn.stats)
        if turn.answer.conversation_id != self.conversation.id:
            return
        if kept:
            self._branch.messages[-1] = message
            self.message_finished.emit(message)
        else:
            self._take_back(turn)
            if turn.is_refused:
                with self.reporting():
                    self._take_question_back(is_refused=True)

    def _on_matched(self, event: Matched) -> None:
        seen = self.conversation.notices
        if new := [notice for notice in dict.fromkeys(event.notices) if notice not in seen]:
            self._change(notices=(*seen, *new))
            with self.reporting():
                self._history.set_notices(self.conversation.id, self.conversation.notices)
            self.noticed.emit(" ".join(new))

    def _on_model(self, model: ModelInfo | None) -> None:
        """Conversations that began while this model was loading begin with the sampling that is for it, too."""
        self.cost.note_answer(None)
        for turn in self.answers.turns():
            number = turn.answer.conversation_id
            if number in self._begun_alike and self.answers.is_queued(turn):
                turn.request = replace(turn.request, sampling=self.new_sampling)
                with self.reporting():
                    self._history.set_sampling(number, self.new_sampling)
        if self.conversation.id in self._begun_alike:
            self._change(sampling=self.new_sampling)
            self.settings_changed.emit()
        if not self.answers.loading:
            self._begun_alike &= {0}
            self.residents.read_all()
            self._newest.ask()

    def _take_question_back(self, is_refused: bool = False) -> None:
        """Forget the question at the end, unless it was answered before; what it stood in place of is in view again."""
        question = self._branch.messages[-1]
        if question.role != "user" or self._history.newest_leaf(question.id) != question.id:
            return
        others = [other.id for other in self._history.siblings(question.id) if other.id != question.id]
        replaced = others[-1] if others else None
        leaf = self._history.newest_leaf(replaced) if replaced else question.parent_id
        if leaf is None:
            server = self._history.servers.of(question.conversation_id)
            self._history.delete(question.conversation_id)
            with self.reporting():
                if server != self._history.servers.of(BLANK):
                    self._history.servers.choose(BLANK, server)
            self._show(Branch(replace(self.conversation, id=0, title="", leaf_id=None)))
        else:
            self._history.discard(question.id, leaf)
            self._show(self._read(question.conversation_id, self._branch.left_out))
        self.forgetting.begin()
        self.conversations_changed.emit()
        if question.attachments:
            self.attached.set_files(question.attachments, replaced)
        self.question_taken_back.emit(question.content, replaced)
        if is_refused:
            self.question_refused.emit(question.content, replaced)

    def _take_back(self, turn: Turn) -> None:
        """Show the branch without an answer that was never written."""
        branch = self._branch.cut(len(self._branch.messages) - 1)
        if branch.leaf_id != turn.leaf_if_empty:
            with self.reporting():
                branch.add(self.answers.newest_form(self._history.message(turn.leaf_if_empty)))
        self._show_branch(branch)

    # How another branch comes into view

    def _blank(self) -> Branch:
        self._begun_alike.add(0)
        return Branch(Conversation(0, "", self._settings.system_prompt, self.new_sampling, self._today()))

    def _read(self, conversation_id: int, left_out: int = 0) -> Branch:
        messages = self._history.messages(conversation_id)
        return Branch(self._history.conversation(conversation_id), map(self.answers.newest_form, messages), left_out)

    def _show(self, branch: Branch) -> None:
        self._show_branch(branch)
        self._update_state()
        self.cost.refresh()

    def _show_branch(self, branch: Branch) -> None:
        self._branch = branch
        self.answers.in_view = branch.conversation.id
        self._note_versions()
        self.conversation_changed.emit(branch.conversation)

    def _note_versions(self) -> None:
        """Note what the file says of all branches of the conversation in view, so that nobody asks it per message."""
        self._versions, self._had_prompt = {}, {}
        if number := self.conversation.id:
            with self.reporting():
                self._versions = self._history.versions(number)
                self._had_prompt = self._history.answers_with_system_prompt(number)

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

    def _update_state(self) -> None:
        if self.state != self._state:
            self._state = self.state
            self.state_changed.emit(self._state)

    @property
    def _keeps_room(self) -> bool:
        """Whether a question is refused while turns can be left out to make room for its answer."""
        return self._settings.too_long != "refuse"

    def _may_read_ahead(self) -> bool:
        """Whether what may be sent soon in the conversation in view is read before it is."""
        return self._is_read_ahead(self.conversation.id)

    def _is_read_ahead(self, conversation_id: int) -> bool:
        """Whether anything of a conversation is read before it is sent."""
        return self._is_read_here(conversation_id) and is_wanted(self._settings)

    def _is_read_here(self, conversation_id: int) -> bool:
        """Whether a model in this program answers in a conversation. A server elsewhere reads for an answer only."""
        is_elsewhere = self.model is None or is_server(self.model.path)
        return not (is_elsewhere or self._bridge.server_of(label_of(conversation_id)))

    def _newest_alternatives(self) -> list[Request]:
        """What the newest conversation may ask next, while another one is in view: it is likely to be opened soon."""
        newest = next((each.id for each in self.conversations()), 0)
        if not newest or newest == self.conversation.id or not self._is_read_ahead(newest):
            return []
        try:
            outlook = self._outlook_of(self._read(newest))
        except HeadstartError:
            return []
        return outlook.alternatives(outlook.branch, "") if outlook else []

    def _resident_alternatives(self, prompt: ResidentPrompt) -> list[Request]:
        """What a conversation may ask first that begins with this system prompt, where the model that is open answers
        it and remembers."""
        if not (self.use_cache and self._is_read_here(0)):
            return []
        begun = Conversation(0, "", prompt.system_prompt, self.new_sampling, self._today(), cures=prompt.cures)
        outlook = self._outlook_of(Branch(begun))
        return outlook.alternatives(outlook.branch, "") if outlook else []

    def _outlook(self) -> Outlook | None:
        return self._outlook_of(self._branch) if self.state == "idle" else None

    def _outlook_of(self, branch: Branch) -> Outlook | None:
        if not self.model:
            return None
        if not branch.conversation.id:
            branch = Branch(replace(branch.conversation, day=self._today()), branch.messages, branch.left_out)
        return Outlook(branch, self._values(), self.use_cache, self.model, self._keeps_room)

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """What fails inside is told by `error`."""
        try:
            yield
        except HeadstartError as error:
            self._report(error)

    def _make_room(self) -> None:
        """Have the engine keep to its budget on disk, and so leave some of a disk that has filled up."""
        self._bridge.tell("set_disk_budget", disk_bytes(self._settings))

    def _report(self, error: HeadstartError) -> None:
        if isinstance(error, DiskFullError):
            self._make_room()
        self.error.emit(str(error), error.detail)

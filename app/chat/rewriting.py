"""Messages that were written already: answers go on, are written anew by the user, and messages are deleted."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.chat.branch import Branch
from app.chat.bridge import Bridge
from app.chat.cost import Previewer
from app.chat.session import Session
from app.chat.turn import Turn
from app.history.history import History, Removed
from app.history.records import Outlined, StoredMessage, is_cut, repair_text
from engine import HeadstartError, Message, Preview, Request


class Rewriting(QObject):
    """Changes messages of the conversation in view. Nothing is overwritten but by `delete`, which can be undone.
    `is_going_on`: what is considered is that an answer goes on. `previewer` asks what that costs.

    Signals: priced(int, Preview): what the next prompt would cost without the message with this id, or what it would
    that this answer goes on. deleted(): a message was; `take_back` undoes that.
    """

    priced = Signal(object, object)
    deleted = Signal()

    def __init__(self, session: Session, history: History, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._history = history
        self._removed: list[Removed] = []
        self._considered, self.is_going_on = 0, False
        self.previewer = Previewer(bridge, self._requests, self._on_preview, self)
        session.conversation_changed.connect(lambda _: self.consider(0))
        session.state_changed.connect(lambda _: self.consider(0))

    # An answer goes on

    def can_go_on(self, message: StoredMessage) -> bool:
        """Whether this is the answer at the end, and was cut off."""
        messages = self._session.messages
        is_last = bool(messages) and messages[-1].id == message.id
        said = message.content or message.thought
        return is_last and is_cut(message.role, message.finish_reason, said, message.tool_calls)

    def go_on(self) -> bool:
        """Have the answer at the end written on: its own tokens stand behind the same prompt, so that all of them but
        one are remembered. False where that cannot be; an `error` of the session says why."""
        asked_at, is_begun = time.perf_counter(), False
        with self._session.reporting():
            self._session.refuse_if_not_ready()
            answer = self._session.messages[-1] if self._session.messages else None
            if answer is None or not self.can_go_on(answer):
                raise HeadstartError("There is no answer here that was cut off. Ask something first.")
            turn = Turn.going_on(answer, self._request_to_go_on(answer))
            self._history.reopen(answer.id)
            self._session.resume(turn, asked_at)
            is_begun = True
        return is_begun

    def _request_to_go_on(self, answer: StoredMessage) -> Request:
        """The prompt that the answer was written under, with the answer behind it."""
        session = self._session
        conversation = replace(session.conversation, template=answer.template)
        branch = Branch(conversation, session.messages[:-1])
        system = self._history.sent_system_prompt(answer.id)
        values = session.placeholder_values()
        request = branch.request(session.use_cache, values, system, left_out=answer.left_out)
        begun = Message("assistant", answer.content, answer.token_ids, answer.thought)
        return replace(request, begun=begun)

    # Versions

    def outline(self) -> list[Outlined]:
        """Every message of the conversation in view, of all versions, oldest first."""
        found: list[Outlined] = []
        with self._session.reporting():
            found = self._history.outline(self._session.conversation.id)
        return found

    # Other words, fewer messages

    def replace_answer(self, answer_id: int, text: str) -> bool:
        """Put this text in place of an answer, as another version of it; it can go on from there. False where nothing
        was changed."""
        text, is_changed = repair_text(text), False
        if not text.strip():
            return False
        with self._session.reporting():
            self._session.refuse_if_written(self._session.conversation.id)
            self._history.replace_answer(answer_id, text)
            self._session.reload()
            is_changed = True
        return is_changed

    def delete(self, message_id: int) -> None:
        """Delete a message: an answer alone, a question with all its answers. What follows stays, and is read again
        with the next question, from there on."""
        with self._session.reporting():
            self._session.refuse_if_written(self._session.conversation.id)
            gone = self._group(message_id)
            if gone.issuperset(message.id for message in self._session.messages):
                raise HeadstartError("Nothing would be left. Delete the conversation instead.")
            with self._history.together():
                self._removed = [self._history.remove(number) for number in sorted(gone, reverse=True)]
            self._session.reload()
            self.deleted.emit()

    def take_back(self) -> None:
        """Undo the newest deletion."""
        removed, self._removed = self._removed, []
        with self._session.reporting():
            with self._history.together():
                for each in reversed(removed):
                    self._history.put_back(each)
            self._session.reload()

    def finish(self) -> None:
        """The newest deletion is final."""
        removed, self._removed = self._removed, []
        if removed:
            with self._session.reporting():
                self._history.forget_unsent(removed[0].conversation_id)
        self._session.forgetting.begin()

    def _group(self, message_id: int) -> set[int]:
        """The ids of a message, and where it is a question of all that answers it, in every version."""
        gone = {message_id}
        outline = self._history.outline(self._session.conversation.id)
        is_question = any(each.id == message_id and each.role == "user" for each in outline)
        for message in outline if is_question else ():  # no message stands before the one that it follows
            if message.parent_id in gone and message.role != "user":
                gone.add(message.id)
        return gone

    # What that costs

    def consider(self, message_id: int, *, is_going_on: bool = False) -> None:
        """Deleting this message is thought of, or going on with this answer; 0: no longer."""
        self._considered, self.is_going_on = message_id, is_going_on
        if message_id and self._session.state == "idle":
            self.previewer.schedule()
        else:
            self.previewer.drop()

    def _requests(self) -> Sequence[Request]:
        message = next((each for each in self._session.messages if each.id == self._considered), None)
        if message is None:
            return ()
        try:
            if self.is_going_on:
                return (self._request_to_go_on(message),)
            return (self._request_without(message.id),)
        except HeadstartError:  # the file cannot be read now: then nothing is said
            return ()

    def _request_without(self, message_id: int) -> Request:
        session, gone = self._session, self._group(message_id)
        kept = [message for message in session.messages if message.id not in gone]
        branch = Branch(session.conversation, kept).with_draft("", session.placeholder_values())
        return branch.request(session.use_cache, session.placeholder_values())

    def _on_preview(self, preview: Preview) -> None:
        if self._considered:
            self.priced.emit(self._considered, preview)

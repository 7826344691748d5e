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
from app.history.records import Outlined, StoredMessage, is_cut, label_of, repair_text
from engine import HeadstartError, Message, Preview, Request, is_server


class Rewriting(QObject):
    """Changes messages of the conversation in view. Nothing is overwritten but by `delete`, which can be undone.
    `is_going_on`: what is considered is that an answer goes on. `previewer` asks what that costs.

    Signals: priced(int, Preview): what the next prompt would cost without the message with this id, or what it would
    that this answer goes on. deleted(int): the message with this id was; `take_back` undoes that until `finish`.
    """

    priced = Signal(object, object)
    deleted = Signal(object)

    def __init__(self, session: Session, history: History, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._history = history
        self._bridge = bridge
        self._removed: dict[int, list[Removed]] = {}  # by the message that each deletion was of
        self._considered, self.is_going_on = 0, False
        self.previewer = Previewer(bridge, self._requests, self._on_preview, self)
        session.conversation_changed.connect(lambda _: self.consider(0))
        session.state_changed.connect(lambda _: self.consider(0))

    # An answer goes on

    @property
    def is_on_server(self) -> bool:
        """Whether a server answers the conversation in view: none goes on with an answer that is begun."""
        model = self._session.model
        own = self._bridge.server_of(label_of(self._session.conversation.id))
        return bool(own) or (model is not None and is_server(model.path))

    def can_go_on(self, message: StoredMessage) -> bool:
        """Whether this is the answer at the end, was cut off, and is continued where it is answered."""
        messages = self._session.messages
        is_last = bool(messages) and messages[-1].id == message.id
        said = message.content or message.thought
        was_cut = is_cut(message.role, message.finish_reason, said, message.tool_calls)
        return is_last and was_cut and not self.is_on_server

    def go_on(self) -> bool:
        """Have the answer at the end written on: its own tokens stand behind the same prompt, so that all of them but
        one are remembered. False where that cannot be; an `error` of the session says why."""
        asked_at, is_begun = time.perf_counter(), False
        with self._session.reporting():
            self._session.refuse_if_not_ready()
            if self.is_on_server:
                raise HeadstartError("A server answers here, which cannot go on with an answer. Ask it to go on.")
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
            for older in [*self._removed]:  # it would take what this one needs to be undone: system prompts as sent
                self.finish(older)
            with self._history.together():
                removed = [self._history.remove(number) for number in sorted(gone, reverse=True)]
            self._removed[message_id] = removed
            self._session.reload()
            self.deleted.emit(message_id)

    def take_back(self, message_id: int) -> bool:
        """Undo the deletion of this message. False where that failed, which an `error` of the session tells: it can be
        tried again."""
        is_back = False
        with self._session.reporting():
            with self._history.together():
                for each in reversed(self._removed.get(message_id, [])):
                    self._history.put_back(each)
            self._removed.pop(message_id, None)
            is_back = True
            self._session.reload()
        return is_back

    def finish(self, message_id: int) -> None:
        """The deletion of this message is final: its words leave the file, and the engine keeps on disk nothing that
        only its conversation used. The next turn has what is left written there again."""
        if removed := self._removed.pop(message_id, []):
            conversation_id = removed[0].conversation_id
            with self._session.reporting():
                self._history.forget_unsent(conversation_id)
            self._bridge.tell("forget", label_of(conversation_id))
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

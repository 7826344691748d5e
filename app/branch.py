"""The branch of a conversation that is in view, and the request it makes. No Qt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from app.history import Conversation, History, StoredMessage
from engine import HeadstartError, Message, Request

TITLE_LENGTH = 40


class Branch:
    """A conversation and its messages from the first to the leaf."""

    def __init__(self, conversation: Conversation, messages: Iterable[StoredMessage] = ()) -> None:
        self.conversation = conversation
        self.messages = list(messages)

    @property
    def leaf_id(self) -> int | None:
        """The last message, None in an empty branch."""
        return self.messages[-1].id if self.messages else None

    def add(self, message: StoredMessage) -> None:
        """One message more at the end."""
        self.messages.append(message)
        self.conversation = replace(self.conversation, leaf_id=message.id)

    def cut(self, length: int) -> Branch:
        """The same conversation with its first `length` messages."""
        kept = self.messages[:length]
        return Branch(replace(self.conversation, leaf_id=kept[-1].id if kept else None), kept)

    def before(self, question_id: int) -> Branch:
        """What precedes a question. Raises HeadstartError when it is not in this branch."""
        for index, message in enumerate(self.messages):
            if message.id == question_id and message.role == "user":
                return self.cut(index)
        raise HeadstartError("This question is not in the conversation in view. Open its conversation first.")

    def to_last_question(self) -> Branch:
        """The branch without the answer at its end. Raises HeadstartError when there is no question."""
        for index in reversed(range(len(self.messages))):
            if self.messages[index].role == "user":
                return self.cut(index + 1)
        raise HeadstartError("There is no question to answer yet. Write one first.")

    def request(self, use_cache: bool) -> Request:
        """The whole branch as the engine wants it; an empty system prompt is left out."""
        prompt = self.conversation.system_prompt
        system = (Message("system", prompt),) if prompt else ()
        return Request(
            messages=system + tuple(Message(stored.role, stored.content, stored.token_ids) for stored in self.messages),
            sampling=self.conversation.sampling,
            # Titles repeat; the engine tells conversations apart by this.
            conversation=f"{self.conversation.title} #{self.conversation.id}",
            use_cache=use_cache,
            day=self.conversation.day,
        )

    def ask(self, text: str, history: History, today: date) -> tuple[Conversation, StoredMessage, StoredMessage]:
        """Store a question at the end and an empty answer under it; all or nothing, and nothing changes here.

        The conversation is created with its first question: from then on its day is `today`.
        """
        with history.together():
            conversation = self.conversation
            if not conversation.id:
                title = conversation.title or make_title(text)
                conversation = history.create(conversation.system_prompt, conversation.sampling, today, title)
            question = history.append(conversation.id, self.leaf_id, "user", text)
            return conversation, question, history.append(conversation.id, question.id, "assistant", "")

    def with_draft(self, text: str) -> Branch:
        """The branch as it would be asked now: with this question, or with the one that still waits for an answer."""
        if not text and self.messages and self.messages[-1].role == "user":
            return self
        draft = StoredMessage(0, self.conversation.id, self.leaf_id, "user", text)
        return Branch(self.conversation, [*self.messages, draft])


def make_title(question: str) -> str:
    """A title from the first question: one line, cut on a word border."""
    line = " ".join(question.split())
    if len(line) <= TITLE_LENGTH:
        return line
    head, space, _ = line[: TITLE_LENGTH + 1].rpartition(" ")
    return (head if space else line[:TITLE_LENGTH]) + "…"


def repair_text(text: str) -> str:
    """Text that can be stored and encoded: halves of a character joined, lone halves replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

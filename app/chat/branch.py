"""The branch of a conversation that is in view, and the request it makes. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from app.documents import Attachment, with_files
from app.history.history import History
from app.history.records import Conversation, StoredMessage, label_of
from app.placeholders import Values, current_values, question_as_sent, system_as_sent, used_values
from engine import HeadstartError, Message, Request

TITLE_LENGTH = 120


class Branch:
    """A conversation and its messages from the first to the leaf.

    `left_out` is at least how many messages at the start are hidden from the model. Every message carries how many
    it was written without, so that each branch keeps its own number whatever is edited, undone or shown again.
    """

    def __init__(self, conversation: Conversation, messages: Iterable[StoredMessage] = (), left_out: int = 0) -> None:
        self.conversation = conversation
        self.messages = list(messages)
        self._least_left_out = left_out

    @property
    def leaf_id(self) -> int | None:
        """The last message, None in an empty branch."""
        return self.messages[-1].id if self.messages else None

    @property
    def left_out(self) -> int:
        """How many messages at the start the model does not see."""
        first = self.conversation.seen_from_id
        before = [place for place, message in enumerate(self.messages) if message.id == first]
        carried = [message.left_out for message in self.messages]
        return max([self._least_left_out, *before, *carried])

    @property
    def first_seen_id(self) -> int | None:
        """The message the model sees first; None where it sees everything."""
        left_out = self.left_out
        return self.messages[left_out].id if 0 < left_out < len(self.messages) else None

    def leave_out(self, count: int) -> None:
        """The model sees the first `count` messages no longer; every message that is added carries that on."""
        self._least_left_out = min(count, len(self.messages))

    def with_messages(self, *messages: StoredMessage) -> Branch:
        """The branch with these at its end."""
        return Branch(self.conversation, [*self.messages, *messages], self.left_out)

    def add(self, message: StoredMessage) -> None:
        """One message more at the end."""
        self.messages.append(message)
        self.conversation = replace(self.conversation, leaf_id=message.id)

    def cut(self, length: int) -> Branch:
        """The same conversation with its first `length` messages."""
        kept = self.messages[:length]
        left_out = next((count for count in (self.left_out, self._least_left_out) if count <= length), 0)
        return Branch(replace(self.conversation, leaf_id=kept[-1].id if kept else None), kept, left_out)

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

    def system_prompt(self, values: Values) -> str:
        """The system prompt as the model gets it with the last question: with what its placeholders stood for when that
        was sent; `values` are for those it has no value of."""
        filled = self.messages[-1].filled if self.messages else ()
        return system_as_sent(self.conversation.system_prompt, {**values, **dict(filled)}, self.conversation.cures)

    def value_of(self, name: str, values: Values) -> str:
        """What a placeholder stood for in the newest question; of `values` where no question was sent with it."""
        sent = (dict(message.filled) for message in reversed(self.messages))
        return next((filled[name] for filled in sent if name in filled), values.get(name, ""))

    def request(
        self,
        use_cache: bool,
        values: Values | None = None,
        system: str | None = None,
        left_out: int | None = None,
        keep_room: bool = False,
    ) -> Request:
        """The whole branch as the engine wants it, with every question as it was sent. Questions that no answer parts
        are one message: many chat templates refuse two of the user's in a row.

        `values` are what placeholders stand for (None: now); `system` is the text in place of the system prompt where
        that is known. An empty system prompt is left out, and so are the first `left_out` messages (None: those that
        the conversation leaves out now). `keep_room` is as in Request, as long as there is a turn to leave out.
        """
        if system is None:
            system = self.system_prompt(current_values() if values is None else values)
        first = (Message("system", system),) if system else ()
        seen = said_together(self.messages[self.left_out if left_out is None else left_out :])
        return Request(
            messages=first + tuple(_as_one(group) for group in seen),
            sampling=self.conversation.sampling,
            conversation=label_of(self.conversation.id),
            use_cache=use_cache,
            day=self.conversation.day,
            keep_room=keep_room and any(group[0].role == "user" for group in seen[1:]),
            template=self.conversation.template,
            stop=self.conversation.stop,
            tools=tuple(each.tool() for each in self.conversation.tools),
        )

    def ask(
        self, text: str, history: History, today: date, values: Values, files: tuple[Attachment, ...] = ()
    ) -> tuple[Conversation, StoredMessage, StoredMessage]:
        """Store a question at the end and an empty answer under it; all or nothing, and nothing changes here.

        The conversation is created with its first question: from then on its day is `today`. `values` are what the
        placeholders of the system prompt stand for. The `files` stand in front of the question, and stay there: what is
        asked later reads them again from the cache.
        """
        with history.together():
            asked = self.conversation
            if not asked.id:
                title = asked.title or make_title(text)
                own = (asked.cures, asked.template)
                asked = history.create(
                    asked.system_prompt, asked.sampling, today, title, *own, stop=asked.stop, tools=asked.tools
                )
            sent, filled = self._as_sent(text, values, files)
            left_out = self.left_out
            question = history.append(asked.id, self.leaf_id, "user", text, sent, filled, left_out, attachments=files)
            return asked, question, Branch(asked, [*self.messages, question]).append_answer(history, values)

    def add_results(self, texts: Sequence[str], history: History) -> Branch:
        """The branch with what the tools gave back that the answer at its end called, one text for each call, stored.
        What placeholders stood for when the question was sent holds on behind them."""
        answer, branch = self.messages[-1], self
        filled = next((each.filled for each in reversed(self.messages) if each.role == "user"), ())
        for call, text in zip(answer.tool_calls, texts, strict=True):
            under = answer.conversation_id, branch.leaf_id
            kept = {"filled": filled, "left_out": self.left_out, "tool_call_id": call.id}
            branch = branch.with_messages(history.append(*under, "tool", text, **kept))  # type: ignore[arg-type]
        return branch

    def calls_since_question(self) -> int:
        """How many answers since the last question called tools."""
        newest = next((at for at in reversed(range(len(self.messages))) if self.messages[at].role == "user"), 0)
        return sum(bool(each.tool_calls) for each in self.messages[newest:])

    def is_sent_alike(self, values: Values) -> bool:
        """Whether the last question would be sent now as it was; not so where a placeholder was moved since then."""
        question, asked = self.messages[-1], self.conversation
        known = {**values, **dict(question.filled)}
        whole = with_files(question.content, question.attachments)
        now = question_as_sent(whole, asked.system_prompt, known, asked.cures)
        return now == (question.sent or question.content)

    def append_answer(self, history: History, values: Values) -> StoredMessage:
        """Store an empty answer to the last question, with the system prompt and the template settings that it is going
        to be written under."""
        asked, left_out = self.conversation, self.left_out
        with history.together():
            under = asked.template
            answer = history.append(asked.id, self.leaf_id, "assistant", "", left_out=left_out, template=under)
            history.note_system_prompt(answer.id, self.system_prompt(values))
            return answer

    def with_draft(self, text: str, values: Values | None = None, files: tuple[Attachment, ...] = ()) -> Branch:
        """The branch as it would be asked now: with this question, or with the one that still waits for an answer."""
        if not (text or files) and self.messages and self.messages[-1].role == "user":
            return self
        sent, filled = self._as_sent(text, current_values() if values is None else values, files)
        draft = StoredMessage(0, self.conversation.id, self.leaf_id, "user", text, sent=sent, filled=filled)
        return self.with_messages(draft)

    def _as_sent(
        self, text: str, values: Values, files: tuple[Attachment, ...]
    ) -> tuple[str, tuple[tuple[str, str], ...]]:
        """A question as the model gets it, "" where that is `text`, and what the placeholders stand for in its turn."""
        prompt, cures = self.conversation.system_prompt, self.conversation.cures
        sent = question_as_sent(with_files(text, files), prompt, values, cures)
        return "" if sent == text else sent, used_values(prompt, values, cures)


def said_together(messages: Iterable[StoredMessage]) -> list[list[StoredMessage]]:
    """The messages of a branch as they are sent: questions that follow each other, because an answer was stopped before
    its first word, belong together."""
    groups: list[list[StoredMessage]] = []
    for message in messages:
        if groups and message.role == groups[-1][-1].role == "user":
            groups[-1].append(message)
        else:
            groups.append([message])
    return groups


def _as_one(group: list[StoredMessage]) -> Message:
    last = group[-1]
    text = "\n\n".join(each.sent or each.content for each in group)
    parts = last.token_ids, last.thought, last.tool_calls, last.tool_call_id
    return Message(last.role, text, *parts, thinking=last.template.thinking if last.role == "assistant" else "")


def make_title(question: str) -> str:
    """A title from the first question: one line, cut on a word border."""
    line = " ".join(question.split())
    if len(line) <= TITLE_LENGTH:
        return line
    head, space, _ = line[: TITLE_LENGTH + 1].rpartition(" ")
    return (head if space else line[:TITLE_LENGTH]) + "…"

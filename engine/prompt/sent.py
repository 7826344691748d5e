"""Which messages of a conversation are sent to the model, and where its system prompts go.

An answer without a word is not sent again, nor is its question: many templates refuse it, and the others write a
message that no model would. A system prompt that a template does not take stands in front of the question behind it.
Where a template refuses the messages, forms of them without one part or another show which part it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.types import Message

OWN = -1
"""In place of a message's number: a text of ours."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A message as it is sent. Its content is made of `texts`, each with the number of the message it comes from;
    `index` is the number of the message itself."""

    index: int
    message: Message
    texts: tuple[tuple[int, str], ...]

    @property
    def content(self) -> str:
        """The whole content."""
        return "".join(text for _, text in self.texts)


def as_sent(messages: Sequence[Message]) -> list[Sent]:
    """Every message as it is."""
    return [Sent(index, message, ((index, message.content),)) for index, message in enumerate(messages)]


def without_empty_answers(chat: Sequence[Sent]) -> list[Sent]:
    """The messages without empty answers, and all back to the question of each."""
    kept: list[Sent] = []
    for sent in chat:
        message = sent.message
        if message.role != "assistant" or message.content.strip() or message.tool_calls:
            kept.append(sent)
            continue
        while kept and kept[-1].message.role not in ("user", "system"):
            kept.pop()
        if kept and kept[-1].message.role == "user":
            kept.pop()
    return kept


def system_in_question(chat: Sequence[Sent], *, is_first_kept: bool = False) -> list[Sent]:
    """The messages with each system prompt in front of the question behind it, or of the last one; where
    `is_first_kept`, without the one at the start. As they are where there is no question."""
    kept: list[Sent] = []
    waiting: list[Sent] = []
    for number, sent in enumerate(chat):
        if sent.message.role == "system" and not (is_first_kept and number == 0):
            waiting.append(sent)
            continue
        if sent.message.role == "user" and waiting:
            sent, waiting = _joined(waiting, sent), []
        kept.append(sent)
    last = next((number for number in reversed(range(len(kept))) if kept[number].message.role == "user"), None)
    if waiting and last is None:
        return list(chat)
    if waiting and last is not None:
        kept[last] = _joined(waiting, kept[last])
    return kept


def with_words(chat: Sequence[Sent], words: str) -> list[Sent]:
    """The messages with words of ours at the end of the system prompt; a system prompt of them where there is none."""
    if not chat or chat[0].message.role != "system":
        return [Sent(OWN, Message("system", words), ((OWN, words),)), *chat]
    first = chat[0]
    return [replace(first, texts=(*first.texts, (OWN, f"\n{words}"))), *chat[1:]]


def without_tools(chat: Sequence[Sent]) -> list[Sent]:
    """The messages without calls of tools, and without what these returned."""
    kept = [sent for sent in chat if sent.message.role != "tool"]
    return [
        replace(sent, message=replace(sent.message, tool_calls=()))
        for sent in kept
        if sent.content or not sent.message.tool_calls
    ]


def without_thoughts(chat: Sequence[Sent]) -> list[Sent]:
    """The messages without thoughts."""
    return [replace(sent, message=replace(sent.message, thought="")) for sent in chat]


def filled(chat: Sequence[Sent]) -> list[Sent]:
    """Each message with something in it."""
    return [sent if sent.content.strip() else replace(sent, texts=((sent.index, "x"),)) for sent in chat]


def taking_turns(chat: Sequence[Sent]) -> list[Sent]:
    """The messages from the first question on, with questions, or answers, that follow each other as one."""
    kept: list[Sent] = []
    for sent in chat:
        role = sent.message.role
        if kept and role == kept[-1].message.role and role in ("user", "assistant"):
            kept[-1] = replace(sent, texts=(*kept[-1].texts, *sent.texts))
        elif role != "assistant" or (kept and kept[-1].message.role != "system"):
            kept.append(sent)
    return kept


def _joined(systems: Sequence[Sent], question: Sent) -> Sent:
    texts = [part for sent in systems for part in (*sent.texts, (OWN, "\n\n"))]
    return replace(question, texts=(*texts, *question.texts))

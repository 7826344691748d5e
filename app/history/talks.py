"""A conversation apart from the file it is kept in: all its messages as values, to be written elsewhere or taken in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from app.documents import Attachment, with_files
from app.history.history import History
from app.history.records import StoredMessage, repair_text, to_json
from engine import Role, Sampling, ToolCall


@dataclass(frozen=True, slots=True)
class Said:
    """One message. `parent` is the place of the message it follows, None for a first one; it comes before this one.
    `created` is in seconds since the epoch, 0 where nobody knows."""

    role: Role
    content: str
    parent: int | None = None
    created: float = 0.0
    thought: str = ""
    files: tuple[Attachment, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation with all its branches. `leaf` is the place of the last message of the branch in use, -1 in one
    without messages; `created` and `updated` are in seconds since the epoch, 0 where nobody knows."""

    title: str
    messages: tuple[Said, ...]
    system_prompt: str = ""
    created: float = 0.0
    updated: float = 0.0
    leaf: int = -1

    def branch(self) -> list[Said]:
        """The messages of the branch in use, from the first one on."""
        found: list[Said] = []
        place: int | None = self.leaf if self.messages else None
        while place is not None:
            found.append(self.messages[place])
            place = self.messages[place].parent
        return found[::-1]


def read_talk(history: History, conversation_id: int) -> Talk:
    """A stored conversation. Raises HeadstartError where there is none."""
    stored = history.conversation(conversation_id)
    messages = history.all_messages(conversation_id)
    places = {message.id: place for place, message in enumerate(messages)}
    said = tuple(_said(message, places) for message in messages)
    leaf = places.get(stored.leaf_id or 0, len(said) - 1)
    return Talk(stored.title, said, stored.system_prompt, stored.created, stored.updated, leaf)


def _said(message: StoredMessage, places: dict[int, int]) -> Said:
    return Said(
        message.role,
        message.content,
        places.get(message.parent_id) if message.parent_id else None,
        message.created,
        message.thought,
        message.attachments,
        message.tool_calls,
        message.tool_call_id,
    )


def store_talk(history: History, talk: Talk, sampling: Sampling, now: float) -> int:
    """Take in a conversation, all of it or nothing; returns its id. It is answered with this `sampling` from now on.
    Moments that nobody knows become `now`."""
    created = talk.created or now
    day = date.fromtimestamp(created)
    insert = """INSERT INTO message(conversation_id, parent_id, role, content, created, sent, finish_reason, thought,
        tool_calls, tool_call_id, attachments) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
    ids: list[int] = []
    with history.together():
        title = repair_text(talk.title) or f"Imported on {datetime.fromtimestamp(now):%d %B %Y}"
        number = history.create(repair_text(talk.system_prompt), sampling, day, title).id
        for said in talk.messages:
            text = repair_text(said.content)
            sent = repair_text(with_files(text, said.files)) if said.files else ""
            reason = "end" if said.role == "assistant" else ""
            parent = None if said.parent is None else ids[said.parent]
            parts = (repair_text(said.thought), to_json(said.tool_calls), said.tool_call_id, to_json(said.files))
            values = (number, parent, said.role, text, said.created or created, sent, reason, *parts)
            ids.append(history.file.change(insert, *values))
        leaf = ids[talk.leaf] if ids else None
        query = "UPDATE conversation SET created = ?, updated = ?, leaf_id = ? WHERE id = ?"
        history.file.change(query, created, talk.updated or created, leaf, number)
    return number

"""All conversations of one user: a list of them, and the messages of each.

The messages of a conversation form a tree by their parent. The branch in use is the path from the first message down
to the conversation's leaf. An answer without a reason for its end was being written: one that is found like that when
the file is opened was cut off by the end of the program.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from app.documents import Attachment
from app.history.file import HistoryFile
from app.history.filing import FilingTable
from app.history.models import ModelTable
from app.history.presets import PresetTable
from app.history.records import (
    LAST_MOMENT,
    UNREADABLE_TITLE,
    Conversation,
    ConversationEntry,
    Outlined,
    StoredMessage,
    pack_ids,
    read_conversation,
    read_message,
    read_stats,
    read_title,
    to_json,
)
from app.history.servers import ServerTable
from app.history.words import WordIndex
from app.matching import excerpt
from app.placeholders import Cure
from app.tools.servers import ChosenTool
from engine import NOTHING_CHOSEN, HeadstartError, Role, Sampling, TemplateSettings, TurnStats, data_dir

_GONE = "This message is no longer there. Open the conversation again."

_LEAF = """CASE WHEN c.leaf_id IS NOT NULL THEN coalesce(
    (SELECT m.id FROM message m WHERE m.id = c.leaf_id AND m.conversation_id = c.id),
    (SELECT max(m.id) FROM message m WHERE m.conversation_id = c.id)) END"""
"""The last message of the branch in use; the newest one where the row names none of this conversation."""

_PARENT = """(SELECT p.id FROM message p
    WHERE p.id = m.parent_id AND p.id < m.id AND p.conversation_id = m.conversation_id)"""
"""The message before `m`. One that is no message of this conversation does not count, nor one that was written later:
following parents so comes to an end, whatever the file holds."""

_CONVERSATION = f"""SELECT c.id, c.title, c.system_prompt, c.sampling, c.day, c.created, c.updated,
    {_LEAF} AS leaf_id, c.cures, c.seen_from_id, c.template, c.notices, c.stop, c.tools,
    c.leaf_id IS NOT ({_LEAF}) AS is_leaf_wrong
    FROM conversation c"""
_ENTRIES = f"""SELECT id, iif(typeof(title) = 'text', title, '{UNREADABLE_TITLE}'),
    iif(typeof(updated) = 'real' AND updated BETWEEN 0 AND {LAST_MOMENT}, updated, 0.0),
    iif(typeof(folder_id) = 'integer', folder_id, 0), is_top IS 1
    FROM conversation WHERE id > 0 AND id NOT IN (SELECT conversation_id FROM deletion)
    ORDER BY is_top IS 1 DESC, updated DESC, id DESC"""
"""There may be ten thousand: so values of no use are replaced here, and not in a `Row`."""
_MESSAGE = f"""SELECT m.id, m.conversation_id, {_PARENT} AS parent_id, m.role, m.content, m.token_ids, m.stats,
    m.divergence, m.finish_reason, m.created, m.sent, m.filled, m.left_out, m.thought, m.tool_calls, m.tool_call_id,
    m.template, m.attachments, m.accepted, m.parent_id IS NOT {_PARENT} AS is_parent_wrong FROM message m"""
_BRANCH = f"""
    WITH RECURSIVE branch(id) AS (
        SELECT {_LEAF} FROM conversation c WHERE c.id = ?
        UNION ALL SELECT {_PARENT} FROM branch JOIN message m ON m.id = branch.id
    ) {_MESSAGE} JOIN branch ON branch.id = m.id ORDER BY m.id"""
_SIBLINGS = f"""
    WITH itself AS (SELECT m.conversation_id, {_PARENT} AS parent_id FROM message m WHERE m.id = ?)
    {_MESSAGE} JOIN itself ON m.conversation_id IS itself.conversation_id AND {_PARENT} IS itself.parent_id
    ORDER BY m.id"""
_NEWEST_BELOW = f"""
    WITH RECURSIVE below(id) AS (
        SELECT ? UNION ALL SELECT m.id FROM below JOIN message m ON m.parent_id = below.id AND {_PARENT} = below.id
    ) SELECT max(id) FROM below"""
_SENT_SYSTEM = """
    SELECT s.id, m.conversation_id FROM message m
    LEFT JOIN sent_system s ON s.conversation_id = m.conversation_id AND s.text = ? WHERE m.id = ?"""

_DELETE_UNSENT = """
    DELETE FROM sent_system WHERE conversation_id = ? AND id NOT IN
    (SELECT sent_system_id FROM message WHERE conversation_id = ? AND sent_system_id IS NOT NULL)"""


def default_path() -> Path:
    """Where the conversations of this user are kept."""
    return data_dir() / "history.sqlite3"


@dataclass(frozen=True, slots=True)
class Removed:
    """A message that was removed, as its row was, for it to be put back: what stood below it, and the leaf then."""

    message_id: int
    conversation_id: int
    values: dict[str, Any]
    below: tuple[int, ...]
    leaf_id: int | None


class History:
    """All conversations of one user. Attributes: path; file, in which they are; presets, the system prompts kept under
    a name; servers and models, who answers each conversation; filing, what is done with conversations as a whole;
    words, which finds and forgets what messages say; notice, a sentence for the user where something was wrong with the
    file, "" where all is well.

    `clock` gives seconds since the epoch. Every method raises HeadstartError (DiskFullError where the disk is full)
    with a sentence for the user; what was stored before stays as it was.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self.file = HistoryFile(path)
        self.presets = PresetTable(self.file, clock)
        self.servers = ServerTable(self.file)
        self.models = ModelTable(self.file)
        self.filing = FilingTable(self.file, clock)
        self.words = WordIndex(self.file)
        self.notice = self.file.notice
        self._clock = clock
        self._listed: tuple[int, list[ConversationEntry]] = (-1, [])
        try:
            self.filing.delete_hidden()
            self._close_interrupted()
        except HeadstartError as error:  # reading still works, and the next start tries again
            self.notice = self.notice or str(error)
        self.file.finish_opening()

    def close(self) -> None:
        """Delete for good what can still be taken back, and give the file back. Safe to call twice."""
        with suppress(HeadstartError):  # what the disk has no room for now is done at the next start
            self.filing.delete_hidden()
        self.words.forget_all()
        self.file.close()

    def together(self) -> AbstractContextManager[None]:
        """Changes made inside are stored all or none. May be nested."""
        return self.file.together()

    def in_haste(self) -> AbstractContextManager[None]:
        """Changes made inside are stored at once, and what can wait for its end does."""
        return self.file.in_haste()

    # Conversations

    def conversations(self, search: str = "") -> list[ConversationEntry]:
        """Those that are kept at the top, then the others, newest first; with `search`, those that hold it in their
        title or a message, in any case."""
        found: list[ConversationEntry] = []
        for entries in self.search(search):
            found = entries
        return list(found)

    def search(self, needle: str) -> Iterator[list[ConversationEntry]]:
        """As `conversations`, in pieces: what was found so far, again and again until every message was looked at.

        Newest messages first, a few hundred at a time, so that whoever waits can do something else in between: those
        that an index finds come before all others. A piece that adds nothing gives the same list once more.
        """
        entries = self._entries()
        if not (wanted := needle.casefold()):
            yield entries
            return
        titled = {entry.id for entry in entries if wanted in entry.title.casefold()}
        found: dict[int, tuple[int, str]] = {}
        listed = _listed(entries, titled, found)
        for rows in self.words.pieces(wanted):
            known = len(found)
            for number, owner, text in rows:
                if owner not in found and wanted in text.casefold():
                    found[owner] = (number, excerpt(text, needle))
            if len(found) > known:
                listed = _listed(entries, titled, found)
            yield listed
            if all(entry.id in found for entry in entries):
                return

    def _entries(self) -> list[ConversationEntry]:
        """All conversations, newest first; read once until anything is changed. Nobody else writes into the file."""
        changes, entries = self._listed
        if changes != self.file.db.total_changes:
            entries = [
                ConversationEntry(number, title, updated, folder_id=folder, is_top=bool(is_top))
                for number, title, updated, folder, is_top in self.file.query(_ENTRIES)
            ]
            if not self.file.db.in_transaction:  # what is changed in one may be taken back, which is not counted
                self._listed = (self.file.db.total_changes, entries)
        return entries

    def conversation(self, conversation_id: int) -> Conversation:
        """One conversation. Raises HeadstartError when there is none with this id."""
        for row in self.file.rows(f"{_CONVERSATION} WHERE c.id = ?", conversation_id):
            return read_conversation(row)
        raise HeadstartError("This conversation is no longer there. Choose another one.")

    def create(
        self,
        system_prompt: str,
        sampling: Sampling,
        day: date,
        title: str = "",
        cures: tuple[Cure, ...] = (),
        template: TemplateSettings = NOTHING_CHOSEN,
        stop: tuple[str, ...] = (),
        tools: tuple[ChosenTool, ...] = (),
    ) -> Conversation:
        """A new conversation without messages."""
        now = self._clock()
        number = self.file.change(
            "INSERT INTO conversation(title, system_prompt, sampling, day, created, updated, cures, template,"
            " stop, tools) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(title, system_prompt, to_json(sampling), day.isoformat(), now, now, to_json(cures), to_json(template)),
            *(to_json(stop), to_json(tools)),
        )
        made = Conversation(number, title, system_prompt, sampling, day, now, now, cures=cures, template=template)
        return replace(made, stop=stop, tools=tools)

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation another title."""
        with self.file.erasing():
            self.file.change("UPDATE conversation SET title = ? WHERE id = ?", title, conversation_id)

    def set_system_prompt(self, conversation_id: int, text: str, cures: tuple[Cure, ...] = ()) -> None:
        """Change the system prompt of one conversation, and what is cured in it."""
        query = "UPDATE conversation SET system_prompt = ?, cures = ? WHERE id = ?"
        with self.file.erasing():
            self.file.change(query, text, to_json(cures), conversation_id)

    def set_sampling(self, conversation_id: int, sampling: Sampling) -> None:
        """Change the sampling settings of one conversation."""
        self.file.change("UPDATE conversation SET sampling = ? WHERE id = ?", to_json(sampling), conversation_id)

    def set_tools(self, conversation_id: int, tools: tuple[ChosenTool, ...]) -> None:
        """The tools that the model may call in a conversation, from its next question on."""
        self.file.change("UPDATE conversation SET tools = ? WHERE id = ?", to_json(tools), conversation_id)

    def set_stop(self, conversation_id: int, stop: tuple[str, ...]) -> None:
        """Change before which texts answers of one conversation end."""
        self.file.change("UPDATE conversation SET stop = ? WHERE id = ?", to_json(stop), conversation_id)

    def set_template(self, conversation_id: int, template: TemplateSettings) -> None:
        """Change what a user chose of how the chat template makes the prompts of one conversation."""
        self.file.change("UPDATE conversation SET template = ? WHERE id = ?", to_json(template), conversation_id)

    def set_notices(self, conversation_id: int, notices: tuple[str, ...]) -> None:
        """Remember which sentences about its prompts one conversation has shown."""
        self.file.change("UPDATE conversation SET notices = ? WHERE id = ?", to_json(notices), conversation_id)

    def set_leaf(self, conversation_id: int, message_id: int | None) -> None:
        """Make the branch that ends at this message the active one; None for an empty branch."""
        self.file.change("UPDATE conversation SET leaf_id = ? WHERE id = ?", message_id, conversation_id)

    def set_seen_from(self, conversation_id: int, message_id: int, left_out: int) -> None:
        """The model no longer sees the `left_out` messages before this question, nor before what stands in its place in
        another branch."""
        place = "(SELECT parent_id FROM message WHERE id = ?)"
        with self.together():
            self.file.change("UPDATE conversation SET seen_from_id = ? WHERE id = ?", message_id, conversation_id)
            self.file.change(f"UPDATE message SET left_out = ? WHERE parent_id = {place}", left_out, message_id)

    def delete(self, conversation_id: int) -> None:
        """Forget a conversation with all its messages."""
        self.file.delete(lambda: self.file.change("DELETE FROM conversation WHERE id = ?", conversation_id))

    # Messages

    def messages(self, conversation_id: int) -> tuple[StoredMessage, ...]:
        """The active branch, from the first message to the leaf."""
        return tuple(map(read_message, self.file.rows(_BRANCH, conversation_id)))

    def all_messages(self, conversation_id: int) -> tuple[StoredMessage, ...]:
        """Every message of all branches, each after the one that it follows."""
        query = f"{_MESSAGE} WHERE m.conversation_id = ? ORDER BY m.id"
        return tuple(map(read_message, self.file.rows(query, conversation_id)))

    def message(self, message_id: int) -> StoredMessage:
        """One message. Raises HeadstartError when there is none with this id."""
        for row in self.file.rows(f"{_MESSAGE} WHERE m.id = ?", message_id):
            return read_message(row)
        raise HeadstartError(_GONE)

    def siblings(self, message_id: int) -> tuple[StoredMessage, ...]:
        """All messages with the same parent, this one among them, oldest first. Raises HeadstartError when there is no
        message with this id."""
        found = tuple(map(read_message, self.file.rows(_SIBLINGS, message_id)))
        if not found:
            raise HeadstartError(_GONE)
        return found

    def versions(self, conversation_id: int) -> dict[int, list[int]]:
        """For each message of a conversation the ids of its siblings, itself among them, oldest first."""
        query = f"SELECT m.id, {_PARENT} FROM message m WHERE m.conversation_id = ? ORDER BY m.id"
        below: dict[int | None, list[int]] = {}
        found: dict[int, list[int]] = {}
        for number, parent in self.file.query(query, conversation_id):
            found[number] = below.setdefault(parent, [])
            found[number].append(number)
        return found

    def outline(self, conversation_id: int) -> list[Outlined]:
        """Every message of a conversation, of all versions, oldest first."""
        begins = "iif(typeof(m.content) = 'text', substr(m.content, 1, 200), '')"
        query = f"SELECT m.id, {_PARENT}, m.role, {begins} FROM message m WHERE m.conversation_id = ? ORDER BY m.id"
        return [
            Outlined(number, parent, str(role), text)
            for number, parent, role, text in self.file.query(query, conversation_id)
        ]

    def newest_leaf(self, message_id: int) -> int:
        """The newest message at or below this one: where a branch that is shown again ends."""
        return int(self.file.query(_NEWEST_BELOW, message_id)[0][0])

    def append(
        self,
        conversation_id: int,
        parent_id: int | None,
        role: Role,
        content: str,
        sent: str = "",
        filled: tuple[tuple[str, str], ...] = (),
        left_out: int = 0,
        template: TemplateSettings = NOTHING_CHOSEN,
        attachments: tuple[Attachment, ...] = (),
        tool_call_id: str = "",
    ) -> StoredMessage:
        """A new message under `parent_id` (None: the first), which becomes the leaf."""
        now = self._clock()
        insert = (
            "INSERT INTO message(conversation_id, parent_id, role, content, created, sent, filled, left_out, template,"
            " attachments, tool_call_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        kept = (now, sent, to_json(dict(filled)), left_out, to_json(template), to_json(attachments), tool_call_id)
        values = (conversation_id, parent_id, role, content, *kept)
        leaf = "UPDATE conversation SET leaf_id = ?, updated = ? WHERE id = ?"
        with self.together():
            number = self.file.change(insert, *values)
            self.file.change(leaf, number, now, conversation_id)
        parts = (number, conversation_id, parent_id, role, content)
        made = StoredMessage(*parts, created=now, sent=sent, filled=filled, left_out=left_out, template=template)
        return replace(made, attachments=attachments, tool_call_id=tool_call_id)

    def save_text(self, answer: StoredMessage) -> None:
        """Keep what is written so far of an answer."""
        update = "UPDATE message SET content = ?, thought = ?, token_ids = ? WHERE id = ?"
        self.file.change(update, answer.content, answer.thought, pack_ids(answer.token_ids), answer.id)

    def reopen(self, answer_id: int) -> None:
        """An answer that was cut off is going to be written on."""
        self.file.change("UPDATE message SET finish_reason = '' WHERE id = ?", answer_id)

    def replace_answer(self, answer_id: int, text: str) -> StoredMessage:
        """Another version of an answer, with this text of the user's, which becomes the leaf."""
        old = self.message(answer_id)
        with self.together():
            new = self.append(
                old.conversation_id,
                old.parent_id,
                "assistant",
                text,
                left_out=old.left_out,
                template=old.template,
            )
            self.note_system_prompt(new.id, self.sent_system_prompt(answer_id) or "")
            self.file.change("UPDATE message SET finish_reason = 'edited' WHERE id = ?", new.id)
        return replace(new, finish_reason="edited")

    def remove(self, message_id: int) -> Removed:
        """Forget one message; what stands below it moves up. Its words leave the file when `words.forget` is called.
        Raises HeadstartError when there is none."""
        message = self.message(message_id)
        below = tuple(number for (number,) in self.file.query("SELECT id FROM message WHERE parent_id = ?", message_id))
        values = self.file.rows("SELECT * FROM message WHERE id = ?", message_id)[0].values
        leaf = self.conversation(message.conversation_id).leaf_id
        with self.file.erasing():
            rest = self._leaf_without(message) if leaf == message_id else leaf
            self.file.change("UPDATE message SET parent_id = ? WHERE parent_id = ?", message.parent_id, message_id)
            self.set_leaf(message.conversation_id, rest)
            self.file.change("DELETE FROM message WHERE id = ?", message_id)
        return Removed(message_id, message.conversation_id, values, below, leaf)

    def forget_unsent(self, conversation_id: int) -> None:
        """Forget the system prompts that no answer of a conversation was written under, now that some are gone."""
        with self.file.erasing():
            self.file.change(_DELETE_UNSENT, conversation_id, conversation_id)

    def put_back(self, removed: Removed) -> None:
        """Undo a removal. Raises HeadstartError where the conversation is gone meanwhile."""
        self.conversation(removed.conversation_id)
        names, marks = ", ".join(removed.values), ", ".join("?" * len(removed.values))
        with self.together():
            self.file.change(f"INSERT INTO message({names}) VALUES ({marks})", *removed.values.values())
            for number in removed.below:
                self.file.change("UPDATE message SET parent_id = ? WHERE id = ?", removed.message_id, number)
            self.set_leaf(removed.conversation_id, removed.leaf_id)

    def finish(self, answer: StoredMessage) -> None:
        """Keep an answer that has ended, with all its parts and figures."""
        self.file.change(
            "UPDATE message SET content = ?, token_ids = ?, stats = ?, divergence = ?, finish_reason = ?, thought = ?,"
            " tool_calls = ?, accepted = ? WHERE id = ?",
            *(answer.content, pack_ids(answer.token_ids), to_json(answer.stats), to_json(answer.divergence)),
            *(answer.finish_reason, answer.thought, to_json(answer.tool_calls), to_json(answer.accepted), answer.id),
        )

    def discard(self, message_id: int, leaf_id: int | None) -> None:
        """Forget a message that nothing follows, and the system prompt that no other was written under; where it was
        the leaf, `leaf_id` is again."""

        def change() -> None:
            owners = self.file.query("SELECT conversation_id FROM message WHERE id = ?", message_id)
            self.file.change("UPDATE conversation SET leaf_id = ? WHERE leaf_id = ?", leaf_id, message_id)
            self.file.change("DELETE FROM message WHERE id = ?", message_id)
            for (owner,) in owners:
                self.file.change(_DELETE_UNSENT, owner, owner)

        self.file.delete(change)

    def turns(self, newest: int) -> list[tuple[int, str, TurnStats]]:
        """The newest answers of all conversations that have figures, oldest first: id, title of the conversation,
        figures."""
        query = """SELECT m.id, c.title, m.stats FROM message m JOIN conversation c ON c.id = m.conversation_id
            WHERE m.stats IS NOT NULL AND m.finish_reason != ''
            AND c.id NOT IN (SELECT conversation_id FROM deletion) ORDER BY m.id DESC LIMIT ?"""
        rows = self.file.rows(query, newest)[::-1]
        found = [(row.id, read_title(row), row.read("stats", read_stats, None)) for row in rows]
        return [(number, title, stats) for number, title, stats in found if stats is not None]

    def draft(self, conversation_id: int) -> str:
        """What was written in a conversation and not sent yet; 0 for the one that is not begun."""
        rows = self.file.query("SELECT text FROM draft WHERE conversation_id = ?", conversation_id)
        return next((text for (text,) in rows if isinstance(text, str)), "")

    def keep_draft(self, conversation_id: int, text: str) -> None:
        """Keep what is written; "" forgets it. Nothing is kept for a conversation that is gone."""
        if text == self.draft(conversation_id):
            return
        with self.file.erasing():
            self.file.change("DELETE FROM draft WHERE conversation_id = ?", conversation_id)
            if text:
                insert = """INSERT INTO draft(conversation_id, text)
                    SELECT ?1, ?2 WHERE ?1 = 0 OR EXISTS (SELECT 1 FROM conversation WHERE id = ?1)"""
                self.file.change(insert, conversation_id, text)

    def figures(self, conversation_id: int) -> list[TurnStats]:
        """The figures of every ended answer of a conversation, of all versions."""
        query = "SELECT id, stats FROM message WHERE conversation_id = ? AND stats IS NOT NULL AND finish_reason != ''"
        found = [row.read("stats", read_stats, None) for row in self.file.rows(query, conversation_id)]
        return [stats for stats in found if stats is not None]

    # The system prompt as an answer was written under it, kept once for each text of a conversation

    def note_system_prompt(self, answer_id: int, text: str) -> None:
        """Remember the system prompt an answer is written under, as the model gets it."""
        with self.together():
            number, conversation = self.file.query(_SENT_SYSTEM, text, answer_id)[0]
            if number is None:
                insert = "INSERT INTO sent_system(conversation_id, text) VALUES (?, ?)"
                number = self.file.change(insert, conversation, text)
            self.file.change("UPDATE message SET sent_system_id = ? WHERE id = ?", number, answer_id)

    def sent_system_prompt(self, answer_id: int) -> str | None:
        """The system prompt an answer was written under; None where it was not noted."""
        query = "SELECT s.text FROM message m JOIN sent_system s ON s.id = m.sent_system_id WHERE m.id = ?"
        texts = [text for (text,) in self.file.query(query, answer_id) if isinstance(text, str)]
        return texts[0] if texts else None

    def answers_with_system_prompt(self, conversation_id: int) -> dict[int, bool]:
        """Whether there was a system prompt, for each answer of a conversation of which that is noted."""
        query = """SELECT m.id, s.text != '' FROM message m JOIN sent_system s ON s.id = m.sent_system_id
            WHERE m.conversation_id = ?"""
        return {number: bool(had) for number, had in self.file.query(query, conversation_id)}

    # At the start

    def _close_interrupted(self) -> None:
        """Answers that were open when the program ended: mark them, and drop those in which nothing was written."""
        for row in self.file.rows(f"{_MESSAGE} WHERE m.role = 'assistant' AND m.finish_reason = ''"):
            answer = read_message(row)
            is_empty = answer.is_empty and not answer.unread
            if is_empty and self.newest_leaf(answer.id) == answer.id:
                self.discard(answer.id, self._leaf_without(answer))
            else:
                self.file.change("UPDATE message SET finish_reason = 'interrupted' WHERE id = ?", answer.id)

    def _leaf_without(self, answer: StoredMessage) -> int | None:
        others = [other.id for other in self.siblings(answer.id) if other.id != answer.id]
        return self.newest_leaf(others[-1]) if others else answer.parent_id


def _listed(
    entries: Sequence[ConversationEntry], titled: Set[int], found: Mapping[int, tuple[int, str]]
) -> list[ConversationEntry]:
    """The conversations whose title or one of whose messages holds what is searched for, with that message."""
    return [
        entry._replace(message_id=hit[0], excerpt=hit[1]) if (hit := found.get(entry.id)) else entry
        for entry in entries
        if entry.id in titled or entry.id in found
    ]

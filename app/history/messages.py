"""The messages of all conversations: a tree by their parent, of which the branch in use ends at a leaf. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from app.history.records import (
    LEAF,
    PARENT,
    SELECT_MESSAGE,
    Row,
    StoredMessage,
    pack_ids,
    read_message,
    read_stats,
    read_title,
    write_divergence,
    write_filled,
    write_stats,
)
from app.history.schema import Database
from engine import Divergence, HeadstartError, Role, TurnStats

_SENT_SYSTEM = """
    SELECT s.id, m.conversation_id FROM message m
    LEFT JOIN sent_system s ON s.conversation_id = m.conversation_id AND s.text = ? WHERE m.id = ?"""
_BRANCH = f"""
    WITH RECURSIVE branch(id) AS (
        SELECT {LEAF} FROM conversation c WHERE c.id = ?
        UNION ALL SELECT {PARENT} FROM branch JOIN message m ON m.id = branch.id
    ) {SELECT_MESSAGE} JOIN branch ON branch.id = m.id ORDER BY m.id"""
_SIBLINGS = f"""
    WITH itself AS (SELECT m.conversation_id, {PARENT} AS parent_id FROM message m WHERE m.id = ?)
    {SELECT_MESSAGE} JOIN itself ON m.conversation_id IS itself.conversation_id AND {PARENT} IS itself.parent_id
    ORDER BY m.id"""
_NEWEST = f"""
    WITH RECURSIVE below(id) AS (
        SELECT ? UNION ALL SELECT m.id FROM below JOIN message m ON m.parent_id = below.id AND {PARENT} = below.id
    ) SELECT max(id) FROM below"""


class MessageTable:
    """What a `History` knows of messages. `db` is its file; `speaking`, `together` and `erasing` are of `History`."""

    db: Database
    clock: Callable[[], float]

    def speaking(self) -> AbstractContextManager[None]:
        """See `History`."""
        raise NotImplementedError

    def together(self) -> AbstractContextManager[None]:
        """See `History`."""
        raise NotImplementedError

    def erasing(self) -> AbstractContextManager[None]:
        """See `History`."""
        raise NotImplementedError

    def change(self, statement: str, *values: object) -> None:
        """Carry out one statement, stored or not at all."""
        with self.together():
            self.db.execute(statement, values)

    def messages(self, conversation_id: int) -> tuple[StoredMessage, ...]:
        """The active branch, from the first message to the leaf."""
        with self.speaking():
            return tuple(read_message(row) for row in self.db.execute(_BRANCH, (conversation_id,)))

    def message(self, message_id: int) -> StoredMessage:
        """One message. Raises HeadstartError when there is none with this id."""
        with self.speaking():
            row = self.db.execute(f"{SELECT_MESSAGE} WHERE m.id = ?", (message_id,)).fetchone()
        if row is None:
            raise HeadstartError("This message is no longer there. Open the conversation again.")
        return read_message(row)

    def siblings(self, message_id: int) -> tuple[StoredMessage, ...]:
        """All messages with the same parent, this one among them, oldest first. Raises HeadstartError when there is no
        message with this id."""
        with self.speaking():
            found = tuple(read_message(row) for row in self.db.execute(_SIBLINGS, (message_id,)))
        if not found:
            raise HeadstartError("This message is no longer there. Open the conversation again.")
        return found

    def versions(self, conversation_id: int) -> dict[int, list[int]]:
        """For each message of a conversation the ids of its siblings, itself among them, oldest first."""
        query = f"SELECT m.id, {PARENT} FROM message m WHERE m.conversation_id = ? ORDER BY m.id"
        below: dict[int | None, list[int]] = {}
        found: dict[int, list[int]] = {}
        with self.speaking():
            for number, parent in self.db.execute(query, (conversation_id,)):
                found[number] = below.setdefault(parent, [])
                found[number].append(number)
        return found

    def newest_leaf(self, message_id: int) -> int:
        """The newest message at or below this one: where a branch that is shown again ends."""
        with self.speaking():
            return int(self.db.execute(_NEWEST, (message_id,)).fetchone()[0])

    def append(
        self,
        conversation_id: int,
        parent_id: int | None,
        role: Role,
        content: str,
        sent: str = "",
        filled: tuple[tuple[str, str], ...] = (),
        left_out: int = 0,
    ) -> StoredMessage:
        """A new message under `parent_id` (None: the first), which becomes the leaf."""
        now = self.clock()
        with self.together():
            cursor = self.db.execute(
                "INSERT INTO message(conversation_id, parent_id, role, content, created, sent, filled, left_out)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (conversation_id, parent_id, role, content, now, sent, write_filled(filled), left_out),
            )
            message = self.message(int(cursor.lastrowid or 0))
            self.change(
                "UPDATE conversation SET leaf_id = ?, updated = ? WHERE id = ?", message.id, now, conversation_id
            )
        return message

    def note_system_prompt(self, answer_id: int, text: str) -> None:
        """Remember the system prompt an answer is written under, as the model gets it."""
        with self.together():
            number, conversation = self.db.execute(_SENT_SYSTEM, (text, answer_id)).fetchone()
            if number is None:
                insert = "INSERT INTO sent_system(conversation_id, text) VALUES (?, ?)"
                number = self.db.execute(insert, (conversation, text)).lastrowid
            self.change("UPDATE message SET sent_system_id = ? WHERE id = ?", number, answer_id)

    def sent_system_prompt(self, answer_id: int) -> str | None:
        """The system prompt an answer was written under; None where it was not noted."""
        query = "SELECT s.text FROM message m JOIN sent_system s ON s.id = m.sent_system_id WHERE m.id = ?"
        with self.speaking():
            row = self.db.execute(query, (answer_id,)).fetchone()
        return row[0] if row and isinstance(row[0], str) else None

    def answers_with_system_prompt(self, conversation_id: int) -> dict[int, bool]:
        """Whether there was a system prompt, for each answer of a conversation of which that is noted."""
        query = """SELECT m.id, s.text != '' FROM message m JOIN sent_system s ON s.id = m.sent_system_id
            WHERE m.conversation_id = ?"""
        with self.speaking():
            return {number: bool(had) for number, had in self.db.execute(query, (conversation_id,))}

    def turns(self, newest: int) -> list[tuple[int, str, TurnStats]]:
        """The newest answers of all conversations that have figures, oldest first: id, title of the conversation,
        figures."""
        query = """SELECT m.id, c.title, m.stats FROM message m JOIN conversation c ON c.id = m.conversation_id
            WHERE m.stats IS NOT NULL AND m.finish_reason != '' ORDER BY m.id DESC LIMIT ?"""
        with self.speaking():
            rows = [Row("id title stats", values) for values in self.db.execute(query, (newest,))]
        found = [(row.read("id", int, 0), read_title(row), row.read("stats", read_stats, None)) for row in rows[::-1]]
        return [(number, title, stats) for number, title, stats in found if stats is not None]

    def save_text(self, message_id: int, content: str) -> None:
        """Keep what is written so far of an answer that goes on."""
        self.change("UPDATE message SET content = ? WHERE id = ?", content, message_id)

    def finish(
        self,
        message_id: int,
        content: str,
        token_ids: tuple[int, ...],
        stats: TurnStats | None,
        divergence: Divergence | None,
        finish_reason: str,
    ) -> None:
        """Keep an answer that has ended."""
        self.change(
            "UPDATE message SET content = ?, token_ids = ?, stats = ?, divergence = ?, finish_reason = ? WHERE id = ?",
            content,
            pack_ids(token_ids),
            write_stats(stats),
            write_divergence(divergence),
            finish_reason,
            message_id,
        )

    def discard(self, message_id: int, leaf_id: int | None) -> None:
        """Forget a message that nothing follows; where it was the leaf, `leaf_id` is again."""
        with self.erasing():
            self.change("UPDATE conversation SET leaf_id = ? WHERE leaf_id = ?", leaf_id, message_id)
            self.change("DELETE FROM message WHERE id = ?", message_id)

"""The messages of all conversations: a tree by their parent, of which the branch in use ends at a leaf. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from app.history.records import (
    MESSAGE_COLUMNS,
    StoredMessage,
    pack_ids,
    read_message,
    read_stats,
    write_divergence,
    write_filled,
    write_stats,
)
from app.history.schema import Database
from engine import Divergence, HeadstartError, Role, TurnStats

_SENT_SYSTEM = """
    SELECT s.id, m.conversation_id FROM message m
    LEFT JOIN sent_system s ON s.conversation_id = m.conversation_id AND s.text = ? WHERE m.id = ?"""
_BRANCH = """
    WITH RECURSIVE branch(id, parent_id, depth) AS (
        SELECT m.id, m.parent_id, 0 FROM message m JOIN conversation c ON c.leaf_id = m.id WHERE c.id = ?
        UNION ALL
        SELECT m.id, m.parent_id, branch.depth + 1 FROM message m JOIN branch ON m.id = branch.parent_id
    )
"""


class MessageTable:
    """What a `History` knows of messages. `db` is its file; its methods `speaking` and `together` are of `History`."""

    db: Database
    clock: Callable[[], float]

    def speaking(self) -> AbstractContextManager[None]:
        """See `History`."""
        raise NotImplementedError

    def together(self) -> AbstractContextManager[None]:
        """See `History`."""
        raise NotImplementedError

    def change(self, statement: str, *values: object) -> None:
        """Carry out one statement, stored or not at all."""
        with self.together():
            self.db.execute(statement, values)

    def messages(self, conversation_id: int) -> tuple[StoredMessage, ...]:
        """The active branch, from the first message to the leaf."""
        columns = ", ".join(f"m.{name}" for name in MESSAGE_COLUMNS.split(", "))
        query = f"{_BRANCH} SELECT {columns} FROM message m JOIN branch ON branch.id = m.id ORDER BY branch.depth DESC"
        with self.speaking():
            return tuple(read_message(row) for row in self.db.execute(query, (conversation_id,)))

    def message(self, message_id: int) -> StoredMessage:
        """One message. Raises HeadstartError when there is none with this id."""
        with self.speaking():
            row = self.db.execute(f"SELECT {MESSAGE_COLUMNS} FROM message WHERE id = ?", (message_id,)).fetchone()
        if row is None:
            raise HeadstartError("This message is no longer there. Open the conversation again.")
        return read_message(row)

    def siblings(self, message_id: int) -> tuple[StoredMessage, ...]:
        """All messages with the same parent, this one among them, oldest first."""
        query = f"""SELECT {MESSAGE_COLUMNS} FROM message WHERE conversation_id = ? AND parent_id IS ? ORDER BY id"""
        message = self.message(message_id)
        with self.speaking():
            rows = self.db.execute(query, (message.conversation_id, message.parent_id))
            return tuple(read_message(row) for row in rows)

    def newest_leaf(self, message_id: int) -> int:
        """The newest message at or below this one: where a branch that is shown again ends."""
        query = """
            WITH RECURSIVE below(id) AS (
                SELECT ? UNION ALL SELECT m.id FROM message m JOIN below ON m.parent_id = below.id
            ) SELECT max(id) FROM below"""
        with self.speaking():
            return int(self.db.execute(query, (message_id,)).fetchone()[0])

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
        return None if row is None else str(row[0])

    def turns(self, newest: int) -> list[tuple[int, str, TurnStats]]:
        """The newest answers of all conversations that have figures, oldest first: id, title of the conversation,
        figures."""
        query = """SELECT m.id, c.title, m.stats FROM message m JOIN conversation c ON c.id = m.conversation_id
            WHERE m.stats IS NOT NULL AND m.finish_reason != '' ORDER BY m.id DESC LIMIT ?"""
        with self.speaking():
            rows = self.db.execute(query, (newest,)).fetchall()
        found = [(number, title, read_stats(stats)) for number, title, stats in reversed(rows)]
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
        with self.together():
            self.change("UPDATE conversation SET leaf_id = ? WHERE leaf_id = ?", leaf_id, message_id)
            self.change("DELETE FROM message WHERE id = ?", message_id)

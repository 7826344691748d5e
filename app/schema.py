"""The tables of the conversation file, as a list of migrations. A version is the number of migrations applied.

A migration is never changed once it was released: add another one behind it.
"""

from __future__ import annotations

from collections.abc import Callable

APPLICATION_ID = 0x48445354
"""Written into the file's header, so that a file of another program is not taken for ours."""


def conversations_and_messages() -> tuple[str, ...]:
    """Version 1: conversations, and their messages as a tree. Ids are never used twice."""
    return (
        """CREATE TABLE conversation (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            title TEXT NOT NULL,
            system_prompt TEXT NOT NULL,
            sampling TEXT NOT NULL,
            day TEXT NOT NULL,
            created REAL NOT NULL,
            updated REAL NOT NULL,
            leaf_id INTEGER
        )""",
        """CREATE TABLE message (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            conversation_id INTEGER NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,
            parent_id INTEGER REFERENCES message(id) ON DELETE CASCADE,
            role TEXT NOT NULL,
            content TEXT NOT NULL,
            token_ids BLOB NOT NULL DEFAULT x'',
            stats TEXT,
            divergence TEXT,
            finish_reason TEXT NOT NULL DEFAULT '',
            created REAL NOT NULL
        )""",
        "CREATE INDEX message_conversation ON message(conversation_id)",
        "CREATE INDEX message_parent ON message(parent_id)",
    )


MIGRATIONS: list[Callable[[], tuple[str, ...]]] = [conversations_and_messages]

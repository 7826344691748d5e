"""The tables of the conversation file, as a list of migrations. A version is the number of migrations applied.

A migration is never changed once it was released: add another one behind it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from app.history.errors import DamagedFileError
from engine import HeadstartError

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


def placeholders_as_sent() -> tuple[str, ...]:
    """Version 2: what was sent, where that is not what was written: placeholders filled in, frozen or moved.

    The system prompt an answer was written under is kept once for each text of a conversation.
    """
    return (
        "ALTER TABLE conversation ADD COLUMN cures TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE message ADD COLUMN sent TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE message ADD COLUMN filled TEXT NOT NULL DEFAULT '{}'",
        """CREATE TABLE sent_system (
            id INTEGER PRIMARY KEY,
            conversation_id INTEGER NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,
            text TEXT NOT NULL
        )""",
        "CREATE INDEX sent_system_conversation ON sent_system(conversation_id)",
        "ALTER TABLE message ADD COLUMN sent_system_id INTEGER REFERENCES sent_system(id) ON DELETE SET NULL",
    )


def named_system_prompts() -> tuple[str, ...]:
    """Version 3: system prompts kept under a name. Whoever writes holds names apart in any case."""
    return (
        """CREATE TABLE preset (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE,
            system_prompt TEXT NOT NULL,
            cures TEXT NOT NULL,
            updated REAL NOT NULL
        )""",
    )


def oldest_turns_left_out() -> tuple[str, ...]:
    """Version 4: where what the model sees of a conversation begins, and how many messages at the start each answer was
    written without."""
    return (
        "ALTER TABLE conversation ADD COLUMN seen_from_id INTEGER",
        "ALTER TABLE message ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0",
    )


def quick_list() -> tuple[str, ...]:
    """Version 5: the list of conversations is read from an index alone, past the texts of their system prompts."""
    return ("CREATE INDEX conversation_listed ON conversation(updated, id, title)",)


def parts_of_answers() -> tuple[str, ...]:
    """Version 6: thoughts and tool calls of answers, results of tools, what the user chose of how a chat template makes
    prompts, and which sentences about that a conversation has shown."""
    return (
        "ALTER TABLE message ADD COLUMN thought TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE message ADD COLUMN tool_calls TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE message ADD COLUMN tool_call_id TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE message ADD COLUMN template TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE conversation ADD COLUMN template TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE conversation ADD COLUMN notices TEXT NOT NULL DEFAULT '[]'",
    )


def drafts_of_conversations() -> tuple[str, ...]:
    """Version 7: what was written and not sent yet, of each conversation; 0 stands for the one that is not begun."""
    return (
        "CREATE TABLE draft (conversation_id INTEGER PRIMARY KEY, text TEXT NOT NULL)",
        """CREATE TRIGGER draft_goes AFTER DELETE ON conversation
            BEGIN DELETE FROM draft WHERE conversation_id = OLD.id; END""",
    )


def files_of_questions() -> tuple[str, ...]:
    """Version 8: the files that went with a question, with their text."""
    return ("ALTER TABLE message ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]'",)


def servers_of_conversations() -> tuple[str, ...]:
    """Which conversations a server answers; 0 stands for the one that is not begun."""
    return (
        "CREATE TABLE answered_by (conversation_id INTEGER PRIMARY KEY, server TEXT NOT NULL)",
        """CREATE TRIGGER answered_by_goes AFTER DELETE ON conversation
            BEGIN DELETE FROM answered_by WHERE conversation_id = OLD.id; END""",
    )


def word_of_the_opening() -> tuple[str, ...]:
    """A word that tells the log beside the file from that of another state of it (copies.py)."""
    return ("CREATE TABLE opening (word TEXT NOT NULL)",)


_IS_ENDED = "({0}.role IS NOT 'assistant' OR {0}.finish_reason IS NOT '')"
"""Whether a message is whole: an answer that is being written changes every second."""


def words_of_messages() -> tuple[str, ...]:
    """An index of the words of all messages that are whole. `owed` has a row while words of what was deleted
    or changed still stand in it: FTS5 notes a deletion, and drops the words only when it merges its segments."""
    old, new = _IS_ENDED.format("OLD"), _IS_ENDED.format("NEW")
    forget = "INSERT INTO said(said, rowid, content) SELECT 'delete', OLD.id, OLD.content"
    learn = "INSERT INTO said(rowid, content) SELECT"
    return (
        """CREATE VIRTUAL TABLE said USING fts5(
            content, content = 'message', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2')""",
        "CREATE TABLE owed (id INTEGER PRIMARY KEY AUTOINCREMENT)",
        f"{learn} message.id, content FROM message WHERE {_IS_ENDED.format('message')}",
        f"""CREATE TRIGGER said_begins AFTER INSERT ON message WHEN {new}
            BEGIN {learn} NEW.id, NEW.content; END""",
        f"""CREATE TRIGGER said_changes AFTER UPDATE OF id, role, content, finish_reason ON message
            WHEN ({old} OR {new})
                AND (OLD.id IS NOT NEW.id OR OLD.content IS NOT NEW.content OR {old} IS NOT {new})
            BEGIN
                {forget} WHERE {old};
                INSERT INTO owed SELECT NULL WHERE {old};
                {learn} NEW.id, NEW.content WHERE {new};
            END""",
        f"""CREATE TRIGGER said_ends AFTER DELETE ON message WHEN {old}
            BEGIN {forget}; INSERT INTO owed VALUES (NULL); END""",
    )


def folders_and_deletions() -> tuple[str, ...]:
    """Folders, conversations that stay at the top of the list, and deletions that can still be taken back.
    What the list shows is read from an index alone."""
    return (
        "CREATE TABLE folder (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE)",
        "ALTER TABLE conversation ADD COLUMN folder_id INTEGER REFERENCES folder(id) ON DELETE SET NULL",
        "ALTER TABLE conversation ADD COLUMN is_top INTEGER NOT NULL DEFAULT 0",
        """CREATE TABLE deletion (
            conversation_id INTEGER PRIMARY KEY REFERENCES conversation(id) ON DELETE CASCADE
        )""",
        "DROP INDEX conversation_listed",
        "CREATE INDEX conversation_listed ON conversation(is_top, updated, id, title, folder_id)",
        "CREATE INDEX conversation_folder ON conversation(folder_id)",
    )


def open_answers() -> tuple[str, ...]:
    """Answers that were being written when the program ended are found without a look at all messages."""
    return ("CREATE INDEX message_open ON message(id) WHERE role = 'assistant' AND finish_reason = ''",)


def texts_that_end_answers() -> tuple[str, ...]:
    """The texts before which answers of a conversation end."""
    return ("ALTER TABLE conversation ADD COLUMN stop TEXT NOT NULL DEFAULT '[]'",)


def stretches_written_ahead() -> tuple[str, ...]:
    """Which stretches of an answer's text were written ahead, by guesses that held."""
    return ("ALTER TABLE message ADD COLUMN accepted TEXT NOT NULL DEFAULT '[]'",)


def models_of_conversations() -> tuple[str, ...]:
    """The model that answered last in each conversation: the path that opens it, and its name."""
    return (
        "CREATE TABLE model_of (conversation_id INTEGER PRIMARY KEY, path TEXT NOT NULL, name TEXT NOT NULL)",
        """CREATE TRIGGER model_of_goes AFTER DELETE ON conversation
            BEGIN DELETE FROM model_of WHERE conversation_id = OLD.id; END""",
    )


def order_of_presets() -> tuple[str, ...]:
    """The folder of each saved system prompt ("" for none), what its own variables stand for, and whether it is to be
    kept resident."""
    return (
        "ALTER TABLE preset ADD COLUMN folder TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE preset ADD COLUMN variables TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE preset ADD COLUMN is_kept INTEGER NOT NULL DEFAULT 0",
    )


def tools_of_conversations() -> tuple[str, ...]:
    """The tools that the model may call in a conversation, as they were when they were chosen."""
    return ("ALTER TABLE conversation ADD COLUMN tools TEXT NOT NULL DEFAULT '[]'",)


MIGRATIONS: list[Callable[[], tuple[str, ...]]] = [
    conversations_and_messages,
    placeholders_as_sent,
    named_system_prompts,
    oldest_turns_left_out,
    quick_list,
    parts_of_answers,
    drafts_of_conversations,
    files_of_questions,
    servers_of_conversations,
    word_of_the_opening,
    words_of_messages,
    folders_and_deletions,
    open_answers,
    texts_that_end_answers,
    stretches_written_ahead,
    models_of_conversations,
    order_of_presets,
    tools_of_conversations,
]

ERASES_FROM = 5
"""Files of older versions may hold pieces of what was deleted: not every SQLite overwrites that by itself."""


def refuse_foreign(db: sqlite3.Connection, path: Path) -> None:
    """Raises HeadstartError for a file of another program or of a newer version. Changes nothing."""
    empty = _number(db, "SELECT count(*) FROM sqlite_master") == 0
    if not empty and _number(db, "PRAGMA application_id") != APPLICATION_ID:
        raise HeadstartError(f"{path} belongs to another program. Move it away and start Headstart again.")
    if _number(db, "PRAGMA user_version") > len(MIGRATIONS):
        raise HeadstartError(
            f"The conversations in {path} were written by a newer Headstart. Update Headstart to open them."
        )


def migrate(db: sqlite3.Connection) -> int:
    """Bring the file to the newest version; all of it or nothing. Returns the version it had, 0 for a new file.

    Raises DamagedFileError where its tables are those of no version.
    """
    said = _number(db, "PRAGMA user_version")
    done = _version_of(db, said) if said or _columns(db) else 0
    if done < len(MIGRATIONS):
        _apply(db, done)
    elif done != said:
        db.execute(f"PRAGMA user_version = {done}")
    return done


def _version_of(db: sqlite3.Connection, said: int) -> int:
    """The version whose tables the file has: the one it names, else the newest that fits."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as blank:
        columns = [_columns(blank)]
        for migration in MIGRATIONS:
            for statement in migration():
                blank.execute(statement)
            columns.append(_columns(blank))
    found = _columns(db)
    if 0 < said < len(columns) and columns[said] == found:
        return said
    fitting = [version for version, known in enumerate(columns) if version and known == found]
    if not fitting:
        raise DamagedFileError
    return fitting[-1]


def _columns(db: sqlite3.Connection) -> set[tuple[str, str]]:
    """The tables of a file with their columns."""
    return set(
        db.execute(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
            "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite!_%' ESCAPE '!'"
        )
    )


def _apply(db: sqlite3.Connection, done: int) -> None:
    db.execute("BEGIN EXCLUSIVE")
    try:
        for migration in MIGRATIONS[done:]:
            for statement in migration():
                db.execute(statement)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _number(db: sqlite3.Connection, query: str) -> int:
    return int(db.execute(query).fetchone()[0])

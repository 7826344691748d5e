"""A conversation file with values in it that Headstart never writes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any

from app.history.history import History
from app.history.records import to_json
from app.history.schema import APPLICATION_ID, MIGRATIONS
from app.placeholders import Cure
from engine import Divergence, Sampling, ToolCall, TtftParts, TurnStats

DAY = date(2026, 3, 14)
STATS = TurnStats(7, 100, 64, 36, 12, 0.25, TtftParts(prefill=0.2), 41.5, 1.5, True, 1 << 33)
DIVERGENCE = Divergence(64, 1, "edited", "old", "new", 36)

FINISHED: dict[str, Any] = {
    "content": "Because.",
    "token_ids": (1, 2, 3),
    "stats": STATS,
    "divergence": DIVERGENCE,
    "finish_reason": "end",
    "thought": "Why indeed?",
    "tool_calls": (ToolCall("look_up", '{"what": "why"}', "call-1"),),
    "accepted": ((2, 5), (7, 8)),
}
"""An answer with all its parts."""

TABLES = {
    "conversation": "id title system_prompt sampling day created updated leaf_id cures seen_from_id template notices"
    " folder_id is_top stop",
    "message": "id conversation_id parent_id role content token_ids stats divergence finish_reason created sent filled"
    " sent_system_id left_out thought tool_calls tool_call_id template accepted",
    "sent_system": "id conversation_id text",
    "preset": "id name system_prompt cures updated folder variables is_kept",
    "folder": "id name",
}
COLUMNS = [(table, column) for table, columns in TABLES.items() for column in columns.split()]

STRANGE_FIGURES = (
    json.dumps({**asdict(STATS), "prompt_tokens": 2**62, "reused_tokens": -5, "ttft_s": 1e18, "cold_ttft_s": -1}),
    json.dumps({**asdict(STATS), "prompt_tokens": 0, "cache_bytes": -(2**62), "tokens_per_s": 1e18}),
    json.dumps({**asdict(DIVERGENCE), "message_index": 2**40, "position": -9, "recomputed_tokens": 2**62}),
    json.dumps({**asdict(DIVERGENCE), "message_index": -(2**40), "old_text": "\0" * 1000}),
)
"""Of the right types, and never measured."""

WRONG_FIELDS = (
    '{"temperature": "hot"}',
    '{"temperature": NaN, "seed": 1.5}',
    '{"top_p": 7}',
    '[{"name": 1}]',
    '[{"name": "date", "kind": "gone", "value": []}]',
    '{"prompt_tokens": "many", "parts": []}',
    '{"position": 1, "message_index": 1, "cause": "none", "old_text": 1, "new_text": null, "recomputed_tokens": {}}',
    '{"date": {"date": 1}}',
    "[[5, 3]]",
)
VALUES: tuple[object, ...] = (
    *(None, "", "text", "\0", "null", "[]", "{}", '"x"', "[1, 2]", "{broken", "NaN", "[" * 100_000, "9" * 5_000),
    *(b"", b"\xff\xfe\xfd", b"12345", -1, 0, 1, 3, 1.5, 2**62, 1e300, float("inf"), float("-inf")),
    *WRONG_FIELDS,
    *STRANGE_FIGURES,
)
IDS = (-7, 0, 2**30, 2**40)
"""An id is always a whole number of at most 64 bits: SQLite sees to that."""

Change = tuple[str, str, int, object]
"""Table, column, number of the row, new value."""


def make_file(path: Path) -> None:
    """Two conversations of two branches each and a preset, without the constraints that would refuse odd values."""
    history = History(path)
    for title in ("One", "Two"):
        number = begin(history, title)
        first = ask(history, number, None)
        ask(history, number, first)
        ask(history, number, first)
    history.presets.add("Preset", "Be brief.")
    history.filing.move(1, history.filing.add_folder("Folder"))
    history.close()
    loosen(path)


def make_old_file(path: Path, version: int, text: str) -> None:
    """One conversation with a question of this text and an answer, as an older version wrote them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        for migration in MIGRATIONS[:version]:
            for statement in migration():
                db.execute(statement)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {version}")
        sampling = to_json(Sampling(temperature=0.5))
        into = "INSERT INTO conversation(id, title, system_prompt, sampling, day, created, updated, leaf_id)"
        db.execute(f"{into} VALUES (1, 'Old', 'Be brief.', ?, '2026-03-14', 1, 2, 2)", (sampling,))
        insert = "INSERT INTO message(id, conversation_id, parent_id, role, content, finish_reason, created)"
        db.execute(f"{insert} VALUES (1, 1, NULL, 'user', ?, '', 1)", (text,))
        db.execute(f"{insert} VALUES (2, 1, 1, 'assistant', 'Because.', 'end', 2)")
        db.commit()


def begin(history: History, title: str) -> int:
    """A conversation under a system prompt with a cure; its id."""
    return history.create("Today is {{date}}.", Sampling(), DAY, title, (Cure("date", "frozen", "now"),)).id


def loosen(path: Path) -> None:
    """Take away the constraints that would refuse odd values."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA writable_schema=ON")
        db.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '')")
        db.commit()


def ask(history: History, number: int, parent: int | None) -> int:
    """A question and its answer under this message; the id of the answer."""
    question = history.append(number, parent, "user", "Why?", filled=(("date", "now"),))
    answer = history.append(number, question.id, "assistant", "")
    history.note_system_prompt(answer.id, "Today is now.")
    history.finish(replace(answer, **FINISHED))
    return answer.id


def spoil(path: Path, changes: Iterable[Change]) -> None:
    """Write odd values into rows, counted from the first one of their table."""
    with closing(sqlite3.connect(path)) as db:
        for table, column, row, value in changes:
            where = f"rowid = (SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET ?)"
            db.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {where}", (value, row))
        db.commit()

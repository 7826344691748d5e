"""Messages that say something: found by an index of their words (SQLite's FTS5), then by looking at all of them.

The index knows words and how they begin. What stands in the middle of a word, and languages that are written without
blanks, it does not know: so all messages are looked at behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from app.history.file import HistoryFile
from engine import HeadstartError

PIECE_MESSAGES, PIECE_CHARACTERS = 500, 1_000_000
"""How much a search looks at between two returns to its caller."""

EVERY_ID = 2**63 - 1
"""The largest id that SQLite can give."""

SHORTEST = 2
"""Characters of what is looked for in the index: nearly every message has a word that begins with a given letter."""

MERGED_PAGES = 64
"""How much of the index one step of forgetting writes anew; it takes some milliseconds."""

Found = list[tuple[int, int, str]]
"""The id, the conversation and the text of messages."""

_INDEXED = """SELECT m.id, m.conversation_id, m.content FROM said JOIN message m ON m.id = said.rowid
    WHERE said MATCH ? AND said.rowid <= ? ORDER BY said.rowid DESC LIMIT ?"""
_ALL = "SELECT id, conversation_id, content FROM message WHERE id <= ? ORDER BY id DESC LIMIT ?"


class WordIndex:
    """The messages of a file by what they say. Every method raises HeadstartError with a sentence for the user."""

    def __init__(self, file: HistoryFile) -> None:
        self._file = file

    def pieces(self, needle: str) -> Iterator[Found]:
        """Messages that may hold `needle`, newest first: those that the index finds, then every message; piece by
        piece, and one piece at least."""
        if len(needle) >= SHORTEST and "\0" not in needle:
            phrase = needle.replace('"', '""')
            yield from self._read(_INDEXED, (f'"{phrase}"*',), is_all=False)
        yield from self._read(_ALL, (), is_all=True)

    def forget(self) -> Iterator[None]:
        """Drop the words of what was deleted from the file, a step of some milliseconds at a time.

        FTS5 drops them when it merges all it has into one segment, which takes as long as the index is large; from
        SQLite 3.42 on it could do so at once.
        """
        while (newest := self._owed()) is not None:
            pages = -MERGED_PAGES  # below 0: begin to merge everything, however little there is to gain
            while self._merges(pages):
                yield
                pages = MERGED_PAGES
            with self._file.erasing():
                self._file.change("DELETE FROM owed WHERE id <= ?", newest)

    def forget_all(self) -> None:
        """Drop them all at once. What cannot be dropped now, as on a full disk, is so at the next start. Safe to call
        when the file is closed already."""
        try:
            for _ in self.forget():
                pass
        except HeadstartError:
            pass

    def _owed(self) -> int | None:
        rows = [] if self._file.is_read_only else self._file.query("SELECT max(id) FROM owed")
        return next((newest for (newest,) in rows), None)

    def _merges(self, pages: int) -> bool:
        """Merge some pages. False where nothing was left to merge: then only the command itself counts as a change."""
        before = self._file.db.total_changes
        self._file.change("INSERT INTO said(said, rank) VALUES ('merge', ?)", pages)
        return self._file.db.total_changes - before > 1

    def _read(self, query: str, values: tuple[str, ...], *, is_all: bool) -> Iterator[Found]:
        """The messages of a query in pieces; an empty one at the end of `is_all`."""
        last = EVERY_ID
        while True:
            with self._file.speaking():
                rows = self._piece(query, (*values, last, PIECE_MESSAGES))
            if rows or is_all:
                yield rows
            if not rows:
                return
            last = rows[-1][0] - 1

    def _piece(self, query: str, values: tuple[object, ...]) -> Found:
        """As many as a piece takes of the newest messages that the query finds."""
        rows: Found = []
        characters = 0
        with closing(self._file.db.execute(query, values)) as found:
            for number, owner, text in found:
                rows.append((number, owner, text if isinstance(text, str) else ""))
                characters += len(rows[-1][2])
                if characters >= PIECE_CHARACTERS:
                    break
        return rows

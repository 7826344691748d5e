"""Which conversations are answered by a server, in the file of the conversations. No Qt."""

from __future__ import annotations

from app.history.file import HistoryFile
from app.history.records import read_text

BLANK = 0
"""Stands for the conversation in which nothing is written yet."""


class ServerTable:
    """The address of a server, and of a model of it, for each conversation that does not ask the model that is open.
    Every method raises HeadstartError with a sentence for the user."""

    def __init__(self, file: HistoryFile) -> None:
        self._file = file
        self._known: dict[int, str] = {}
        self._changes = -1

    def of(self, conversation_id: int) -> str:
        """The server of a conversation, "" for none. It is asked for wherever a conversation is shown or sent, so it is
        known until anything is changed in the file, which nobody else can."""
        if self._file.changes != self._changes:
            self._known, self._changes = {}, self._file.changes
        if conversation_id in self._known:
            return self._known[conversation_id]
        query = "SELECT conversation_id AS id, server FROM answered_by WHERE conversation_id = ?"
        found = next((row.read("server", read_text, "") for row in self._file.rows(query, conversation_id)), "")
        if not self._file.is_changing:  # else it may be taken back
            self._known[conversation_id] = found
        return found

    def choose(self, conversation_id: int, server: str) -> None:
        """Have a conversation answered by this server from now on; "" for the model that is open."""
        with self._file.together():
            self._file.change("DELETE FROM answered_by WHERE conversation_id = ?", conversation_id)
            if server:
                insert = "INSERT INTO answered_by(conversation_id, server) VALUES (?, ?)"
                self._file.change(insert, conversation_id, server)

    def begin(self, conversation_id: int) -> None:
        """The blank conversation has become this one: what was chosen for it holds there, and for no further one."""
        if server := self.of(BLANK):
            with self._file.together():
                self.choose(conversation_id, server)
                self.choose(BLANK, "")

"""Which model answered last in each conversation, in the file of the conversations. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

from app.history.file import HistoryFile
from app.history.records import read_text


@dataclass(frozen=True, slots=True)
class UsedModel:
    """A model by the path that opens it, "" for the default one, and by its name."""

    path: str
    name: str


class ModelTable:
    """Every method raises HeadstartError with a sentence for the user."""

    def __init__(self, file: HistoryFile) -> None:
        self._file = file

    def of(self, conversation_id: int) -> UsedModel | None:
        """The model that answered last in a conversation, None where none did or it was not noted yet."""
        query = "SELECT conversation_id AS id, path, name FROM model_of WHERE conversation_id = ?"
        for row in self._file.rows(query, conversation_id):
            used = UsedModel(row.read("path", read_text, ""), row.read("name", read_text, ""))
            return None if row.unread else used
        return None

    def note(self, conversation_id: int, path: str, name: str) -> None:
        """This model has just answered in a conversation."""
        if self.of(conversation_id) != UsedModel(path, name):
            insert = "INSERT OR REPLACE INTO model_of(conversation_id, path, name) VALUES (?, ?, ?)"
            self._file.change(insert, conversation_id, path, name)

"""Where conversations are in the list: folders, kept at the top, copied, deleted and taken back. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.history.file import HistoryFile
from app.history.names import clean_name
from app.history.records import UNREADABLE_TITLE
from engine import HeadstartError

_CONVERSATION = "title, system_prompt, sampling, day, cures, template, notices, folder_id, stop, tools"
"""Columns of a conversation that a copy has, too."""

_MESSAGE = """role, content, token_ids, finish_reason, created, sent, filled, left_out, thought, tool_calls,
    tool_call_id, attachments, accepted"""
"""Columns of a message that a copy has, too: not its figures, for what was copied was not computed."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with its name, and how many conversations are in it."""

    id: int
    name: str
    count: int = 0


class FilingTable:
    """Folders of conversations, and what is done with a conversation as a whole. `clock` gives seconds since the epoch.
    Every method raises HeadstartError with a sentence for the user."""

    def __init__(self, file: HistoryFile, clock: Callable[[], float]) -> None:
        self._file = file
        self._clock = clock

    # Folders

    def folders(self) -> tuple[Folder, ...]:
        """Every folder, by its name."""
        rows = self._file.query(
            "SELECT f.id, f.name, count(c.id) FROM folder f"
            " LEFT JOIN conversation c ON c.folder_id = f.id AND c.id NOT IN (SELECT conversation_id FROM deletion)"
            " GROUP BY f.id"
        )
        found = [Folder(number, _name(name), count) for number, name, count in rows]
        return tuple(sorted(found, key=lambda folder: folder.name.casefold()))

    def add_folder(self, name: str) -> int:
        """A new folder with this name; its id. Where there is one of this name already, it is that one."""
        name = clean_name(name, "folder")
        for folder in self.folders():
            if folder.name.casefold() == name.casefold():
                return folder.id
        return self._file.change("INSERT INTO folder(name) VALUES (?)", name)

    def rename_folder(self, folder_id: int, name: str) -> None:
        """Give a folder another name. Raises HeadstartError where another folder has it."""
        name = clean_name(name, "folder")
        if any(each.id != folder_id and each.name.casefold() == name.casefold() for each in self.folders()):
            raise HeadstartError(f"There is a folder “{name}” already. Give another name.")
        with self._file.erasing():
            self._file.change("UPDATE folder SET name = ? WHERE id = ?", name, folder_id)

    def delete_folder(self, folder_id: int) -> None:
        """Forget a folder. The conversations in it stay, in none."""
        self._file.delete(lambda: self._file.change("DELETE FROM folder WHERE id = ?", folder_id))

    def move(self, conversation_id: int, folder_id: int) -> None:
        """Put a conversation into a folder; 0 takes it out of the one it is in."""
        query = "UPDATE conversation SET folder_id = (SELECT id FROM folder WHERE id = ?) WHERE id = ?"
        self._file.change(query, folder_id, conversation_id)

    def keep_at_top(self, conversation_id: int, is_top: bool) -> None:
        """Whether a conversation stands above the others, however old it is."""
        self._file.change("UPDATE conversation SET is_top = ? WHERE id = ?", int(is_top), conversation_id)

    # Deletion

    def hide(self, conversation_id: int) -> None:
        """Delete a conversation so that it can be taken back: it is in no list, and still in the file."""
        insert = "INSERT OR IGNORE INTO deletion SELECT id FROM conversation WHERE id = ?"
        self._file.change(insert, conversation_id)

    def take_back(self, conversation_id: int) -> None:
        """Undo that. Raises HeadstartError where the conversation was deleted for good meanwhile."""
        self._file.change("DELETE FROM deletion WHERE conversation_id = ?", conversation_id)
        if not self._file.query("SELECT 1 FROM conversation WHERE id = ?", conversation_id):
            raise HeadstartError("This conversation was deleted for good already.")

    def hidden(self) -> tuple[int, ...]:
        """The conversations that are hidden, by their ids."""
        return tuple(number for (number,) in self._file.query("SELECT conversation_id FROM deletion"))

    def delete_hidden(self) -> None:
        """Delete them for good."""
        if not self._file.is_read_only and self.hidden():
            query = "DELETE FROM conversation WHERE id IN (SELECT conversation_id FROM deletion)"
            self._file.delete(lambda: self._file.change(query))

    # Copies

    def copy(self, conversation_id: int, title: str, branch: Sequence[int] | None = None) -> int:
        """A conversation of its own with the same messages, all or those of one `branch` alone (their ids, oldest
        first), the same settings, server and model; its id. What the model reads is the same, token by token."""
        with self._file.together():
            now = self._clock()
            number = self._file.change(
                f"INSERT INTO conversation({_CONVERSATION}, created, updated)"
                f" SELECT {_CONVERSATION}, ?, ? FROM conversation WHERE id = ?",
                *(now, now, conversation_id),
            )
            self._file.change("UPDATE conversation SET title = ? WHERE id = ?", title, number)
            answered = "SELECT ?, server FROM answered_by WHERE conversation_id = ?"
            self._file.change(f"INSERT INTO answered_by(conversation_id, server) {answered}", number, conversation_id)
            used = "SELECT ?, path, name FROM model_of WHERE conversation_id = ?"
            self._file.change(f"INSERT INTO model_of(conversation_id, path, name) {used}", number, conversation_id)
            copies = self._copy_messages(conversation_id, number, branch)
            self._point_at_copies(conversation_id, number, copies)
        return number

    def _copy_messages(self, source: int, target: int, branch: Sequence[int] | None) -> dict[int, int]:
        """The copies by what they are copies of. A message never stands before its parent, so one pass will do."""
        query = "SELECT id, parent_id, sent_system_id FROM message WHERE conversation_id = ? ORDER BY id"
        rows = self._file.query(query, source)
        wanted = {number for number, _, _ in rows} if branch is None else set(branch)
        prompts: dict[int, int] = {}
        copies: dict[int, int] = {}
        for number, parent, prompt in rows:
            if number in wanted:
                copies[number] = self._file.change(
                    f"INSERT INTO message(conversation_id, parent_id, sent_system_id, template, {_MESSAGE})"
                    f" SELECT ?, ?, ?, template, {_MESSAGE} FROM message WHERE id = ?",
                    *(target, copies.get(parent), self._copied_prompt(prompt, target, prompts), number),
                )
        return copies

    def _copied_prompt(self, prompt: int | None, target: int, prompts: dict[int, int]) -> int | None:
        """The copy of a system prompt as it was sent, made once."""
        if prompt is None:
            return None
        if prompt not in prompts:
            insert = "INSERT INTO sent_system(conversation_id, text) SELECT ?, text FROM sent_system WHERE id = ?"
            prompts[prompt] = self._file.change(insert, target, prompt)
        return prompts[prompt]

    def _point_at_copies(self, source: int, target: int, copies: dict[int, int]) -> None:
        """The end of the branch in use, and where what the model sees begins, are copies, too."""
        ((leaf, first),) = self._file.query("SELECT leaf_id, seen_from_id FROM conversation WHERE id = ?", source)
        leaf = copies.get(leaf, max(copies.values(), default=None))
        change = "UPDATE conversation SET leaf_id = ?, seen_from_id = ? WHERE id = ?"
        self._file.change(change, leaf, copies.get(first), target)


def _name(value: object) -> str:
    return value if isinstance(value, str) else UNREADABLE_TITLE

"""What is done with conversations as a whole: put into folders, kept at the top, copied, deleted and taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Signal

from app.chat.session import Session
from app.history.filing import Folder
from app.history.history import History
from app.history.records import ConversationEntry
from app.language import tr

COPY = tr("{title} (copy)")
BRANCH = tr("{title} (branch)")


class Filing(QObject):
    """Files the conversations of a session. Attributes: `folder_id`, the folder whose conversations are listed, and in
    which new ones begin; 0 for all.

    A deletion can be taken back until `finish` is called, and is final at the end of the program in any case. What the
    engine keeps of such a conversation stays until then, so that taking it back costs no token.

    Signals: changed(): another folder is listed, or there are others. deleted(int, str): the
    conversation with this id and title was.
    """

    changed = Signal()
    deleted = Signal(object, str)

    def __init__(self, session: Session, history: History, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folder_id = 0
        self._session = session
        self._history = history
        self._left_by_deletion = 0
        session.conversation_begun.connect(self._on_begun)

    # The list

    @property
    def folders(self) -> tuple[Folder, ...]:
        """Every folder, by its name."""
        found: tuple[Folder, ...] = ()
        with self._session.reporting():
            found = self._history.filing.folders()
        return found

    def search(self, needle: str) -> Iterator[list[ConversationEntry]]:
        """As `Session.search`, in the folder that is listed; what is searched for is found in all of them."""
        for found in self._session.search(needle):
            yield found if needle or not self.folder_id else [row for row in found if row.folder_id == self.folder_id]

    def entry(self, conversation_id: int) -> ConversationEntry | None:
        """The conversation as the list has it."""
        return next((row for row in self._session.conversations() if row.id == conversation_id), None)

    def choose_folder(self, folder_id: int) -> None:
        """List the conversations of this folder; 0 for all."""
        self.folder_id = folder_id
        self._tell()

    def add_folder(self, name: str, conversation_id: int = 0) -> None:
        """A new folder, with this conversation in it. Raises HeadstartError where the name is of no use."""
        folder_id = self._history.filing.add_folder(name)
        if conversation_id:
            self._history.filing.move(conversation_id, folder_id)
        else:
            self.folder_id = folder_id
        self._tell()

    def rename_folder(self, folder_id: int, name: str) -> None:
        """Give a folder another name. Raises HeadstartError where it is of no use."""
        self._history.filing.rename_folder(folder_id, name)
        self._tell()

    def delete_folder(self, folder_id: int) -> None:
        """Forget a folder; its conversations stay."""
        self._do(lambda: self._history.filing.delete_folder(folder_id))
        if self.folder_id == folder_id:
            self.choose_folder(0)

    def move(self, conversation_id: int, folder_id: int) -> None:
        """Put a conversation into a folder; 0 takes it out of the one it is in."""
        self._do(lambda: self._history.filing.move(conversation_id, folder_id))

    def keep_at_top(self, conversation_id: int, is_top: bool) -> None:
        """Whether a conversation stands above the others."""
        self._do(lambda: self._history.filing.keep_at_top(conversation_id, is_top))

    # Copies

    def duplicate(self, conversation_id: int) -> None:
        """Open a copy of a conversation with all its versions. Its next prompt begins with the same tokens."""
        self._copy(conversation_id, COPY, None)

    def branch(self, message_id: int) -> None:
        """Open a conversation of its own that ends with this message of the one in view."""
        ids = [message.id for message in self._session.messages]
        self._copy(self._session.conversation.id, BRANCH, ids[: ids.index(message_id) + 1])

    def _copy(self, conversation_id: int, title: str, branch: list[int] | None) -> None:
        with self._session.reporting():
            self._session.refuse_if_written(conversation_id)
            entry = self.entry(conversation_id)
            named = title.format(title=entry.title if entry else "")
            self._session.open(self._history.filing.copy(conversation_id, named, branch))
        self._tell()

    # Deletion

    def delete(self, conversation_id: int) -> None:
        """Delete a conversation so that it can be taken back. An answer that is being written in it is stopped."""
        if (entry := self.entry(conversation_id)) is None:
            return
        with self._session.reporting():
            self._session.answers.stop_in(conversation_id)
            self._history.filing.hide(conversation_id)
            if conversation_id == self._session.conversation.id:
                self._left_by_deletion = conversation_id
                self._session.new_conversation()
            self.deleted.emit(conversation_id, entry.title)
        self._tell()

    def take_back(self, conversation_id: int) -> bool:
        """Undo a deletion; what was in view then is so again. False where that failed, which an `error` of the session
        tells: it can be tried again."""
        is_back = False
        with self._session.reporting():
            self._history.filing.take_back(conversation_id)
            is_back = True
            if conversation_id == self._left_by_deletion:
                self._session.open(conversation_id)
        self._tell()
        return is_back

    def finish(self, conversation_id: int) -> None:
        """A deletion that was not taken back is final: nothing of it is found in any file, nor in what the engine
        keeps."""
        with self._session.reporting():
            if conversation_id in self._history.filing.hidden():
                self._session.delete(conversation_id)

    def _on_begun(self, conversation_id: int) -> None:
        if self.folder_id:
            self._do(lambda: self._history.filing.move(conversation_id, self.folder_id))

    def _do(self, change: Callable[[], object]) -> None:
        with self._session.reporting():
            change()
        self._tell()

    def _tell(self) -> None:
        self.changed.emit()
        self._session.conversations_changed.emit()

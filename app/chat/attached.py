"""The files that go with questions which are not sent yet. No widgets."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.chat.branch import Branch
from app.documents import Attachment


class Attached(QObject):
    """Keeps the files of every draft: of the next question of each conversation, and of each question that is edited,
    which begins with those that it was sent with. They are kept until the program ends.

    `branch` gives the branch in view. Signals: changed() when other files go with a draft in view.
    """

    changed = Signal()

    def __init__(self, branch: Callable[[], Branch], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._branch = branch
        self._files: dict[tuple[int, int], tuple[Attachment, ...]] = {}

    def files(self, edited: int | None = None) -> tuple[Attachment, ...]:
        """What goes with the next question in view, or with that in place of `edited`."""
        branch = self._branch()
        sent = next((each.attachments for each in branch.messages if edited and each.id == edited), ())
        return self._files.get((branch.conversation.id, edited or 0), sent)

    def set_files(self, files: tuple[Attachment, ...], edited: int | None = None) -> None:
        """These go with it from now on."""
        self._files[self._branch().conversation.id, edited or 0] = files
        self.changed.emit()

    def sent(self, conversation_id: int, edited: int | None) -> None:
        """They went: the next question of this conversation begins without files."""
        self._files.pop((conversation_id, edited or 0), None)
        self.changed.emit()

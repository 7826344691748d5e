"""Tells whoever looks at something else that a long answer is ready: by a note of the desktop."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from app.chat.session import Session
from app.chat.turn import Turn
from app.history.records import StoredMessage
from app.language import tr
from app.widgets.icons import app_icon
from app.words import shortened_line

LONG_S = 10.0
"""Seconds after which nobody waits in front of the window."""
LONGEST_TITLE = 80
READY, STOPPED = tr("The answer is ready"), tr("The answer was broken off")


class Tray(QObject):
    """The desktop's notes, as Qt gives them: through a small icon that is there as long as the note."""

    def __init__(self, window: QWidget, opened: Callable[[], object]) -> None:
        super().__init__(window)
        self._icon = QSystemTrayIcon(app_icon(), self)
        self._icon.messageClicked.connect(lambda: self._end(opened))
        self._icon.activated.connect(lambda _: self._end(opened))
        QApplication.instance().focusWindowChanged.connect(self._on_focus)  # type: ignore[union-attr]

    def __call__(self, title: str, text: str) -> None:
        """Show a note; nothing where the desktop has none."""
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            self._icon.show()
            self._icon.showMessage(title, text, app_icon())

    def _on_focus(self, window: object) -> None:
        if window is not None:  # one of ours is in front again
            self._icon.hide()

    def _end(self, opened: Callable[[], object]) -> None:
        self._icon.hide()
        opened()


class ReadyNote(QObject):
    """Marks the window as one that wants attention when an answer ends behind it, and where that took long shows a note
    with the title of the conversation, and nothing of what was said. Pressing the note opens the conversation.

    `open_conversation` shows the one with this id. `show` puts up the note; None takes the desktop's own. `clock` gives
    seconds since the epoch.
    """

    def __init__(
        self,
        window: QWidget,
        session: Session,
        open_conversation: Callable[[int], object],
        show: Callable[[str, str], object] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(window)
        self._window, self._session = window, session
        self._open_conversation, self._clock = open_conversation, clock
        self._show = show or Tray(window, self.open)
        self._newest_id = 0
        session.answers.ended.connect(self._on_ended)

    def open(self) -> None:
        """Bring the window to the front, at the answer that was told of last."""
        self._window.showNormal() if self._window.isMinimized() else self._window.show()
        self._window.raise_()
        self._window.activateWindow()
        self._open_conversation(self._newest_id)

    def _on_ended(self, turn: Turn, message: StoredMessage, kept: bool) -> None:
        if self._window.isActiveWindow() or message.finish_reason == "stopped":
            return
        QApplication.alert(self._window)
        if self._clock() - message.created < LONG_S:
            return
        self._newest_id = message.conversation_id
        titles = {each.id: each.title for each in self._session.conversations()}
        title = shortened_line(titles.get(self._newest_id, ""), LONGEST_TITLE)
        self._show(READY if message.finish_reason in ("end", "length") else STOPPED, title)

"""Who answers the conversation in view: the model that is open, or a server of its own."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from PySide6.QtCore import QObject, Signal

from app.chat.bridge import Bridge
from app.chat.session import Session
from app.history.records import read_label
from app.history.servers import ServerTable
from app.window.header import Header
from engine import HeadstartError


class AnsweredBy(QObject):
    """Has the bridge send each conversation where it belongs, and the header say so. `say_error` shows a sentence.

    Signals: changed(): another one answers the conversation in view from now on.
    """

    changed = Signal()

    def __init__(
        self,
        header: Header,
        session: Session,
        bridge: Bridge,
        servers: ServerTable,
        *,
        say_error: Callable[[str, str], None],
    ) -> None:
        super().__init__(header)
        self._header, self._session, self._servers, self._say_error = header, session, servers, say_error
        bridge.server_of = lambda label: self._of(read_label(label))
        session.conversation_changed.connect(self._show)
        self._show()

    def server(self) -> str:
        """The server that answers the conversation in view, "" for the model that is open."""
        return self._of(self._session.conversation.id)

    def choose(self, server: str) -> None:
        """Have this server answer the conversation in view from the next question on; "" for the model that is open."""
        try:
            self._servers.choose(self._session.conversation.id, server)
        except HeadstartError as error:
            self._say_error(str(error), error.detail)
        self._show()
        self.changed.emit()
        self._session.cost.refresh()

    def _of(self, conversation_id: int) -> str:
        try:
            return self._servers.of(conversation_id)
        except HeadstartError as error:
            self._say_error(str(error), error.detail)
            return ""

    def _show(self, change: object = None) -> None:
        self._header.show_server(urlsplit(self.server()).netloc)

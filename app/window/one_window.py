"""A second start shows the window of the first. The lock of the conversation file decides which one is the first."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QThread
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QApplication, QWidget

PATIENCE_MS = 2000
PAUSE_MS, PAUSES = 50, 40
"""Between two times that a first is looked for, and how often."""
_SHOWN = b"shown\n"


class OneWindow(QObject):
    """Brings a window to the front whenever Headstart is started again on the same conversations. Only a program that
    holds their lock makes one, so that a socket that is there already was left by one that ended."""

    def __init__(self, window: QWidget, history_path: Path) -> None:
        super().__init__(window)
        self._window = window
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)
        name = socket_name(history_path)
        QLocalServer.removeServer(name)
        self._server.listen(name)  # where that fails, a second start says that there is a first

    def close(self) -> None:
        """Hear no more of other starts."""
        self._server.close()

    def _on_connection(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            self._bring_to_front()
            socket.disconnected.connect(socket.deleteLater)
            socket.write(_SHOWN)
            socket.flush()

    def _bring_to_front(self) -> None:
        window = self._window
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized | Qt.WindowState.WindowActive)
        window.show()
        window.raise_()
        window.activateWindow()
        QApplication.alert(window)


def show_first(history_path: Path, pause: Callable[[], None] = lambda: QThread.msleep(PAUSE_MS)) -> bool:
    """Bring the window of the Headstart that has these conversations open to the front. False where none answers.

    A first that is just starting holds the lock before it listens: it is looked for again, with a `pause` in between.
    """
    socket = QLocalSocket()
    is_shown = _is_found(socket, socket_name(history_path), pause) and socket.waitForReadyRead(PATIENCE_MS)
    answer = socket.readAll().data() if is_shown else b""
    socket.abort()
    return answer == _SHOWN


def _is_found(socket: QLocalSocket, name: str, pause: Callable[[], None]) -> bool:
    for _ in range(PAUSES):
        socket.connectToServer(name)
        if socket.waitForConnected(PATIENCE_MS):
            return True
        pause()
    return False


def socket_name(history_path: Path) -> str:
    """The name of the socket: another one for each user and each file of conversations."""
    place = f"{Path.home()} {history_path.resolve()}"
    return f"headstart-{hashlib.sha256(place.encode('utf-8', 'surrogateescape')).hexdigest()[:24]}"

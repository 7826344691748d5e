"""A second start shows the window of the first, and hands over the files that it was started with. The lock of the
conversation file decides which one is the first.

The second sends the paths of conversations and of a model, "" for none, each with a zero byte behind it; the first then
says that its window is shown.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QThread
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QApplication, QWidget

from engine import is_server

PATIENCE_MS = 2000
PAUSE_MS, PAUSES = 50, 40
"""Between two times that a first is looked for, and how often."""
_SHOWN, _END = b"shown\n", b"\0"


class OneWindow(QObject):
    """Brings a window to the front whenever Headstart is started again on the same conversations; `open_files` gets the
    paths of conversations and of a model that it was started with, "" for none. Only a program that holds their lock
    makes one, so that a socket that is there already was left by one that ended."""

    def __init__(
        self, window: QWidget, history_path: Path, open_files: Callable[[str, str], object] = lambda *paths: None
    ) -> None:
        super().__init__(window)
        self._window = window
        self._open_files = open_files
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
            socket.disconnected.connect(socket.deleteLater)
            take = partial(self._take, socket, bytearray())
            socket.readyRead.connect(take)
            take()  # what came with the connection

    def _take(self, socket: QLocalSocket, taken: bytearray) -> None:
        """Take what came from a second start, after what was `taken` of it before; at its end, do what it wants."""
        taken += socket.readAll().data()
        if taken.count(_END) < 2:
            return
        conversations, model, *_ = (os.fsdecode(bytes(part)) for part in taken.split(_END))
        taken.clear()
        self._bring_to_front()
        socket.write(_SHOWN)
        socket.flush()
        self._open_files(conversations, model)

    def _bring_to_front(self) -> None:
        window = self._window
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized | Qt.WindowState.WindowActive)
        window.show()
        window.raise_()
        window.activateWindow()
        QApplication.alert(window)


def show_first(
    history_path: Path,
    conversations: str = "",
    model: str = "",
    pause: Callable[[], None] = lambda: QThread.msleep(PAUSE_MS),
) -> bool:
    """Bring the window of the Headstart that has these conversations open to the front, and have it take in the file
    `conversations` and open `model`, "" for none. False where none answers.

    A first that is just starting holds the lock before it listens: it is looked for again, with a `pause` in between.
    """
    socket = QLocalSocket()
    answer = b""
    if _is_found(socket, socket_name(history_path), pause):
        for path in (conversations, model):
            is_file = path and not is_server(path)
            socket.write(os.fsencode(Path(path).absolute() if is_file else path) + _END)
        answer = bytes(socket.readAll().data()) if socket.waitForReadyRead(PATIENCE_MS) else b""
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

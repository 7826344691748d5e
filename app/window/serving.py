"""The switch that lets other programs use the model of the window, and what becomes of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QAction

from app.chat.bridge import Bridge
from app.chat.turn import ProgramTurn
from app.language import tr
from app.server.access import Access
from app.server.clients import client_name
from app.server.record import Asked
from app.settings import Settings
from engine import EnginePort, Failed, HeadstartError, Loaded, ModelInfo

if TYPE_CHECKING:
    from app.server.listening import Server

ON = tr("Other programs on this computer are answered at {}/v1.")
OFF = tr("Other programs are answered no more.")
LOOK_EVERY_MS = 250
"""Between two looks at what programs asked."""


class Serving(QObject):
    """Starts and stops the local server for a checkable action, and remembers the choice in the settings.

    `engine` is asked for a port of its own. `say` and `say_error` show a sentence.

    Signals: answered(list[ProgramTurn]): what programs asked since the last time, where an answer was begun.
    """

    answered = Signal(object)

    def __init__(
        self,
        action: QAction,
        engine: EnginePort,
        bridge: Bridge,
        settings: Settings,
        *,
        say: Callable[[str], None],
        say_error: Callable[[str, str], None],
        save_settings: Callable[[], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._action, self._engine, self._settings = action, engine, settings
        self._say, self._say_error, self._save = say, say_error, save_settings
        self._model: ModelInfo | None = None
        self._server: Server | None = None
        self._heard: deque[Asked] = deque()
        self.timer = QTimer(self)
        self.timer.setInterval(LOOK_EVERY_MS)
        self.timer.timeout.connect(self._tell)
        action.triggered.connect(self._choose)
        bridge.loaded.connect(self._on_loaded)
        bridge.failed.connect(self._on_failed)

    @property
    def address(self) -> str:
        """Where programs are answered, "" while they are not."""
        return self._server.address if self._server else ""

    def close(self) -> None:
        """Stop the server. The choice stays."""
        if self._server is not None:
            self.timer.stop()
            self._server.stop()
            self._server = None

    def _choose(self, wanted: bool) -> None:
        self._settings.serve = wanted
        self._save()
        if wanted:
            self._start(is_told=True)
        else:
            self.close()
            self._say(OFF)

    def _start(self, *, is_told: bool) -> None:
        from app.server.listening import Server  # takes a moment, and most windows serve nobody

        try:
            self._server = Server(
                self._engine.beside, Access(port=self._settings.serve_port), self._model, self._heard.append
            )
        except HeadstartError as error:
            self._action.setChecked(False)
            self._say_error(str(error), error.detail)
            return
        self.timer.start()
        self._action.setChecked(True)
        if is_told:
            self._say(ON.format(self._server.address))

    def _tell(self) -> None:
        """No signal crosses a thread: what the server's says is taken from here."""
        heard = []
        while self._heard:
            asked = self._heard.popleft()
            if asked.stats is not None and asked.ttft_s is not None:
                heard.append(ProgramTurn(client_name(asked.client), asked.stats))
        if heard:
            self.answered.emit(heard)

    def _on_loaded(self, event: Loaded) -> None:
        self._model = event.model
        if self._server is not None:
            self._server.set_model(event.model)
        elif self._settings.serve and not self._action.isChecked():
            self._start(is_told=False)

    def _on_failed(self, event: Failed) -> None:
        if event.is_model_gone:
            self._model = None
            if self._server is not None:
                self._server.set_model(None)

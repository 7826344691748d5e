"""A task of seconds or minutes off the window's thread, and what comes of it in the window's thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

from PySide6.QtCore import QObject, QTimer, Signal

from engine import HeadstartError

POLL_MS = 50
UNEXPECTED = "This ended with an error that Headstart did not expect. Its log says more."

log = logging.getLogger("headstart")


class StoppedError(Exception):
    """Nobody waits for the task any more."""


class Work(QObject):
    """Runs `task` once on a thread of its own. The task gets a function to say what it does and which fraction of it is
    done (None where nobody knows); once nobody waits any more, that function raises StoppedError.

    Signals, in the thread of the window: progressed(str, float or None), done(result), failed(sentence, detail); one of
    the last two comes at the end, neither after `stop`.
    """

    progressed = Signal(str, object)
    done = Signal(object)
    failed = Signal(str, str)

    def __init__(self, task: Callable[[Callable[[str, float | None], None]], object], parent: QObject) -> None:
        super().__init__(parent)
        self._task = task
        self._said: SimpleQueue[tuple[str, tuple[object, ...]]] = SimpleQueue()
        self._stopped = threading.Event()
        # Qt's objects belong to the window's thread: the task's thread fills a queue, and this timer empties it.
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._take)

    def start(self) -> None:
        """Begin. The thread keeps no process alive."""
        self._timer.start(POLL_MS)
        threading.Thread(target=self._run, name="headstart-work", daemon=True).start()

    def stop(self) -> None:
        """Hear no more of it; the task ends the next time it says how far it is."""
        self._stopped.set()
        self._timer.stop()

    def _run(self) -> None:
        try:
            self._said.put(("done", (self._task(self._say),)))
        except StoppedError:
            return
        except HeadstartError as error:
            log.error("%s %s", error, error.detail)
            self._said.put(("failed", (str(error), error.detail)))
        except Exception as error:
            log.exception("unexpected error")
            self._said.put(("failed", (UNEXPECTED, str(error))))

    def _say(self, what: str, fraction: float | None = None) -> None:
        if self._stopped.is_set():
            raise StoppedError
        self._said.put(("progressed", (what, fraction)))

    def _take(self) -> None:
        while not self._stopped.is_set():
            try:
                name, values = self._said.get_nowait()
            except Empty:
                return
            if name != "progressed":
                self._timer.stop()
            getattr(self, name).emit(*values)

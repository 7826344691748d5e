"""The watch over threads and timers sees what it is there for."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from tests.conftest import active_timers, left_threads


class Owner(QObject):
    """Holds a timer that only Qt keeps alive."""

    def __init__(self) -> None:
        super().__init__()
        QTimer(self, interval=10_000).start()


@pytest.fixture
def ended() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_running_timer_is_seen(qtbot: QtBot) -> None:
    owner = Owner()
    free = QTimer(interval=10_000)
    free.start()
    assert len(active_timers()) == 2
    free.stop()
    owner.findChild(QTimer).stop()
    assert active_timers() == []


def test_running_thread_is_seen(ended: threading.Event) -> None:
    before = set(threading.enumerate())
    thread = threading.Thread(target=ended.wait, name="forgotten")
    thread.start()
    assert left_threads(before, join_s=0) == ["forgotten"]
    ended.set()
    assert left_threads(before) == []

"""Tasks off the window's thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.widgets.work import UNEXPECTED, StoppedError, Work
from engine import HeadstartError


@pytest.mark.parametrize(
    ("error", "said"),
    [(HeadstartError("No room.", "sda1"), ("No room.", "sda1")), (ValueError("seven"), (UNEXPECTED, "seven"))],
)
def test_what_fails_is_said_in_the_windows_thread(
    qtbot: QtBot, caplog: pytest.LogCaptureFixture, error: Exception, said: tuple[str, str]
) -> None:
    def task(say: Callable[..., None]) -> None:
        raise error

    work, heard = Work(task, parent := QObject()), []
    work.failed.connect(lambda *words: heard.append((words, threading.current_thread())))
    work.start()
    qtbot.waitUntil(lambda: bool(heard), timeout=60_000)
    assert heard == [(said, threading.main_thread())]
    assert parent.children() == [work]


def test_one_that_is_stopped_ends_and_says_nothing_more(qtbot: QtBot) -> None:
    began, go, ended, heard = threading.Event(), threading.Event(), threading.Event(), []

    def task(say: Callable[..., None]) -> None:
        say("half")
        began.set()
        go.wait()
        try:
            say("three quarters")
        except StoppedError:
            ended.set()
            raise

    work = Work(task, parent := QObject())
    for signal in (work.progressed, work.done, work.failed):
        signal.connect(lambda *words: heard.append(words))
    work.start()
    assert began.wait(60)
    qtbot.waitUntil(lambda: bool(heard), timeout=60_000)
    work.stop()
    go.set()
    assert ended.wait(60)
    assert heard == [("half", None)]
    assert parent.children() == [work]

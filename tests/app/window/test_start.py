"""What is said where the window cannot open."""

from __future__ import annotations

import argparse
import signal

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app import application
from app.command.ending import SIGNALS
from app.widgets.message_box import MessageBox
from engine import HeadstartError
from tests.app.fake_engine import FakeEngine
from tests.app.window.conftest import settle


@pytest.mark.parametrize(("platform", "boxes"), [("xcb", ["It is open elsewhere."]), ("offscreen", [])])
def test_conversations_that_cannot_be_opened_are_said_where_somebody_sees_it(
    qapp: object, monkeypatch: pytest.MonkeyPatch, platform: str, boxes: list[str]
) -> None:
    def refuse(engine: FakeEngine, settings: object) -> None:
        raise HeadstartError("It is open elsewhere.", "history.sqlite3: locked")

    engine, said = FakeEngine(), []
    monkeypatch.setattr(application, "EitherEngine", lambda: engine)
    monkeypatch.setattr(application, "build", refuse)
    monkeypatch.setattr(QGuiApplication, "platformName", lambda: platform)
    monkeypatch.setattr(MessageBox, "exec", lambda box: said.append(box.text))
    with pytest.raises(HeadstartError):
        application.run(argparse.Namespace())
    assert said == boxes
    assert engine.closed


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_closes_the_window_from_the_event_loop(qapp: object, number: signal.Signals) -> None:
    window = QWidget()
    window.show()
    before = signal.getsignal(number)
    with application.ended_by_signals(window) as ending:
        signal.raise_signal(number)
        assert window.isVisible()  # what is being done is not interrupted
        settle()
    assert not window.isVisible()
    assert ending.status(0) == 128 + number
    assert signal.getsignal(number) is before


def test_an_ignored_signal_stays_ignored(qapp: object) -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as `nohup` does it with SIGHUP
    try:
        with application.ended_by_signals(QWidget()) as ending:
            signal.raise_signal(signal.SIGTERM)
        assert ending.status(0) == 0
    finally:
        signal.signal(signal.SIGTERM, before)

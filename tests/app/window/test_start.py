"""What is said where the window cannot open."""

from __future__ import annotations

import argparse
import signal
from types import SimpleNamespace

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox

from app import application
from engine import HeadstartError
from tests.app.fake_engine import FakeEngine


@pytest.mark.parametrize(("platform", "boxes"), [("xcb", ["It is open elsewhere."]), ("offscreen", [])])
def test_conversations_that_cannot_be_opened_are_said_where_somebody_sees_it(
    qapp: object, monkeypatch: pytest.MonkeyPatch, platform: str, boxes: list[str]
) -> None:
    def refuse(engine: FakeEngine, settings: object) -> None:
        raise HeadstartError("It is open elsewhere.", "history.sqlite3: locked")

    engine, said = FakeEngine(), []
    monkeypatch.setattr(application, "Engine", lambda: engine)
    monkeypatch.setattr(application, "build", refuse)
    monkeypatch.setattr(QGuiApplication, "platformName", lambda: platform)
    monkeypatch.setattr(QMessageBox, "exec", lambda box: said.append(box.text()))
    with pytest.raises(HeadstartError):
        application.run(argparse.Namespace())
    assert said == boxes
    assert engine.closed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_closes_the_window_as_the_user_would(qapp: object, number: signal.Signals) -> None:
    closed: list[bool] = []
    program = SimpleNamespace(window=SimpleNamespace(close=lambda: closed.append(True)))
    before = signal.getsignal(number)
    with application.ended_by_signals(program):  # type: ignore[arg-type]
        signal.raise_signal(number)
    assert closed == [True]
    assert signal.getsignal(number) is before

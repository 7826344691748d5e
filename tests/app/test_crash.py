"""Errors that nobody caught: logged, shown once where somebody can see it, and never the cause of another."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QTimer, qWarning
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.crash import MOST_DETAILS, CrashHooks


@pytest.fixture
def hooks(qapp: object, tmp_path: Path) -> Iterator[CrashHooks]:
    hooks = CrashHooks(tmp_path / "headstart.log")
    hooks.install()
    yield hooks
    hooks.uninstall()
    if hooks.dialog:
        hooks.dialog.close()


def fail(words: str = "as planned") -> None:
    raise RuntimeError(words)


def report(hooks: CrashHooks, words: str) -> None:
    try:
        fail(words)
    except RuntimeError:
        sys.excepthook(*sys.exc_info())


def test_error_in_a_slot_is_logged(
    hooks: CrashHooks, qtbot: QtBot, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    QTimer.singleShot(0, fail)
    qtbot.waitUntil(lambda: bool(hooks.details))
    assert "RuntimeError: as planned" in hooks.details[0]
    assert "RuntimeError: as planned" in caplog.text
    hooks.show_details()
    assert hooks.dialog is None, "offscreen nobody sees a dialog"
    assert f"the details are in {hooks.log_file}" in capsys.readouterr().err


def test_error_in_a_thread_is_logged(hooks: CrashHooks) -> None:
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    assert "RuntimeError: as planned" in hooks.details[0]
    QCoreApplication.removePostedEvents(hooks)


def test_end_of_a_thread_by_exit_is_no_error(hooks: CrashHooks) -> None:
    thread = threading.Thread(target=sys.exit)
    thread.start()
    thread.join()
    assert hooks.details == []


def test_messages_of_qt_go_to_the_log(hooks: CrashHooks, caplog: pytest.LogCaptureFixture) -> None:
    qWarning("something about a plugin")
    assert ("qt", logging.WARNING, "something about a plugin") in caplog.record_tuples


def test_one_dialog_holds_all_reports(hooks: CrashHooks, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "can_show", lambda: True)
    report(hooks, "first")
    qtbot.waitUntil(lambda: hooks.dialog is not None)
    dialog = hooks.dialog
    report(hooks, "second")
    qtbot.waitUntil(lambda: "second" in dialog.details)
    assert hooks.dialog is dialog
    assert "first" in dialog.details
    dialog.press("Copy details")
    assert "second" in QGuiApplication.clipboard().text()
    assert dialog.isVisible(), "copying does not close it"
    dialog.close()
    qtbot.waitUntil(lambda: hooks.dialog is None)


def test_a_failing_dialog_is_survived(
    hooks: CrashHooks, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hooks, "can_show", fail)
    report(hooks, "first")
    qtbot.waitUntil(lambda: "the dialog about an error failed" in caplog.text)
    assert len(hooks.details) == 1


def test_a_failing_log_falls_back_to_standard_error(
    hooks: CrashHooks, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.crash.log.critical", fail)
    report(hooks, "the first error")
    assert "the first error" in capsys.readouterr().err


def test_old_reports_are_dropped(hooks: CrashHooks) -> None:
    for number in range(MOST_DETAILS + 5):
        report(hooks, f"error {number}")
    assert len(hooks.details) == MOST_DETAILS
    assert f"error {MOST_DETAILS + 4}" in hooks.details[-1]
    QCoreApplication.removePostedEvents(hooks)


def test_uninstall_puts_everything_back(qapp: object, tmp_path: Path) -> None:
    before = (sys.excepthook, threading.excepthook)
    hooks = CrashHooks(tmp_path / "headstart.log")
    hooks.install()
    assert sys.excepthook is not before[0]
    hooks.uninstall()
    assert (sys.excepthook, threading.excepthook) == before
    assert (tmp_path / "fault.log").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_nobody_else_can_read_what_crashed(hooks: CrashHooks) -> None:
    hooks.uninstall()
    fault_log = hooks.log_file.with_name("fault.log")
    fault_log.chmod(0o644)  # as earlier versions left it
    hooks.install()
    assert fault_log.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe with a name is Unix's")
def test_a_pipe_in_place_of_the_fault_log_is_not_waited_for(
    hooks: CrashHooks, caplog: pytest.LogCaptureFixture
) -> None:
    hooks.uninstall()
    fault_log = hooks.log_file.with_name("fault.log")
    fault_log.unlink()
    os.mkfifo(fault_log)
    hooks.install()
    assert "no fault log" in caplog.text

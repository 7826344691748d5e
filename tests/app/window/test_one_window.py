"""A second start brings the window of the first to the front; a socket left by one that was killed is no first."""

from __future__ import annotations

import argparse
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtNetwork import QLocalServer
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app import application
from app.exchange.writing import to_json_text
from app.history.history import History
from app.window.one_window import OneWindow, show_first, socket_name
from tests.app.exchange.test_reading import OWN
from tests.app.fake_engine import FakeEngine
from tests.app.window.conftest import Screen

ROOT = Path(__file__).parents[3]


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[QWidget]:
    window = QWidget()
    qtbot.addWidget(window)
    window.showMinimized()
    return window


def second_start(qtbot: QtBot, path: Path, conversations: str = "", model: str = "", folder: Path = ROOT) -> bool:
    """What `show_first` says in another process, while this one is the first Headstart."""
    asks = (
        "import sys, pathlib; from app.window.one_window import show_first; "
        "sys.exit(show_first(pathlib.Path(sys.argv[1]), *sys.argv[2:], lambda: None))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", asks, str(path), conversations, model]
    second = subprocess.Popen(command, cwd=folder, env=environment)
    qtbot.waitUntil(lambda: second.poll() is not None, timeout=60_000)
    return second.returncode == 1


def test_the_first_window_comes_to_the_front(qtbot: QtBot, window: QWidget, tmp_path: Path) -> None:
    first = OneWindow(window, tmp_path / "history.sqlite3")
    assert second_start(qtbot, tmp_path / "history.sqlite3")
    assert not window.windowState() & Qt.WindowState.WindowMinimized
    assert not second_start(qtbot, tmp_path / "other.sqlite3"), "other conversations are another Headstart"
    first.close()
    assert not second_start(qtbot, tmp_path / "history.sqlite3")


def test_the_first_window_opens_the_files_of_a_second_start(
    qtbot: QtBot, make_screen: Callable[..., Screen], tmp_path: Path
) -> None:
    """As the desktop does with a file that was clicked on: from another folder, perhaps with a relative path."""
    screen = make_screen()
    (tmp_path / "über.headstart").write_text(to_json_text([OWN]), "utf-8")
    first = OneWindow(screen.window, tmp_path / "history.sqlite3", screen.application.open_files)
    assert second_start(qtbot, tmp_path / "history.sqlite3", "über.headstart", folder=tmp_path)
    qtbot.waitUntil(lambda: screen.session.conversation.title == OWN.title, timeout=60_000)
    assert screen.texts()[0] == OWN.messages[0].content
    for model, path in (("a.gguf", str(tmp_path / "a.gguf")), ("http://host:8000/v1", "http://host:8000/v1")):
        assert second_start(qtbot, tmp_path / "history.sqlite3", model=model, folder=tmp_path)
        assert screen.engine.specs[-1].path == path
        screen.play()
    first.close()


def test_a_socket_left_behind_is_taken_over(qtbot: QtBot, window: QWidget, tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    left = QLocalServer()
    assert left.listen(socket_name(path))
    stale = Path(left.fullServerName())
    left.close()
    stale.touch()
    assert not show_first(path, pause=lambda: None)
    first = OneWindow(window, path)
    assert second_start(qtbot, path)
    first.close()


def test_a_first_that_does_not_listen_yet_is_asked_again(qtbot: QtBot, window: QWidget, tmp_path: Path) -> None:
    """The second start says when it has found none, and goes on once there is one."""
    path = tmp_path / "history.sqlite3"
    asks = (
        "import sys, pathlib; from app.window.one_window import show_first; "
        "sys.exit(show_first(pathlib.Path(sys.argv[1]), pause=lambda: (print('none', flush=True), input())))"
    )
    command = [sys.executable, "-c", asks, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as second:
        assert second.stdin
        assert second.stdout
        assert second.stdout.readline() == "none\n"
        first = OneWindow(window, path)
        second.stdin.write("\n")
        second.stdin.flush()
        qtbot.waitUntil(lambda: second.poll() is not None, timeout=60_000)
    assert second.returncode == 1
    first.close()


@pytest.mark.parametrize("answers", [True, False])
def test_a_second_start_ends_quietly_where_the_first_answers(
    qapp: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], answers: bool
) -> None:
    path, engine = tmp_path / "history.sqlite3", FakeEngine()
    first = History(path)
    monkeypatch.setattr(application, "EitherEngine", lambda: engine)
    monkeypatch.setattr(application, "default_path", lambda: path)
    monkeypatch.setattr(application, "show_first", lambda *asked: answers and asked == (path, "a.headstart", ""))
    if answers:
        assert application.run(argparse.Namespace(conversations="a.headstart", model=None)) == 0
        assert "its window is in front now" in capsys.readouterr().out
    else:
        with pytest.raises(application.InUseError):
            application.run(argparse.Namespace(conversations="a.headstart", model=None))
    assert engine.closed
    first.close()


@pytest.mark.parametrize("is_read_only", [True, False])
def test_who_only_reads_the_conversations_takes_no_socket(
    qapp: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_read_only: bool
) -> None:
    """It does not hold their lock, and the first Headstart may still listen."""
    path, connect = tmp_path / "history.sqlite3", sqlite3.connect
    History(path).close()

    def open_it(database: object, **options: Any) -> sqlite3.Connection:
        is_ours = database == path  # also for an administrator, whom permissions do not stop
        return connect(f"file:{path}?mode=ro", uri=True, **options) if is_ours else connect(database, **options)

    if is_read_only:
        monkeypatch.setattr(sqlite3, "connect", open_it)
    made: list[OneWindow] = []
    monkeypatch.setattr(application, "EitherEngine", FakeEngine)
    monkeypatch.setattr(application, "default_path", lambda: path)
    monkeypatch.setattr(application, "OneWindow", lambda *values: made.append(OneWindow(*values)) or made[-1])
    monkeypatch.setattr(QApplication, "exec", lambda *_: 0)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))  # closing may store settings
    options = argparse.Namespace(
        model=None, device=None, dtype=None, cache_mb=None, context=None, kv_bits=None, draft=None, conversations=None
    )
    assert application.run(options) == 0
    assert len(made) == (0 if is_read_only else 1)

"""Signals to the demo and to the window, each in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.command.ending import SIGNALS
from app.history.history import History

ROOT = Path(__file__).parent.parent.parent.parent
PROGRAM = """
import sys
from app import __main__ as command_line, application
from app.demo import demo
from tests.app.fake_engine import FakeEngine, Script, many_tokens

class Asking(application.Application):
    def open(self, spec=None):
        super().open(spec)
        self.session.answers.text_added.connect(lambda *_: print("it writes", flush=True))
        if sys.argv[1:] == []:
            self.session.send("Why?")

application.Application = Asking
application.EitherEngine = demo.Engine = lambda: FakeEngine(Script(many_tokens(2_000)), tokens_per_poll=5)
command_line.require_qt = lambda offscreen: None
sys.exit(command_line.main(sys.argv[1:]))
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts Headstart on an engine that writes slowly, and returns once it writes."""
    (tmp_path / "tmp").mkdir()
    places = {"HEADSTART_DATA_DIR": tmp_path / "data", "TMPDIR": tmp_path / "tmp", "XDG_CONFIG_HOME": tmp_path}
    settings = {name: str(path) for name, path in places.items()}
    started: list[subprocess.Popen[str]] = []

    def begin(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments],
            cwd=ROOT,
            env={**os.environ, **settings, "QT_QPA_PLATFORM": "offscreen"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert "it writes\n" in iter(process.stdout.readline, "")
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_demo_and_leaves_nothing(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    process = start("demo", "--offscreen", "--out", str(tmp_path / "new" / "out"))
    process.send_signal(number)
    _, said = process.communicate(timeout=200)
    assert (process.returncode, said) == (128 + number, "")
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_window_and_what_was_written_is_kept(
    start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    process = start()
    process.send_signal(number)
    _, said = process.communicate(timeout=200)
    assert (process.returncode, said) == (128 + number, "")
    history = History(tmp_path / "data" / "history.sqlite3")
    question, answer = history.messages(1)
    history.close()
    assert question.content == "Why?"
    assert answer.content
    assert answer.finish_reason == "stopped"

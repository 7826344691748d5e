"""The program is killed in the middle of an answer: what was saved is there, marked, and goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.history.history import History
from tests.app.fake_engine import FIRST_ID

PROGRAM = """
import os, signal, sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.chat.bridge import Bridge
from app.chat.session import Session
from app.history.history import History
from app.settings import Settings
from engine import ModelSpec, TextDelta
from tests.app.fake_engine import FakeEngine, Script

app = QCoreApplication([])
engine = FakeEngine(Script(tokens=("one", " two", " three", " four")), manual=True)
bridge = Bridge(engine)
session = Session(bridge, History(Path(sys.argv[1])), Settings())
session.answers.load(ModelSpec())
engine.run_all()
bridge.drain()
session.send("Count.")
for is_saved in (False, True, False):
    engine.advance_to(TextDelta)
    bridge.drain()
    if is_saved:
        session.saving.save()  # as its timer does every second
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows ends processes in another way")
def test_what_was_saved_is_there(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    root = Path(__file__).parents[3]
    ended = subprocess.run([sys.executable, "-c", PROGRAM, str(path)], cwd=root, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    history = History(path)
    assert history.notice == ""
    question, answer = history.messages(1)
    assert (question.content, answer.content, answer.finish_reason) == ("Count.", "one two", "interrupted")
    assert answer.token_ids == (FIRST_ID, FIRST_ID + 1)
    history.close()

"""A model that calls a tool, on the real engine in the real window, and a real server of tools as a process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEventLoop
from pytestqt.qtbot import QtBot

from app.application import build
from app.settings import Settings
from app.tools.servers import ToolServer
from engine import BLOCK_TOKENS, Engine, Matched, ModelSpec, Sampling
from tests.conftest import PATIENCE_S
from tests.engine.kinds_of_templates import THOUGHT_IN_LAST_TURN
from tests.engine.tiny_models import make_writer_folder

ROUNDS = 3
CALL = '<tool_call>{"name": "add", "arguments": {"first": 2, "second": 3}}</tool_call>'


def test_results_are_part_of_the_prompt_and_all_before_them_is_reused(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This model calls the tool again and again: so the loop ends, too."""
    monkeypatch.setattr("app.chat.calling.MOST_ROUNDS", ROUNDS)
    engine = Engine()
    place = f"{sys.executable} -m tests.app.tools.tool_server"
    settings = Settings(
        sampling=Sampling(temperature=0.0, max_tokens=60, repetition_penalty=1.0),
        tool_servers={"small": place},
        tool_rules={"small/add": "always"},
    )
    application = build(engine, settings, tmp_path / "history.sqlite3")
    session, calling = application.session, application.calling
    matched: list[Matched] = []
    session.answers.matched.connect(matched.append)
    begins = "<|im_start|>assistant\n"
    model = make_writer_folder(tmp_path / "caller", THOUGHT_IN_LAST_TURN, begins, CALL, pieces=(CALL,))
    application.open(ModelSpec(str(model), device="cpu", dtype="fp32"))
    with qtbot.waitSignal(calling.listed, timeout=1000 * PATIENCE_S) as listed:
        calling.list_tools(ToolServer("small", place))
    session.set_tools(tuple(each for each in listed.args[1].tools if each.called == "add"))
    while application.bridge.busy:
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
    with qtbot.waitSignal(calling.said, timeout=1000 * PATIENCE_S):
        session.send("How much is it?")
    messages = session.messages
    assert [message.role for message in messages] == ["user", *["assistant", "tool"] * ROUNDS, "assistant"]
    assert {message.content for message in messages if message.role == "tool"} == {"5"}
    turns = list(zip(matched, messages[1::2], matched[1:], strict=False))
    for before, answer, after in turns:
        known = before.prompt_tokens + len(answer.token_ids)
        assert after.reused_tokens >= (known - 1) // BLOCK_TOKENS * BLOCK_TOKENS - BLOCK_TOKENS
    assert len(turns) == ROUNDS
    application.window.close()

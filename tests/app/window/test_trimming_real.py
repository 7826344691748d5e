"""The oldest turns are left out on the real engine with a tiny model: the cause it names, what the next turn reuses."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEventLoop
from pytestqt.qtbot import QtBot

from app.application import Application, build
from app.settings import Settings
from engine import Engine, Matched, ModelSpec, Sampling
from tests.engine.tiny_models import CONTEXT, make_folder

QUESTION = "Where is the parcel with the green tent, and when will it be here? "


def rest(application: Application) -> None:
    """Let the engine say everything."""
    while application.bridge.busy:
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)


def ask(application: Application, text: str) -> None:
    application.window.composer.set_text(text)
    application.presenter.send(text)
    rest(application)


def test_a_chat_goes_on_past_its_context(qtbot: QtBot, tmp_path: Path) -> None:
    settings = Settings(theme="light", sampling=Sampling(temperature=0.0, max_tokens=40), system_prompt="Be brief.")
    application = build(Engine(), settings, tmp_path / "history.sqlite3")
    try:
        matched: list[Matched] = []
        application.session.answers.matched.connect(matched.append)
        application.open(ModelSpec(str(make_folder(tmp_path / "tiny", seed=3)), device="cpu", dtype="fp32"))
        rest(application)
        notice, asked = application.window.notice, 0
        while not notice.offer.isVisible():
            assert (notice.text, asked < 100) == ("", True)
            ask(application, f"{asked}: {QUESTION}")
            asked += 1
        turns = len(matched)
        answers = application.history.messages(application.session.conversation.id)[1::2]
        assert {len(answer.token_ids) for answer in answers} == {40}, "none was cut short by the end of the context"
        notice.offer.click()
        rest(application)
        trimmed = matched[turns]
        assert trimmed.prompt_tokens <= CONTEXT // 2
        assert trimmed.divergence is not None
        assert trimmed.divergence.cause == "trimmed"
        assert "left out to make room" in application.window.transcript.messages[-1].box.text_shown  # type: ignore[attr-defined]
        ask(application, "And now?")
        assert matched[-1].divergence is None
        assert matched[-1].reused_tokens >= trimmed.prompt_tokens - 1
        stored = application.history.messages(application.session.conversation.id)
        assert len(stored) == 2 * (asked + 1)
    finally:
        application.window.close()
        application.close()

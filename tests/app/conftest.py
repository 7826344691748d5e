"""A session on a fake engine, with everything it says written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication

from app.chat.bridge import Bridge
from app.chat.session import Session
from app.history.history import History
from app.settings import Settings
from engine import ModelSpec
from tests.app.fake_engine import FakeEngine

SIGNALS = (
    "conversation_changed",
    "conversations_changed",
    "message_added",
    "text_added",
    "message_reopened",
    "message_finished",
    "stats_changed",
    "prefill_changed",
    "question_taken_back",
    "matched",
    "state_changed",
    "draft_previewed",
    "model_changed",
    "loading_changed",
    "loading_stopped",
    "cache_view",
    "error",
)
DAY = date(2026, 3, 14)


@dataclass
class Desk:
    """Engine, bridge, history and session of one run of the program, and the signals so far in `said`."""

    engine: FakeEngine
    bridge: Bridge
    history: History
    session: Session
    said: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)

    def heard(self, name: str) -> list[Any]:
        """What one signal brought so far: its argument, or all of them where there are several."""
        return [values[0] if len(values) == 1 else values for said, values in self.said if said == name]

    def drain(self) -> None:
        """What the bridge's timer would do now."""
        self.bridge.drain()

    def play(self) -> None:
        """Everything the engine still has to say, also to what is asked for meanwhile."""
        for _ in range(10):
            self.engine.run_all()
            self.bridge.drain()
        assert not self.bridge.busy
        assert not self.bridge.is_reading_ahead

    def until(self, kind: type) -> Any:
        """Everything up to and with the next event of this kind."""
        event = self.engine.advance_to(kind)
        self.drain()
        return event

    def load(self) -> None:
        """Load the model."""
        self.session.answers.load(ModelSpec())
        self.play()

    def save(self) -> None:
        """What the slow timer does while an answer comes."""
        self.session.saving.save()

    def close(self) -> None:
        """End the program in its order."""
        self.session.shutdown()
        self.bridge.close()
        self.history.close()


@pytest.fixture(autouse=True, scope="session")
def _empty_clipboard() -> Iterator[None]:
    """What was copied is given back while Python runs: Qt lets go of it at the very end of the process."""
    yield
    if QApplication.instance() is not None:
        QApplication.clipboard().clear()


@pytest.fixture(autouse=True)
def _no_window_left() -> Iterator[None]:
    """Delete the windows of a test with it: each that stays takes its time at every change of the theme."""
    yield
    if QApplication.instance() is not None:
        for window in QApplication.topLevelWidgets():
            if window.parent() is None:
                window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def timer_of(owner: QObject) -> QTimer:
    """The timer that belongs to an object."""
    timer = owner.findChild(QTimer, options=Qt.FindChildOption.FindDirectChildrenOnly)
    assert timer is not None
    return timer


@pytest.fixture
def make_desk(qapp: object, tmp_path: Path) -> Iterator[Callable[..., Desk]]:
    """Makes desks that share one conversation file, and closes those that are still open."""
    desks: list[Desk] = []

    def make(
        engine: FakeEngine | None = None, settings: Settings | None = None, day: date = DAY, loaded: bool = True
    ) -> Desk:
        engine = engine or FakeEngine(manual=True)
        bridge = Bridge(engine)
        history = History(tmp_path / "history.sqlite3")
        desk = Desk(engine, bridge, history, Session(bridge, history, settings or Settings(), today=lambda: day))
        speakers = (desk.session, desk.session.answers, desk.session.cost, desk.bridge)
        for name in SIGNALS:
            speaker = next(each for each in speakers if hasattr(each, name))
            getattr(speaker, name).connect(lambda *values, name=name: desk.said.append((name, values)))
        desks.append(desk)
        if loaded:
            desk.load()
        return desk

    yield make
    for desk in desks:
        desk.close()


@pytest.fixture
def desk(make_desk: Callable[..., Desk]) -> Desk:
    """A session with a model, an empty conversation, and an engine that does a step when it is told to."""
    made = make_desk()
    made.said.clear()
    return made

"""The whole window on a fake engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QDialogButtonBox
from pytestqt.qtbot import QtBot

from app import theme
from app.application import Application, build
from app.settings import Settings
from app.transcript.message import Answer
from app.window.window import FIRST_SIZE
from tests.app.fake_engine import FakeEngine, Script


class Screen:
    """An open window and what a user does with it. The engine does nothing until it is told to."""

    def __init__(self, application: Application, engine: FakeEngine) -> None:
        self.application = application
        self.engine = engine
        self.session = application.session
        self.window = application.window
        self.transcript = application.window.transcript
        self.composer = application.window.composer

    def play(self) -> None:
        """Let the engine say everything it has to say, also to what is asked for meanwhile."""
        for _ in range(10):
            self.engine.run_all()
            self.application.bridge.drain()
        settle()

    def until(self, kind: type) -> None:
        """Let the engine go on to the next event of this kind."""
        self.engine.advance_to(kind)
        self.application.bridge.drain()
        settle()

    def type(self, text: str) -> None:
        """Put text into the composer, as a paste would."""
        self.composer.edit.insertPlainText(text)

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key in the composer."""
        QTest.keyClick(self.composer.edit, key, modifier)

    def ask(self, text: str) -> None:
        """Type a question and press Enter."""
        self.type(text)
        self.press(Qt.Key.Key_Return)
        settle()

    def answer(self) -> Answer:
        """The newest answer."""
        newest = self.transcript.messages[-1]
        assert isinstance(newest, Answer)
        return newest

    def texts(self) -> list[str]:
        """All messages in the transcript, oldest first."""
        return [message.text for message in self.transcript.messages]


def settle() -> None:
    """Let Qt do its layouts and delete what is to be deleted."""
    for _ in range(5):
        QApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def accept(dialog: QDialog) -> None:
    """Press the button that takes over what the dialog says."""
    dialog.findChild(QDialogButtonBox).accepted.emit()


@pytest.fixture(autouse=True)
def _menus_closed() -> Iterator[None]:
    """No menu of a test stays open for the next one."""
    yield
    if QApplication.instance() is None:
        return
    while menu := QApplication.activePopupWidget():
        menu.close()


@pytest.fixture
def make_screen(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[..., Screen]]:
    """Opens windows that share one conversation file; `loaded=False` leaves the model to be loaded by the test."""
    screens: list[Screen] = []

    def make(*scripts: Script, loaded: bool = True, settings: Settings | None = None, **options: object) -> Screen:
        engine = FakeEngine(*scripts, manual=True, **options)  # type: ignore[arg-type]
        application = build(engine, settings or Settings(theme="light"), tmp_path / "history.sqlite3")
        screen = Screen(application, engine)
        screens.append(screen)
        application.open()
        application.window.resize(FIRST_SIZE)  # the screen of these tests is smaller
        if loaded:
            screen.play()
        return screen

    yield make
    for screen in screens:
        screen.window.close()
    theme.apply(QApplication.instance(), theme.LIGHT)  # type: ignore[arg-type]
    theme.set_text_percent(100)


@pytest.fixture
def screen(make_screen: Callable[..., Screen]) -> Screen:
    """A window with a model and an empty conversation."""
    return make_screen()
